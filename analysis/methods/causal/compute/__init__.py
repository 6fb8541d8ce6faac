"""The part of the causal map that loads torch."""
