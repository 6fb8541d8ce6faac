"""Heads as they are read with context.

    z(s, c)   = what the head hands to the output projection at the last token of template c with source s: its real
                attention pattern times its real values
    w(s, c)   = z · W_O, then the gain of the norm behind the attention where there is one
    row(s, c) = w · diag(g_final) · U;  where the final norm is a LayerNorm, w is centred first

So the exact counter of `analysis.compute.hits` serves with X_l = z of all heads side by side, and with W_V of a head
that picks its own columns.
"""

from analysis.methods.context.compute.reading import context_inputs

__all__ = ["context_inputs"]
