"""The behaviour of heads: laws on paper, a planted head, plain loops over transformers' own patterns, a real model."""

import json
import math

import numpy as np
import pytest
import torch

from analysis.cli import main
from analysis.compute.weights import Weights
from analysis.evidence.shipped import shipped_scores
from analysis.methods import method
from analysis.methods.behaviour.compute.patterns import on_random, on_text
from analysis.methods.behaviour.compute.runs import random_ids, run_ids, run_random, text_ids
from analysis.methods.behaviour.measures import MEASURES, RANDOM, measures
from analysis.methods.behaviour.paragraphs import PARAGRAPHS
from analysis.methods.behaviour.settings import BehaviourSettings
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import Vocabulary
from analysis.progress import silent
from analysis.results.scores import Scores
from tests import tiny_models
from tests.computing import computed

SMALL = BehaviourSettings(block=12, blocks=3, text_tokens=30)
RANDOM_NAMES = [measure.name for measure in measures(RANDOM)]


def plain_numbers(patterns, on, start=0, block=0):
    """The definitions, entry by entry: [score or measured, measure, head] of patterns [B, H, T, T]."""
    _, heads, length, _ = patterns.shape
    told = []
    for head in range(heads):
        values = [[] for _ in range(6)]
        for a in patterns[:, head].double().tolist():
            if on == RANDOM:
                for i in range(start + 1, start + 2 * block):
                    values[0].append(a[i][i - 1])
                    if i >= start + block:
                        values[1].append(a[i][i - block])
                        values[2].append(a[i][i - block + 1])
                continue
            for i in range(1, length):
                entropy = -sum(share * math.log(share) for share in a[i] if share > 0)
                distance = sum(a[i][j] * (i - j) for j in range(length))
                row = (a[i][0], entropy / math.log(i + 1), distance / i, a[i][0], entropy, distance)
                for place, value in enumerate(row):
                    values[place].append(value)
        means = [float(np.mean(of_one)) if of_one else 0.0 for of_one in values]
        told.append([means[:3], means[:3]] if on == RANDOM else [means[:3], means[3:]])
    return np.array(told).transpose(1, 2, 0)


@pytest.fixture(params=tiny_models.FAMILIES, scope="module")
def case(request, tmp_path_factory):
    """Every family, with windows of local attention that are shorter than the text where it has them."""
    tiny = tiny_models.FAMILIES[request.param]
    if request.param in {"gemma2", "gemma3"}:
        extra = {**tiny.extra, "sliding_window": 8}
        tiny = type(tiny)(tiny.config, tiny.sizes, tiny.output, tiny.attention, tiny.norm, tiny.mlp, extra)
    model = tiny.make()
    return model, Checkpoint.open(tiny_models.save(model, tmp_path_factory.mktemp(request.param)))


def test_numbers_equal_loops_over_transformers_own_patterns(case):
    """All heads, layers and measures of every family: the model run as a whole, each entry looked at by itself."""
    model, checkpoint = case
    weights, vocabulary = Weights(checkpoint), Vocabulary.open(checkpoint.folder)
    tokens = vocabulary.plain_tokens(checkpoint.card.vocabulary)
    random = random_ids((), tokens, SMALL)
    text = text_ids(vocabulary, checkpoint.card.vocabulary, SMALL)
    text[:, ::2] = torch.arange(text.numel() // 2).view(len(text), -1) % 290  # this tokenizer knows no English
    for on, ids in ((RANDOM, random), ("text", text)):
        with torch.no_grad():
            patterns = model(ids, output_attentions=True, use_cache=False).attentions
        if on == RANDOM:
            ours = run_random(weights, vocabulary, SMALL, silent)
        else:
            ours = run_ids(weights, text, on_text, silent)
        for layer in range(len(checkpoint.card.layers)):
            plain = plain_numbers(patterns[layer], on, 0, SMALL.block)
            np.testing.assert_allclose(ours[:, :, layer], plain, atol=2e-5, rtol=1e-4)


def test_a_head_that_looks_everywhere_alike():
    """On paper: 1 / (i + 1) of everything, all of the entropy, half of the way."""
    length, block = 12, 6
    even = (torch.ones(length, length).tril() / torch.arange(1, length + 1)[:, None]).double()[None, None]
    first, entropy, distance = on_text(even)
    assert first[0].item() == pytest.approx(np.mean([1 / (i + 1) for i in range(1, length)]))
    assert entropy[0].item() == pytest.approx(1)
    assert entropy[1].item() == pytest.approx(np.mean([math.log(i + 1) for i in range(1, length)]))
    assert (distance[0].item(), distance[1].item()) == (
        pytest.approx(0.5),
        pytest.approx(np.arange(1, length).mean() / 2),
    )
    previous, duplicate, induction = (share.item() for share, _ in on_random(even, 0, block))
    assert previous == pytest.approx(np.mean([1 / (i + 1) for i in range(1, length)]))
    assert duplicate == induction == pytest.approx(np.mean([1 / (i + 1) for i in range(block, length)]))


@pytest.mark.parametrize(("back", "expected"), [(1, (1, 0, 0)), (6, (0, 1, 0)), (5, (0, 0, 1)), (0, (0, 0, 0))])
def test_a_head_that_looks_a_fixed_way_back(back, expected):
    """One token back, one block back, one block but one back: each is one measure's head and no other's."""
    start, block = 1, 6
    a = torch.zeros(1, 1, start + 2 * block, start + 2 * block, dtype=torch.float64)
    for i in range(a.shape[-1]):
        a[0, 0, i, max(i - back, 0)] = 1
    assert tuple(round(share.item(), 9) for share, _ in on_random(a, start, block)) == expected
    _, entropy, distance = on_text(a)
    assert entropy[0].item() == 0
    assert distance[1].item() == pytest.approx(np.mean([min(back, i) for i in range(1, a.shape[-1])]))


def planted(folder):
    """A GPT-2 whose head L1H2 looks at the token before, by its positions, and whose other heads look everywhere."""
    model = tiny_models.Tiny(
        "GPT2Config", {"n_embd": 128, "n_layer": 2, "n_head": 4, "n_positions": 100}, "attn.c_proj", "attn", "ln_2"
    ).make()
    for block in model.transformer.h:
        block.attn.c_attn.weight.zero_()
        block.attn.c_attn.bias.zero_()
        block.attn.c_proj.weight.zero_()
        block.attn.c_proj.bias.zero_()
        block.mlp.c_proj.weight.zero_()
        block.mlp.c_proj.bias.zero_()
        block.ln_1.weight.fill_(1)
        block.ln_1.bias.zero_()
    model.transformer.wte.weight.mul_(0.01)
    angles = torch.arange(100)[:, None] * (10.0 ** -torch.linspace(0, 2, 16))  # [position, frequency]
    model.transformer.wpe.weight.zero_()
    model.transformer.wpe.weight[:, :16], model.transformer.wpe.weight[:, 16:32] = angles.cos(), angles.sin()
    step = 10.0 ** -torch.linspace(0, 2, 16)  # a turn by one position
    query = torch.zeros(128, 32)
    frequency = torch.arange(16)
    query[frequency, frequency] = query[16 + frequency, 16 + frequency] = step.cos()
    query[16 + frequency, frequency], query[frequency, 16 + frequency] = step.sin(), -step.sin()
    weight = model.transformer.h[1].attn.c_attn.weight
    weight[:, 2 * 32 : 3 * 32] = 30 * query
    weight[:, 128 + 2 * 32 : 128 + 3 * 32] = torch.eye(128)[:, :32]
    return tiny_models.save(model, folder)


def test_a_planted_head_is_found(tmp_path, store):
    """A head that turns its position back by one is the strongest previous-token head; the others look alike at all."""
    checkpoint = Checkpoint.open(planted(tmp_path / "planted"))
    scores = computed("behaviour", method("behaviour").plan(checkpoint.card, SMALL), checkpoint, store)
    [(head, score, _), (_, second, _)] = scores.top("previous_token", 2, "score")
    assert (str(head), score > 0.95) == ("L1H2", True)
    assert second == pytest.approx(np.mean([1 / (i + 1) for i in range(1, 2 * SMALL.block)]))
    others = scores.score.sel(item="entropy").values.ravel()
    assert np.sort(others)[1:] == pytest.approx(np.ones(7))


def test_random_tokens_are_plain_different_and_the_same_each_time(default_checkpoint):
    """No special token is among them, and none comes more than twice in a sequence; another seed gives others."""
    vocabulary = Vocabulary.open(default_checkpoint.folder)
    tokens = vocabulary.plain_tokens(default_checkpoint.card.vocabulary)
    assert not set(range(17)) & set(tokens)
    settings = BehaviourSettings()
    ids = random_ids((1,), tokens, settings)
    assert ids.shape == (settings.blocks, 1 + 2 * settings.block)
    assert torch.equal(ids, random_ids((1,), tokens, settings))
    assert not torch.equal(ids, random_ids((1,), tokens, BehaviourSettings(random_seed=1)))
    for row in ids[:, 1:]:
        assert torch.equal(row[: settings.block], row[settings.block :])
        assert len(row.unique()) == settings.block


def test_paragraphs_are_long_enough(default_checkpoint):
    """Each of them has the 64 tokens that are read."""
    ids = text_ids(Vocabulary.open(default_checkpoint.folder), 49152, BehaviourSettings())
    assert ids.shape == (len(PARAGRAPHS), 64)


def test_the_default_models_known_heads():
    """The strongest induction and previous-token heads are those that an independent measurement found, as strong."""
    scores = shipped_scores("behaviour")
    best = {name: scores.top(name, 1, "score")[0] for name in ("induction", "previous_token")}
    assert {name: str(head) for name, (head, _, _) in best.items()} == {"induction": "L18H6", "previous_token": "L16H0"}
    assert best["induction"][1] == pytest.approx(0.89, abs=0.02)
    assert best["previous_token"][1] == pytest.approx(0.90, abs=0.02)
    assert ((scores.score >= 0) & (scores.score <= 1)).all()


def test_the_shipped_result_can_be_computed_again(default_checkpoint):
    """Random tokens once more: the same numbers as those that come with the project."""
    weights, vocabulary = Weights(default_checkpoint), Vocabulary.open(default_checkpoint.folder)
    again = run_random(weights, vocabulary, BehaviourSettings(), silent)
    shipped = shipped_scores("behaviour").score.sel(item=RANDOM_NAMES).values[:, 0, 0]
    np.testing.assert_allclose(again[0], shipped, atol=1e-3)


def test_a_result_survives_its_file_and_says_its_units(tiny_folder, store):
    """Scores, measured values and thresholds come back from Parquet; a head's answer has all of them."""
    checkpoint = Checkpoint.open(tiny_folder)
    one = method("behaviour")
    scores = computed("behaviour", one.plan(checkpoint.card, SMALL), checkpoint, store)
    again = Scores.from_parquet(scores.to_parquet())
    assert again.score.equals(scores.score)
    assert again.records == scores.records
    told = one.head(again, HeadId(1, 2))["behaviour"]
    assert list(told) == [measure.name for measure in MEASURES]
    assert (told["distance"]["unit"], told["first_token"]["threshold"]) == ("tokens", 0.3)
    assert told["distance"]["measured"] == pytest.approx(again.part("measured", "distance")[1, 2], abs=1e-4)
    assert 1 <= told["induction"]["rank"] <= 12


def test_its_command(tiny_folder, tmp_path, monkeypatch, capsys):
    """It prints the strongest heads and writes the long format; settings out of range are refused."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    command = ["behaviour", str(tiny_folder), "--block", "6", "--blocks", "1"]
    assert main([*command, "--json", "--out", str(tmp_path / "b.csv")]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [len(measure["heads"]) for measure in data["measures"]] == [5] * 6
    assert len((tmp_path / "b.csv").read_text().splitlines()) == 1 + 6 * 12
    assert main(command) == 0
    assert "induction" in capsys.readouterr().out
    assert main([*command, "--text-tokens", "1"]) == 2
