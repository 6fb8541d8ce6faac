import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import StoreError
from analysis.models.card import HeadId
from analysis.relations.layer import scores_of_hits
from analysis.relations.scores import classified, reduced
from analysis.results.merging import merge
from analysis.results.provenance import Provenance, ScoredItem
from analysis.results.scores import COLUMNS, Missing, Scores, always_of, any_of, part_array
from analysis.results.tables import csv_bytes
from tests.hand_made import HandMade


def make_scores(hits, kept=(40, 50, 10), layers=(0, 1)):
    """Three relations in two categories on 3 × 2 heads; the third is not applicable, layer 2 not computed."""
    names = (("copying", "algorithmic"), ("country_capital", "knowledge"), ("<b>odd</b>", "knowledge"))
    items = tuple(
        ScoredItem(name, name, category, hash=name, pairs=60, kept=count, applicable=count >= 30, k=10)
        for (name, category), count in zip(names, kept, strict=True)
    )
    card = HandMade.random(0, layers=3, heads=2, kv_heads=1).card
    provenance = Provenance(card, "function", "1", {"tau": 0.15}, items, "cpu", {}, "2026-01-01T00:00:00Z", "0")
    return scores_of_hits({layer: np.array(hits) + layer for layer in layers}, provenance)


HITS = [[[20, 0], [0, 4]], [[5, 10], [0, 0]]]  # relation, kind, head


def test_scores_are_hits_over_kept_pairs():
    """20 of 40 kept pairs is 0.5."""
    scores = make_scores(HITS)
    assert float(scores.score.sel(item="copying", kind="promote", sample="all", layer=0, head=0)) == 0.5


def test_missing_is_never_zero_and_says_why():
    """A layer that was not computed and a relation that does not apply are NaN, each with its reason."""
    scores = make_scores(HITS)
    assert np.isnan(scores.score.sel(layer=2)).all()
    assert (scores.missing.sel(item="copying", layer=2) == Missing.NOT_COMPUTED).all()
    assert (scores.missing.sel(item="<b>odd</b>") == Missing.NOT_APPLICABLE).all()
    assert np.isnan(scores.score.sel(item="<b>odd</b>")).all()
    assert (scores.missing.sel(item="copying", layer=0) == Missing.PRESENT).all()


def test_any_and_always():
    """Any is the best relation of a category, always the worst applicable one; suppression counts when asked."""
    scores = make_scores(HITS)
    both = ["copying", "country_capital", "<b>odd</b>"]
    at = {"sample": "all", "layer": 0}
    assert reduced(scores, both, "any").sel(at).values.tolist() == [0.5, 0.2]
    assert reduced(scores, both, "always").sel(at).values.tolist() == [0.1, 0.1]
    assert reduced(scores, both, "always", ["promote"]).sel(at).values.tolist() == [0.1, 0.0]
    assert np.isnan(reduced(scores, ["<b>odd</b>"]).values).all()


def test_a_missing_score_hides_always_but_not_any():
    """Of two relations one has no score for a head: any is the other's, always cannot be known."""
    scores = make_scores(HITS)
    scores.score.loc[{"item": "copying", "layer": 0, "head": 0}] = np.nan
    names, at = ["copying", "country_capital"], {"sample": "all", "layer": 0, "head": 0}
    assert float(reduced(scores, names, "any").sel(at)) == 0.1
    assert np.isnan(float(reduced(scores, names, "always").sel(at)))
    scores.score.loc[{"item": "country_capital", "kind": "suppress", "layer": 0, "head": 0}] = np.nan
    assert np.isnan(float(reduced(scores, ["country_capital"]).sel(at)))


def test_classification_follows_tau():
    """A head belongs to a category when its score is larger than τ, not equal."""
    scores = make_scores(HITS)
    at = {"sample": "all", "layer": 0}
    flags = classified(scores, 0.15).sel(at)
    assert flags.sel(category="algorithmic").values.tolist() == [True, False]
    assert flags.sel(category="knowledge").values.tolist() == [False, True]
    assert not classified(scores, 0.5).sel(at).sel(category="algorithmic").values.any()


@given(st.lists(st.one_of(st.just(float("nan")), st.floats(0, 1)), min_size=1, max_size=8))
def test_any_is_at_least_always(values):
    """Where both exist, the maximum is not below the minimum; always is missing as soon as one is."""
    import xarray as xr

    array = xr.DataArray(values, dims="item")
    low, high = float(always_of(array, "item")), float(any_of(array, "item")) if not np.isnan(values).all() else np.nan
    if np.isnan(values).any():
        assert np.isnan(low)
    else:
        assert low <= high


def test_top_and_rank():
    """The best heads in order; equal scores share a rank."""
    scores = make_scores(HITS)
    assert [(str(h), s, n) for h, s, n in scores.top("copying", 2)] == [("L1H0", 21 / 40, 21), ("L0H0", 0.5, 20)]
    assert scores.rank("copying", HeadId(0, 0)) == 2
    assert scores.rank("country_capital", HeadId(0, 0), "suppress") == 3


def test_long_format():
    """One row per score, in the promised columns; a missing score is empty, not 0."""
    frame = pd.read_csv(io.BytesIO(csv_bytes(make_scores(HITS).to_frame())))
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 3 * 2 * 1 * 3 * 2
    row = frame.query("item == 'copying' and kind == 'suppress' and layer == 1 and head == 1").iloc[0]
    assert (row.model, row.score, row.hits, row.pairs) == ("hand-made", 5 / 40, 5, 40)
    assert frame.query("layer == 2").score.isna().all()
    assert frame.query("layer == 2").hits.isna().all()


def test_parquet_round_trip():
    """Numbers, reasons and provenance come back from Parquet as they were."""
    scores = make_scores(HITS)
    again = Scores.from_parquet(scores.to_parquet())
    assert again.provenance == scores.provenance
    assert again.score.equals(scores.score)
    assert again.hits.equals(scores.hits)
    assert again.missing.equals(scores.missing)
    assert tuple(pq.read_table(io.BytesIO(scores.to_parquet())).column_names) == COLUMNS


def test_other_parquet_files_are_refused():
    """A file that is not ours is a named error."""
    sink = io.BytesIO()
    pd.DataFrame({"a": [1]}).to_parquet(sink)
    for content in (sink.getvalue(), b"PAR1", b""):
        with pytest.raises(StoreError):
            Scores.from_parquet(content)


def test_parts_and_records_are_in_the_same_file():
    """Values per head that are no scores come back as arrays, everything else as plain records; nothing is revived
    from the provenance."""
    scores = make_scores(HITS)
    numbers = np.arange(3 * 2 * 3 * 2, dtype=float)
    part = part_array(scores.provenance, ("mean", "most"), numbers)
    whole = replace(scores, parts={"gradient": part}, records={"copying": {"curve": [1.0, 0.5]}})
    again = Scores.from_parquet(whole.to_parquet())
    assert again.parts["gradient"].equals(part)
    assert again.records == whole.records
    assert again.score.equals(scores.score)
    assert (
        again.part("gradient", "country_capital", "most").tolist()
        == part.sel(item="country_capital", sample="most").values.tolist()
    )
    assert again.part("gradient", "country_capital", "none") is None
    assert "gradient" not in whole.provenance.to_json()
    rows = pq.read_table(io.BytesIO(whole.to_parquet())).to_pandas()
    assert (rows["kind"] == "gradient").sum() == numbers.size


def test_results_of_one_method_are_joined_with_their_parts_and_records():
    """Items that only another result has are added, with its samples, parts and records; what it lacks is missing."""
    first = make_scores(HITS)
    item = ScoredItem("verb_past", "verb_past", "linguistic", kept=40, k=10)
    facts = replace(first.provenance, items=(item,))
    other = scores_of_hits({0: np.full((1, 2, 2), 8)}, facts)
    other = replace(
        other, parts={"effect": part_array(facts, ("all",), np.arange(6.0))}, records={"verb_past": {"note": 1}}
    )
    whole = merge(first, [other])
    assert [item.name for item in whole.provenance.items][-1] == "verb_past"
    assert float(whole.score.sel(item="verb_past", kind="promote", sample="all", layer=0, head=1)) == 0.2
    assert whole.part("effect", "verb_past").tolist() == [[0, 1], [2, 3], [4, 5]]
    assert whole.part("effect", "copying") is None
    assert whole.records == {"verb_past": {"note": 1}}
    assert merge(first, [first]) is first


def test_the_hash_of_the_content_is_of_what_was_computed_alone():
    """Date, device, libraries and a way through a file leave it; a number, reason, part, column or setting does not."""
    scores = make_scores(HITS)
    made = scores.provenance
    part = part_array(made, ["all"], np.arange(18.0))
    later = replace(made, date="2027-01-01T00:00:00Z", device="cuda", libraries={"torch": "9"}, atlas="9")
    later = replace(later, items=tuple(replace(item, computed="2027-01-01T00:00:00Z") for item in made.items))
    same = [scores, Scores.from_parquet(scores.to_parquet()), replace(scores, provenance=later)]
    assert len({each.content_hash() for each in same}) == 1
    others = [
        replace(scores, hits=scores.hits + 1),
        replace(scores, score=scores.score.fillna(0.0)),
        replace(scores, missing=scores.missing * 0),
        replace(scores, parts={"beyond": part}),
        replace(scores, parts={"beyond": part + 1}),
        replace(scores, records={"copying": {"curve": [1]}}),
        replace(scores, columns={"text": pa.array(["a"] * scores.score.size)}),
        replace(scores, provenance=replace(made, settings={"tau": 0.2})),
    ]
    assert len({each.content_hash() for each in (scores, *others)}) == 1 + len(others)
