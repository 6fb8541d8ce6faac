"""Heads switched off, against a whole forward pass per head; and ablation as a method."""

import csv
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.cli import main
from analysis.compute.ablation import AblatedModel
from analysis.compute.prefix_tree import Nodes, Tree
from analysis.compute.variants import Rows, layout_of
from analysis.data.prompts import Batch, Encoded
from analysis.data.relation_prompts import TEMPLATES, example_texts, template_texts
from analysis.data.relations import Relation, builtin
from analysis.errors import SettingError, TaskError
from analysis.evidence.shipped import shipped_scores
from analysis.gallery import ENTRIES
from analysis.jobs.request import make_request
from analysis.methods import method
from analysis.methods.ablation.compute.steps import answers
from analysis.methods.ablation.items import PromptItem, RelationItem, TaskItem
from analysis.methods.ablation.plan import CURVE_PROMPTS, DRAWS, AblationPlan, curve_length
from analysis.methods.ablation.result import VariantAnswers, record_of
from analysis.methods.ablation.settings import AblationSettings
from analysis.models import builtin as default_model
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import Vocabulary
from analysis.results.scores import Scores
from tests import tiny_models
from tests.computing import asked, computed
from tests.test_causal import SOLVER, SPOILER, built_model, built_task
from tests.test_gallery import gallery_checkpoint

GEMMA = "gemma-3-270m"

PROMPTS = (Encoded((5, 9, 2, 77, 31, 8), 1), Encoded((4, 4, 60, 100), 2), Encoded((7, 3, 200, 12, 90, 41, 6, 5, 11), 3))
ALIKE = (Encoded((5, 9, 2, 77, 31, 8), 1), Encoded((5, 9, 2, 77, 60, 100, 3), 2), Encoded((5, 9, 2, 5, 11), 1))
AS_LONG = (Encoded((5, 9, 2, 77, 31, 8), 1), Encoded((7, 3, 200, 12, 90, 41), 2))  # nothing in common
_LOCAL = {
    "mistral": {"sliding_window": 3},
    "gemma3": {"sliding_window": 3, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    "gpt_neo": {"window_size": 3},
}


class Both:
    """A tiny model of a family in float64 that reuses what it can, and the plain one of transformers."""

    def __init__(self, family, folder):
        plain = family.make()
        self.fast = AblatedModel(Checkpoint.open(tiny_models.save(plain, folder)), dtype=torch.float64)
        self.plain, self.family = plain.double(), family
        self.blocks = [m for _, m in plain.named_modules() if type(m).__name__.endswith(("Block", "Layer"))]

    def twin(self, off, instead, item, positions):
        """One whole forward pass of one prompt, with a hook on every output projection."""
        border = len(item.ids) - item.targets - 1  # the first position that predicts
        first = border if positions == "last" else 0
        handles = []
        for layer, block in enumerate(self.blocks):

            def hook(_, args, layer=layer):
                outputs = args[0].clone()
                by_head = outputs.unflatten(-1, (self.fast.card.heads, -1))
                for head in off[layer].nonzero().flatten():
                    by_head[:, first:, head] = instead[layer, head]
                return (outputs,)

            handles.append(block.get_submodule(self.family.output).register_forward_pre_hook(hook))
        logits = self.plain(input_ids=torch.tensor([item.ids])).logits[0, border:-1].log_softmax(-1)
        for handle in handles:
            handle.remove()
        targets = torch.tensor(item.ids[border + 1 :])
        return logits[torch.arange(len(targets)), targets], logits.argmax(-1) == targets

    def check(self, off, instead, positions, prompts=PROMPTS):
        """Both agree on all prompts; returns how much the heads matter."""
        run = self.fast.untouched(Batch.of(prompts))
        found = self.fast.ablated(run, off, instead, positions)
        for variant, heads in enumerate(off):
            expected = [self.twin(heads, instead, item, positions) for item in prompts]
            log_probs = torch.cat([one for one, _ in expected])
            torch.testing.assert_close(found.log_probs[variant], log_probs, rtol=0, atol=1e-5)
            assert torch.equal(found.right[variant], torch.cat([one for _, one in expected]))
        return (found.log_probs - run.predicted.log_probs).abs()


@pytest.fixture(scope="module", params=list(tiny_models.FAMILIES))
def both(request, tmp_path_factory):
    """Of every family."""
    return Both(tiny_models.FAMILIES[request.param], tmp_path_factory.mktemp("ablated"))


def each_head(model):
    return torch.eye(model.heads, dtype=torch.bool).view(model.heads, -1, model.card.heads)


def one_after_another(model):
    """More and more heads of all layers, and none at all."""
    order = torch.randperm(model.heads, generator=torch.Generator().manual_seed(1))
    off = torch.zeros(model.heads + 1, model.heads, dtype=torch.bool)
    for at, head in enumerate(order):
        off[at + 1 :, head] = True
    return off.view(model.heads + 1, -1, model.card.heads)[::3]


@pytest.mark.parametrize("positions", ["last", "all"])
def test_every_head_is_off_as_in_a_forward_pass_of_its_own(both, positions):
    """Zero or the mean output in its place: log-probabilities and right answers of all families are the twin's."""
    model = both.fast
    effect = both.check(each_head(model), model.nothing(), positions)
    assert (effect.amax(1) > 1e-3).all()
    both.check(each_head(model)[::3], model.head_means([Batch.of(PROMPTS)]), positions)


def test_prompts_that_begin_alike_share_what_they_have_in_common(both):
    """Each is answered as if it were alone; prompts that have nothing in common are rows of a batch."""
    model = both.fast
    for prompts, layout in ((ALIKE, Tree), (AS_LONG, Rows)):
        assert isinstance(layout_of(model.untouched(Batch.of(prompts)), "all", None), layout)
        both.check(each_head(model)[::2], model.nothing(), "all", prompts)
    assert len(Nodes(Batch.of(ALIKE))) == 4 + 1 + 2 + 1


def test_several_heads_are_off_together(both):
    """As in a curve: more and more heads of all layers; without any the untouched model is left."""
    effect = both.check(one_after_another(both.fast), both.fast.nothing(), "last")
    assert effect[0].max() < 1e-6


@pytest.mark.parametrize("name", list(_LOCAL))
def test_local_attention_reaches_no_further_than_in_the_plain_model(name, tmp_path):
    """Prompts longer than the window, variants side by side."""
    family = tiny_models.FAMILIES[name]
    local = Both(replace(family, extra={**family.extra, **_LOCAL[name]}), tmp_path)
    local.check(each_head(local.fast), local.fast.nothing(), "last")
    for prompts in (PROMPTS, ALIKE):
        local.check(each_head(local.fast)[::2], local.fast.nothing(), "all", prompts)


def test_means_are_those_of_the_tokens_that_can_reach_a_prediction(both):
    """The twin: every prompt alone, without its last token."""
    total, count = 0, 0
    for item in PROMPTS:
        run = both.fast.untouched(Batch.of([item]))
        total = total + torch.stack(run.outputs)[:, 0].sum(1)
        count += len(item.ids) - 1
    found = both.fast.head_means([Batch.of(PROMPTS[:2]), Batch.of(PROMPTS[2:])])
    torch.testing.assert_close(found.flatten(1), total / count)


@pytest.mark.parametrize("family", ["llama-biased", "gemma3", "gpt2"])
def test_packed_weights_change_nothing(tmp_path, family):
    """In float32, where linear layers and gated MLPs are packed, losses are within 1e-5 of those in float64."""
    folder = tiny_models.save(tiny_models.FAMILIES[family].make(), tmp_path)
    results = []
    for dtype in (torch.float32, torch.float64):
        model = AblatedModel(Checkpoint.open(folder), dtype=dtype)
        run = model.untouched(Batch.of(PROMPTS))
        results.append(model.each_head(run, model.nothing(), "last").log_probs.double())
    torch.testing.assert_close(results[0], results[1], rtol=0, atol=1e-5)


def test_changes_by_hand():
    """Two prompts, two variants: means, their error, and accuracies as they are computed on paper."""
    answers = VariantAnswers(
        log_probs=np.array([[-3.0, -1.0], [-2.0, -1.0]]), right=np.array([[0.0, 1.0], [1.0, 1.0]]),
        own_log_probs=np.array([-1.0, -2.0]), own_right=np.array([1.0, 1.0]),
    )  # fmt: skip
    np.testing.assert_allclose(answers.change(), [-1, 0.5])
    np.testing.assert_allclose(answers.error(), [1, 0.5])
    np.testing.assert_allclose(answers.accuracy_change(), [-0.5, 0])
    again = VariantAnswers.from_bytes(answers.to_bytes(), answers.to_bytes())
    np.testing.assert_allclose(again.change(), answers.change())
    assert again.right.shape == (4, 2)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A model in which one head solves a task and another spoils it."""
    return Checkpoint.open(tiny_models.save(built_model(), tmp_path_factory.mktemp("built")))


@pytest.mark.parametrize("positions", ["last", "all"])
def test_the_planted_heads_are_found(built, store, positions):
    """Without the solver the target loses, without the spoiler it gains, and idle heads change nothing."""
    plan = AblationPlan(built.card, (TaskItem(built_task()),), positions, 20, "examples", True)
    scores = computed("ablation", plan, built, store)
    zero = scores.score.sel(item="next", kind="zero", sample="all").values
    assert zero[SOLVER] == zero.min() < -0.5
    assert zero[SPOILER] == zero.max() > 0.1
    idle = np.ones(zero.shape, bool)
    idle[SOLVER] = idle[SPOILER] = False
    assert np.abs(zero[idle]).max() < 1e-6
    assert scores.part("accuracy zero", "next")[SPOILER] == 1 - record_of(scores, "next").accuracy > 0
    assert record_of(scores, "next").prompts == 20
    assert plan.left(store) == 0
    again = Scores.from_parquet(scores.to_parquet())
    assert again.score.equals(scores.score)
    assert record_of(again, "next") == record_of(scores, "next")


def words(count=40):
    """A relation of the tiny models' words."""
    pairs = tuple((f"w{i}", f"w{100 + i}") for i in range(count))
    return Relation("steps", "custom", "steps", "A hundred further.", "standard", "", pairs)


def test_a_relations_curve_goes_by_every_order(built, store):
    """The best heads by each method that scores relations, and five draws; it begins with the untouched model."""
    plan = AblationPlan(built.card, (RelationItem(words(), False),), "last", 8, "examples", True)
    curve = record_of(computed("ablation", plan, built, store), "steps").curve
    assert [order.name for order in curve] == ["function", "running", *(f"random {n}" for n in range(1, DRAWS + 1))]
    assert {len(order.heads) for order in curve} == {8} == {curve_length(8)}
    assert len({order.heads for order in curve}) > 2
    assert len({(order.accuracy[0], order.log_prob[0]) for order in curve}) == 1
    assert len({round(order.log_prob[-1], 3) for order in curve}) == 1  # all heads are off, in whatever order
    assert {order.prompts for order in curve} == {40}


@pytest.mark.parametrize(("heads", "length"), [(72, 30), (270, 30), (336, 50), (672, 100), (1200, 150), (5120, 250)])
def test_a_curve_is_longer_where_there_are_more_heads(heads, length):
    """As many heads as the size of the model asks for."""
    assert curve_length(heads) == length


def test_prompts_of_a_relation():
    """Three other pairs worked out before the question, or four neutral phrases."""
    pairs = words().pairs
    first = next(example_texts(pairs))
    assert first == "w7: w107\nw13: w113\nw23: w123\nw0:"
    assert list(template_texts(pairs[:1])) == [template.format("w0") for template in TEMPLATES]


def test_the_command_takes_tasks_relations_and_a_prompt(built, tmp_path, monkeypatch, capsys):
    """It reports the heads that matter, finds its result again, and writes CSV."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "a.csv"
    command = ["ablation", str(built.folder), "--prompt", "w201 w3", "--target", " w103", "--json", "--out", str(out)]
    assert main(command) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["items"][0]["largest"]["zero"][0]["head"] == "L{}H{}".format(*SOLVER)
    assert set(pd.read_csv(out)["kind"]) == {"zero", "mean"}
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["from_store"] is True
    with (tmp_path / "steps.csv").open("w") as file:
        csv.writer(file).writerows(words().pairs)
    assert main(["ablation", str(built.folder), "--relations", str(tmp_path / "steps.csv"), "--prompts", "4"]) == 0
    assert "| heads off | by weights | by running model | random (min–max) |" in capsys.readouterr().out


def test_what_makes_no_sense_is_refused():
    """A prompt without a target, no item at all, a name twice, unknown positions."""
    for wrong in ({"prompt": "a"}, {"target": " b"}, {"positions": "first"}, {"prompts": 0}, {"wording": "rhymes"}):
        with pytest.raises(SettingError):
            make_request({"model": "any", "methods": ["ablation"], **wrong})
    with pytest.raises(TaskError, match="no name may appear twice"):
        AblationSettings(tasks=["math", "math"]).chosen_items()
    with pytest.raises(TaskError, match="is needed"):
        AblationSettings(tasks=[], relations=[]).chosen_items()
    with pytest.raises(SettingError, match="Positions: 'first' is not one of 'last' or 'all'"):
        make_request({"model": "any", "methods": ["ablation"], "positions": "first"})


def test_what_is_named_replaces_the_default_items():
    """Tasks, relations and a prompt of one's own; equal requests are one job."""
    names = [item.name for item in AblationSettings().chosen_items()]
    assert names == ["math", "syntax", "country_capital"]
    own = AblationSettings(relations=["word_antonym"], prompt="a", target=" b")
    assert [item.name for item in own.chosen_items()] == ["word_antonym", PromptItem("a", " b").name]
    one, other = (asked("any", "ablation", tasks=(built_task(),), positions=p) for p in ("last", "all"))
    assert one.id != other.id
    assert one.asked()["ablation"].items == ("next",)


def test_the_capital_of_france_needs_the_head_that_maps_countries_to_capitals(default_checkpoint, store):
    """In the default model the head with the largest loss is the one with the best score for the relation."""
    settings = AblationSettings(prompt="The capital of France is", target=" Paris")
    scores = computed("ablation", method("ablation").plan(default_checkpoint.card, settings), default_checkpoint, store)
    zero = scores.score.sel(item=scores.provenance.items[0].name, kind="zero", sample="all").values
    assert np.unravel_index(zero.argmin(), zero.shape) == (23, 4)
    assert zero.min() == pytest.approx(-1.66, abs=0.05)
    assert record_of(scores, scores.provenance.items[0].name).accuracy == 1


def country_capital_off(checkpoint, most, variants):
    """How the prompts of country → capital are answered with the heads of each variant off at the last position."""
    item = RelationItem(builtin()["country_capital"], templates=False)
    prompts = item.prompts(Vocabulary.open(checkpoint.folder), checkpoint.card.vocabulary, most)
    model = AblatedModel(checkpoint)
    run = model.untouched(Batch.of(prompts.encoded))
    off = torch.zeros(len(variants), len(checkpoint.card.layers), checkpoint.card.heads, dtype=torch.bool)
    for at, heads in enumerate(variants):
        for head in heads:
            off[at, *head] = True
    return answers(run, model.ablated(run, off, model.nothing(), "last"))


@pytest.mark.parametrize(("model", "heads"), [(default_model.ID, ((23, 4), (20, 5))), (GEMMA, ((9, 3), (12, 2)))])
def test_the_shipped_changes_can_be_computed_again(model, heads, request):
    """Two heads on the prompts of country → capital: the same change of the log-probability and of accuracy."""
    if model == GEMMA:
        checkpoint = gallery_checkpoint(next(entry for entry in ENTRIES if entry.id == GEMMA))
    else:
        checkpoint = request.getfixturevalue("default_checkpoint")
    scores = shipped_scores("ablation", model)
    found = country_capital_off(checkpoint, scores.provenance.settings["prompts"], [(head,) for head in heads])
    shipped = scores.score.sel(item="country_capital", kind="zero", sample="all").values
    np.testing.assert_allclose(found.change(), [shipped[head] for head in heads], atol=2e-3)
    accuracy = scores.part("accuracy zero", "country_capital")
    np.testing.assert_allclose(found.accuracy_change(), [accuracy[head] for head in heads], atol=0.05)


@pytest.mark.slow
def test_the_shipped_curves_can_be_computed_again(default_checkpoint):
    """The first three steps of every order: the same log-probability, and as many right answers but for a near tie."""
    curve = record_of(shipped_scores("ablation"), "country_capital").curve
    variants = []
    for order in curve:
        heads = [(head.layer, head.head) for head in map(HeadId.parse, order.heads[:3])]
        variants += [heads[:count] for count in (1, 2, 3)]
    found = country_capital_off(default_checkpoint, CURVE_PROMPTS, variants)
    assert len(found.own_right) == curve[0].prompts
    log_prob = np.concatenate([order.log_prob[1:4] for order in curve])
    np.testing.assert_allclose(found.log_probs.mean(0), log_prob, atol=5e-3)
    accuracy = np.concatenate([order.accuracy[1:4] for order in curve])
    np.testing.assert_allclose(found.right.mean(0), accuracy, atol=1.01 / curve[0].prompts)
