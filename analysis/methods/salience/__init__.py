"""Salient tokens: what a head acts on most strongly."""
