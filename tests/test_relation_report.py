"""What reports, answers and files say of a score besides itself."""

import io
import json

import numpy as np
import pandas as pd

from analysis.methods import method
from analysis.models.card import HeadId
from analysis.relations.frame import relation_frame
from analysis.relations.method import RelationMethod
from analysis.relations.report import head_data, head_lines, map_data
from analysis.results.scores import COLUMNS

HEAD = HeadId(23, 4)
OF_KIND = {
    "score", "hits", "rank", "low", "high", "beyond", "copied", "control", "specific", "beyond_copying", "uncertain"
}  # fmt: skip


def relation_of(scores, name, head=HEAD):
    return next(one for one in head_data(scores, head)["relations"] if one["name"] == name)


def test_a_head_is_told_with_interval_and_controls(default_scores):
    """Country → capital of L23H4 is specific and sure; its β is measured, as plain JSON."""
    capital = relation_of(default_scores, "country_capital")
    assert set(capital["promote"]) == OF_KIND
    promote = capital["promote"]
    assert promote["low"] < promote["score"] < promote["high"]
    assert (promote["specific"], promote["uncertain"]) == (True, False)
    assert 0.4 < promote["beyond"] < 0.6
    assert json.loads(json.dumps(capital, allow_nan=False)) == capital


def test_what_was_not_measured_is_null(default_scores):
    """Without a hit there is no β, below the floor no control, and copying has no copied share."""
    suppress = relation_of(default_scores, "country_capital")["suppress"]
    assert [suppress[name] for name in ("beyond", "copied", "control", "specific", "beyond_copying")] == [None] * 5
    copying = relation_of(default_scores, "name_copying", HeadId(23, 3))["suppress"]
    assert copying["score"] > 0.8
    assert (copying["beyond"], copying["copied"], copying["beyond_copying"]) == (None, None, None)
    assert copying["control"] is not None


def test_the_summary_of_a_map_has_them_too(default_scores):
    """The best heads in the JSON of `map` carry interval and controls."""
    best = next(one for one in map_data(default_scores)["relations"] if one["name"] == "country_capital")["promote"][0]
    assert set(best) == {"head", *OF_KIND} - {"rank"}


def test_the_terminal_shows_them_in_one_line(default_scores):
    """Score, interval, hits, rank, β and control side by side, with what speaks against a label."""
    line = next(line for line in head_lines(default_scores, HEAD) if line.startswith("country → capital"))
    assert "promotes    0.65 (0.50–0.78)      26/40     1 of 270" in line
    language = next(line for line in head_lines(default_scores, HEAD) if line.startswith("country → official"))
    assert language.endswith("copy-like")


def test_csv_has_interval_and_controls_behind_the_columns_of_every_result(default_scores):
    """Every score's row agrees with the parts of the result."""
    content = method(default_scores.provenance.method).exported(default_scores, ".csv")
    frame = pd.read_csv(io.BytesIO(content))
    assert tuple(frame.columns) == (*COLUMNS, "low", "high", "beyond", "copied", "control")
    part = default_scores.parts["control promote"].sel(item="country_capital", layer=23, head=4).item()
    row = frame[(frame["item"] == "country_capital") & (frame["layer"] == 23) & (frame["head"] == 4)].iloc[0]
    assert (row["kind"], row["hits"]) == ("promote", 26)
    assert np.isclose(row["control"], part)
    assert 0.49 < row["low"] < 0.5
    present = relation_frame(default_scores)["beyond"].notna().sum()
    assert present == sum(default_scores.parts[f"beyond {kind}"].notnull().sum() for kind in ("promote", "suppress"))


def test_each_method_answers_under_its_own_name(default_scores):
    """The fields at the top are those of before; another method's do not overwrite them."""
    first = method(default_scores.provenance.method)
    answer = first.head(default_scores, HEAD)
    assert answer["relations"] == answer[first.name]["relations"]

    class Other(type(first)):
        name = "other"
        at_top = False

    other = Other()
    assert isinstance(other, RelationMethod)
    assert set(other.head(default_scores, HEAD)) == {"other"}
    assert set(other.no_head(default_scores.provenance.model, HEAD)) == {"other"}
    assert other.no_head(default_scores.provenance.model, HEAD)["other"]["relations"] == []
