"""A prompt of one's own: parts add up to the logit, heads off as in a plain loop, patterns as transformers has them."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.cli import main
from analysis.errors import HeadError, SettingError
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from analysis.models.open_model import OpenModel
from analysis.prompt import question as question_module
from analysis.prompt.compute.ablation import each_head_off
from analysis.prompt.compute.direct import direct_effects
from analysis.prompt.compute.model import PromptModel
from analysis.prompt.question import MAX_CHARACTERS, MAX_HEADS, MAX_TOKENS, PromptQuestion, computed_answer
from analysis.prompt.reading import PromptReading, reading_data
from tests import tiny_models
from tests.test_families import blocks, part

README = Path(__file__).parent.parent / "README.md"

IDS = [5, 17, 250, 3, 17, 99]
TOKEN = 42


@pytest.fixture(params=tiny_models.FAMILIES, scope="module")
def case(request, tmp_path_factory):
    """Every family, with random numbers in all its tensors."""
    tiny = tiny_models.FAMILIES[request.param]
    model = tiny.make()
    checkpoint = Checkpoint.open(tiny_models.save(model, tmp_path_factory.mktemp(request.param)))
    return tiny, model, checkpoint, PromptModel(checkpoint, torch.device("cpu"))


def plain_logits(model, hooks=()):
    """Transformers' own, at the last token, before they are capped."""
    handles = [module.register_forward_pre_hook(hook) for module, hook in hooks]
    with torch.no_grad():
        hidden = model.base_model(torch.tensor([IDS]), use_cache=False).last_hidden_state[0, -1]
        logits = model.get_output_embeddings()(hidden)
    for handle in handles:
        handle.remove()
    return logits


def test_parts_add_up_to_the_logit(case):
    """Heads, MLPs, biases and embedding: their sum is the token's logit minus the mean logit, in every family."""
    _, model, _, reader = case
    run = reader.run(IDS)
    logits = plain_logits(model)
    torch.testing.assert_close(run.logits, logits, atol=1e-4, rtol=1e-4)
    for token in (TOKEN, int(logits.argmax())):
        effects = direct_effects(reader, run, token)
        assert effects.total() == pytest.approx(float(logits[token] - logits.mean()), abs=1e-4, rel=1e-4)


def head_written(model, tiny, checkpoint, layer, head):
    """What one head adds to the residual stream at the last token, by transformers' own modules."""
    block, dim = blocks(model)[layer], checkpoint.card.head_dim
    output = part(block, tiny.output)
    seen = {}
    hooks = [
        output.register_forward_pre_hook(lambda m, args: seen.update(z=args[0][0, -1].flatten())),
        output.register_forward_hook(lambda m, args, out: seen.update(out=out[0, -1])),
    ]
    plain_logits(model)
    for hook in hooks:
        hook.remove()
    alone = torch.zeros_like(seen["z"])
    alone[head * dim : (head + 1) * dim] = seen["z"][head * dim : (head + 1) * dim]
    with torch.no_grad():
        written = output(alone[None])[0] - output(torch.zeros_like(alone)[None])[0]
        if checkpoint.family.attention_norm is not None:
            norm = part(block, checkpoint.family.attention_norm)
            written = written * norm(seen["out"]) / seen["out"]  # the gain and the scale of this run
    return written


def test_a_heads_effect_is_that_of_its_own_output(case):
    """Twin: transformers' output projection on one head alone, then norm and unembedding written down in float64."""
    tiny, model, checkpoint, reader = case
    run = reader.run(IDS)
    effects = direct_effects(reader, run, TOKEN)
    norm, unembedding = reader.final_norm, model.get_output_embeddings()
    final = run.final.double()
    centre = final.mean() if checkpoint.family.norm_kind == "layer" else 0.0
    scale = ((final - centre).square().mean() + checkpoint.eps).sqrt()
    gain = norm.weight.double() + (1 if checkpoint.family.norm_kind == "rms_plus_one" else 0)
    for layer, head in ((0, 1), (1, 3), (len(checkpoint.card.layers) - 1, 0)):
        written = head_written(model, tiny, checkpoint, layer, head).double()
        if checkpoint.family.norm_kind == "layer":
            written = written - written.mean()
        logits = (written / scale * gain) @ unembedding.weight.double().T
        expected = float(logits[TOKEN] - logits.mean())
        assert float(effects.heads[layer, head]) == pytest.approx(expected, abs=2e-4, rel=1e-3)


@pytest.mark.parametrize("positions", ["all", "last"])
def test_heads_off_equal_a_forward_pass_per_head(case, positions):
    """Twin: transformers' own model, one head's columns zero before the output projection, one pass per head."""
    tiny, model, checkpoint, reader = case
    found = each_head_off(reader, IDS, TOKEN, positions)
    untouched = reader.log_probs(plain_logits(model))[TOKEN]
    dim = checkpoint.card.head_dim
    for layer in range(len(checkpoint.card.layers)):
        for head in range(checkpoint.card.heads):

            def off(module, args, head=head):
                z = args[0].clone()
                flat = z.view(*z.shape[:2], -1)
                flat[:, -1 if positions == "last" else slice(None), head * dim : (head + 1) * dim] = 0
                return z, *args[1:]

            logits = plain_logits(model, [(part(blocks(model)[layer], tiny.output), off)])
            expected = reader.log_probs(logits)[TOKEN] - untouched
            assert float(found[layer, head]) == pytest.approx(float(expected), abs=1e-4, rel=1e-4)


def test_a_heads_mean_stands_in_its_place(case):
    """Twin: the mean output over the prompt's tokens instead of zero, for one head of the second layer."""
    tiny, model, checkpoint, reader = case
    found = each_head_off(reader, IDS, TOKEN, "all", "mean")
    dim = checkpoint.card.head_dim

    def off(module, args):
        z = args[0].clone()
        own = z.view(*z.shape[:2], -1)[..., dim : 2 * dim]
        own[:] = own.mean(1, keepdim=True)
        return z, *args[1:]

    logits = plain_logits(model, [(part(blocks(model)[1], tiny.output), off)])
    expected = reader.log_probs(logits)[TOKEN] - reader.log_probs(plain_logits(model))[TOKEN]
    assert float(found[1, 1]) == pytest.approx(float(expected), abs=1e-4, rel=1e-4)


def test_patterns_are_those_of_transformers(case):
    """Every head of every layer, each row a distribution over earlier tokens."""
    _, model, checkpoint, reader = case
    with torch.no_grad():
        attentions = model(torch.tensor([IDS]), output_attentions=True, use_cache=False).attentions
    run = reader.run(IDS)
    for layer in range(len(checkpoint.card.layers)):
        torch.testing.assert_close(run.patterns[layer], attentions[layer][0], atol=1e-5, rtol=1e-4)


# The question ---------------------------------------------------------------------------------------------------------


def test_the_default_model_says_paris_because_of_one_head(default_checkpoint, store):
    """Country → capital's head looks at France, adds most to Paris of all heads, and is missed most."""
    question = PromptQuestion("The capital of France is", (HeadId(23, 4),), "all")
    reading, ablation = computed_answer(question, OpenModel(default_checkpoint, "cpu"), store)
    assert [token.text for token in reading.tokens] == ["The", " capital", " of", " France", " is"]
    assert (reading.next[0].text, reading.next[0].probability > 0.5) == (" Paris", True)
    direct, without = np.array(reading.direct.heads), np.array(ablation.heads)
    assert np.unravel_index(direct.argmax(), direct.shape) == (23, 4)
    assert np.unravel_index(without.argmin(), without.shape) == (23, 4)
    assert reading.direct.total == pytest.approx(reading.next[0].logit, abs=1e-3)
    assert reading.patterns[0].attention[4][3] > 0.8
    looks = f"L23H4 looks at *France* ({reading.patterns[0].attention[4][3]:.2f})"
    adds = f"adds {direct[23, 4]:.1f} to the logit of *Paris* ({reading.next[0].logit:.1f} in all)"
    loses = f"without it the log-probability falls by {-without[23, 4]:.1f}"
    assert f"{looks} and {adds}, more than any other head; {loses}" in " ".join(README.read_text().split())
    assert PromptReading.from_json(reading.to_json()) == reading
    again = computed_answer(question, OpenModel(default_checkpoint, "none such"), store)  # nothing is computed
    assert again == (reading, ablation)
    data = json.loads(json.dumps(reading_data(reading, ablation)))
    assert list(data) == ["text", "tokens", "next", "layers", "direct", "patterns", "provenance", "without"]
    assert data["provenance"]["settings"] == {"text": question.text, "heads": ["L23H4"]}
    assert data["without"]["provenance"]["device"] == "cpu"
    assert "mean logit" in data["direct"]["about"]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (PromptQuestion("  "), "no text"),
        (PromptQuestion("x" * (MAX_CHARACTERS + 1)), "2,001 characters"),
        (PromptQuestion("half \ud800"), "unpaired surrogate"),
        (PromptQuestion("w1", tuple(HeadId(0, 0) for _ in range(MAX_HEADS + 1))), "too many"),
        (PromptQuestion("w1", ablate="first"), "cannot be switched off"),
        (PromptQuestion("w1", ablate="all", instead="half"), "a head cannot be replaced by"),
        (PromptQuestion(" ".join(["w1"] * (MAX_TOKENS + 1))), "201 tokens"),
    ],
)
def test_what_is_too_much_is_refused_with_the_limit(question, words, tiny_folder, store):
    """No text, too long a text, half a character, too many heads or tokens, no such positions or replacement."""
    with pytest.raises(SettingError, match=words) as caught:
        computed_answer(question, OpenModel(Checkpoint.open(tiny_folder), "cpu"), store)
    assert caught.value.hint


def test_a_head_that_is_not_there_is_refused(tiny_folder, store):
    """As everywhere."""
    with pytest.raises(HeadError):
        computed_answer(PromptQuestion("w1", (HeadId(99, 0),)), OpenModel(Checkpoint.open(tiny_folder), "cpu"), store)


def test_an_ablation_that_would_take_too_long_is_refused(tiny_folder, store, monkeypatch):
    """A worker answers one question at a time; the text alone is still read."""
    monkeypatch.setattr(question_module, "_MOST_WORK", {"all": 1e6, "last": 1e9})
    model = OpenModel(Checkpoint.open(tiny_folder), "cpu")
    reading, ablation = computed_answer(PromptQuestion("w1 w2"), model, store)
    assert (len(reading.tokens), ablation) == (2, None)
    with pytest.raises(SettingError, match="would take too long") as caught:
        computed_answer(PromptQuestion("w1 w2" * 20, ablate="all"), model, store)
    assert "at the last one" in caught.value.hint
    at_last = PromptQuestion("w1 w2" * 20, ablate="last")
    assert computed_answer(at_last, model, store)[1] is not None  # one token per head


def test_each_question_has_its_own_name(tiny_folder):
    """Another text, head or way of switching off is another entry of the store."""
    card = Checkpoint.open(tiny_folder).card
    steps = [
        PromptQuestion("w1").reading(card),
        PromptQuestion("w2").reading(card),
        PromptQuestion("w1", (HeadId(0, 1),)).reading(card),
        PromptQuestion("w1", ablate="all").ablation(card),
        PromptQuestion("w1", ablate="last").ablation(card),
        PromptQuestion("w1", ablate="last", instead="mean").ablation(card),
    ]
    assert len({step.key for step in steps}) == len(steps)
    assert PromptQuestion("w1", ablate="all").reading(card) == steps[0]


def test_its_command(tiny_folder, tmp_path, monkeypatch, capsys):
    """Text for people, JSON for scripts; control characters are shown by signs; errors have exit codes."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    assert main(["prompt", str(tiny_folder), "w1 w2 w3", "--head", "L1H2", "0.1"]) == 0
    text = capsys.readouterr().out
    assert "w1 w2 w3" in text
    assert "L1H2 looks" in text
    assert main(["prompt", str(tiny_folder), "w1 \x1b[31m w3", "--ablate", "none", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["without"], data["patterns"], len(data["next"])) == (None, [], 10)
    assert main(["prompt", str(tiny_folder), "w1 \x1b[31m w3", "--ablate", "none"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert main(["prompt", str(tiny_folder), ""]) == 2
    assert main(["prompt", str(tiny_folder), "w1", "--head", "L9H9"]) == 5
