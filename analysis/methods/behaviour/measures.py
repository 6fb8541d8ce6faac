"""What is measured of a head's attention A[query, key], and how a score from 0 to 1 comes of it."""

from dataclasses import dataclass

NAME = "behaviour"
VERSION = "1"  # raise whenever a score may come out differently
SCORE = "score"  # the only kind
MEASURED = "measured"  # a part: the same in its own unit

RANDOM, TEXT = "random", "text"  # what the model reads


@dataclass(frozen=True)
class BehaviourMeasure:
    """One score. `sentence` says exactly what is averaged; S is the length of the block, positions count from 0."""

    name: str
    title: str
    on: str  # RANDOM or TEXT
    sentence: str
    unit: str  # of what is measured; a share of attention is a score already
    threshold: float | None  # from here on a head is said to do it, if it is something that a head does


SHARE = "share of attention"

MEASURES = (
    BehaviourMeasure(
        "previous_token",
        "previous token",
        RANDOM,
        "Attention to the token before, A[i, i − 1], over all but the first of random tokens that come twice.",
        SHARE,
        0.3,
    ),
    BehaviourMeasure(
        "duplicate_token",
        "duplicate token",
        RANDOM,
        "Attention to the same token's first occurrence, A[i, i − S], over the second of two random blocks.",
        SHARE,
        0.3,
    ),
    BehaviourMeasure(
        "induction",
        "induction",
        RANDOM,
        "Attention to what followed the same token before, A[i, i − S + 1], over the second of two random blocks.",
        SHARE,
        0.3,
    ),
    BehaviourMeasure(
        "first_token",
        "first-token sink",
        TEXT,
        "Attention to the first token of a text (BOS where the model has one), A[i, 0], over all others.",
        SHARE,
        0.3,
    ),
    BehaviourMeasure(
        "entropy",
        "entropy",
        TEXT,
        "Entropy of A[i, ·] in nats, as a share of the largest that i + 1 tokens allow, over all but the first.",
        "nats",
        None,
    ),
    BehaviourMeasure(
        "distance",
        "distance",
        TEXT,
        "How far back a head looks on average, Σ A[i, j] · (i − j), as a share of i, over all but the first.",
        "tokens",
        None,
    ),
)


def measures(on: str) -> tuple[BehaviourMeasure, ...]:
    """Those on random tokens, or on text."""
    return tuple(measure for measure in MEASURES if measure.on == on)
