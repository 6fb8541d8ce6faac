"""The function map with context: the same relations, on what a head really writes at the end of a whole prompt."""
