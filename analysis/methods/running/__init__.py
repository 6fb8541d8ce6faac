"""The function map in the running model: the same relations, on the residual stream that a token really has."""
