"""Questions to the engine, and the pairs behind a score over the network: the whole application on a real worker."""

import threading
import time
from dataclasses import dataclass, replace

import dask
import pytest
from starlette.testclient import TestClient

from analysis.errors import ModelNotFound, WorkerBusy
from analysis.evidence.catalogue import Catalogue
from analysis.jobs import engine as engine_module
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.sources import open_gguf
from analysis.prompt.question import PATIENCE, PromptQuestion
from analysis.prompt.reading import PromptAblation
from analysis.relations.head_pairs import HeadPairs
from analysis.relations.pairs import HeadPairsStep
from dashboard.access import Access
from dashboard.web.application import create_app
from tests import gguf_files
from tests.computing import asked, function_plan
from tests.engine.test_engine import wait
from tests.test_plan import RELATION

CAPITAL = "/api/pairs?head=L23H7&relation=country_capital"  # no label, so that it does not come with the project
SHIPPED = "/api/pairs?model=gemma-3-270m&method=running&head=L12H2&relation=country_capital"


def client_of(store, engine, access=None):
    server = create_app(Catalogue(store, engine), engine, access or Access(local=True))
    return TestClient(server, base_url="http://localhost")


@pytest.fixture
def client(store, engine, default_checkpoint):
    return client_of(store, engine)


@dataclass(frozen=True)
class Slow:
    """A step that takes its time."""

    key: str
    seconds: float
    words: str = ""

    def run(self, model, progress):
        time.sleep(self.seconds)
        yield self.key, b"done"


@pytest.fixture
def small(models):
    return Checkpoint.open(models / "small", "small")


def test_pairs_are_computed_when_asked_for_and_kept(client, store):
    """The built-in model's shipped score is made up of the pairs that the worker ranks; the next answer is stored."""
    answer = client.get(CAPITAL)
    assert answer.status_code == 200, answer.text
    data = answer.json()
    score = Catalogue(store).result(Catalogue(store).card("smollm2-135m-instruct"), "function")
    assert data["hits"] == score.hits.sel(item="country_capital", kind="promote", layer=23, head=7).item()
    assert (data["kept"], data["kind"], data["sample"], data["k"]) == (40, "promote", "all", 10)
    assert set(data["pairs"][0]) == {"source", "target", "hit", "rank", "source_rank", "top"}
    assert data["model"]["id"] == "smollm2-135m-instruct"
    assert list(store.names(f"unit/{data['model']['fingerprint']}/function/"))
    assert client.get(CAPITAL).json() == data
    suppressed = client.get(CAPITAL + "&kind=suppress&method=function").json()
    assert (suppressed["kind"], suppressed["hits"]) == ("suppress", 0)


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("head=L23H4&relation=nothing", 422, "there is no relation"),
        ("head=L99H4&relation=copying", 404, "L99H4"),
        ("head=x&relation=copying", 404, "head"),
        ("head=L0H0&relation=copying&method=salience", 422, "no pairs behind"),
        ("head=L0H0&relation=copying&kind=x", 422, "no kind"),
        ("head=L0H0&relation=copying&sample=x", 422, "no sample"),
        ("head=L0H0&relation=copying&model=no/such", 404, "no map of no/such"),
    ],
)
def test_wrong_questions_are_answered_in_words(client, query, status, words):
    """Unknown relation, head, method, kind, sample and model."""
    answer = client.get(f"/api/pairs?{query}")
    assert answer.status_code == status
    assert words in answer.json()["message"]
    assert answer.json()["hint"]


def test_viewers_see_what_is_stored_and_compute_nothing(store, engine, client):
    """Without the analyst role an answer has to be there already: in the store, or with the project."""
    viewer = client_of(store, engine, Access(local=False))
    shipped = viewer.get(SHIPPED)
    assert shipped.status_code == 200, shipped.text
    scores = Catalogue(store).result(Catalogue(store).card("gemma-3-270m"), "running")
    hits = scores.hits.sel(item="country_capital", kind="promote", sample="No", layer=12, head=2).item()
    assert shipped.json()["hits"] == hits > 0
    assert viewer.get(CAPITAL).status_code == 403
    assert client.get(CAPITAL).status_code == 200
    assert viewer.get(CAPITAL).status_code == 200


def test_without_a_method_the_map_that_holds_is_asked(client):
    """Gemma's in the running model; the answer names the method."""
    unnamed = client.get(SHIPPED.replace("&method=running", ""))
    assert unnamed.json()["method"] == "running"
    assert unnamed.json() == client.get(SHIPPED).json()


def test_weights_that_are_not_here_are_not_fetched(store, engine, small):
    """A result may come from another machine: the answer says so at once."""
    card = replace(small.card, id="org/elsewhere", fingerprint="ab" * 32)
    step = HeadPairsStep.of(function_plan(small, (RELATION,)), HeadId(0, 0), "promote")
    with pytest.raises(ModelNotFound, match="The weights of org/elsewhere are not on the worker's machine"):
        engine.ask(card, step)


def refuse():
    """Work that a person can do something about."""
    raise ModelNotFound("not here", "Fetch it.")


def test_a_refusal_is_an_answer_to_dask_not_a_failure(engine):
    """Else the server's log would have a traceback for every model that is not there."""
    future = engine.cluster.submit(refuse, key="refuse")
    with pytest.raises(ModelNotFound, match="not here"):
        engine.cluster.result(future, timeout=30)
    assert future.status == "finished"


def test_a_question_is_answered_for_a_folder_that_is_listed(store, engine, small):
    """One's own relation on a model of the models directory."""
    step = HeadPairsStep.of(function_plan(small, (RELATION,)), HeadId(1, 2), "promote")
    assert not engine.knows(step)
    found = HeadPairs.from_json(engine.ask(small.card, step))
    assert len(found.pairs) == len(RELATION.pairs)
    assert engine.knows(step)


def test_the_first_question_may_take_as_long_as_the_conversion_of_the_weights(
    store, models, tmp_path, monkeypatch, request
):
    """Else the worker would be replaced in the midst of it, each time anew; the next question has its usual time."""
    path = gguf_files.write(models / "quantised.gguf", "llama", gguf_files.MODELS["llama"].make())
    card = open_gguf(path, tmp_path / "elsewhere").card
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path / "cache"))
    with dask.config.set({"distributed.nanny.environ.HEAD_ATLAS_CACHE": str(tmp_path / "cache")}):  # of the worker
        engine = request.getfixturevalue("local_engine")
        assert engine.ask(card, Slow("unit/first", 1.0), 0.5) == b"done"
    with pytest.raises(WorkerBusy, match="longer than 0.5 seconds"):
        engine.ask(card, Slow("unit/next", 5.0), 0.5)


def test_ones_own_relation_is_found_in_the_job_that_brought_it(store, engine, client):
    """Scores keep only the hash of its pairs; the request has them, and after the job is deleted its set does."""
    job = engine.submit(asked("small", "function", relations=(RELATION,)))
    wait(engine, job)
    answer = client.get(f"/api/pairs?model=small&head=L1H2&relation={RELATION.name}")
    assert answer.status_code == 200, answer.text
    scores = Catalogue(store).result(Catalogue(store).card("small"), "function")
    assert answer.json()["hits"] == scores.hits.sel(item=RELATION.name, kind="promote", layer=1, head=2).item()
    for name in list(store.names(f"job/{job.id}")):
        store.delete(name)
    again = client.get(f"/api/pairs?model=small&head=L1H3&relation={RELATION.name}")
    assert again.status_code == 200, again.text
    assert [pair["source"] for pair in again.json()["pairs"]]


def test_pairs_of_a_result_with_settings_of_its_own(store, engine, client):
    """Its link names it: k and carriers are those of that result, not of the default one."""
    wait(engine, engine.submit(asked("small", "running", relations=(RELATION,))))
    wait(engine, engine.submit(asked("small", "running", relations=(RELATION,), k=7, carriers=["w1 w2"])))
    catalogue = Catalogue(store)
    (own,) = [name for name in catalogue.choices(catalogue.card("small"), "running") if name]
    address = f"/api/pairs?model=small&method=running&head=L1H2&relation={RELATION.name}"
    default, chosen = client.get(address).json(), client.get(f"{address}&result={own}&sample=w1 w2").json()
    assert client.get(f"{address}&fit={own}&sample=w1 w2").json() == chosen  # under its older name
    assert (default["k"], default["sample"]) == (10, "No")
    assert (chosen["k"], chosen["sample"]) == (7, "w1 w2")
    scores = catalogue.result(catalogue.card("small"), "running", own)
    assert chosen["hits"] == scores.hits.sel(item=RELATION.name, kind="promote", layer=1, head=2).item()


def test_a_busy_worker_is_said(engine, small):
    """A question that gets no answer in time ends with a hint, and the next one is answered when there is time."""
    slow = threading.Thread(target=engine.ask, args=(small.card, Slow("unit/slow", 3.0)))
    slow.start()
    time.sleep(0.5)
    with pytest.raises(WorkerBusy, match="no worker answered within") as caught:
        engine.ask(small.card, Slow("unit/quick", 0), patience=0.5)
    assert caught.value.hint
    slow.join()
    assert engine.ask(small.card, Slow("unit/quick", 0)) == b"done"


def test_only_some_questions_wait_at_a_time(engine, small, monkeypatch):
    """One more is refused at once."""
    monkeypatch.setattr(engine, "_asked", threading.Semaphore(1))
    slow = threading.Thread(target=engine.ask, args=(small.card, Slow("unit/slower", 2.0)))
    slow.start()
    time.sleep(0.5)
    with pytest.raises(WorkerBusy, match=f"{engine_module.ASKED_LIMIT} questions"):
        engine.ask(small.card, Slow("unit/another", 0))
    slow.join()


def test_an_engine_at_rest_computes_nothing(store, small):
    """A server that is starting or stopping says so instead of starting a worker."""
    resting = engine_module.Engine(store)
    with pytest.raises(WorkerBusy, match="the engine is not running"):
        resting.ask(small.card, Slow("unit/never", 0))
    assert resting.cluster.local is None


# A prompt of one's own ------------------------------------------------------------------------------------------------

PROMPT = "/api/prompt?text=The+capital+of+France+is&head=L23H4&ablate=none"


def test_a_prompt_is_read_when_asked_for_and_kept(store, engine, client):
    """Tokens, attention, next tokens and effects of the built-in model; a viewer sees what is stored and no more."""
    viewer = client_of(store, engine, Access(local=False))
    assert viewer.get(PROMPT).status_code == 403
    answer = client.get(PROMPT)
    assert answer.status_code == 200, answer.text
    data = answer.json()
    assert (data["next"][0]["text"], data["without"], data["model"]["id"]) == (" Paris", None, "smollm2-135m-instruct")
    assert [len(row) for row in data["direct"]["heads"]] == [9] * 30
    assert [pattern["head"] for pattern in data["patterns"]] == ["L23H4"]
    assert viewer.get(PROMPT).json() == data
    assert viewer.get(PROMPT.replace("none", "last")).status_code == 403


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("text=+", 422, "no text"),
        ("text=" + "a+b+" * 300, 422, "tokens"),
        ("text=x&head=L99H4", 404, "L99H4"),
        ("text=x&ablate=first", 422, "cannot be switched off"),
        ("text=x&model=no/such", 404, "no map of no/such"),
    ],
)
def test_wrong_prompts_are_answered_in_words(client, query, status, words):
    """No text, too many tokens, unknown head, positions and model."""
    answer = client.get(f"/api/prompt?{query}")
    assert answer.status_code == status
    assert words in answer.json()["message"]
    assert answer.json()["hint"]


def test_heads_are_switched_off_by_the_worker(engine, small):
    """Every head of a small model, everywhere and at the last token: one number for each."""
    question = PromptQuestion("w1 w2 w3", (HeadId(0, 1),), "all")
    everywhere = PromptAblation.from_json(engine.ask(small.card, question.ablation(small.card), PATIENCE))
    assert [len(row) for row in everywhere.heads] == [small.card.heads] * len(small.card.layers)
    step = replace(question, ablate="last").ablation(small.card)
    at_last = PromptAblation.from_json(engine.ask(small.card, step, PATIENCE))
    assert at_last.heads != everywhere.heads
