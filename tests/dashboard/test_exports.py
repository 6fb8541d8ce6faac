import ast
import io
import json
import re
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from analysis.methods.ablation.result import told_from_none
from analysis.results.scores import COLUMNS, Scores
from dashboard.maps.function.state import FunctionState
from dashboard.palette import colours
from dashboard.view import open_view
from dashboard.web.exports import reproduce
from tests.dashboard.made import view_of
from tests.synthetic import HOSTILE, ODD, causal_scores_of, odd_scores


@pytest.fixture
def client(server):
    return TestClient(server, base_url="http://localhost")


def test_csv_of_the_view_has_its_numbers_and_its_source(client, catalogue):
    """What the panels show, with the weights' fingerprint on every row."""
    answer = client.get("/export/view.csv?how=always&tau=0.1")
    frame = pd.read_csv(io.BytesIO(answer.content))
    view = open_view(catalogue, "?how=always&tau=0.1")
    knowledge = frame[frame["item"] == "knowledge"]
    panel = next(panel for panel in view.panels if panel.key == "knowledge")
    assert knowledge["score"].to_numpy() == pytest.approx(panel.value.ravel())
    assert knowledge["member"].sum() == panel.count
    assert set(frame["fingerprint"]) == {view.card.fingerprint}
    assert set(knowledge["k"]) == {"10"}
    assert knowledge["relation_hash"].nunique() == 1
    assert frame["relation_hash"].nunique() == len(view.panels)
    assert 'filename="smollm2-135m-instruct-view.csv"' in answer.headers["content-disposition"]


def test_the_copied_share_is_in_the_view_and_in_the_table(client, catalogue):
    """The share of pairs whose source itself is among the k, of the label that decides."""
    query = "?relation=country_capital&kind=promote"
    frame = pd.read_csv(io.BytesIO(client.get(f"/export/view.csv{query}").content))
    table = pd.read_csv(io.BytesIO(client.get(f"/export/view.csv{query}&view=table").content))
    scores = open_view(catalogue, "").results["function"]
    expected = scores.part("copied promote", "country_capital")
    assert frame["copied"].to_numpy() == pytest.approx(expected.ravel(), nan_ok=True)
    assert table["copied.country_capital"].to_numpy() == pytest.approx(expected.ravel(), nan_ok=True, abs=1e-4)


def test_csv_and_parquet_of_everything_agree(client, catalogue):
    """All scores; the Parquet file is a result that can be opened again."""
    frame = pd.read_csv(io.BytesIO(client.get("/export/scores.csv").content))
    scores = Scores.from_parquet(client.get("/export/scores.parquet").content)
    assert len(frame) == scores.score.size
    assert frame["score"].to_numpy() == pytest.approx(scores.score.values.ravel(), nan_ok=True)
    assert scores.provenance == open_view(catalogue, "").results["function"].provenance
    assert list(frame)[: len(COLUMNS)] == list(COLUMNS)
    asked = frame.groupby("item")[["k", "relation_hash"]].agg(["nunique", "first"])
    for item in scores.provenance.items:
        assert asked.loc[item.name].tolist() == [1, item.k, 1, item.hash]


def test_parquet_of_the_view_says_where_it_comes_from(client):
    """Provenance and address are in the file's metadata."""
    table = pq.read_table(io.BytesIO(client.get("/export/view.parquet?relation=country_capital").content))
    assert b"relation=country_capital" in table.schema.metadata[b"head-atlas-view"]
    assert json.loads(table.schema.metadata[b"head-atlas"])["method"] == "function"
    assert set(table["item"].to_pylist()) == {"country_capital"}


def test_the_page_stands_alone_and_markup_stays_text(client):
    """One file without links to elsewhere; a hostile relation does nothing in it."""
    text = client.get(f"/export/page.html?model={ODD}").text
    assert HOSTILE not in text
    assert '<script src="http' not in text
    assert '"fingerprint"' in text


def test_the_figure_has_title_legend_and_source(client):
    """What a picture is drawn from."""
    figure = client.get("/export/figure.json?dark=1").json()
    texts = " ".join(note["text"] for note in figure["layout"]["annotations"])
    assert "smollm2-135m-instruct" in texts
    assert "fingerprint" in texts
    words = {note["text"] for note in figure["layout"]["annotations"]}
    assert {"Algorithmic", "2 categories", "suppresses", "below τ = 0.15 (brighter = closer)", "score 0"} <= words
    assert not {"3 categories", "4 or more"} & words  # no head of the default view has so many
    light = client.get("/export/figure.json").json()["layout"]["annotations"]
    assert "below τ = 0.15 (darker = closer)" in {note["text"] for note in light}


HEADINGS = {
    "": "heads that promote or suppress any relation of a category · weights · τ = 0.15",
    "?relation=country_capital": "heads that promote or suppress country → capital · weights · τ = 0.15",
    "?model=gemma-3-270m": "heads that promote or suppress any relation",
    "?model=gemma-3-270m&basis=function": "weights · does not hold for this model (r = 0.00) · τ = 0.15",
    "?view=causal": "heads that help or hurt the tasks (Always and Any over the seeds, θ = 0.5, fainter below)",
    "?view=causal&columns=any": "heads that help or hurt the tasks (Any over the seeds, θ",
    "?view=causal&gates=interference": "heads that hurt tasks, by interference N (Always and Any over the seeds, θ",
    "?view=causal&seed=0": "heads that help or hurt the tasks (seed 0, θ",
    "?view=causal&seed=first2&columns=always": "(Always over the first 2 seeds, θ",
    "?view=causal&gates=preview": "which heads help and hurt (mean over the prompts)",
    "?view=causal&gates=preview&columns=any": "which heads help and hurt (Any over the prompts)",
    "?view=ablation": "change in log P without each head, its output at the last token replaced by zero",
    "?view=ablation&off=mean": "its output at the last token replaced by its mean over the prompts",
    "?view=ablation&largest=5": "replaced by zero, the top 5 of each panel",
    "?view=behaviour&attention=0.4": "where heads look (a head counts with at least 40 % of its attention there)",
    "?view=behaviour&strongest=5": "of its attention there, the top 5 of each panel)",
}


@pytest.mark.parametrize("query", HEADINGS)
def test_a_picture_says_what_it_shows_on_paper_that_it_needs(client, query):
    """Its title names the relation and what is read; most of its width has maps, and every entry of its legend fits."""
    layout = client.get(f"/export/figure.json{query}").json()["layout"]
    heading = next(
        note["text"] for note in layout["annotations"] if note["text"].startswith("<b>") and "</b>:" in note["text"]
    )
    assert HEADINGS[query] in heading
    right = max(axis["domain"][1] for name, axis in layout.items() if name.startswith("xaxis"))
    assert right > 0.85
    squares = [shape for shape in layout["shapes"] if shape.get("xref") == "paper"]
    assert len(squares) >= (2 if "gates" in query or "behaviour" in query else 3 if "ablation" in query else 4)
    assert all(0 <= shape.get("x0", 0) <= shape.get("x1", 0.5) < 1 for shape in squares)
    assert all(shape.get("y0", 1.01) > 1 for shape in squares)


def test_a_signed_map_has_both_ends_of_its_scale_in_the_picture(client):
    """Blue is a loss, orange a gain; no panel has a score of 1. Shares have one colour, explained once."""
    layout = client.get("/export/figure.json?view=ablation").json()["layout"]
    words = [note["text"] for note in layout["annotations"]]
    squares = [shape["fillcolor"] for shape in layout["shapes"] if shape.get("xref") == "paper"]
    palette = colours("okabe-ito", False)
    assert squares[:3] == [palette.slope(-1), palette.slope(0), palette.slope(1)]
    gains = "gains (change in log P without the head; full colour: the panel's largest change)"
    assert {"loses", "0", gains} <= set(words)
    for view in ("ablation", "behaviour"):
        drawn = client.get(f"/export/figure.json?view={view}").json()["layout"]["annotations"]
        assert not any("score 1" in note["text"] for note in drawn)
    assert [note["text"] for note in drawn].count("1 (share of attention, or of the maximum)") == 1


def test_the_view_of_an_ablation_says_what_was_switched_off_and_ranks_losses_first(client, catalogue):
    """As the card does: rank 1 is the largest loss; each change has its standard error. Behaviour has its threshold."""
    frame = pd.read_csv(io.BytesIO(client.get("/export/view.csv?view=ablation&off=mean").content))
    scores = open_view(catalogue, "?view=ablation").results["ablation"]
    assert (set(frame["off"]), set(frame["positions"])) == ({"mean"}, {"last"})
    for item, rows in frame.groupby("item"):
        first = rows[rows["rank"] == 1]
        assert first["score"].tolist() == [rows["score"].min()]
        errors = scores.part("error mean", item).ravel()
        assert rows["error"].to_numpy() == pytest.approx(errors)
        told = told_from_none(scores, "mean").sel(item=item).values.ravel()
        assert rows["member"].tolist() == told.tolist()
    behaviour = pd.read_csv(io.BytesIO(client.get("/export/view.csv?view=behaviour&attention=0.4").content))
    assert set(behaviour["attention"]) == {0.4}


@pytest.mark.parametrize(
    ("query", "item"),
    [("?view=ablation&item=country_capital", "country_capital"), ("?view=behaviour&measure=induction", "induction")],
)
def test_one_panel_alone_is_taken_away_alone(client, query, item):
    """The CSV has its rows; the picture its panel; of the heads beyond the best ones no row says that they belong."""
    all_heads = pd.read_csv(io.BytesIO(client.get(f"/export/view.csv{query}").content))
    assert (set(all_heads["item"]), len(all_heads)) == ({item}, 270)
    best = "strongest" if "behaviour" in query else "largest"
    few = pd.read_csv(io.BytesIO(client.get(f"/export/view.csv{query}&{best}=3").content))
    assert (all_heads["member"].sum() > 3, few["member"].sum()) == (True, 3)
    words = [
        note["text"] for note in client.get(f"/export/figure.json{query}&{best}=3").json()["layout"]["annotations"]
    ]
    assert "faint: not among the top 3 of the panel" in words


def test_tables_name_every_head_and_say_what_it_does(client, catalogue):
    """L23H4 beside layer and head, and promote or suppress by the label that decides; nothing where a score is 0."""
    frame = pd.read_csv(io.BytesIO(client.get("/export/view.csv?relation=country_capital").content))
    scores = open_view(catalogue, "").results["function"].score.sel(item="country_capital", sample="all")
    for row in frame.itertuples():
        promoted, suppressed = (
            float(scores.sel(kind=kind, layer=row.layer, head=row.head)) for kind in ("promote", "suppress")
        )
        expected = "promote" if promoted >= suppressed else "suppress"
        assert row.name == f"L{row.layer}H{row.head}"
        assert row.effect == expected if row.score > 0 else pd.isna(row.effect)
    assert {"promote", "suppress"} <= set(frame["effect"])
    for name in ("scores.csv", "view.csv?view=causal", "scores.csv?view=causal"):
        other = pd.read_csv(io.BytesIO(client.get(f"/export/{name}").content))
        assert (other["name"] == "L" + other["layer"].astype(str) + "H" + other["head"].astype(str)).all()


def test_the_page_has_the_link_and_the_cards(client):
    """Of the pinned heads, without the buttons that only the server's page can do; without pins the link alone."""
    page = client.get("/export/page.html?pin=L23H4.L24H5&tau=0.3").text
    assert 'href="http://localhost/?model=' in page
    assert "tau=0.3&amp;pin=L23H4.L24H5" in page
    assert page.count('class="card head-card"') == 2
    assert "country → capital" in page
    assert "<button" not in page.partition("head-card")[2]
    assert re.findall(r'<span class="roles">([^<]*)</span>', page) == ["Knowledge", "Algorithmic"]
    several = client.get("/export/page.html?pin=L23H3.L23H4.L24H5").text
    assert re.findall(r'<div class="roles">([^<]*)</div>', several)[:2] == [
        "Algorithmic (suppressed) · Knowledge (suppressed; copy-like or unspecific)",
        "Algorithmic · Knowledge",
    ]
    plain = client.get("/export/page.html").text.partition("<main>")[2]
    assert "head-card" not in plain
    assert "not reliable" not in plain


def test_the_page_says_that_its_map_does_not_hold(client):
    """As above the map on the page, with the way to the one that does on the server."""
    page = client.get("/export/page.html?model=gemma-3-270m&basis=function").text
    warned = page.partition('<p class="notice" role="note">')[2].partition("</p>")[0]
    assert "the weights-only map is not reliable" in warned
    assert '<a href="http://localhost/?model=gemma-3-270m' in warned


@pytest.mark.parametrize(
    ("query", "absent"),
    [
        ("", ("OWN_FILES", "SAMPLES", "LEAST_BEYOND", "TOP", "measured")),
        ("?top=5", ("OWN_FILES", "LEAST_BEYOND")),
        ("?view=causal", ("OWN_FILES", "gradient", "Path")),
        ("?view=causal&gates=preview", ("OWN_FILES", "SETTINGS", "THRESHOLD", "facilitation")),
    ],
)
def test_a_script_has_no_more_than_its_view_needs(catalogue, query, absent):
    """No constant that nothing uses, no branch for what the view does not ask."""
    script = reproduce(open_view(catalogue, query))
    for word in absent:
        assert word not in script
    tree = ast.parse(script)
    assigned = {node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    assert assigned - used <= {"TITLE", "ADDRESS"}


@pytest.mark.parametrize(
    ("wanted", "heads_across", "panels"),
    [("", False, 5), ("&transpose=1", True, 5), ("&view=causal", False, 4), ("&view=causal&transpose=1", True, 4)],
)
def test_pinned_heads_are_outlined_and_named_in_the_picture(client, wanted, heads_across, panels):
    """In every map of both kinds; each name once."""
    layout = client.get(f"/export/figure.json?pin=L23H4.L2H8{wanted}").json()["layout"]
    outlines = [shape for shape in layout["shapes"] if "fillcolor" not in shape]
    assert len(outlines) == 2 * 2 * panels  # dark on white
    middle = (outlines[0]["x0"] + 0.5, outlines[0]["y0"] + 0.5)
    assert middle == ((4, 23) if heads_across else (23, 4))
    assert [note["text"] for note in layout["annotations"]].count("L23H4") == 1
    plain = client.get("/export/figure.json").json()["layout"]
    assert [shape for shape in plain["shapes"] if "fillcolor" not in shape] == []


def test_reproduce_computes_the_view_again(catalogue, tmp_path):
    """The script runs and finds the heads that the view shows."""
    view = open_view(catalogue, "?kind=promote&tau=0.3")
    (tmp_path / "reproduce.py").write_text(reproduce(view))
    done = subprocess.run(
        [sys.executable, "reproduce.py"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    for panel in view.panels[1:]:
        assert f"{panel.key}: {panel.count} heads above 0.3" in done.stdout


@pytest.mark.parametrize(
    "wanted", ["labels=beyond&top=20", "how=always&labels=beyond&tau=0.02", "labels=beyond&carriers=some"]
)
def test_reproduce_applies_the_filter(catalogue, tmp_path, wanted):
    """On the stored scores the program finds the heads beyond copying that the view shows."""
    view = open_view(catalogue, f"?basis=running&{wanted}")
    (tmp_path / "scores.parquet").write_bytes(view.results["running"].to_parquet())
    script = reproduce(view).replace("subprocess.run(", "print(")
    (tmp_path / "reproduce.py").write_text(script.replace(", check=True", ""))
    done = subprocess.run(
        [sys.executable, "reproduce.py"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    without = open_view(catalogue, f"?basis=running&{wanted.replace('labels=beyond', 'labels=all')}")
    assert [panel.count for panel in view.panels] != [panel.count for panel in without.panels]
    for panel in view.panels[1:]:
        assert f"{panel.key}: {panel.count} heads above {panel_tau(view)}, beyond copying" in done.stdout


def panel_tau(view):
    """The τ of a view's function map."""
    return view.state.of(FunctionState).tau


@pytest.mark.parametrize("name", ["a\nimport os", "a'''b", 'a"""\r\u2028b', "{title}", "a\\"])
def test_reproduce_is_a_script_whatever_a_relation_is_called(name):
    """The name of somebody's own relation stays a text in it."""
    scores = odd_scores()
    first, *others = scores.provenance.items
    items = (replace(first, name=name, title=name), *others)
    names = [item.name for item in items]
    arrays = [array.assign_coords(item=names) for array in (scores.score, scores.hits, scores.missing)]
    renamed = Scores(*arrays, replace(scores.provenance, items=items))
    script = ast.parse(reproduce(view_of(renamed)))
    imports = {node.names[0].name for node in ast.walk(script) if isinstance(node, ast.Import)}
    assert imports == {"json", "subprocess", "sys", "pandas", "pyarrow.parquet"}
    assert f"{name}.csv" in {node.value for node in ast.walk(script) if isinstance(node, ast.Constant)}


@pytest.mark.parametrize("name", ["view.csv", "scores.parquet", "page.html", "reproduce.py", "figure.json"])
def test_bad_addresses_are_answered(client, name):
    """An unknown model or a hostile query gives the default model's file, not an error."""
    assert client.get(f"/export/{name}?model=../../etc/passwd&tau=%00&pin=<script>").status_code == 200


def test_what_is_not_there_cannot_be_taken_away(server, store):
    """A model without the map on the page: 404 in words for its numbers, and a picture that says so."""
    card = replace(odd_scores().provenance.model, id="gates-only", fingerprint="0" * 64)
    store.put("result/only/causal/0", causal_scores_of(card).to_parquet())
    client = TestClient(server, base_url="http://localhost")
    for name in ("view.csv", "scores.parquet", "reproduce.py"):
        answer = client.get(f"/export/{name}?model=gates-only")
        assert (answer.status_code, answer.text) == (404, "There is no function map of gates-only here.")
    layout = client.get("/export/figure.json?model=gates-only").json()["layout"]
    assert "not computed" in {note["text"] for note in layout["annotations"]}
