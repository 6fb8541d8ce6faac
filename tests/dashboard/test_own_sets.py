"""Relations that people bring: a set of its own, which changes no view that does not ask for it."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from analysis.data.relations import OWN
from analysis.evidence.shipped import shipped_scores
from analysis.jobs.engine import Engine, WorkerConfig
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.models import builtin as default_model
from analysis.results.own_sets import PAIRS, found_set, set_id
from analysis.results.scores import Scores
from dashboard.access import Access
from dashboard.addresses import CompareState, compare_address
from dashboard.maps.agreement.scatter import address
from dashboard.maps.agreement.sides import comparisons_of
from dashboard.maps.function.state import FunctionState
from dashboard.maps.legend import legend
from dashboard.page import callbacks, hover
from dashboard.view import open_view
from dashboard.web.application import create_app
from dashboard.web.comparison import choices_of
from dashboard.web.exports import reproduce, scores_frame, view_frame
from tests.computing import asked
from tests.dashboard.made import catalogue_of
from tests.dashboard.test_callbacks import SCREEN
from tests.test_plan import RELATION

PAIRS_OF = {"mine": [["cat", "kitten"], ["dog", "puppy"]], "other": [["a", "b"]]}


def with_own(name="mine", digest="1" * 16, builtin=True, date="2999-01-01T00:00:00Z") -> Scores:
    """The default model's map as a later job would compute it, with one relation of somebody's own."""
    real = shipped_scores("function")
    first = real.provenance.items[0]
    own = replace(first, name=name, title=name, category=OWN, hash=digest, applicable=True)
    keep = [item.name for item in real.provenance.items] if builtin else []
    items = (*(item for item in real.provenance.items if builtin), own)

    def joined(array):
        place = {"item": [*range(len(keep)), 0]}
        return array.isel(place).assign_coords(item=[*keep, name])

    arrays = [joined(getattr(real, each)) for each in ("score", "hits", "missing")]
    parts = {each: joined(part) for each, part in real.parts.items()}
    facts = replace(real.provenance, items=items, date=date)
    return Scores(*arrays, facts, parts, {name: {PAIRS: PAIRS_OF.get(name, [])}})


def put(store, scores, key="0") -> str:
    """Store a result as a finished job would; gives the id of its set."""
    facts = scores.provenance
    store.put(f"result/{facts.model.fingerprint}/function/{key}", scores.to_parquet())
    return set_id((item.name, item.hash) for item in facts.items if item.category == OWN)


def test_a_set_has_one_name_whichever_models_have_it(store):
    """The name that it was given first, also on a model whose own result called it something else."""
    first, second = with_own(date="2998-01-01T00:00:00Z"), with_own()
    other = replace(second.provenance.model, id="org/other", fingerprint="ab" * 32)
    for scores, name, model in ((first, "pets", first.provenance.model), (second, "animals", other)):
        facts = scores.provenance
        named = replace(facts, model=model, settings={**facts.settings, "set": name})
        put(store, replace(scores, provenance=named))
    catalogue = catalogue_of(store)
    for model in (None, first.provenance.model, other):
        (found,) = catalogue.sets(model)
        assert (found.name, found.models) == ("pets", (first.provenance.model.id, "org/other"))


@pytest.fixture
def before(store):
    """What the default view is made of when nobody brought anything."""
    return taken(catalogue_of(store))


def offered(catalogue):
    """What the pickers of the default view offer."""
    return callbacks.choices(catalogue, open_view(catalogue, ""))


def taken(catalogue, query=""):
    """All that a link stands for: panels, counts, words, table, script and exports."""
    view = open_view(catalogue, query)
    page = callbacks.describe(catalogue, view.query or "?view=table", SCREEN, None)
    return {
        "panels": [(panel.key, panel.title, panel.count, panel.value.tolist()) for panel in view.panels],
        "told": json.dumps(hover.packed(view, False)),
        "words": str([page[name] for name in ("warning", "empty")]),
        "absent": str(page["sections"]["absent"]),
        "table": page["table"],
        "script": reproduce(view),
        "csv": view_frame(view).to_csv(),
        "all": scores_frame(view.map.everything(view.shown)).to_csv(),
        "query": view.query,
        "notices": view.notices,
    }


def test_an_upload_changes_no_link_that_does_not_ask_for_it(store, before):
    """Panels, counts, footers, table, script and exports of the default view stay what they were, to the byte."""
    put(store, with_own())
    put(store, with_own("other", builtin=False), "1")
    catalogue = catalogue_of(store)
    assert taken(catalogue) == before
    relations = [each for group in offered(catalogue)["relation"][1:] for each in group["items"]]
    assert "mine" not in {each["value"] for each in relations}


def test_a_view_chooses_a_set_and_its_link_names_it(store):
    """By name or id; the link has both, the panel and the relation are there, and another set is not."""
    mine, other = put(store, with_own()), put(store, with_own("other", builtin=False), "1")
    catalogue = catalogue_of(store)
    view = open_view(catalogue, "?own=mine")
    assert view.query.endswith(f"&own=mine@{mine}")
    assert [panel.key for panel in view.panels][-1] == OWN
    assert [item.name for item in view.results["function"].provenance.items][-1] == "mine"
    for text in (mine, f"whatever@{mine}", view.query.partition("own=")[2]):
        assert open_view(catalogue, f"?own={text}").state == view.state
    (item,) = [
        item for item in open_view(catalogue, f"?own={other}").shown.result.provenance.items if item.category == OWN
    ]
    assert item.name == "other"
    (notice,) = open_view(catalogue, "?own=nobody").notices
    assert "no relations 'nobody'" in notice


def test_the_legend_leads_to_the_heads_of_the_set(store):
    """Its link names the set, without which a search knows nothing of it; the scripts are told the same set."""
    mine = put(store, with_own())
    catalogue = catalogue_of(store)
    view = open_view(catalogue, f"?own={mine}")
    address = f"/search?model=smollm2-135m-instruct@{view.card.fingerprint[:8]}&own={mine}&q=Custom"
    drawn = {piece.children[-1]: piece for piece in legend(view.shown, False)}
    assert drawn["Custom"].href == address
    assert hover.packed(view, False)["own"] == mine
    assert hover.packed(open_view(catalogue, "?own=none"), False)["own"] == ""
    page = TestClient(create_app(catalogue, Engine(store), Access(local=True)), base_url="http://localhost").get(
        address
    )
    assert "mine" in page.text
    assert "No head was found" not in page.text


def test_a_link_of_before_to_a_relation_of_ones_own_still_opens(store):
    """It finds the set of the relation; a person who chooses no set gets none."""
    mine = put(store, with_own())
    catalogue = catalogue_of(store)
    view = open_view(catalogue, "?relation=mine")
    assert (view.state.of(FunctionState).own, view.notices) == (f"mine@{mine}", ())
    assert [panel.key for panel in view.panels] == ["mine"]
    without = open_view(catalogue, "?relation=mine&own=none")
    assert "no scores for 'mine'" in without.notices[0]
    assert without.state.of(FunctionState).own == ""


def test_two_sets_may_have_a_relation_of_one_name(store):
    """Each view shows the scores of its own."""
    first = with_own()
    second = with_own(digest="2" * 16)
    changed = second.score.copy()
    changed.loc[{"item": "mine"}] = 0.5
    second = replace(second, score=changed)
    one, two = put(store, first), put(store, second, "1")
    catalogue = catalogue_of(store)
    values = [open_view(catalogue, f"?own={key}&relation=mine").panels[0].value for key in (one, two)]
    assert (values[0] != 0.5).any()
    assert (values[1] == 0.5).all()


def test_a_model_with_nothing_else_is_shown_by_its_first_set(store):
    """So that its map is not empty; a later set does not take its place."""
    card = replace(shipped_scores("function").provenance.model, id="only-own", fingerprint="e" * 64)
    for key, name, date in (("0", "mine", "2026-01-01"), ("1", "other", "2026-02-01")):
        scores = with_own(name, builtin=False, date=date)
        put(store, replace(scores, provenance=replace(scores.provenance, model=card)), key)
    view = open_view(catalogue_of(store), "?model=only-own")
    assert view.state.of(FunctionState).own.startswith("mine@")
    assert [panel.key for panel in view.panels] == ["all", OWN]


def test_a_set_is_renamed_and_hidden_and_its_links_still_open(store):
    """The id decides; a hidden set is offered no more."""
    mine = put(store, with_own())
    catalogue = catalogue_of(store)
    catalogue.change_set(catalogue.own_set("mine"), name="animals")
    assert open_view(catalogue, f"?own=mine@{mine}").query.endswith(f"own=animals@{mine}")
    assert [each["label"] for each in offered(catalogue)["own"]] == ["None", "animals"]
    catalogue.change_set(catalogue.own_set(mine), hidden=True)
    assert [each["label"] for each in offered(catalogue)["own"]] == ["None"]
    assert open_view(catalogue, f"?own={mine}").notices == ()


def test_the_api_tells_own_relations_only_when_asked(store):
    """Scores and heads."""
    put(store, with_own())
    client = TestClient(create_app(catalogue_of(store), Engine(store), Access(local=True)), base_url="http://localhost")
    plain = pd.read_csv(io.StringIO(client.get("/api/scores.csv").text))
    own = pd.read_csv(io.StringIO(client.get("/api/scores.csv?own=mine").text))
    assert "mine" not in set(plain["item"])
    assert set(own["item"]) - set(plain["item"]) == {"mine"}
    heads = [client.get(f"/api/head?head=L23H4{more}").json() for more in ("", "&own=mine")]
    assert len(heads[1]["relations"]) == len(heads[0]["relations"]) + 1
    assert client.get("/api/scores?own=nobody").status_code == 422


def test_sets_are_looked_after_over_the_api(store):
    """Listed, renamed, hidden, downloaded, deleted; the built-in scores of the same result stay."""
    mine = put(store, with_own())
    catalogue = catalogue_of(store)
    client = TestClient(create_app(catalogue, Engine(store), Access(local=True)), base_url="http://localhost")
    (listed,) = client.get("/api/sets").json()
    assert (listed["id"], listed["name"], listed["models"]) == (mine, "mine", [default_model.ID])
    assert client.patch(f"/api/sets/{mine}", json={"name": "animals", "hidden": True}).json()["name"] == "animals"
    assert client.get("/api/sets").json()[0]["hidden"]
    refused = client.patch(f"/api/sets/{mine}", json={"name": "a@b"})
    assert refused.status_code == 422
    pairs = client.get(f"/api/sets/{mine}/mine.csv")
    assert pairs.text.splitlines() == ["source,target", "cat,kitten", "dog,puppy"]
    assert client.get(f"/api/sets/{mine}/nothing.csv").status_code == 404
    assert client.delete(f"/api/sets/{mine}").status_code == 200
    assert client.get("/api/sets").json() == []
    assert found_set(catalogue.sets(), mine) is None
    items = [scores.provenance.items for scores in catalogue._of(catalogue.card(default_model.ID), "function")]
    assert all(item.category != OWN for of_result in items for item in of_result)


def test_a_deleted_set_leaves_nothing_of_its_jobs(store):
    """The request holds the pairs; the model's card and what was ordered go with it."""
    put(store, with_own(RELATION.name, RELATION.hash))
    request, catalogue = asked("small", "function", relations=(RELATION,)), catalogue_of(store)
    card = catalogue.card(default_model.ID)
    job = Job.of(request).at(state="done", fingerprint=card.fingerprint)
    journal = Journal(store)
    journal.add(job, request)
    journal.save_card(job, card)
    journal.give_order(job.id, "again")
    catalogue.delete_set(catalogue.sets()[0])
    assert [name for name in store.names() if job.id in name] == []


def test_files_of_too_few_pairs_and_unknown_models_are_refused_at_once(store, tiny_folder):
    """With the count of usable pairs, by the model's own tokens where they are at hand; nothing is stored."""
    engine = Engine(store, WorkerConfig(models=tiny_folder.parent))
    client = TestClient(create_app(catalogue_of(store), engine, Access(local=True)), base_url="http://localhost")
    names = [f"w{i},w{i + 50}" for i in range(29)]
    tokens = "\n".join([*names, *(f"not a token {i},w{i}" for i in range(10))])
    for model, content, told in (
        (tiny_folder.name, "a,b\nc,d", "mine.csv: it has 2 pairs, and 30 are needed"),
        (tiny_folder.name, tokens, "mine.csv: 29 of 39 pairs have source and target of one token, and 30 are needed"),
    ):
        body = {"model": model, "methods": ["function"], "files": [{"name": "mine.csv", "content": content}]}
        answer = client.post("/api/jobs", json=body)
        assert (answer.status_code, answer.json()["message"]) == (422, told)
    unknown = client.post("/api/jobs", json={"model": "org/nothing-of-that-name"})
    assert (unknown.status_code, unknown.json()["error"]) == (404, "ModelNotFound")
    assert "org/nothing-of-that-name" in unknown.json()["message"]
    assert list(store.names()) == []
    many = "\n".join([*names, "w60,w61"])
    body = {"model": tiny_folder.name, "methods": ["function"], "files": [{"name": "mine.csv", "content": many}]}
    assert client.post("/api/jobs", json=body).status_code == 202


def compared(catalogue, **asked):
    """What the page that compares numbers offers and shows."""
    return choices_of(catalogue, CompareState(**asked), ())


def test_a_comparison_has_the_numbers_of_a_set_where_it_is_asked_for(store):
    """On both sides, in its address by name and id; without it nothing is different."""
    before = compared(catalogue_of(store))
    mine = put(store, with_own())
    catalogue = catalogue_of(store)
    plain = compared(catalogue)
    assert (plain.of_a, plain.chosen) == (before.of_a, before.chosen)
    assert [one.name for one in plain.sets] == ["mine"]
    choices = compared(catalogue, own="mine", x="function/mine/promote", y="running/any/strength")
    assert {each.key for each in choices.of_a} - {each.key for each in plain.of_a} >= {"function/mine/promote"}
    assert f"&own=mine@{mine}&x=function/mine/promote&" in compare_address(choices.chosen)
    assert (choices.own, choices.notices) == ({"x": mine, "y": mine}, ())
    assert compared(catalogue, own=f"renamed@{mine}").chosen.own == f"mine@{mine}"
    catalogue.change_set(catalogue.own_set(mine), hidden=True)
    assert compared(catalogue).sets == ()
    assert [one.id for one in compared(catalogue, own=mine).sets] == [mine]


def test_a_comparison_says_which_of_its_models_does_not_have_a_set(store):
    """It is shown by its built-in relations; so is every model where nobody has the set."""
    mine = put(store, with_own())
    catalogue = catalogue_of(store)
    one = compared(catalogue, own=mine, b="gemma-3-270m")
    assert (one.own, one.chosen.own) == ({"x": mine, "y": ""}, f"mine@{mine}")
    assert one.notices == (f"gemma-3-270m has no relations '{mine}' here; the built-in ones are shown.",)
    nobody = compared(catalogue, own="nobody")
    assert (nobody.chosen.own, len(nobody.notices)) == ("", 1)


def test_the_numbers_of_a_set_are_had_over_the_api(store):
    """Listed, read, searched and held against causes only where the set is asked for, by name or id."""
    mine = put(store, with_own())
    client = TestClient(create_app(catalogue_of(store), Engine(store), Access(local=True)), base_url="http://localhost")
    key = "function/mine/promote"
    for own in ("mine", mine, f"mine@{mine}"):
        listed = client.get("/api/quantities", params={"own": own}).json()["quantities"]
        assert key in [each["key"] for each in listed]
        told = client.get("/api/quantity", params={"own": own, "key": key}).json()
        expected = with_own().score.sel(item="mine", kind="promote", sample="all").values
        assert np.array(told["values"]) == pytest.approx(expected, abs=1e-6)
    assert key not in [each["key"] for each in client.get("/api/quantities").json()["quantities"]]
    assert client.get("/api/quantity", params={"key": key}).status_code == 422
    for path in ("quantities", "search?q=mine", "agreement", "matches", f"quantity?key={key}"):
        joined = "&" if "?" in path else "?"
        assert client.get(f"/api/{path}{joined}own=nobody").status_code == 422
    items = []
    for own in ("", "mine"):
        answers = client.get("/api/search", params={"q": "mine", "own": own}).json()["answers"]
        items.append({finding["item"] for answer in answers for finding in answer["findings"]})
    assert ["mine" in each for each in items] == [False, True]


def test_the_agreement_map_leads_to_a_comparison_with_the_set_of_its_labels(store):
    """The numbers behind its points are those of the page that it leads to."""
    mine = put(store, with_own())
    view = open_view(catalogue_of(store), f"?view=agreement&what=function&own={mine}")
    (first, *_) = comparisons_of(view.shown, "mean", "all")
    assert f"own=mine@{mine}" in address(view.shown, first)
    assert hover.packed(view, False)["own"] == mine
    without = open_view(catalogue_of(store), "?view=agreement&what=function")
    assert "own=" not in address(without.shown, first)
