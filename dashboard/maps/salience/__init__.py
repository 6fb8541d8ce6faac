"""Salient tokens: a part of a head's card."""
