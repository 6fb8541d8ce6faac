"""Models that are run with the weights of one layer in memory at a time, and what is seen of their heads on the way."""
