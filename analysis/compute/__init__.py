"""Models in memory: the modules here load torch."""
