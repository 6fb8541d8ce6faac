"""What somebody asked for, and the machinery that works it off."""
