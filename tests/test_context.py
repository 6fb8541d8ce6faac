"""The map with context: what is read against transformers itself, hits against plain loops, settings and command."""

import json

import pytest
import torch

from analysis.cli import main
from analysis.compute.hits import HitCounter, Query
from analysis.compute.layered.logits import NormedUnembedding
from analysis.compute.weights import Weights
from analysis.data.relations import builtin, parse
from analysis.errors import SettingError
from analysis.jobs.request import make_request
from analysis.methods import method
from analysis.methods.context.compute import context_inputs
from analysis.methods.context.settings import TEMPLATES, sides
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import Vocabulary
from analysis.progress import silent
from analysis.relations.settings import default_ks
from tests import tiny_models
from tests.test_families import blocks, part

PREFIX, SUFFIX = (7, 3, 250), (11, 60)
SOURCES = ((5,), (17,), (99, 4), (3,))
CPU = torch.device("cpu")


@pytest.fixture(params=tiny_models.FAMILIES, scope="module")
def case(request, tmp_path_factory):
    """Every family with random numbers in all its tensors."""
    tiny = tiny_models.FAMILIES[request.param]
    model = tiny.make()
    return tiny, model, Checkpoint.open(tiny_models.save(model, tmp_path_factory.mktemp(request.param)))


def head_outputs(model, output, ids):
    """One prompt alone, transformers' own forward pass: what enters every output projection at the last token."""
    seen = []
    hooks = []
    for block in blocks(model):
        projection = part(block, output)
        hooks.append(projection.register_forward_pre_hook(lambda m, args: seen.append(args[0][0, -1].flatten())))
    with torch.no_grad():
        model(torch.tensor([ids]), use_cache=False)
    for hook in hooks:
        hook.remove()
    return seen


def test_outputs_at_the_end_of_the_prompt_are_those_of_transformers(case):
    """Packed with others and one layer's weights at a time, or each prompt alone: every head's output in all layers."""
    tiny, model, checkpoint = case
    card = checkpoint.card
    query = Query.of([([(source, 0) for source in SOURCES], 1)])
    inputs = context_inputs(checkpoint, CPU, query, PREFIX, SUFFIX, card.layers, silent)
    for number, source in enumerate(query.source_tokens):
        alone = head_outputs(model, tiny.output, [*PREFIX, *source, *SUFFIX])
        for layer in card.layers:
            read = torch.einsum("x,hxe->he", inputs.sources.x(layer)[number], inputs.heads.values(layer))
            torch.testing.assert_close(read.flatten(), alone[layer], atol=2e-4, rtol=2e-4)


def plain_answers(checkpoint, model, template, relations, layer, head):
    """The definition, a prompt at a time: the head's real row in float64, larger entries counted; how near a tie."""
    weights, dim = Weights(checkpoint), checkpoint.card.head_dim
    vocabulary = Vocabulary.open(checkpoint.folder)
    before, after = sides(template)
    u = NormedUnembedding(weights, weights.final_gain()).unembed_span(0, weights.vocabulary).double()
    w_o = weights.outputs(layer)[head].double()
    answers = []
    for pairs, k in relations:
        for source, target in pairs:
            ids = [*vocabulary.prefix(before), source, *vocabulary.following(after)]
            z = head_outputs(model, checkpoint.family.output, ids)[layer][head * dim : (head + 1) * dim]
            row = z.double() @ w_o @ u.T
            for sign in (1, -1):
                edge = (sign * row).topk(k + 1).values
                near = min(abs(sign * row[target] - edge[-1]), abs(sign * row[target] - edge[-2])) / row.abs().max()
                answers.append((int((sign * row > sign * row[target]).sum()) < k, float(near)))
    return answers


def test_hits_of_the_default_model_equal_a_plain_loop(default_checkpoint):
    """A forward pass per prompt, full rows in float64: the same hits, but for ties within float32's rounding."""
    from transformers import AutoModelForCausalLM

    vocabulary = Vocabulary.open(default_checkpoint.folder)
    _, standard = default_ks(default_checkpoint.card.vocabulary)
    relations = [
        (vocabulary.keep(builtin()["country_capital"])[:10], standard),
        (vocabulary.keep(builtin()["noun_pronoun"])[:8], standard),
    ]
    single = [([pair], k) for pairs, k in relations for pair in pairs]
    model = AutoModelForCausalLM.from_pretrained(default_checkpoint.folder, dtype=torch.float32).eval()
    wanted, template = {23: (3, 4), 26: (2,)}, TEMPLATES[1]
    before, after = sides(template)
    prompt = (vocabulary.prefix(before), vocabulary.following(after))
    inputs = context_inputs(default_checkpoint, CPU, Query.of(single), *prompt, tuple(wanted), silent)
    for layer, counts in HitCounter(inputs).count(list(wanted)):
        for head in wanted[layer]:
            ours = counts.hits[:, :, head].flatten().bool().tolist()
            plain = plain_answers(default_checkpoint, model, template, relations, layer, head)
            assert any(hit for hit, _ in plain) == any(ours)
            for hit, (expected, near) in zip(ours, plain, strict=True):
                assert hit == expected or near < 1e-4


def test_templates_are_the_models_own_tokens(default_checkpoint):
    """Prefix, source and suffix, put together as tokens, are what the tokenizer makes of the whole text."""
    vocabulary = Vocabulary.open(default_checkpoint.folder)
    for template in TEMPLATES:
        before, after = sides(template)
        source = vocabulary.single(["France"])["France"]
        whole = vocabulary.prefix(template.replace("<X>", "France"))
        assert (*vocabulary.prefix(before), source, *vocabulary.following(after)) == whole


@pytest.mark.parametrize("templates", [["no source"], ["<X> and <X>"], [], ["two\nlines <X>"]])
def test_a_template_has_one_source(templates):
    """None, two, no template at all and several lines are refused."""
    with pytest.raises(SettingError):
        make_request({"model": "x", "methods": ["context"], "templates": templates})


def test_the_command(tiny_folder, tmp_path, monkeypatch, capsys):
    """`context MODEL --templates …`: one sample per template, one score per head; it judges no other map."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    pairs = parse("\n".join(f"w{i},w{i + 100}" for i in range(40)).encode(), "shift.csv").pairs
    relation = tmp_path / "shift.csv"
    relation.write_text("\n".join(f"{s},{t}" for s, t in pairs))
    out = tmp_path / "scores.csv"
    options = ["--relations", str(relation), "--templates", "w1 <X> w2", "<X>  w3", "--k", "30", "--json"]
    assert main(["context", str(tiny_folder), *options, "--out", str(out)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["relations"][0]["kept"] == 40
    assert data["settings"]["templates"] == ["w1 <X> w2", "<X> w3"]
    card = Checkpoint.open(tiny_folder).card
    assert len(out.read_text().splitlines()) == 1 + 2 * 2 * len(card.layers) * card.heads
    assert not method("context").judges
