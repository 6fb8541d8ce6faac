"""A prompt run by a whole model in memory."""
