"""Attention patterns of a model that runs, reduced to a few numbers per head, layer by layer."""
