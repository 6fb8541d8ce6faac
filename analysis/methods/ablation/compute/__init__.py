"""Ablation where the model is: the modules here load torch."""
