"""The causal map from end to end: a built model whose heads' roles are known, and results that come in pieces."""

import json
import re

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from analysis.cli import main
from analysis.data.tasks import Contrast, Task, TaskPrompt, builtin
from analysis.errors import SettingError, TaskError
from analysis.evidence.shipped import shipped_scores
from analysis.jobs.request import make_request
from analysis.methods.causal.compute.steps import CausalWorker
from analysis.methods.causal.contrast import ContrastPlan
from analysis.methods.causal.fits import LIMIT, Fit
from analysis.methods.causal.plan import GateStep, TaskPlan, fit_so_far
from analysis.methods.causal.report import causal_data, causal_text, shares
from analysis.methods.causal.result import record_of
from analysis.methods.causal.settings import GateSettings
from analysis.models.checkpoint import Checkpoint
from analysis.results.scores import Missing, Scores
from analysis.results.store import Store
from tests import tiny_models
from tests.computing import asked, causal_map

SOURCES = 6
SOLVER, SPOILER = (1, 2), (0, 1)
SETTINGS = GateSettings(free_updates=80, push_updates=120, batch=8)


def built_model():
    """Word s is followed by word 100 + s: one head says so, another says 101 + s, all others write nothing."""
    config = LlamaConfig(
        vocab_size=tiny_models.WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, head_dim=8,
        num_key_value_heads=4, intermediate_size=16, tie_word_embeddings=False,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    for name, parameter in model.named_parameters():
        parameter.data.fill_(1.0 if "norm" in name else 0.0)
    for source in range(SOURCES):
        model.model.embed_tokens.weight.data[source, source] = 1
        model.lm_head.weight.data[100 + source, 8 + source] = 2.5
    for (layer, head), shift in ((SOLVER, 0), (SPOILER, 1)):
        attention = model.model.layers[layer].self_attn
        for source in range(SOURCES):
            attention.v_proj.weight.data[8 * head + source, source] = 1
            attention.o_proj.weight.data[8 + (source + shift) % SOURCES, 8 * head + source] = 0.4
    return model


def built_task():
    items = [
        TaskPrompt("next", f"w{filler} w{s}", f" w{100 + s}") for s in range(SOURCES) for filler in range(200, 220)
    ]
    return Task("next", "Next", "What follows a word.", tuple(items[::2] + items[1::4]), tuple(items[3::4]))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return Checkpoint.open(tiny_models.save(built_model(), tmp_path_factory.mktemp("built")))


@pytest.fixture(scope="module")
def built(checkpoint, tmp_path_factory):
    from analysis.results.store import Store

    store = Store(tmp_path_factory.mktemp("store"))
    wanted = TaskPlan(checkpoint.card, (built_task(),), 5, SETTINGS, together=5)
    yield wanted, causal_map(checkpoint, wanted, store, "cpu"), store
    store.close()


def test_every_seed_finds_the_head_that_solves_the_one_that_spoils_and_those_that_do_nothing(built):
    """In all five seeds the solver facilitates, the spoiler interferes and idle heads that can move are irrelevant."""
    _, scores, _ = built
    f, n, r = scores.score.sel(item="next").values
    assert (f[:, *SOLVER] > 0.9).all()
    assert (n[:, *SPOILER] > 0.9).all()
    idle = np.ones((2, 4), bool)
    idle[SOLVER] = idle[SPOILER] = False
    drawn = Fit.begin(range(5), 2, 4).logits
    movable = idle & (np.abs(drawn) <= LIMIT)  # beyond the limit nothing moves a head that does nothing, as published
    assert movable.sum() > 25
    assert (r[movable] > 0.9).all()
    settled = record_of(scores, "next").settled
    assert min(settled["open"] + settled["shut"]) == 1


def test_heads_that_do_nothing_are_more_open_when_pushed_open_than_when_pushed_shut(built):
    """An idle head's gate is never less open when pushed open, and by far more open on average."""
    _, scores, _ = built
    f, n, _ = scores.score.sel(item="next").values
    idle = np.ones((2, 4), bool)
    idle[SOLVER] = idle[SPOILER] = False
    opened, shut = 1 - n[:, idle], f[:, idle]
    assert (opened >= shut).all()
    assert (opened - shut).mean() > 0.8


def test_toggling_in_order_of_the_scores_is_negative_flat_and_positive(built):
    """Without the solver targets are less likely, without the spoiler more, without an idle head as likely."""
    _, scores, _ = built
    effect = scores.part("effect", "next")
    assert effect[SOLVER] < -1
    assert effect[SPOILER] > 1
    others = np.ones((2, 4), bool)
    others[SOLVER] = others[SPOILER] = False
    np.testing.assert_allclose(effect[others], 0, atol=1e-6)


def test_the_preview_has_the_sign_of_the_fitted_role(built):
    """The gradient at open gates is negative for the solver on every prompt and positive for the spoiler."""
    _, scores, _ = built
    assert scores.part("gradient", "next", "mean")[SOLVER] < 0
    assert scores.part("gradient", "next", "mean")[SPOILER] > 0
    assert scores.part("gradient", "next", "share")[SOLVER] == 1


def test_a_causal_map_survives_its_file_and_its_summary_counts_the_roles(built):
    """A map read from Parquet has the same scores, and its summary counts one facilitating head of eight."""
    _, scores, _ = built
    again = Scores.from_parquet(scores.to_parquet())
    np.testing.assert_array_equal(again.score.values, scores.score.values)
    assert record_of(again, "next") == record_of(scores, "next")
    assert record_of(again, "next").curves.open[4][-1] < 0.1
    for name, part in scores.parts.items():
        np.testing.assert_array_equal(again.parts[name].values, part.values)
    assert shares(again, "next", "facilitation")["always"] == 0.125
    (task,) = causal_data(again)["tasks"]
    assert task["interference"]["heads"][0]["head"] == "L0H1"


def test_a_finished_plan_has_nothing_left_to_do_and_more_seeds_keep_the_finished_ones(built):
    """A plan of seven seeds after one of five fits the sixth and the seventh only."""
    wanted, _, store = built
    assert wanted.ready(store) == []
    more = TaskPlan(wanted.card, wanted.tasks, 7, SETTINGS)
    assert [step.seeds for step in more.ready(store) if step.what == "fit"] == [(5,), (6,)]


def test_a_run_that_was_stopped_anywhere_ends_with_the_same_map(built, checkpoint, store, tmp_path):
    """Before the fits, in each of their stages, between two seeds, among the effects: bit by bit the same."""
    wanted, scores, _ = built
    fewer = TaskPlan(wanted.card, wanted.tasks, 2, SETTINGS)

    class Stop(Exception):
        pass

    def stop_at(limit):
        def progress(stage, done, total):
            if done == limit:
                raise Stop

        return progress

    assert fewer.total == 2 + 2 * (8 + 12) + 2
    for limit in (1, 5, 11, 14, 22, 27, 41, 43):
        with pytest.raises(Stop):
            causal_map(checkpoint, fewer, store, "cpu", stop_at(limit))
    resumed = causal_map(checkpoint, fewer, store, "cpu")
    other = Store(tmp_path / "other")
    whole = causal_map(checkpoint, fewer, other, "cpu")
    other.close()
    np.testing.assert_array_equal(resumed.score.values, whole.score.values)
    assert resumed.provenance.items == whole.provenance.items
    assert resumed.records == whole.records
    np.testing.assert_allclose(resumed.score.values, scores.score.values[:, :, :2], atol=2e-3)


def test_no_seed_is_the_preview_alone_and_it_is_kept(checkpoint, store):
    """A plan without seeds measures the untouched model and the preview, stores both and fits nothing."""
    wanted = TaskPlan(checkpoint.card, (built_task(),), seeds=0)
    scores = causal_map(checkpoint, wanted, store, "cpu")
    assert (wanted.total, wanted.left(store)) == (2, 0)
    assert np.isnan(scores.score.values).all()
    assert scores.part("gradient", "next", "mean")[SOLVER] < 0
    assert (
        record_of(Scores.from_parquet(store.get(wanted.key)), "next").untouched == record_of(scores, "next").untouched
    )
    assert "nothing fitted yet" in causal_text(scores)


def test_a_small_task_that_the_model_can_do_is_not_flagged(checkpoint):
    """One validation item is right, and the example: that its answer is the commonest of one says nothing."""
    worker = CausalWorker(checkpoint, "cpu")
    for target, right in ((" w101", 1.0), (" w150", 0.0)):  # the louder of the two heads says 101 after 0
        items = tuple(TaskPrompt("few", f"w{filler} w0", target) for filler in range(200, 209))
        task = Task("few", "Few", "", items[:8], items[8:])
        found = json.loads(worker.do(GateStep("untouched", "", task, SETTINGS)))
        assert (found["accuracy"], found["flagged"]) == (right, not right)
        assert found["example"] == ({"prompt": "w208 w0", "answer": " w101"} if right else None)


def test_a_damaged_fit_starts_again(built, checkpoint, store):
    """A stored fit that cannot be read is started again from its first update."""
    wanted, _, _ = built
    fewer = TaskPlan(wanted.card, wanted.tasks, 1, SETTINGS)
    (step,) = [step for step in fewer.ready(store) if step.what == "fit"]
    store.put(step.key, b"not a fit")
    (again,) = [step for step in fewer.ready(store) if step.what == "fit"]
    assert again.content == b""


def test_a_fit_under_way_is_parsed_once_however_often_it_is_asked_for(checkpoint, store, monkeypatch):
    """What is left, what comes next and how much work that is are answered from one reading of the same content."""
    plan = TaskPlan(checkpoint.card, (built_task(),), 1, SETTINGS)
    fit = Fit.begin((0,), len(plan.card.layers), plan.card.heads)
    store.put(plan.fit_name(plan.tasks[0], (0,)), fit.to_bytes())
    contents = []

    def counted(content, parse=Fit.from_bytes):
        contents.append(content)
        return parse(content)

    monkeypatch.setattr(Fit, "from_bytes", counted)
    fit_so_far.cache_clear()
    plan.left(store)
    plan.pending(store)
    plan.ready(store)
    plan.assembled(store, "cpu")
    assert contents == [fit.to_bytes()]


def built_contrast():
    """Forget what the one head says, go on saying what the other does."""
    forget, retain = (
        tuple(
            TaskPrompt("side", f"w{filler} w{s}", f" w{100 + (s + shift) % SOURCES}")
            for s in range(SOURCES)
            for filler in range(200, 204)
        )
        for shift in (0, 1)
    )
    return Contrast("swap", "Swap", "", forget, retain)


def test_pairs_are_contrasted_on_the_command_line(checkpoint, tmp_path, monkeypatch, capsys):
    """It names the head that closes, writes the map, and says nothing of an interference that nobody measured."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path / "cache"))
    sides = zip(built_contrast().forget, built_contrast().retain, strict=True)
    rows = [{n: {"prompt": i.prompt, "target": i.target} for n, i in (("forget", f), ("retain", r))} for f, r in sides]
    file, out = tmp_path / "swap.jsonl", tmp_path / "swap.parquet"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    command = ["contrast", str(checkpoint.folder), str(file), "--batch", "8", "--out", str(out)]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert re.search("gate closed .* highest mean: L1H2", said)
    assert "1 seed · 500 updates" in said
    assert "interference" not in said
    scores = Scores.from_parquet(out.read_bytes())
    assert (scores.missing.sel(kind="interference") == Missing.NOT_APPLICABLE).all()
    assert not {"push_updates", "push_rate"} & set(scores.provenance.settings)


def test_contrastive_gates_close_the_head_that_only_the_forgotten_needs(checkpoint, store):
    """In every seed the head that says what is to be forgotten closes most, and the other stays open."""
    wanted = ContrastPlan(checkpoint.card, built_contrast(), 2, SETTINGS)
    scores = causal_map(checkpoint, wanted, store, "cpu")
    closed = scores.score.sel(item="swap", kind="facilitation").values
    assert (closed.reshape(2, -1).argmax(1) == SOLVER[0] * 4 + SOLVER[1]).all()
    assert (closed[:, *SOLVER] > 0.3).all()
    assert (closed[:, *SPOILER] < 0.1).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"updates": [0, 5]}, {"updates": [5, 10_001]}, {"seeds": -1}, {"seeds": 101}, {"batch": 0}, {"batch": 1025},
        {"rates": [1, 0.1, 0.5, 0]}, {"rates": [1, 0.1, 0.5, 11]}, {"push": -0.1}, {"push": 11}, {"clip": 0},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(wrong):
    """Beyond every limit there is a named error."""
    with pytest.raises(SettingError, match="is too (small|large); (at|more|less)"):
        make_request({"model": "any", "methods": ["causal"], **wrong})


def test_settings_that_are_no_numbers_are_named_by_their_titles():
    """One line per problem, as a person reads it."""
    wrong = {"rates": [1, "abc", 0.5, 0.1], "updates": [5], "seeds": 2.5}
    with pytest.raises(SettingError) as refused:
        make_request({"model": "any", "methods": ["causal"], **wrong})
    assert str(refused.value).splitlines() == [
        "Seeds: 2.5 is not a whole number",
        "Updates: free, pushed: 1 given, at least 2 needed",
        "Learning rates: 'abc' is not a number",
    ]


def test_a_task_is_named_once_and_pairs_have_no_preview():
    """Tasks of one name, none at all, and a contrast without seeds are refused in words."""
    twice = asked("any", "causal", tasks=(builtin()["math"],)).model_copy(update={"tasks": ["math", "math"]})
    for request in (twice, twice.model_copy(update={"tasks": []})):
        with pytest.raises(TaskError, match="no name may appear twice"):
            request.asked()
    with pytest.raises(TaskError, match="no preview"):
        asked("any", "causal", contrast=built_contrast(), seeds=0).asked()


def test_the_command_line_fits_a_task_of_ones_own_and_writes_it(checkpoint, tmp_path, monkeypatch, capsys):
    """`gates` with a JSONL file prints the roles, writes Parquet and JSON, and exits with 9 for an unknown task."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path / "cache"))
    task = built_task()
    file, out = tmp_path / "next.jsonl", tmp_path / "causal.parquet"
    file.write_text("\n".join(json.dumps({"prompt": i.prompt, "target": i.target}) for i in task.train))
    command = ["gates", str(checkpoint.folder), "--tasks", str(file), "--seeds", "1", "--updates", "60", "90"]
    assert main([*command, "--batch", "8", "--out", str(out)]) == 0
    assert "facilitation" in capsys.readouterr().out
    scores = Scores.from_parquet(out.read_bytes())
    assert float(scores.score.sel(item="next", kind="facilitation", layer=SOLVER[0], head=SOLVER[1])[0]) > 0.5
    assert main([*command, "--batch", "8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tasks"][0]["name"] == "next"
    assert main(["gates", str(checkpoint.folder), "--tasks", "nonsense"]) == 9


def test_a_model_is_run_with_the_weights_that_were_analysed(checkpoint):
    """The gated model holds the checkpoint's own weights, bit for bit, and none of them is trained."""
    from analysis.compute.gated_model import GatedModel

    gated = GatedModel(checkpoint)
    assert not any(parameter.requires_grad for parameter in gated.module.parameters())
    assert torch.equal(gated.module.lm_head.weight, built_model().lm_head.weight)


@pytest.mark.slow
def test_the_shipped_map_is_of_todays_tasks_and_settings_and_its_facts_can_be_measured_again(default_checkpoint):
    """The gates took an hour and a half; what the untouched model does and the preview take seconds."""
    scores = shipped_scores("causal")
    facts = scores.provenance
    wanted = TaskPlan(default_checkpoint.card, tuple(builtin()[name] for name in ("math", "syntax")))
    assert facts.model.fingerprint == wanted.card.fingerprint
    assert [item.hash for item in facts.items] == [task.hash for task in wanted.tasks]
    assert facts.settings["free_updates"] == wanted.settings.free_updates
    assert facts.settings["push_updates"] == wanted.settings.push_updates
    assert not np.isnan(scores.score.values).any()
    assert len(scores.score.sample) == 5
    worker = CausalWorker(default_checkpoint, "cpu")
    for task in wanted.tasks:
        record = record_of(scores, task.name)
        again = json.loads(worker.do(GateStep("untouched", "", task, wanted.settings)))
        assert record.untouched.example.model_dump() == again["example"]
        assert again["nll"] == pytest.approx(record.untouched.nll, abs=2e-3)
        assert again["accuracy"] == pytest.approx(record.untouched.accuracy, abs=0.02)
        preview = json.loads(worker.do(GateStep("preview", "", task, wanted.settings)))
        np.testing.assert_allclose(preview["mean"], scores.part("gradient", task.name, "mean"), atol=1e-3)
        assert scores.part("effect", task.name).shape == scores.score.shape[-2:]
