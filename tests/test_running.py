"""The running model's map: what is read against transformers itself, hits against plain loops, planted heads, laws."""

import inspect
import json
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from analysis.cli import main
from analysis.compute.hits import HitCounter, Query
from analysis.compute.layered import activations
from analysis.compute.layered import model as layered
from analysis.compute.layered.packing import LENGTH, packed
from analysis.compute.weights import Weights
from analysis.data.relations import builtin, parse
from analysis.errors import RelationError, SettingError
from analysis.jobs.request import make_request
from analysis.methods.running.compute import running_inputs
from analysis.methods.running.method import RunningMethod
from analysis.methods.running.settings import CARRIERS, RunningSettings
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.progress import silent
from analysis.relations.settings import default_ks
from analysis.results.scores import Missing
from tests import tiny_models
from tests.computing import computed
from tests.test_families import blocks, part

PREFIX = (7, 3, 250)
SOURCES = ((5,), (17,), (99, 4), (3,), (250, 250, 8), (17, 5))
CPU = torch.device("cpu")


@pytest.fixture(params=tiny_models.FAMILIES, scope="module")
def case(request, tmp_path_factory):
    """Every family with random numbers in all its tensors: norms, biases and gains too."""
    tiny = tiny_models.FAMILIES[request.param]
    model = tiny.make()
    folder = tiny_models.save(model, tmp_path_factory.mktemp(request.param))
    return tiny, model, Checkpoint.open(folder)


def inputs_of(checkpoint, sources, prefix=PREFIX, layers=None):
    """What the counter reads, for sources that map to anything."""
    query = Query.of([([(source, 0) for source in sources], 1)])
    return query, running_inputs(checkpoint, CPU, query, prefix, layers or checkpoint.card.layers, silent)


def attention_inputs(model, tiny, ids):
    """One prompt alone, transformers' own forward pass: what enters each layer's attention at the last token."""
    seen = []
    hooks = []
    for block in blocks(model):
        attention = part(block, tiny.attention)
        signature = inspect.signature(attention.forward)

        def hook(module, args, kwargs, signature=signature):
            seen.append(signature.bind(*args, **kwargs).arguments["hidden_states"][0, -1])

        hooks.append(attention.register_forward_pre_hook(hook, with_kwargs=True))
    with torch.no_grad():
        model(torch.tensor([ids]), use_cache=False)
    for hook in hooks:
        hook.remove()
    return seen


def test_sources_enter_the_heads_as_in_transformers(case):
    """Packed with others and one layer's weights at a time, or each prompt alone: the same vectors in all layers."""
    tiny, model, checkpoint = case
    query, inputs = inputs_of(checkpoint, SOURCES)
    for number, source in enumerate(query.source_tokens):
        alone = attention_inputs(model, tiny, [*PREFIX, *source])
        for layer in checkpoint.card.layers:
            x = inputs.sources.x(layer)[number, : checkpoint.card.width]
            torch.testing.assert_close(x, alone[layer], atol=2e-4, rtol=2e-4)


def forced_outputs(model, tiny, ids, layer):
    """What enters a layer's output projection at the last token when its attention sees that token alone."""
    block = blocks(model)[layer]
    attention, output = part(block, tiny.attention), part(block, tiny.output)
    signature = inspect.signature(attention.forward)
    seen = []

    def force(module, args, kwargs):
        call = signature.bind(*args, **kwargs)
        mask = torch.full((1, 1, len(ids), len(ids)), torch.finfo(torch.float32).min)
        call.arguments["attention_mask"] = mask.masked_fill(torch.eye(len(ids), dtype=torch.bool), 0.0)
        return call.args, call.kwargs

    hooks = [
        attention.register_forward_pre_hook(force, with_kwargs=True),
        output.register_forward_pre_hook(lambda module, args: seen.append(args[0][0, -1])),
    ]
    with torch.no_grad():
        model(torch.tensor([ids]), use_cache=False)
    for hook in hooks:
        hook.remove()
    return seen[0]


def real_row(model, tiny, checkpoint, layer, head, z):
    """A head's own output through transformers' output projection, norm behind it, final norm and unembedding."""
    block, card = blocks(model)[layer], checkpoint.card
    output = part(block, tiny.output)
    alone = torch.zeros_like(z)
    own = slice(head * card.head_dim, (head + 1) * card.head_dim)
    alone[own] = z[own]
    with torch.no_grad():
        w = output(alone[None])[0] - output(torch.zeros_like(z)[None])[0]
        if checkpoint.family.attention_norm is not None:
            w = part(block, checkpoint.family.attention_norm)(w)
        base = model.base_model
        norm = part(getattr(base, "decoder", base), checkpoint.family.final_norm)
        normed = norm(w) - (norm.bias if getattr(norm, "bias", None) is not None else 0)
        unembedding = model.get_output_embeddings()
        return unembedding(normed) - (0 if unembedding.bias is None else unembedding.bias)


def test_rows_rank_tokens_as_a_head_does_that_sees_the_source_alone(case):
    """Forced onto the source, a head's real output through the real final norm is our row but for a positive factor."""
    tiny, model, checkpoint = case
    card = checkpoint.card
    query, inputs = inputs_of(checkpoint, SOURCES)
    u = inputs.unembedding.unembed_span(0, inputs.unembedding.vocabulary)
    for number, source in enumerate(query.source_tokens[:3]):
        for layer in card.layers:
            z = forced_outputs(model, tiny, [*PREFIX, *source], layer)
            values, outputs = inputs.heads.values(layer), inputs.heads.outputs(layer)
            for head in range(card.heads):
                a = inputs.sources.x(layer)[number] @ values[head // (card.heads // card.kv_heads)]
                ours = a @ outputs[head] @ u.T
                theirs = real_row(model, tiny, checkpoint, layer, head, z)
                torch.testing.assert_close(ours / ours.norm(), theirs / theirs.norm(), atol=5e-4, rtol=5e-3)
                assert torch.equal(ours.topk(5).indices, theirs.topk(5).indices)
                assert torch.equal((-ours).topk(5).indices, (-theirs).topk(5).indices)


def test_nothing_is_run_behind_the_last_layer_that_is_needed(tiny_folder, monkeypatch):
    """Of three layers the last one's weights are not read when the first two are asked for."""
    checkpoint = Checkpoint.open(tiny_folder)
    read = []
    tensor = Weights.tensor
    monkeypatch.setattr(Weights, "tensor", lambda self, name, out=None: read.append(name) or tensor(self, name, out))
    inputs_of(checkpoint, SOURCES, layers=(0, 1))
    assert not any(name.startswith(checkpoint.in_layer(2, "")) for name in read)
    assert any(name.startswith(checkpoint.in_layer(1, "")) for name in read)


@pytest.mark.parametrize("large", [0, 1 << 40])
def test_memory_is_given_back_beside_large_layers_only(tiny_folder, monkeypatch, large):
    """Before every layer of a large model, and never in a small one; what is read is the same."""
    checkpoint = Checkpoint.open(tiny_folder)
    plain = inputs_of(checkpoint, SOURCES)[1].sources.x(2)
    given = []
    monkeypatch.setattr(layered, "_LARGE", large)
    monkeypatch.setattr(layered, "give_back", lambda: given.append(1))
    assert torch.equal(inputs_of(checkpoint, SOURCES)[1].sources.x(2), plain)
    assert len(given) == (0 if large else 3)


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_prefix_serves_the_sources_of_all_parts(case, monkeypatch, at_once):
    """Run one or two sequences at a time, sources behind the first part enter the heads as if all ran together."""
    _, _, checkpoint = case
    sources = tuple((number % 251, number % 83) for number in range(150))
    together = inputs_of(checkpoint, sources)[1]
    monkeypatch.setattr(activations, "_AT_ONCE", at_once)
    apart = inputs_of(checkpoint, sources)[1]
    for layer in checkpoint.card.layers:
        torch.testing.assert_close(apart.sources.x(layer), together.sources.x(layer), atol=2e-4, rtol=2e-4)


# Packing --------------------------------------------------------------------------------------------------------------

tokens = st.integers(0, 99)


@given(st.lists(tokens, max_size=5), st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=500))
def test_a_source_sees_the_prefix_and_itself_alone(prefix, sources):
    """What a source's last token sees, in order, is its own prompt, at the positions of its own prompt."""
    prompts = packed(prefix, sources)
    before = torch.tensor(prefix, dtype=torch.long)
    mask = prompts.mask()[:, 0] == 0
    for source, row, column in zip(sources, prompts.row.tolist(), prompts.column.tolist(), strict=True):
        seen = mask[row, column]
        assert torch.cat([before, prompts.ids[row]])[seen].tolist() == [*prefix, *source]
        positions = torch.cat([torch.arange(len(prefix)), prompts.positions[row]])[seen]
        assert positions.tolist() == list(range(len(prefix) + len(source)))
    assert prompts.ids.shape[1] <= max(LENGTH, len(prefix), *(len(source) for source in sources))


@given(st.lists(tokens, max_size=100), st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=100))
def test_the_prefix_is_run_once_for_all_sources(prefix, sources):
    """It stands at the beginning of the first sequence, where it sees itself alone, and nowhere else."""
    prompts = packed(prefix, sources)
    of_prefix = prompts.group == 0
    assert of_prefix.sum() == len(prefix)
    assert prompts.ids[0, : len(prefix)].tolist() == prefix
    mask = prompts.mask()[0, 0, : len(prefix)] == 0
    assert not mask[:, : len(prefix)].any()
    assert torch.equal(mask[:, len(prefix) :][:, : len(prefix)], torch.ones(len(prefix), len(prefix)).tril() == 1)
    assert not mask[:, 2 * len(prefix) :].any()


@given(st.integers(1, 9), st.integers(1, 1000))
def test_parts_hold_every_source_once(at_once, count):
    """However the sequences are split, each source is in one part, where it was."""
    prompts = packed([1, 2], [[number % 50] for number in range(count)])
    held = []
    for part_of_it, sources in prompts.split(at_once):
        assert part_of_it.ids[part_of_it.row, part_of_it.column].tolist() == [n % 50 for n in sources.tolist()]
        held += sources.tolist()
    assert held == list(range(count))


# Twin -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plain:
    """The definition: transformers' forward passes, a head's full rows in float64, larger entries counted."""

    checkpoint: Checkpoint
    model: Any
    prefix: tuple[int, ...]

    @cached_property
    def u(self):
        """The final norm's gain and the unembedding, of the whole vocabulary; an RMS norm centres nothing."""
        return (self.model.lm_head.weight.detach() * self.model.model.norm.weight.detach()).double()

    @cached_property
    def exact(self):
        """The same in float64 throughout."""
        return replace(self, model=deepcopy(self.model).double())

    def streams(self, sources):
        """The residual stream that enters each layer at each source; all prompts have the same length."""
        found = []
        for some in torch.tensor(sources).split(50):
            prompts = torch.cat([torch.tensor([self.prefix] * len(some)), some[:, None]], dim=1)
            with torch.no_grad():
                hidden = self.model.model(prompts, output_hidden_states=True).hidden_states
            found.append(torch.stack([states[:, -1] for states in hidden], dim=1))
        return torch.cat(found)  # [S, L + 1, d]

    def rows(self, streams, layer, head):  # streams: [P, L + 1, d]
        """What a head writes for some sources, as scores of all tokens."""
        card, attention = self.checkpoint.card, self.model.model.layers[layer].self_attn
        shared = head // (card.heads // card.kv_heads)
        width = attention.head_dim
        of_head, of_values = (slice(number * width, (number + 1) * width) for number in (head, shared))
        w_v = attention.v_proj.weight.detach()[of_values].T.double()  # no bias in this model
        w_o = attention.o_proj.weight.detach()[:, of_head].T.double()
        tokens = w_o @ self.u.T
        for some in streams.split(100):  # all at once would take gigabytes
            with torch.no_grad():
                x = self.model.model.layers[layer].input_layernorm(some[:, layer]).double()
            yield from x @ w_v @ tokens

    def hits(self, pairs, streams, layer, head):
        """For every pair with its k, whether a head promotes the target, and whether it suppresses it."""
        answers = []
        for row, (_, target, k) in zip(self.rows(streams, layer, head), pairs, strict=True):
            larger, smaller = int((row > row[target]).sum()), int((row < row[target]).sum())
            answers.append((larger < k, smaller < k))
        return answers

    def nearness(self, pair, stream, layer, head, sign):
        """How near a tie a pair is: the target's distance, of the row's largest, from what would change the answer."""
        _, target, k = pair
        (row,) = self.rows(stream[None], layer, head)
        edge = (sign * row).topk(k + 1).values
        distance = min(abs(sign * row[target] - edge[-1]), abs(sign * row[target] - edge[-2]))
        return float(distance / row.abs().max())


def check_twin(checkpoint, relations, heads):
    """Our hits of some heads are those of the plain loop; how many hits there are, and how many differ.

    Where the two differ, a forward pass in float64 decides. We may be wrong only where a pair is a tie but for what
    float32 rounds away on its way through the layers.
    """
    from transformers import AutoModelForCausalLM

    prefix = Vocabulary.open(checkpoint.folder).prefix(CARRIERS[1])
    model = AutoModelForCausalLM.from_pretrained(checkpoint.folder, dtype=torch.float32).eval()
    plain = Plain(checkpoint, model, prefix)
    pairs = [(source, target, k) for of_relation, k in relations for source, target in of_relation]
    streams = plain.streams([source for source, _, _ in pairs])
    layers = tuple(sorted({layer for layer, _ in heads}))
    query = Query.of([([(source, target)], k) for source, target, k in pairs])
    inputs = running_inputs(checkpoint, CPU, query, prefix, layers, silent)
    hits = wrong = 0
    for layer, counts in HitCounter(inputs).count(list(layers)):
        for head in [head for at, head in heads if at == layer]:
            ours = counts.hits[:, :, head].bool()
            expected = torch.tensor(plain.hits(pairs, streams, layer, head))
            for pair, direction in (ours != expected).nonzero().tolist():
                stream = plain.exact.streams([pairs[pair][0]])
                [answers] = plain.exact.hits([pairs[pair]], stream, layer, head)
                if bool(ours[pair, direction]) != answers[direction]:
                    assert plain.exact.nearness(pairs[pair], stream[0], layer, head, (1, -1)[direction]) < 1e-4
                    wrong += 1
            hits += int(ours.sum())
    print(f"{wrong} of {2 * len(pairs) * len(heads)} answers differ; {hits} are hits")
    return hits, wrong


def some_pairs(checkpoint, names, most=None):
    """The pairs of some relations, or the first of them, with their k."""
    vocabulary = Vocabulary.open(checkpoint.folder)
    copying, standard = default_ks(checkpoint.card.vocabulary)
    found = []
    for name in names:
        pairs = vocabulary.keep(builtin()[name])[:most]
        found.append((pairs, copying if builtin()[name].k == "copying" else standard))
    return found


def test_hits_of_the_default_model_equal_a_plain_loop(default_checkpoint):
    """Transformers' forward passes, full rows in float64: the same hits, but for ties within float32's rounding."""
    relations = some_pairs(default_checkpoint, ("country_capital", "name_copying", "noun_pronoun"), most=10)
    hits, wrong = check_twin(default_checkpoint, relations, [(0, 1), (23, 2), (23, 3), (23, 4), (26, 2)])
    assert hits > 20
    assert wrong == 0


@pytest.mark.slow
def test_all_hits_of_the_default_model_equal_a_plain_loop(default_checkpoint):
    """Seven minutes of one core decide every pair of single tokens of all relations in all heads, after one carrier."""
    card = default_checkpoint.card
    heads = [(layer, head) for layer in card.layers for head in range(card.heads)]
    relations = some_pairs(default_checkpoint, builtin())
    hits, wrong = check_twin(default_checkpoint, relations, heads)
    assert hits > 10_000
    assert wrong <= hits / 500


def test_the_default_models_known_heads():
    """Carriers agree, and the heads of the published examples are there."""
    from analysis.evidence.shipped import shipped_scores

    scores = shipped_scores("running")
    assert scores.samples == list(CARRIERS)
    mean = scores.over_samples("mean")
    best = {name: mean.top(name, 1)[0] for name in ("country_capital", "name_copying", "noun_pronoun")}
    assert {name: str(head) for name, (head, _, _) in best.items()} == {
        "country_capital": "L23H4",
        "name_copying": "L23H2",
        "noun_pronoun": "L26H2",
    }
    assert min(score for _, score, _ in best.values()) > 0.6
    flat = [scores.score.sel(sample=sample, item=scores.items()).values.ravel() for sample in scores.samples]
    assert np.corrcoef(flat).min() > 0.9


# Planted --------------------------------------------------------------------------------------------------------------

WIDE = {
    "gpt2": {"n_embd": 128, "n_layer": 3, "n_head": 2},
    "qwen2": {
        "hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 2,
        "intermediate_size": 64,
    },
    "gemma3": {
        "hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 64,
    },
}  # fmt: skip


def plant(checkpoint, layer, head, pairs, prefix):
    """Write a head that maps each source, as it enters the layer, to its target."""
    card, family = checkpoint.card, checkpoint.family
    query, inputs = inputs_of(checkpoint, [(source,) for source, _ in pairs], prefix)
    place = {tokens[0]: number for number, tokens in enumerate(query.source_tokens)}
    x = inputs.sources.x(layer)[[place[source] for source, _ in pairs]][:, : card.width].double()
    u = inputs.unembedding.unembed(torch.tensor([target for _, target in pairs])).double()
    w_v = torch.zeros(card.width, card.head_dim, dtype=torch.float64)
    w_v[:, : len(pairs)] = torch.linalg.pinv(x)
    directions = torch.linalg.pinv(u).T  # each is one target's alone among the targets
    gain = inputs.heads.weights.attention_gain(layer)
    if gain is not None:
        directions = directions / gain.double()
    w_o = torch.zeros(card.head_dim, card.width, dtype=torch.float64)
    w_o[: len(pairs)] = 1000 * directions
    path = checkpoint.folder / "model.safetensors"
    tensors = load_file(path)
    value = tensors[checkpoint.in_layer(layer, f"{family.value}.weight")]
    output = tensors[checkpoint.in_layer(layer, f"{family.output}.weight")]
    bias = tensors.get(checkpoint.in_layer(layer, f"{family.value}.bias"))
    dim, group = card.head_dim, head // (card.heads // card.kv_heads)
    if family.conv1d:
        at = 2 * card.heads * dim + head * dim
        value[:, at : at + dim] = w_v.float()
        output[head * dim : (head + 1) * dim] = w_o.float()
        bias[at : at + dim] = 0
    else:
        value[group * dim : (group + 1) * dim] = w_v.T.float()
        output[:, head * dim : (head + 1) * dim] = w_o.T.float()
        if bias is not None:
            bias[group * dim : (group + 1) * dim] = 0
    save_file(tensors, path, metadata={"format": "pt"})


@pytest.mark.parametrize("name", WIDE)
def test_planted_heads_are_found(tmp_path, store, name):
    """A head that maps sources as they are in the last layer of the running model is found there, with score 1."""
    tiny = tiny_models.FAMILIES[name]
    extra = tiny.extra | ({"head_dim": 64} if name != "gpt2" else {})
    model = type(tiny)(tiny.config, WIDE[name], tiny.output, tiny.attention, tiny.norm, tiny.mlp, extra).make()
    folder = tiny_models.save(model, tmp_path / name)
    pairs = [(i, 299 - i - 1) for i in range(40)]
    checkpoint = Checkpoint.open(folder)
    plant(checkpoint, 2, 1, pairs, Vocabulary.open(folder).prefix("w7 w9"))
    checkpoint = Checkpoint.open(folder)
    relation = parse("\n".join(f"w{s},w{t}" for s, t in pairs).encode(), "planted.csv")
    settings = RunningSettings(carriers=["w7 w9"], k=3, relations=[], files=[file_of(relation)])
    scores = computed("running", RunningMethod().plan(checkpoint.card, settings), checkpoint, store)
    assert [(str(head), score) for head, score, _ in scores.over_samples("mean").top("planted", 1)] == [("L2H1", 1.0)]
    others = scores.score.values[0, 0, 0].copy()
    others[2, 1] = 0
    assert others.max() < 0.5


def file_of(relation):
    """A relation as somebody would bring it."""
    return {"name": f"{relation.name}.csv", "content": "\n".join(f"{s},{t}" for s, t in relation.pairs)}


# The plan -------------------------------------------------------------------------------------------------------------

PAIRS = parse("\n".join(f"w{i},w{i + 100}" for i in range(60)).encode(), "shift.csv")


def plan_of(checkpoint, **settings):
    """A plan for one relation of sixty pairs after two carriers."""
    chosen = {"carriers": ["w1", "w2 w3"], "relations": [], "files": [file_of(PAIRS)], **settings}
    return RunningMethod().plan(checkpoint.card, RunningSettings(**chosen))


def test_carriers_are_samples(tiny_folder, store):
    """Each has scores of its own; one carrier alone gives the same ones; a carrier more computes only itself."""
    checkpoint = Checkpoint.open(tiny_folder)
    both = computed("running", plan_of(checkpoint, k=30), checkpoint, store)
    assert both.samples == ["w1", "w2 w3"]
    assert (both.missing == Missing.PRESENT).all()
    assert not both.score.isel(sample=0).equals(both.score.isel(sample=1))
    alone = plan_of(checkpoint, k=30, carriers=["w1"])
    assert alone.left(store) == 0
    assert computed("running", alone, checkpoint, store).score.equals(both.score.isel(sample=[0]))
    assert plan_of(checkpoint, k=30, carriers=["w1", "w5"]).left(store) == len(checkpoint.card.layers)


def test_mean_every_and_some_carrier(tiny_folder, store):
    """Mean, smallest, largest, and one carrier's own."""
    checkpoint = Checkpoint.open(tiny_folder)
    scores = computed("running", plan_of(checkpoint, k=30), checkpoint, store)
    values = scores.score.values
    for how, expected in {"mean": values.mean(2), "every": values.min(2), "some": values.max(2)}.items():
        np.testing.assert_allclose(scores.over_samples(how).score.values[:, :, 0], expected)
    np.testing.assert_array_equal(scores.over_samples("w2 w3").score.values[:, :, 0], values[:, :, 1])


def test_provenance_names_the_carriers(tiny_folder, store):
    """Carriers and which sources, besides all that every map says."""
    checkpoint = Checkpoint.open(tiny_folder)
    provenance = computed("running", plan_of(checkpoint), checkpoint, store).provenance
    assert (provenance.method, provenance.settings["carriers"]) == ("running", ["w1", "w2 w3"])
    assert provenance.settings["sources"] == "single"


def test_sources_of_several_tokens_on_request(tmp_path, store):
    """Pairs whose source has several tokens are added, and the relation says how many."""
    tiny = tiny_models.FAMILIES["llama"]
    folder = tiny_models.save(tiny.make(), tmp_path / "model")
    checkpoint = Checkpoint.open(folder)
    lines = [f"w{i},w{i + 100}" for i in range(20)] + [f"w{i} w{i + 1},w{i + 100}" for i in range(20, 40)]
    relation = parse("\n".join(lines).encode(), "several.csv")
    single = plan_of(checkpoint, files=[file_of(relation)], sources="single", carriers=["w1"])
    with pytest.raises(RelationError, match="20 of 40"):
        computed("running", single, checkpoint, store)
    for sources, kept, several in (("single", 20, 0), ("any", 40, 20)):
        plan = plan_of(checkpoint, files=[file_of(relation)], sources=sources, carriers=["w1"])
        builtin = replace(plan, relations=(replace(relation, category="linguistic"),))
        (item,) = computed("running", builtin, checkpoint, store).provenance.items
        assert (item.kept, item.several, item.applicable) == (kept, several, kept >= MIN_PAIRS)
        assert item.reason.startswith("20 of 40") != item.applicable


def test_settings_that_make_no_sense_are_refused():
    """No carrier, an empty one, too many, or other sources than there are."""
    for wrong in ({"carriers": []}, {"carriers": [" "]}, {"carriers": ["a"] * 99}, {"sources": "both"}):
        with pytest.raises(SettingError):
            make_request({"model": "any", "methods": ["running"], **wrong})


def test_the_command(tiny_folder, tmp_path, monkeypatch, capsys):
    """`running MODEL --carriers …` prints the best heads and writes the same long format as the other map."""
    monkeypatch.setenv("HEAD_ATLAS_CACHE", str(tmp_path))
    relation = tmp_path / "shift.csv"
    relation.write_text("\n".join(f"{s},{t}" for s, t in PAIRS.pairs))
    out = tmp_path / "scores.csv"
    options = ["--relations", str(relation), "--carriers", "w1", "w2 w3", "--k", "30", "--json", "--out", str(out)]
    assert main(["running", str(tiny_folder), *options]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["relations"][0]["kept"] == 60
    again = [*options[:-2], "--over", "every"]
    assert main(["running", str(tiny_folder), *again]) == 0
    least = json.loads(capsys.readouterr().out)
    assert (data["settings"].get("over"), least["settings"]["over"]) == (None, "every")
    sums = [sum(one["score"] for one in told["relations"][0]["suppress"]) for told in (least, data)]
    assert sums[0] < sums[1]
    assert main(["running", str(tiny_folder), *[option for option in again if option != "--json"]]) == 0
    assert "every one of 2 carriers" in capsys.readouterr().out
    assert main(["running", str(tiny_folder), *again[:-1], "Once"]) == 2
    capsys.readouterr()
    rows = out.read_text().splitlines()
    assert rows[0].startswith("model,revision,method,item,kind,sample,layer,head,score,hits,pairs")
    card = Checkpoint.open(tiny_folder).card
    assert len(rows) == 1 + 2 * 2 * len(card.layers) * card.heads
