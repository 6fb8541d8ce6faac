"""Heads as they are read in the running model.

    h_l(s, c)   residual stream entering layer l at the source token s, in the prompt: BOS where the model expects one,
                carrier c, source s
    w(s, c)   = norm_l(h_l) · W_V (+ b_V) · W_O, then the gain of the norm behind the attention where there is one
    row(s, c) = w · diag(g_final) · U;  where the final norm is a LayerNorm, w is centred first

Positive factors (the norms' 1 / rms) and what all heads share do not change a ranking and are left out. So the exact
counter of `analysis.compute.hits` serves with other inputs:

- X_l is norm_l(h_l), with a 1 behind it where the value projection has a bias, whose row then stands below W_V;
- the gain behind the attention and the centring are folded into W_O, the final norm's gain into U.
"""

from analysis.methods.running.compute.reading import running_inputs

__all__ = ["running_inputs"]
