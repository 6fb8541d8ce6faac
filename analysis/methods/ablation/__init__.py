"""Ablation: what a task, a relation or a prompt loses when one head is switched off."""
