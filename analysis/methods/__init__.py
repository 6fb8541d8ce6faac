"""One package per method; each answers one question about every head."""
