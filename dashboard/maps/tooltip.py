"""What every head does best, for the tooltip of whichever map is on the page."""

from dataclasses import dataclass

from analysis.results.scores import Codes, Floats


@dataclass(frozen=True, eq=False)
class Best:
    """The best few items of every head. Arrays are [place, layer, head], the best first."""

    titles: tuple[str, ...]  # of the items
    verbs: tuple[str, ...]
    item: Codes
    verb: Codes
    score: Floats
    low: Floats  # of the score's 95 % interval
    high: Floats
    remarks: tuple[str, ...]  # what may be said against a score
    remark: Codes  # which of them
