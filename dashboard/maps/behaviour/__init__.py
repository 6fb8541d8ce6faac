"""Where heads look: shown."""
