import io
import json
import subprocess
import sys
from dataclasses import asdict, replace

import pandas as pd
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from analysis.evidence import catalogue as catalogue_module
from analysis.evidence.shipped import shipped
from analysis.methods.causal.commands import fit_command
from analysis.methods.causal.method import CausalMethod
from analysis.methods.causal.result import CONTRAST, HEAD_ROLES, Untouched
from analysis.methods.causal.settings import GateSettings
from analysis.models import builtin as default_model
from analysis.results.merging import only
from analysis.results.provenance import ScoredItem
from analysis.results.scores import Missing
from dashboard.maps import MAPS
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import reduced
from dashboard.maps.causal.state import CausalState
from dashboard.maps.causal.tasks import tasks
from dashboard.page import callbacks, ids
from dashboard.page.layout import page
from dashboard.view import open_view
from dashboard.web.exports import reproduce, scores_frame
from tests.dashboard.made import catalogue_of, rows_of
from tests.dashboard.test_callbacks import SCREEN, painted, text
from tests.dashboard.test_causal_panels import CARD, small
from tests.synthetic import BIG, HOSTILE, ODD, causal_scores_of, odd_scores


def causal(model, extra=""):
    return f"?model={model}&view=causal{extra}"


def test_an_address_restores_the_causal_view(catalogue):
    """Every control says what the address says; defaults stay out of the address."""
    found = painted(catalogue, causal(ODD, "&tasks=syntax&columns=any&gates=facilitation&seed=3&role=0.7&pin=L3H2"))
    controls = found["controls"]
    names = ("view", "tasks", "columns", "gates", "seed", "role")
    assert [controls[name] for name in names] == ["causal", ["syntax"], "any", "facilitation", "3", 0.7]
    assert found["query"].endswith("&tasks=syntax&columns=any&gates=facilitation&seed=3&role=0.7")
    assert [name for name, hidden in found["hidden_groups"].items() if not hidden] == ["causal"]
    default = painted(catalogue, causal(ODD, "&tasks=math,syntax&role=0.5"))
    assert "tasks" not in default["query"]
    assert "role" not in default["query"]
    assert default["controls"]["tasks"] == ["math", "syntax"]


@pytest.mark.parametrize(("part", "word"), [("&tasks=chess", "chess"), ("&seed=77", "77")])
def test_tasks_and_seeds_that_are_not_there_are_said(catalogue, part, word):
    """A notice and a sane view."""
    view = open_view(catalogue, causal(ODD, part))
    assert word in view.notices[0]
    assert len(view.panels) == 4


def test_a_model_without_gates_says_how_to_get_them(catalogue, monkeypatch):
    """A calm page with the command, not an error; the inspector still works."""
    others = [result for result in shipped() if result.scores.provenance.method != "causal"]
    monkeypatch.setattr(catalogue_module, "shipped", lambda: others)
    found = callbacks.describe(catalogue, "?view=causal", SCREEN, None)
    assert "python -m analysis gates smollm2-135m-instruct" in text(found["empty"])
    cards = [ids.card(key) for key in found["sections"]]
    assert all(found["hidden"][name] for name in (ids.FRAME, *cards))
    assert not found["hidden"][ids.EMPTY]
    assert painted(catalogue, "?view=causal")["heads"]["panels"]
    assert callbacks.inspect(catalogue, ["L1H1"], "?view=causal", SCREEN)


def test_a_model_that_has_only_gates_is_listed_and_opened(store):
    """The function view says that there is no such map, the table has the gates."""
    store.put("result/only/causal/0", causal_scores_of(odd_scores().provenance.model).to_parquet())
    catalogue = catalogue_of(store)
    assert ODD in [card.id for card in catalogue.models()]
    for view in ("causal", "function", "table"):
        query = f"?model={ODD}&view={view}"
        assert painted(catalogue, query)["heads"]["panels"]
        assert callbacks.describe(catalogue, query, SCREEN, None)
        assert "Gates" in text(callbacks.inspect(catalogue, ["L1H0"], query, SCREEN))


def test_tasks_of_several_results_stand_in_one_map(store):
    """Math with five seeds and Syntax with three; a shorter fit of a task does not take the place of a longer one."""
    card = odd_scores().provenance.model
    for seeds, task, date in ((5, "math", "2026-01-01"), (3, "syntax", "2026-01-02")):
        part = only(causal_scores_of(card, seeds), [task])
        part = replace(part, provenance=replace(part.provenance, date=date))
        store.put(f"result/{task}/causal/0", part.to_parquet())
    both = catalogue_of(store).result(card, "causal")
    assert [item.name for item in both.provenance.items] == ["math", "syntax"]
    assert both.score.sel(item="syntax", sample="seed 4").isnull().all()
    assert reduced(both, "syntax", "always") is not None
    short = only(causal_scores_of(card, 2), ["math"])
    facts = replace(short.provenance, settings={**short.provenance.settings, "free_updates": 7}, date="2999-01-01")
    store.put("result/short/causal/0", replace(short, provenance=facts).to_parquet())
    kept = catalogue_of(store).result(card, "causal")
    assert not kept.score.sel(item="math", sample="seed 4").isnull().any()
    words = "Math: 7+260 updates with batch size 16, 2 seeds, 2999-01-01"
    assert kept.item("math").besides == (words,)
    seen = text(callbacks.describe(catalogue_of(store), causal(card.id), SCREEN, None)["sections"]["facts"])
    assert f"Other fits, which can be chosen under Fit: {words}" in seen
    name = CausalMethod().choice(facts)
    assert catalogue_of(store).choices(card, "causal")[name] == words
    chosen = open_view(catalogue_of(store), causal(card.id, f"&fit={name}"))
    assert chosen.results["causal"].provenance.settings["free_updates"] == 7
    assert not chosen.results["causal"].score.sel(item="syntax").isnull().all()
    assert f"fit={name}" in chosen.query
    unknown = open_view(catalogue_of(store), causal(card.id, "&fit=0123abcd"))
    assert (unknown.state.of(CausalState).fit, len(unknown.notices)) == ("", 1)
    frame = scores_frame(kept)
    assert set(frame[frame["item"] == "syntax"]["seeds"]) == {3}
    assert set(frame[frame["item"] == "math"]["updates"]) == {"120+260"}
    assert set(frame["rates"]) == {"1 0.1 0.5 0.1"}


def test_a_running_fit_is_seen_although_a_longer_one_is_there(store):
    """From its first seed on."""
    card = odd_scores().provenance.model
    store.put("result/long/causal/0", causal_scores_of(card).to_parquet())
    short = causal_scores_of(card, 2)
    missing = short.missing.copy()
    missing[:, :, 1] = int(Missing.RUNNING)
    facts = replace(short.provenance, settings={**short.provenance.settings, "free_updates": 7})
    running = replace(short, missing=missing, score=short.score.where(missing == 0), provenance=facts)
    store.put("result/short/causal/0", running.to_parquet())
    assert catalogue_of(store).result(card, "causal").provenance.settings["free_updates"] == 7


def test_a_card_shows_the_gates_of_every_seed_in_both_views(catalogue):
    """Dots, scores, places, effect and preview; the function map's relations stay beside them."""
    for view in ("function", "causal"):
        content = text(callbacks.inspect(catalogue, ["L1H0"], f"?model={ODD}&view={view}", SCREEN))
        for expected in (
            "Gates of Math: seed 0: G⁻",
            "rank of 16",
            "Switching it off",
            "Preview (first-order)",
            "Relation",
        ):
            assert expected in content
        assert HOSTILE.replace(" ", "␣") in content


def test_what_stands_below_the_map(catalogue):
    """Accuracy by kind, shares, the preview's rank correlation in words, validation and loss curves."""
    found = callbacks.describe(catalogue, causal(ODD), SCREEN, None)
    sections = found["sections"]
    facts = text(sections["facts"])
    for expected in ("50 %", "By kind", "+0.40 with “needs it” (F) and −0.30 with “hurts it” (N)", "5 seeds"):
        assert expected in facts
    assert len(sections["validation"]["data"]) == 6
    assert len(sections["losses"]["data"]) == 2 * 3 * 5
    assert not any(found["hidden"][ids.card(key)] for key in ("facts", "validation", "losses"))
    assert found["hidden"][ids.card("counts")]
    heads = painted(catalogue, causal(ODD))["heads"]
    assert "blue means that the task " in text(heads["sentence"])
    assert "both" in text(heads["legend"])
    assert [table["caption"] for table in heads["shares"]] == ["heads scoring at least 0.5"] * 2


def test_a_task_that_the_model_can_hardly_do_is_flagged(store):
    """Its gates mean little, and the page says so."""
    store.put("result/flagged/causal/0", small(untouched=Untouched(accuracy=0.01, nll=5.0, flagged=True)).to_parquet())
    content = text(callbacks.describe(catalogue_of(store), causal(CARD.id), SCREEN, None)["sections"]["facts"])
    assert "can hardly do this task" in content


def test_the_browser_gets_four_panels_of_a_big_model_at_once(catalogue):
    """Looks and words of 80 × 64 heads, and where the numbers behind them are."""
    heads = painted(catalogue, causal(BIG))["heads"]
    assert len(heads["panels"]) == 4
    assert heads["numbers"].startswith("/view/numbers/")
    assert (heads["across"], heads["layersUpward"]) == (False, True)
    assert len(json.dumps(heads)) < 300_000  # before compression


def test_moving_the_threshold_leaves_the_controls_alone(catalogue):
    """Only the map travels."""
    controls = {"model": ODD, "view": "causal", "tasks": ["math", "syntax"], "role": 0.9, "seed": ""}
    found = painted(catalogue, "", {"role.value"}, controls)
    assert all(value is callbacks.no_update for value in found["controls"].values())
    assert "&view=causal&" in found["query"]
    assert found["query"].endswith("&role=0.9")


def test_moving_the_threshold_draws_no_curve_again(catalogue):
    """They do not depend on it, nor on the palette, which the scripts follow; another task draws them again."""
    first = callbacks.describe(catalogue, causal(ODD), SCREEN, None)
    moved = callbacks.describe(catalogue, causal(ODD, "&role=0.9"), SCREEN, None, first["sent"])
    assert (
        moved["sections"]["facts"]
        is moved["sections"]["validation"]
        is moved["sections"]["losses"]
        is callbacks.no_update
    )
    other = callbacks.describe(catalogue, causal(ODD, "&tasks=math"), SCREEN, None, first["sent"])
    assert other["sections"]["validation"]["data"]


@pytest.mark.parametrize(
    ("correlation", "words"),
    [(0.1, "hardly predicts them"), (-0.5, "is a weak predictor of them"), (0.9, "predicts them well")],
)
def test_how_well_the_preview_predicts_is_said_in_english(monkeypatch, correlation, words):
    """By the stronger of its correlations with the fitted gates."""
    monkeypatch.setattr(evidence, "agreement", lambda causal, task: {"facilitation": correlation, "interference": 0.0})
    assert f"; it {words}." in text(tasks(small(), CausalState()))


def test_a_choice_of_one_fit_is_hidden(catalogue, monkeypatch):
    """With two it is there."""
    assert painted(catalogue, causal(ODD))["hidden_controls"]["fit"]
    monkeypatch.setattr(callbacks, "choices_of", lambda *_: {"a": "one fit", "b": "another"})
    assert not painted(catalogue, causal(ODD))["hidden_controls"]["fit"]


def test_the_page_links_to_the_papers_of_both_maps():
    """Whichever map is on the page: beside its first sentence, under the map's settings, in the help."""
    words = str(page())
    assert [words.count(f"href='{each.paper.address}'") for each in MAPS if each.paper is not None] == [3, 3]


def test_the_table_has_the_gates_too(catalogue):
    """Roles, scores, effect and preview under each task's name."""
    found = callbacks.describe(catalogue, f"?model={ODD}&view=table", SCREEN, None)
    groups = {column["headerName"]: column for column in found["table"]["columns"]}
    for title in ("Causal map: Math", "Causal map: Syntax"):
        names = {column["headerName"] for column in groups[title]["children"]}
        assert {"Role", "Needs it (F), any", "Hurts it (N), always", "Effect", "Preview"} <= names
        assert all(column["written"]["digits"] == 2 for column in groups[title]["children"][1:])
    row = rows_of(found["table"])[0]
    roles = reduced(catalogue.result(odd_scores().provenance.model, "causal"), "math", "any")
    assert row["task.facilitation.any.math"] == pytest.approx(roles[0][0, 0], abs=1e-4)
    assert isinstance(row["task.effect.syntax"], float)


def test_downloads_of_the_causal_map(server, catalogue):
    """CSV, Parquet, page and figure have its numbers and its source."""
    client = TestClient(server, base_url="http://localhost")
    frame = pd.read_csv(io.BytesIO(client.get(f"/export/view.csv{causal(ODD)}").content))
    assert set(frame["sample"]) == {"always", "any"}
    assert set(frame["kind"]) == set(HEAD_ROLES)
    scores = catalogue.result(odd_scores().provenance.model, "causal")
    mine = frame[(frame["item"] == "math") & (frame["sample"] == "any") & (frame["kind"] == "interference")]
    assert mine["score"].to_numpy() == pytest.approx(reduced(scores, "math", "any")[1].ravel())
    assert set(frame["task_hash"]) == {item.hash for item in scores.provenance.items}
    everything = pd.read_csv(io.BytesIO(client.get(f"/export/scores.csv{causal(ODD)}").content))
    assert len(everything) == scores.score.size
    table = pq.read_table(io.BytesIO(client.get(f"/export/view.parquet{causal(ODD, '&gates=preview')}").content))
    assert set(table["kind"].to_pylist()) == {"preview"}
    assert json.loads(table.schema.metadata[b"head-atlas"])["method"] == "causal"
    figure = client.get(f"/export/figure.json{causal(ODD)}").json()
    names = {str(trace.get("name")) for trace in figure["data"]}
    assert any(name.startswith("needs it") for name in names)
    assert any(name.startswith("hurts it") for name in names)
    assert "5 seeds" in " ".join(note["text"] for note in figure["layout"]["annotations"])
    assert '"method": "causal"' in client.get(f"/export/page.html{causal(ODD)}").text


def test_the_preview_has_the_members_of_its_map_and_no_threshold(server, catalogue):
    """A gradient near 0 counts neither on the map nor in its table."""
    client = TestClient(server, base_url="http://localhost")
    frame = pd.read_csv(io.BytesIO(client.get("/export/view.csv?view=causal&gates=preview").content))
    panels = open_view(catalogue, "?view=causal&gates=preview").panels
    assert frame["member"].sum() == sum(panel.member.sum() for panel in panels)
    assert frame["member"].sum() < (frame["score"] < 0).sum()
    assert "threshold" not in frame


def test_all_scores_are_all_however_few_seeds_are_shown(server):
    """The first two of three seeds on the page, three in the file."""
    client = TestClient(server, base_url="http://localhost")
    all_seeds = client.get("/export/scores.csv?view=causal").content
    assert client.get("/export/scores.csv?view=causal&seed=first2").content == all_seeds
    assert len(set(pd.read_csv(io.BytesIO(all_seeds))["sample"])) > 2


def test_reproduce_names_the_command(catalogue, tmp_path):
    """The script is Python and asks for each task as it was fitted; pairs that were contrasted are contrasted again."""
    script = reproduce(open_view(catalogue, causal(ODD)))
    rates = ["--rates", "1.0", "0.1", "0.5", "0.1"]
    numbers = ["--updates", "120", "260", *rates, "--seeds", "5", "--batch", "16", "--push", "0.1", "--clip", "1.0"]
    assert repr([["gates", ODD, "--tasks", name, *numbers] for name in ("math", "syntax")]) in script
    settings = {**asdict(GateSettings.published()), "seeds": 1}
    command = fit_command(odd_scores().provenance.model, ScoredItem("pairs", "Pairs", CONTRAST.name), settings)
    assert command[:6] == ["contrast", ODD, "pairs.jsonl", "--updates", "500", "500"]
    (tmp_path / "reproduce.py").write_text(script)
    subprocess.run([sys.executable, "-m", "py_compile", "reproduce.py"], cwd=tmp_path, check=True)


def test_function_results_are_never_taken_for_gates(catalogue):
    """A model's two maps are kept apart."""
    methods = [result.scores.provenance.method for result in shipped()]
    names = list(dict.fromkeys(methods))
    assert names == ["function", "running", "context", "salience", "behaviour", "causal", "ablation"]
    assert [methods.count(name) for name in ("function", "running", "behaviour", "causal")] == [3, 3, 3, 1]
    assert catalogue.result(catalogue.card(default_model.ID), "function").provenance.method == "function"
    assert catalogue.result(odd_scores().provenance.model, "causal").provenance.method == "causal"
