import gzip
import json
import os
import subprocess
import sys
from contextlib import closing

import pandas as pd
import pyarrow.parquet as pq
import pytest

from analysis.cli import main
from analysis.data.relations import parse
from analysis.jobs.engine import Engine
from analysis.jobs.request import make_request
from analysis.methods.function.plan import FunctionPlan
from analysis.methods.salience.plan import SaliencePlan
from analysis.methods.salience.tokens import salient_tokens
from analysis.models import builtin as default_model
from analysis.models import sources
from analysis.models.card import HeadId, ModelCard
from analysis.models.checkpoint import Checkpoint
from analysis.results.provenance import Provenance
from analysis.results.scores import COLUMNS, Scores
from analysis.results.store import Store
from tests import tiny_models


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """The command line with a store of its own: exit code, output, errors."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path / "cache"))

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def relation(tmp_path):
    """A user's own relation for tiny models, with a word that is HTML among the sources."""
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(f"w{i},w{i + 50}" for i in range(40)) + "\n<img src=x onerror=alert(1)>,w1\n")
    return path


def test_map_writes_every_score_and_finds_it_again(run, tiny_folder, relation, tmp_path):
    """A map goes to CSV and Parquet with its provenance; the second run comes from the store."""
    code, first, _ = run("map", tiny_folder, "--relations", relation, "--out", tmp_path / "s.csv", "--json")
    assert code == 0
    frame = pd.read_csv(tmp_path / "s.csv")
    assert tuple(frame.columns) == (*COLUMNS, "low", "high", "beyond", "copied", "control")
    assert len(frame) == 2 * 3 * 4
    assert set(frame["item"]) == {"mine"}
    assert set(frame["kind"]) == {"promote", "suppress"}
    assert Provenance.from_json((tmp_path / "s.provenance.json").read_text()).items[0].kept == 40
    assert [json.loads(first)[name] for name in ("r", "holds")] == [None, None]
    code, second, _ = run("map", tiny_folder, "--relations", relation, "--out", tmp_path / "s.parquet", "--json")
    assert (json.loads(first)["from_store"], json.loads(second)["from_store"]) == (False, True)
    table = pq.read_table(tmp_path / "s.parquet").to_pandas()
    assert table["kind"].isin(frame["kind"]).sum() == len(frame)
    assert {"beyond promote", "beyond suppress"} < set(table["kind"])
    again = Scores.from_parquet((tmp_path / "s.parquet").read_bytes()).to_frame()
    assert again["hits"].tolist() == frame["hits"].tolist()


def test_map_prints_a_table(run, tiny_folder, relation):
    """Best heads with their scores, the pairs kept, what is not applicable, where the result is."""
    code, out, err = run("map", tiny_folder, "--relations", relation, "copying", "--layers", "0-1", "--device", "cpu")
    assert code == 0
    assert "40/41" in out
    assert "not applicable" in out
    assert "kept in the store" in out
    assert f"Whether this holds in the running model: python -m analysis running {tiny_folder}" in out
    assert "looking through layers: 2 of 2" in err


def test_settings_reach_the_result(run, tiny_folder, relation):
    """k and the first MLP are part of the result's provenance."""
    _, out, _ = run("map", tiny_folder, "--relations", relation, "--k", 3, "--k-copying", 2, "--no-first-mlp", "--json")
    settings = json.loads(out)["settings"]
    assert (settings["k_standard"], settings["k_copying"], settings["first_mlp"]) == (3, 2, False)


def test_head_shows_scores_tokens_and_group_mates(run, tiny_folder, relation):
    """One head: hits of kept pairs, salient tokens, the heads that share its value matrix."""
    code, out, _ = run("head", tiny_folder, "1.3", "--relations", relation, "--json")
    data = json.loads(out)
    assert code == 0
    assert data["head"] == "L1H3"
    assert [mate["head"] for mate in data["group_mates"]] == ["L1H2"]
    assert data["relations"][0]["kept"] == 40
    assert len(data["salient"]) == 15
    assert all(len(operation["promoted"]) == len(operation["suppressed"]) == 5 for operation in data["salient"])
    code, text, _ = run("head", tiny_folder, "L1H3", "--relations", relation)
    assert code == 0
    assert "shares its value matrix with" in text
    _, raw, _ = run("head", tiny_folder, "L1H3", "--relations", relation, "--no-first-mlp", "--json")
    assert json.loads(raw)["salient"] != data["salient"]
    assert "/40" in text


def test_a_map_of_which_nothing_applies_says_so(run, tiny_folder):
    """No category is left to count heads of."""
    code, text, _ = run("map", tiny_folder, "--relations", "country_capital")
    assert code == 0
    assert "not applicable: 0 of 190 pairs" in text
    assert "\nNone of these relations applies to this model.\n" in text
    assert "Heads above" not in text


def test_models_and_cache(run, tiny_folder, relation):
    """What the store knows, how large it is, and how to empty it."""
    (shipped,) = (line for line in run("models")[1].splitlines() if line.startswith(default_model.ID))
    assert shipped.endswith("7 results")
    run("map", tiny_folder, "--relations", relation)
    listed = json.loads(run("models", "--json")[1])
    assert [m["results"] for m in listed if m["id"] == tiny_folder.name] == [1]
    assert tiny_folder.name in run("models")[1]
    assert json.loads(run("cache", "--json")[1])["entries"] == 6
    assert "MB in 6 entries" in run("cache", "size")[1]
    assert json.loads(run("cache", "prune", "--json")[1])["pruned"] == 4  # pairs and layers whose result is finished
    for model in ("nobody", ""):
        assert run("cache", "prune", "--model", model)[0] == 2
    assert run("cache", "--all")[0] == 2
    assert json.loads(run("cache", "prune", "--model", tiny_folder.name, "--json")[1])["entries"] == 0
    run("map", tiny_folder, "--relations", relation)
    assert json.loads(run("cache", "prune", "--all", "--json")[1])["entries"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["map", "no/such/folder"], 3, "there is no folder or model"),
        (["map", "no such model!"], 3, "there is no folder or model"),
        (["map", "{tiny}", "--relations", "nonsense"], 4, "no relation or file called 'nonsense'"),
        (["map", "{tiny}", "--relations", "{broken}"], 4, "line 2: expected two columns, found 1"),
        (["head", "{tiny}", "L9H9", "--relations", "{good}"], 5, "has no head L9H9"),
        (["head", "{tiny}", "seven", "--relations", "{good}"], 5, "'seven' is not a head"),
        (["map", "{tiny}", "--relations", "{good}", "--layers", "2-9"], 5, "no layer 3"),
        (["map", "{tiny}", "--relations", "{good}", "--device", "cuda:3"], 6, "is not an available device"),
        (["map", "{tiny}", "--relations", "{good}", "--k", "0"], 2, "k: 0 is too small; at least 1 is needed"),
    ],
)
def test_bad_input_gets_a_reason_a_hint_and_its_own_exit_code(
    run, tiny_folder, relation, tmp_path, arguments, code, message
):
    """No traceback for what a user can fix, in words and as JSON."""
    broken = tmp_path / "broken.csv"
    broken.write_text("a,b\nc\n")
    names = {"tiny": tiny_folder, "good": relation, "broken": broken}
    arguments = [argument.format(**names) for argument in arguments]
    found, _, err = run(*arguments)
    assert (found, message in err, "hint:" in err) == (code, True, True), err
    found, out, _ = run(*arguments, "--json")
    assert found == code
    assert message in json.loads(out)["message"]


@pytest.mark.parametrize(
    "arguments",
    [["map"], ["map", "x", "--out", "s.txt"], ["map", "x", "--layers", "a"], ["map", "x", "--layers", "2-1"], []],
)
def test_wrong_usage(run, arguments):
    """Exit code 2, as everywhere."""
    with pytest.raises(SystemExit) as caught:
        run(*arguments)
    assert caught.value.code == 2


def test_a_store_that_cannot_be_written(run, tiny_folder, relation, tmp_path):
    """A cache path that is a file: exit code 7, nothing else happens."""
    (tmp_path / "cache").write_text("")
    code, _, err = run("map", tiny_folder, "--relations", relation)
    assert code == 7
    assert "HEAD_ATLAS_CACHE" in err


def test_an_output_file_that_cannot_be_written(run, tiny_folder, relation, tmp_path):
    """The result stays in the store and no half-written file is left."""
    (tmp_path / "s.csv").mkdir()
    code, _, err = run("map", tiny_folder, "--relations", relation, "--out", tmp_path / "s.csv")
    assert code == 7
    assert "cannot be written" in err
    assert not list(tmp_path.glob(".*part"))
    assert '"from_store": true' in run("map", tiny_folder, "--relations", relation, "--json")[1]


def test_interrupted_run_says_that_nothing_is_lost(run, tiny_folder, relation, monkeypatch):
    """Control-C: exit code 130 and a word of comfort."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("analysis.cli.open_model", interrupt)
    code, _, err = run("map", tiny_folder, "--relations", relation)
    assert code == 130
    assert "kept" in err


def test_hugging_face_id_from_the_local_cache(run, tmp_path, relation, monkeypatch):
    """A model of the hub that was downloaded before is opened offline, by its id and its commit."""
    from huggingface_hub import constants

    commit = "a" * 40
    hub = tmp_path / "hub"
    repo = hub / "models--some--tiny"
    tiny_models.save(tiny_models.FAMILIES["gpt2"].make(), repo / "snapshots" / commit)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(hub))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    code, out, err = run("map", "some/tiny", "--relations", relation, "--json")
    assert code == 0, err
    assert json.loads(out)["model"]["id"] == "some/tiny"
    assert json.loads(out)["model"]["revision"] == commit
    assert sources.cached_models() == ["some/tiny"]
    old = "b" * 40
    tiny_models.save(tiny_models.FAMILIES["gpt2"].make(seed=1), repo / "snapshots" / old)
    (repo / "refs" / "v1").write_text(old)
    _, out, _ = run("map", "some/tiny", "--revision", "v1", "--relations", relation, "--json")
    assert json.loads(out)["model"]["revision"] == old
    code, _, err = run("map", "some/other", "--relations", relation)
    assert code == 3
    assert "nor in the local cache" in err


def test_default_model_from_the_shell_twice(tmp_path, default_checkpoint):
    """The real command on the real model: computed once, found again, the known head on top."""
    environment = os.environ | {"HEAD_ATLAS_CACHE": str(tmp_path)}
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / default_checkpoint.folder.name).symlink_to(default_checkpoint.folder)
    command = [sys.executable, "-m", "analysis", "map", default_model.ID, "--relations", "knowledge", "--json"]
    first, second = (
        json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout) for _ in range(2)
    )
    assert (first["from_store"], second["from_store"]) == (False, True)
    assert first["relations"] == second["relations"]
    capital = next(relation for relation in first["relations"] if relation["name"] == "country_capital")
    assert capital["promote"][0]["head"] == "L23H4"


def test_names_do_not_decide_results(tiny_folder):
    """A plan's key is made of content: the same checkpoint under another name finds the same result."""
    mine = parse(b"a,b", "mine.csv")
    one = Checkpoint.open(tiny_folder, "one").card
    two = Checkpoint.open(tiny_folder, "two").card
    ks = {"k_copying": 1, "k_standard": 10}
    plans = [
        FunctionPlan(card=card, relations=(mine,), **ks, first_mlp=True, layers=card.layers) for card in (one, two)
    ]
    assert plans[0].key == plans[1].key


def test_store_is_usable_from_two_processes(tmp_path):
    """The command line and a running dashboard may share a store."""
    one, two = Store(tmp_path), Store(tmp_path)
    one.put("key", b"value")
    assert two.get("key") == b"value"


def test_relations_that_do_not_apply_at_all(run, tiny_folder):
    """Too few single tokens: the table says so, and nothing is counted."""
    code, out, _ = run("map", tiny_folder, "--relations", "copying")
    assert code == 0
    assert "not applicable" in out


def test_relations_are_listed_by_name(run):
    """What --relations takes."""
    assert "country_capital" in run("relations")[1]
    assert len(json.loads(run("relations", "--json")[1])) == 20


def test_a_damaged_database_can_be_started_afresh(run, tiny_folder, relation, tmp_path):
    """The error says how, and that way works."""
    run("map", tiny_folder, "--relations", relation)
    for path in (tmp_path / "cache" / "store").glob("cache.db*"):
        path.write_bytes(b"garbage" * 1000)
    code, _, err = run("map", tiny_folder, "--relations", relation)
    assert code == 7
    assert "cache prune --all" in err
    assert run("cache", "prune", "--all")[0] == 0
    assert run("map", tiny_folder, "--relations", relation)[0] == 0


def test_revisions_belong_to_the_hub(run, tiny_folder, relation):
    """A revision of a folder would be ignored silently; it is refused."""
    code, _, err = run("map", tiny_folder, "--revision", "v1", "--relations", relation)
    assert code == 3
    assert "no revisions" in err


def test_output_that_cannot_be_written(tmp_path, tiny_folder, relation):
    """A full disk behind `>` and a reader that has gone: no traceback; an old encoding shows ? for →."""
    environment = os.environ | {"HEAD_ATLAS_CACHE": str(tmp_path / "cache"), "PYTHONIOENCODING": "ascii"}
    command = f"{sys.executable} -m analysis map {tiny_folder} --relations {relation}"
    for redirect, code in (("> /dev/full", 7), ("| head -c 1 > /dev/null", 0), ("> /dev/null", 0)):
        result = subprocess.run(command + redirect, shell=True, env=environment, capture_output=True, text=True)
        assert result.returncode == code
        assert "Traceback" not in result.stderr


def test_salience_of_all_heads_to_a_file(run, tiny_folder, tmp_path):
    """Every head's salient tokens: in the file, and in the store for the page."""
    out = tmp_path / "tokens.json.gz"
    code, text, _ = run("salience", tiny_folder, "--out", out, "--json")
    assert code == 0
    content = json.loads(gzip.decompress(out.read_bytes()))
    model = content["model"]
    assert [len(heads) for heads in content["layers"].values()] == [model["heads"]] * len(model["layers"])
    assert json.loads(text)["out"] == str(out)
    with closing(Store(tmp_path / "cache" / "store")) as store:
        card = ModelCard.from_dict(model)
        kept = salient_tokens(SaliencePlan(card, True, card.layers).assembled(store, ""), HeadId(1, 0))
    assert [token.text for token in kept] == [op["text"] for op in content["layers"]["1"][0]]


def test_salience_goes_to_json_only(run, tiny_folder):
    """Another ending is refused before anything is computed."""
    with pytest.raises(SystemExit):
        run("salience", tiny_folder, "--out", "tokens.txt")


def test_files_of_the_wrong_kind_are_named(run, tiny_folder, tmp_path):
    """A task among the relations, and pairs among the tasks."""
    (tmp_path / "task.jsonl").write_text('{"prompt": "a", "target": " b"}')
    (tmp_path / "pairs.csv").write_text("hot,cold")
    assert (
        "task.jsonl cannot be used for function" in run("map", tiny_folder, "--relations", tmp_path / "task.jsonl")[2]
    )
    assert "pairs.csv cannot be used for causal" in run("gates", tiny_folder, "--tasks", tmp_path / "pairs.csv")[2]


def test_many_files_at_once(run, tiny_folder, tmp_path):
    """A limit of the network is none of the command line; an option of earlier versions does no harm."""
    files = []
    for number in range(7):
        path = tmp_path / f"mine{number}.csv"
        path.write_text("\n".join(f"w{i},w{i + number + 1}" for i in range(40)))
        files.append(path)
    code, out, _ = run("map", tiny_folder, "--relations", *files, "--json")
    assert code == 0
    assert len(json.loads(out)["relations"]) == 7
    assert run("gates", "nobody/has-this", "--no-first-mlp", "--preview")[0] == 3


def test_sets_of_own_relations_are_looked_after(run, tiny_folder, relation, tmp_path):
    """Named when computed, listed, renamed, hidden, written to files again, deleted with their scores."""
    assert run("map", tiny_folder, "--relations", relation, "--set-name", "shifted")[0] == 0
    (listed,) = json.loads(run("sets", "--json")[1])
    assert (listed["name"], listed["relations"], listed["hidden"]) == ("shifted", ["mine"], False)
    assert "moved" in run("sets", "rename", "shifted", "moved")[1]
    assert "hidden" in run("sets", "hide", listed["id"])[1]
    assert "hidden" not in run("sets", "show", "moved")[1]
    assert run("sets", "pairs", "moved", "--out", tmp_path / "cache")[0] == 0
    assert (
        parse((tmp_path / "cache" / "mine.csv").read_bytes(), "mine.csv").pairs
        == parse(relation.read_bytes(), "x").pairs
    )
    assert run("sets", "rename", "moved")[0] == 2
    assert run("sets", "hide", "nobody")[0] == 4
    assert "no sets" in run("sets", "delete", "moved")[1]
    assert json.loads(run("sets", "--json")[1]) == []


def test_the_pairs_that_models_tokens_keep(default_checkpoint, tiny_folder, capsys):
    """Of each relation and model the pairs of single tokens and what sources of several add; the tiny one has none."""
    models = [str(default_checkpoint.folder), str(tiny_folder)]
    assert main(["relations", *models, "--json"]) == 0
    rows = {row["name"]: list(row["models"].values()) for row in json.loads(capsys.readouterr().out)}
    assert rows["country_capital"] == [{"kept": 40, "added": 7}, {"kept": 0, "added": 0}]
    assert main(["relations", *models]) == 0
    out = capsys.readouterr().out
    assert "| country → capital | 190 | 40 + 7 | 0 + 0 (n/a) |" in out
    assert "not applicable" in out


def test_jobs_are_listed_and_deleted(run, tmp_path):
    """One line per job; a waiting one is refused, one that is over goes."""
    assert run("jobs")[1] == "no jobs\n"
    with closing(Store(tmp_path / "cache" / "store")) as store:
        engine = Engine(store)
        waiting, over = (engine.submit(make_request({"model": f"org/{name}"})) for name in ("waiting", "over"))
        engine.cancel(over.id)
    assert {job["state"] for job in json.loads(run("jobs", "--json")[1])} == {"queued", "cancelled"}
    assert run("jobs", "--delete", waiting.id)[0] == 2
    assert over.id in run("jobs")[1]
    left = run("jobs", "--delete", over.id)[1]
    assert waiting.id in left
    assert over.id not in left


@pytest.mark.parametrize(
    "change",
    [
        {"layers": 3}, {"layers": ["0"]}, {"id": 7}, {"heads": "9"}, {"fingerprint": None}, {"id": "foreign \ud800"},
        {"kv_heads": 0}, {"kv_heads": 2},
    ],
)  # fmt: skip
def test_a_foreign_card_hides_no_model(run, tmp_path, change):
    """Models are listed although somebody else's card is in the store."""
    run("models")
    card = {"id": "org/foreign", "revision": "", "fingerprint": "ab", "family": "Llama", "layers": [0], "heads": 1}
    card |= {"kv_heads": 1, "head_dim": 1, "width": 1, "vocabulary": 1, "dtype": "F32", **change}
    with closing(Store(tmp_path / "cache" / "store")) as store:
        store.put("model/ab/org/foreign", json.dumps(card).encode())
    code, listed, _ = run("models")
    assert code == 0
    assert default_model.ID in listed
    assert "foreign" not in listed
