"""What the page's scripts need to class heads for every threshold: both strengths of every head, as they are."""

from dataclasses import asdict
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from analysis.evidence.agreement import WORDS
from analysis.results.scores import Missing
from dashboard.maps.agreement.panels import NO_PANEL, ORDER, TONES, reasons_of
from dashboard.maps.agreement.sides import AgreementView, comparisons_of
from dashboard.maps.agreement.state import CountedLabels, Over
from dashboard.maps.agreement.words import TABLE, facts
from dashboard.maps.map import missing_words
from dashboard.maps.packing import pack


def numbers(shown: AgreementView) -> bytes:
    """The numbers of the two results on the page."""
    by_counted = [comparisons_of(shown, "mean", counted) for counted in get_args(CountedLabels)]
    comparisons = by_counted[0]
    contents = {
        **asdict(facts(shown)),
        "map": shown.map.name,
        "layers": list(shown.card.layers),
        "heads": shown.card.heads,
        "reasons": [reason.words for reason in Missing],
        "reason_words": [missing_words(shown, reason) for reason in Missing],
        "panels": [{"key": each.item, "title": each.title} for each in comparisons],
        "words": WORDS,
        "order": ORDER,
        "tones": [TONES.get(code, "") for code in range(len(WORDS))],
        "table": {"task": TABLE.task, "caption": TABLE.caption, "columns": TABLE.columns},
        "title": NO_PANEL,
        "missing": int(Missing.NOT_COMPUTED),
    }
    if not comparisons:
        return pack(contents, {})
    causes = []
    for over in get_args(Over):
        causes.append(np.stack([each.cause for each in comparisons_of(shown, over, "all")]))
    arrays: dict[str, npt.NDArray[Any]] = {
        "labels": np.stack([each.label for of_all in by_counted for each in of_all]).astype(np.float64),
        "causes": np.stack(causes).astype(np.float64),
        "missing": np.stack([reasons_of(shown, each) for each in comparisons]).astype(np.uint8),
    }
    return pack(contents, arrays)
