"""The table of all heads: its columns, its cells and its files."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from analysis.evidence.shipped import shipped_scores
from analysis.results.scores import ONLY_SAMPLE
from dashboard.maps.columns import leaves
from dashboard.page.table import content, table_follows
from dashboard.state import all_settings
from dashboard.view import open_view
from tests.dashboard.made import rows_of
from tests.synthetic import BIG, ODD

BEHIND = ("effect", "low", "high", "beyond", "copied", "control")


@pytest.fixture
def client(server):
    return TestClient(server, base_url="http://localhost")


@pytest.fixture(scope="module")
def shipped():
    return shipped_scores("function")


def test_every_column_has_cells_and_no_two_share_an_id(catalogue):
    """Also where several maps of a model are in the table."""
    for model in ("smollm2-135m-instruct", ODD):
        packed = content(open_view(catalogue, f"?view=table&model={model}"))
        fields = [column["field"] for column in leaves(packed["columns"])]
        assert len(fields) == len(set(fields))
        assert set(fields) == set(packed["cells"])


def test_relations_stand_by_category_under_one_row_of_groups_and_can_be_unfolded(catalogue, shipped):
    """A relation's score is always seen and names its category, what stands behind it when its group is unfolded."""
    columns = content(open_view(catalogue, "?view=table"))["columns"]
    groups = {column["headerName"]: column for column in columns}
    assert all("children" not in child for column in columns for child in column.get("children", []))
    for category in ("algorithmic", "knowledge", "linguistic", "translation"):
        for name in shipped.items(category):
            score, *behind = groups[shipped.item(name).title]["children"]
            assert score["headerName"] == f"{category.capitalize()} score"
            assert "columnGroupShow" not in score
            assert {column["columnGroupShow"] for column in behind} == {"open"}
            assert [column["field"].split(".")[0] for column in behind] == list(BEHIND)
            assert score["written"]["behind"] == [column["field"] for column in behind]


@pytest.mark.parametrize("kind", ["both", "suppress"])
def test_what_stands_behind_a_score_is_of_the_kind_that_is_shown(catalogue, shipped, kind):
    """With both effects the larger one's interval, β and control; none of the other's."""
    rows = rows_of(content(open_view(catalogue, f"?view=table&kind={kind}")))
    heads = {(row["layer"], row["head"]): row for row in rows}
    kinds = ["promote", "suppress"] if kind == "both" else [kind]
    for name in ("word_antonym", "country_capital"):
        for layer, head in ((23, 4), (24, 4), (26, 2), (29, 6)):
            place = {"item": name, "sample": ONLY_SAMPLE, "layer": layer, "head": head}
            scores = {each: float(shipped.score.sel(kind=each, **place)) for each in kinds}
            larger = max(kinds, key=scores.__getitem__)
            row = heads[layer, head]
            assert row[f"score.{name}"] == pytest.approx(scores[larger], abs=1e-4)
            assert row[f"effect.{name}"] == (larger if scores[larger] else "")
            for part in ("beyond", "control"):
                expected = float(shipped.parts[f"{part} {larger}"].sel(**place))
                found = np.nan if row[f"{part}.{name}"] is None else row[f"{part}.{name}"]
                assert found == pytest.approx(expected, abs=1e-4, nan_ok=True)


def test_the_tables_file_has_every_relation_with_what_stands_behind_it(client, shipped):
    """One row per head as CSV and Parquet, numbers as numbers, with the weights' fingerprint."""
    frame = pd.read_csv(io.BytesIO(client.get("/export/view.csv?view=table").content))
    assert len(frame) == 270
    for name in shipped.items():
        assert {f"{part}.{name}" for part in ("score", *BEHIND)} <= set(frame)
    row = frame[frame["name"] == "L23H4"].iloc[0]
    assert (row["score.country_capital"], row["effect.country_capital"]) == (0.65, "promote")
    assert set(frame["fingerprint"]) == {shipped.provenance.model.fingerprint}
    stored = pq.read_table(io.BytesIO(client.get("/export/view.parquet?view=table").content)).to_pandas()
    assert np.array_equal(stored["low.word_antonym"], frame["low.word_antonym"])


def test_missing_scores_are_words_in_the_table_and_empty_in_its_file(client, catalogue):
    """A layer that was not computed says so; a spreadsheet gets nothing rather than words among numbers."""
    rows = rows_of(content(open_view(catalogue, f"?view=table&model={ODD}")))
    assert {row["score.odd"] for row in rows if row["layer"] == 8} == {"not computed"}
    frame = pd.read_csv(io.BytesIO(client.get(f"/export/view.csv?view=table&model={ODD}").content))
    assert frame[frame["layer"] == 8]["score.odd"].isna().all()
    assert frame[frame["layer"] == 1]["score.odd"].tolist() == [0.75, 0.5, 0.075, 0.0]


def test_the_api_has_what_stands_behind_every_score(client, shipped):
    """Interval, β and control of each relation and kind, not of the best alone."""
    frame = pd.read_csv(io.BytesIO(client.get("/api/scores.csv?layer=23&head=4").content))
    measured = frame[frame["item"].isin(shipped.items())]
    assert len(measured) == 2 * len(shipped.items())
    assert measured[["low", "high"]].notna().all().all()
    assert measured.groupby("item")[["beyond", "control"]].count().gt(0).any(axis=1).sum() > 5


def test_a_large_table_is_sent_small(catalogue):
    """5,120 heads with all columns of two maps: less than half a megabyte, compressed as the server does."""
    packed = content(open_view(catalogue, f"?view=table&model={BIG}"))
    assert len(packed["cells"]) > 100
    assert len(gzip.compress(json.dumps(packed).encode(), 4)) < 500_000


OTHERWISE = {
    "how": "always",
    "colour": "scores",
    "tau": 0.4,
    "top": 3,
    "labels": "beyond",
    "uncertain": 1,
    "attention": 0.7,
    "measure": "induction",
    "strongest": 3,
    "item": "math",
    "largest": 3,
    "palette": "paper",
    "transpose": 1,
}


def test_the_page_asks_for_cells_again_only_for_what_its_scripts_do_not_know(catalogue):
    """Any other local setting changes no column but those that the scripts make of the maps."""
    local = {key for key, setting in all_settings().items() if setting.local}
    assert local - set(table_follows()) == set(OTHERWISE)
    before = content(open_view(catalogue, "?view=table"))
    made = {column["field"] for column in leaves(before["columns"]) if "shown" in column}
    assert made >= {"does", "panel.all", "panel.knowledge"}
    for key, value in OTHERWISE.items():
        after = content(open_view(catalogue, f"?view=table&{key}={value}"))
        assert after["columns"] == before["columns"]
        changed = {field for field, cells in after["cells"].items() if cells != before["cells"][field]}
        assert changed <= made, key
