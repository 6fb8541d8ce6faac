"""Models and jobs: one row per model, links that lead to what was asked, deleting, trial fits."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from analysis.data.relations import builtin
from analysis.evidence.shipped import shipped_scores
from analysis.jobs.engine import Engine
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.methods import method
from analysis.models import builtin as default_model
from analysis.models.checkpoint import Checkpoint
from dashboard.access import Access
from dashboard.jobs import job_state
from dashboard.maps import map_of
from dashboard.page import callbacks
from dashboard.page.form import form
from dashboard.page.workshop import job_list
from dashboard.view import open_view
from dashboard.web.application import create_app
from tests.computing import asked, relation_file
from tests.dashboard.made import map_view
from tests.dashboard.test_callbacks import text
from tests.dashboard.test_own_sets import put, with_own
from tests.synthetic import BIG, ODD, causal_scores_of
from tests.test_plan import RELATION


def rows(catalogue, read_only=False):
    """The rows of the list of models, and what stands below it."""
    table, *others = callbacks.list_jobs(catalogue, None, read_only, list)["models"]
    return table.children.children[1].children, others


def test_a_model_has_one_row_with_a_link_to_each_map(catalogue):
    """Several results of a model stand in it; only what does not come with the project can be deleted."""
    listed, _ = rows(catalogue)
    names = [row.children[0].children.children for row in listed]
    assert len(names) == len(set(names))
    assert {BIG, ODD, default_model.ID} <= set(names)
    told = {name: text(row) for name, row in zip(names, listed, strict=True)}
    assert "view=causal" in told[ODD]
    assert "data-erase" in told[ODD]
    assert "data-erase" not in told[default_model.ID]
    assert not any("data-erase" in text(row) for row in rows(catalogue, read_only=True)[0])


def test_a_result_that_was_computed_again_is_listed_once(catalogue, store):
    """The one that comes with the project and an equal one in the store have one link."""
    put(store, shipped_scores("function"))
    links = []
    for row in rows(catalogue)[0]:
        if row.children[0].children.children == default_model.ID:
            links += [text(link) for link in row.children[1].children]
    assert len(links) > 1
    assert len(links) == len(set(links))


def test_the_results_of_a_model_are_deleted(catalogue, server, store):
    """By fingerprint; what ships stays, what is being analysed is refused, viewers may not."""
    client = TestClient(server, base_url="http://localhost")
    fingerprint = catalogue.card(ODD).fingerprint
    job = Job.of(asked(ODD, "causal")).at(fingerprint=fingerprint, state="running")
    Journal(store).save(job)
    refused = client.delete(f"/api/models/{fingerprint}")
    assert (refused.status_code, refused.json()["message"]) == (422, f"{ODD} is being analysed")
    Journal(store).save(job.at(state="done"))
    assert client.delete(f"/api/models/{fingerprint}").json()["removed"] > 0
    assert ODD not in {card["id"] for card in client.get("/api/models").json()["models"]}
    assert not [key for key in store.names() if fingerprint in key]
    shipped = catalogue.card(default_model.ID).fingerprint
    assert "come with Head Atlas" in client.delete(f"/api/models/{shipped}").json()["hint"]
    assert client.delete("/api/models/0123456789").status_code == 404
    viewer = TestClient(create_app(catalogue, Engine(store), Access(local=False)), base_url="http://localhost")
    assert viewer.delete(f"/api/models/{shipped}").status_code in {401, 403}


def test_sets_are_listed_with_their_files(catalogue, store):
    """Name, models, a file for each relation; buttons only for those who may change something."""
    mine = put(store, with_own())
    told = text(rows(catalogue)[1])
    assert f"/api/sets/{mine}/mine.csv" in told
    assert "data-rename" in told
    assert "data-rename" not in text(rows(catalogue, read_only=True)[1])


def test_a_jobs_link_leads_to_what_was_asked(tiny_folder):
    """A relation alone, one's own set, settings of its own; nothing of that when all is as by default."""
    card = Checkpoint.open(tiny_folder).card

    def link(*methods, **wanted):
        request = asked("a/b", *methods, **wanted)
        told = {name: method(name).asked(request, card) for name in request.methods}
        return job_state(Job.of(request).at(fingerprint="0123456789ab", asked=told)).link

    start = "/?model=a/b@01234567"
    assert link() == start
    assert link("function", relations=(RELATION,)).startswith(f"{start}&basis=function&own=")
    assert link("function", relations=(RELATION,)).endswith(f"&relation={RELATION.name}")
    both = asked("a/b", "function", files=[relation_file(RELATION)])
    own = method("function").asked(both, card).own
    assert link("function", files=[relation_file(RELATION)]) == f"{start}&basis=function&own={own}"
    named = link("function", k=5)
    facts = method("function").plan(card, asked("a/b", "function", k=5)).provenance()
    assert named == f"{start}&basis=function&result={method('function').choice(facts)}"


def test_a_job_links_every_map_that_it_computes_and_no_other(tiny_folder):
    """Several maps have a link each; salient tokens alone are a part of cards and have none."""
    card = Checkpoint.open(tiny_folder).card

    def state_of(*names):
        told = {name: method(name).asked(asked("a/b", *names), card) for name in names}
        return job_state(Job.of(asked("a/b", *names)).at(fingerprint="0123456789ab", state="done", asked=told))

    several = state_of("function", "running", "behaviour", "salience")
    assert [link.title for link in several.links] == ["Function map", "Behaviour"]
    assert several.link == several.links[0].address
    assert "view=behaviour" in several.links[1].address
    told = text(job_list([several], False))
    assert "Open Function map" in told
    assert "Open Behaviour" in told
    alone = state_of("salience")
    assert (alone.link, alone.links) == ("", [])
    assert "Open" not in text(job_list([alone], False))


def test_the_link_of_a_result_opens_it_with_its_set(store, catalogue):
    """From the list of models."""
    mine = put(store, with_own(builtin=False))
    facts = with_own(builtin=False).provenance
    part = map_of("function").state_of_result(facts)
    state = open_view(catalogue, "").state.with_part(part)
    view = open_view(catalogue, state.to_query())
    assert (view.notices, f"own=mine@{mine}" in view.query) == ((), True)


def test_the_form_offers_what_there_is_to_choose():
    """Relations and tasks as boxes that all methods share, folded where many; where heads are off as two buttons."""
    fields = {}
    for wrapper in of_type(form(), "data-field"):
        fields.setdefault(getattr(wrapper, "data-field"), []).append(wrapper)
    assert [len(fields[name]) for name in ("relations", "tasks", "positions", "wording")] == [1, 1, 1, 1]
    kinds = {name: getattr(wrappers[0], "data-type") for name, wrappers in fields.items()}
    assert {name: kinds[name] for name in ("relations", "tasks", "positions", "wording")} == {
        "relations": "choices", "tasks": "choices", "positions": "choice", "wording": "choice",
    }  # fmt: skip
    told = text(fields["relations"][0])
    assert "country \u2192 capital" in told or "country → capital" in told
    assert all(name in told for name in builtin())
    assert '"value": "last"' in text(fields["positions"][0])
    methods = {}
    for owner in of_type(form(), "data-methods"):
        for wrapper in of_type(owner, "data-field"):
            methods[getattr(wrapper, "data-field")] = getattr(owner, "data-methods").split()
    assert methods["tasks"] == ["causal", "ablation"]  # sent only if one of them is asked for
    assert set(methods["tasks"]) - set(methods["relations"]) == {"causal"}


def of_type(piece, attribute):
    """All components within one that have an attribute."""
    return [each for each in piece._traverse() if hasattr(each, attribute)]


def test_a_job_says_what_is_counted_and_what_is_left():
    """The stage in its own words, an estimate of this part where there are several; no jobs, no words about them."""
    job = Job.of(asked("a/b")).at(state="running", stage="Causal map", part=2, parts=2, left=200.0)
    job = job.at(doing="Math: fitting seed 1 of 3")
    told = text(job_list([job_state(job)], False))
    assert "Causal map (2 of 2), Math: fitting seed 1 of 3, about 3 min left in this part" in told
    alone = job.at(stage="Causal map", doing="seeds (1 of 3)")
    assert "Causal map, seeds (1 of 3), about 3 min left" in text(job_list([job_state(alone)], False))
    assert "in this part" not in text(job_list([job_state(alone)], False))
    assert "No analyses yet." in text(job_list([], False))


def test_the_methods_of_a_job_are_told_apart():
    """Titles have commas of their own."""
    told = text(job_list([job_state(Job.of(asked("a/b", "function", "running")))], False))
    assert "Function map · Function map, running model" in told


@pytest.mark.parametrize(("updates", "seeds", "is_trial"), [((10, 20), 1, True), ((120, 260), 1, False)])
def test_a_trial_fit_says_so_above_its_map(updates, seeds, is_trial):
    """With its updates and the default ones; a full fit of one seed is no trial."""
    scores = causal_scores_of(shipped_scores("function").provenance.model, seeds)
    changed = {"free_updates": updates[0], "push_updates": updates[1]}
    items = tuple(replace(item, settings={**item.settings, **changed}) for item in scores.provenance.items)
    facts = replace(scores.provenance, items=items)
    told = text(map_of("causal").warning(map_view(replace(scores, provenance=facts))))
    assert ("Trial fit" in told and "Math (10+20 updates, 1 seed)" in told) == is_trial
