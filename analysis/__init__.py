"""What every attention head of a language model does, computed from its weights.

The modules that load torch are `weights`, `function_map` and `salience`; everything else is torch-free, so that a web
process can import it and stay small.
"""

__version__ = "0.1.0"
