"""The second and the third pass: which claims of the first pass's survivors are true."""

from collections.abc import Sequence

from analysis.compute.hits.comparison import Compare
from analysis.compute.hits.counting import count_larger
from analysis.compute.hits.inputs import Inputs
from analysis.compute.hits.near_ties import resolve
from analysis.compute.hits.survivors import Survivors
from analysis.progress import Progress, silent

AT_ONCE = 4096  # claims that are computed again in float64 at once


def true_claims(
    inputs: Inputs, compare: Compare, survivors: Survivors, layers: Sequence[int], progress: Progress = silent
) -> Survivors:
    """Those that hold, besides the tied ones; `layers` are those of the run."""
    survivors = count_larger(inputs.unembedding, compare, survivors, progress)
    holds = survivors.above + survivors.near < survivors.k  # whatever the near entries turn out to be
    doubtful = (~holds).nonzero().squeeze(1)
    if len(doubtful):
        for some in doubtful.split(AT_ONCE):  # few, unless a model has many equal tokens
            holds[some] = resolve(inputs, compare, survivors.take(some), layers)
    return survivors.take(holds.nonzero().squeeze(1))
