"""The causal map: whether a head helps, hurts or does not matter for a task."""
