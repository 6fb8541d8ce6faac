"""The function map: what a head does, read from its weights or in the running model."""
