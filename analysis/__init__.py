"""What every attention head of a language model does, and whether it matters.

Only places called `compute` load torch; everything else is torch-free, so that a web process can import it and stay
small.
"""

__version__ = "0.1.0"
