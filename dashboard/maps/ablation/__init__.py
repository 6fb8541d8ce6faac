"""What is lost without each head: shown."""
