"""Pieces of the page, as functions of what they show."""
