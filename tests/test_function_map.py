"""Five kinds of test: by hand, law, twin, planted, real."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.compute.hits import HitCounter, Inputs, Query, counter, counting, unembedding
from analysis.compute.weights import Weights
from analysis.data.relations import builtin, parse
from analysis.models.checkpoint import Checkpoint
from analysis.models.vocabulary import MIN_PAIRS, Vocabulary
from analysis.relations.settings import default_ks
from tests import tiny_models
from tests.computing import count_hits, function_plan, function_scores
from tests.hand_made import HandMade, naive_hits


def hits_of(weights, relations, **options):
    return dict(count_hits(weights, Query.of(relations), weights.card.layers, **options))


def random_pairs(seed, count, vocabulary):
    g = torch.Generator().manual_seed(seed)
    return sorted({tuple(p) for p in torch.randint(0, vocabulary, (count, 2), generator=g).tolist()})


# By hand ------------------------------------------------------------------------------------------------------------


def test_by_hand_a_head_that_shifts_tokens_by_one():
    """Five tokens with unit vectors; the head maps token i to token i + 1 and does nothing else."""
    unit = torch.eye(5)
    shift = unit.roll(1, dims=1)  # row i is the vector of token i + 1
    model = HandMade(unit, unit, unit[None, None], shift[None, None])
    next_one, itself = [(i, (i + 1) % 5) for i in range(5)], [(i, i) for i in range(5)]
    found = hits_of(model, [(next_one, 1), (itself, 1)])[0]
    assert found[:, 0, 0].tolist() == [5, 0]
    # Entries are 1 for the next token and 0 elsewhere, so nothing is smaller than 0: ties count as hits.
    assert found[:, 1, 0].tolist() == [0, 5]


def test_by_hand_suppression():
    """The same head with its sign turned suppresses what it promoted."""
    unit = torch.eye(5)
    model = HandMade(unit, unit, unit[None, None], -unit.roll(1, dims=1)[None, None])
    found = hits_of(model, [([(i, (i + 1) % 5) for i in range(5)], 1)])[0]
    assert found[0, :, 0].tolist() == [0, 5]


def test_later_layers_read_the_first_mlp_and_can_be_told_not_to():
    """Layer 0 reads E, layer 1 reads MLP(E), or E when the first MLP is switched off."""
    unit = torch.eye(4)
    model = HandMade(
        unit, unit, unit[None, None].repeat(2, 1, 1, 1), unit[None, None].repeat(2, 1, 1, 1), unit.roll(1, 1)
    )
    itself = [([(i, i) for i in range(4)], 1)]
    assert [int(found[0, 0, 0]) for found in hits_of(model, itself).values()] == [4, 0]
    assert [int(found[0, 0, 0]) for found in hits_of(model, itself, first_mlp=False).values()] == [4, 4]


# Law ----------------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_turning_the_sign_of_a_head_swaps_promotion_and_suppression(seed, k):
    """−W_O promotes what W_O suppresses; a positive factor changes nothing."""
    model = HandMade.random(seed, vocabulary=150)
    relations = [(random_pairs(seed, 60, 150), k)]
    plain = hits_of(model, relations)
    model.w_o = -4 * model.w_o
    for layer, found in hits_of(model, relations).items():
        assert torch.equal(found.flip(1), plain[layer])


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_more_k_more_hits_and_never_more_than_pairs(seed):
    """Hits grow with k, from at least 0 to all pairs at k = V."""
    model = HandMade.random(seed, vocabulary=120)
    pairs = random_pairs(seed, 50, 120)
    found = hits_of(model, [(pairs, k) for k in (1, 3, 20, 120)])
    for hits in found.values():
        assert (hits.diff(dim=0) >= 0).all()
        assert (hits[0] >= 0).all()
        assert (hits[-1] == len(pairs)).all()


def test_layers_are_independent_of_grouping(monkeypatch):
    """Whether survivors of many layers or of one meet the vocabulary together, the hits are the same."""
    model = HandMade.random(7, layers=5)
    relations = [(random_pairs(7, 300, 600), 10)]
    together = hits_of(model, relations)
    monkeypatch.setattr(counter, "GROUP_BYTES", 1)
    monkeypatch.setattr(unembedding, "TILE", 37)
    monkeypatch.setattr(counting, "_ROWS", 37)
    monkeypatch.setattr(counting, "_FACTORS", 9)
    alone = hits_of(model, relations)
    assert all(torch.equal(together[layer], alone[layer]) for layer in range(5))


# Twin ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([(4, 2), (4, 4), (6, 1)]))
def test_equals_a_naive_loop_on_random_models(seed, tied_rows, heads):
    """Every head and relation, with and without grouped values and with exactly tied columns."""
    model = HandMade.random(seed, heads=heads[0], kv_heads=heads[1], vocabulary=400)
    if tied_rows:
        model.u[200:] = model.u[:200]  # every token has a twin: ties everywhere
    relations = [(random_pairs(seed, 40, 400), 1), (random_pairs(seed + 1, 40, 400), 10)]
    found = hits_of(model, relations)
    for layer in model.card.layers:
        for head in range(model.card.heads):
            assert found[layer][:, :, head].tolist() == [list(h) for h in naive_hits(model, relations, layer, head)]


def test_near_ties_are_decided_in_float64():
    """Columns that differ from the target's by less than float32 can see are still ordered correctly."""
    model = HandMade.random(3, layers=1, vocabulary=400)
    g = torch.Generator().manual_seed(3)
    model.u[200:] = model.u[:200] * (1 + 2e-7 * torch.randint(-1, 2, (200, 1), generator=g))
    pairs = random_pairs(3, 200, 400)
    relations = [(pairs, k) for k in (1, 2, 3, 10)]
    found = hits_of(model, relations)[0]
    for head in range(model.card.heads):
        assert found[:, :, head].tolist() == [list(h) for h in naive_hits(model, relations, 0, head)]


@pytest.mark.parametrize("factor", [1e-20, 1e-13, 1e13])
def test_very_small_and_very_large_heads(factor):
    """The size of a head does not matter, only its order of entries, even where float32 squares would vanish."""
    model = HandMade.random(11, vocabulary=300)
    model.u[150:] = model.u[:150] * (1 + 2e-7)
    model.w_v, model.w_o = model.w_v * factor, model.w_o * factor
    relations = [(random_pairs(11, 120, 300), 5)]
    found = hits_of(model, relations)
    for layer in model.card.layers:
        for head in range(model.card.heads):
            assert found[layer][:, :, head].tolist() == [list(h) for h in naive_hits(model, relations, layer, head)]


def test_a_head_of_zeros_ties_everywhere():
    """A pruned head: nothing is larger than anything, so by the rule for ties every pair is a hit, both ways."""
    model = HandMade.random(5)
    model.w_o[1, 2] = 0
    pairs = random_pairs(5, 50, 600)
    assert hits_of(model, [(pairs, 1)])[1][0, :, 2].tolist() == [len(pairs)] * 2


@pytest.mark.parametrize("family", ["gpt2", "gpt_neox", "llama", "gemma2", "phi", "opt", "gptj"])
def test_equals_a_naive_loop_on_tiny_models(tmp_path, family):
    """From files of each family, first MLP included."""
    weights = Weights(Checkpoint.open(tiny_models.save(tiny_models.FAMILIES[family].make(), tmp_path)))
    relations = [(random_pairs(1, 40, 300), 5)]
    found = hits_of(weights, relations)
    for layer in weights.card.layers:
        for head in range(weights.card.heads):
            assert found[layer][:, :, head].tolist() == [list(h) for h in naive_hits(weights, relations, layer, head)]


class OtherSources:
    """X given by hand, another one for every layer."""

    def __init__(self, x):
        self._x = x  # [L, S, d]

    def x(self, layer):
        return self._x[layer]


class OtherUnembedding:
    """U given by hand."""

    def __init__(self, u):
        self._u = u  # [V, d]

    @property
    def vocabulary(self):
        return len(self._u)

    def unembed(self, ids):
        return self._u[ids]

    def unembed_span(self, start, stop):
        return self._u[start:stop]


@pytest.mark.parametrize("ties", [False, True])
def test_other_sources_and_another_unembedding_equal_a_naive_loop_on_them(ties):
    """X by layer and a reweighted U instead of the model's own, near ties included; the model's are not read."""
    model = HandMade.random(13, vocabulary=400)
    g = torch.Generator().manual_seed(13)
    relations = [(random_pairs(13, 80, 400), 1), (random_pairs(14, 80, 400), 10)]
    query = Query.of(relations)
    x = torch.randn(2, len(query.sources), model.card.width, generator=g)
    u = model.u * torch.rand(model.card.width, generator=g)
    if ties:
        u[200:] = u[:200] * (1 + 2e-7 * torch.randint(-1, 2, (200, 1), generator=g))
    replaced = HitCounter(Inputs.of(model, query, OtherSources(x), OtherUnembedding(u)))
    model.e = model.later = model.u = None
    for layer, counts in replaced.count(model.card.layers):
        by_token = torch.zeros(400, model.card.width)
        by_token[query.sources] = x[layer]
        twin = HandMade(by_token, u, model.w_v, model.w_o)
        for head in range(model.card.heads):
            expected = naive_hits(twin, relations, layer, head, first_mlp=False)
            assert counts.hits[:, :, head].tolist() == [list(hits) for hits in expected]


# Planted ------------------------------------------------------------------------------------------------------------


def plant(folder, family, layer, head, pairs, sign):
    """Write a head into a checkpoint that maps each source to sign × its target and ignores all else."""
    from safetensors.torch import load_file, save_file

    checkpoint = Checkpoint.open(folder)
    weights = Weights(checkpoint)
    card, path = checkpoint.card, folder / "model.safetensors"
    sources, targets = torch.tensor(pairs).T
    x = weights.first_mlp()(weights.embed(sources))
    u = weights.unembed(targets)
    w_v = torch.zeros(card.width, card.head_dim)
    w_v[:, : len(pairs)] = torch.linalg.pinv(x.double()).float()  # x_s W_V is the unit vector number s
    w_o = torch.zeros(card.head_dim, card.width)
    w_o[: len(pairs)] = sign * u / u.square().sum(1, keepdim=True)
    tensors = load_file(path)
    value = tensors[checkpoint.in_layer(layer, f"{family.value}.weight")]
    output = tensors[checkpoint.in_layer(layer, f"{family.output}.weight")]
    dim, group = card.head_dim, head // (card.heads // card.kv_heads)
    match family.value_layout:
        case "conv1d":
            at = 2 * card.heads * dim + head * dim
            value[:, at : at + dim] = w_v
            output[head * dim : (head + 1) * dim] = w_o
        case "interleaved":
            value.view(card.heads, 3, dim, card.width)[head, 2] = w_v.T
            output[:, head * dim : (head + 1) * dim] = w_o.T
        case _:
            value[group * dim : (group + 1) * dim] = w_v.T
            output[:, head * dim : (head + 1) * dim] = w_o.T
    save_file(tensors, path, metadata={"format": "pt"})


WIDE = {
    "gpt2": {"n_embd": 128, "n_layer": 4, "n_head": 2},
    "gpt_neox": {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 256},
    "llama": {
        "hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 256, "head_dim": 64,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", WIDE)
def test_planted_heads_are_found_and_no_others(tmp_path, store, name):
    """One head promotes the relation, one suppresses it; the map shows exactly these two."""
    tiny = tiny_models.FAMILIES[name]
    model = type(tiny)(tiny.config, WIDE[name], tiny.output, tiny.attention, tiny.norm, tiny.mlp, tiny.extra).make()
    folder = tiny_models.save(model, tmp_path / name)
    pairs = [(i, 299 - i - 1) for i in range(40)]
    family = Checkpoint.open(folder).family
    last = Checkpoint.open(folder).card.heads - 1
    plant(folder, family, 1, 0, pairs, +1)
    plant(folder, family, 3, last, pairs, -1)
    checkpoint = Checkpoint.open(folder)
    relation = parse("\n".join(f"w{s},w{t}" for s, t in pairs).encode(), "planted.csv")
    scores = function_scores(checkpoint, function_plan(checkpoint, (relation,), (1, 3)), store)
    above = scores.score > 0.15
    found = [tuple(int(i) for i in row) for row in np.argwhere(above.values[0, :, 0])]
    assert found == [(0, 1, 0), (1, 3, last)]  # kind, layer, head
    assert scores.top("planted", 1)[0][1] == 1.0
    assert scores.top("planted", 1, "suppress")[0][1] == 1.0


# Real ---------------------------------------------------------------------------------------------------------------


def real_query(checkpoint):
    vocabulary = Vocabulary.open(checkpoint.folder)
    kept = {relation: vocabulary.keep(relation) for relation in builtin().values()}
    copying, standard = default_ks(checkpoint.card.vocabulary)
    k = {"copying": copying, "standard": standard}
    return [(pairs, k[relation.k]) for relation, pairs in kept.items() if len(pairs) >= MIN_PAIRS]


def real_twin(weights, relations, layer, head):
    """The definition in float64 on the real model; blocks of rows only because M would fill the memory."""
    card = weights.card
    query = Query.of(relations)
    x = weights.embed(query.sources)
    x = (x if layer == 0 else weights.first_mlp()(x)).double()
    a = x @ weights.values(layer)[head // (card.heads // card.kv_heads)].double()
    b = weights.outputs(layer)[head].double() @ weights.unembed_span(0, weights.vocabulary).double().T
    hit = torch.zeros(2, len(query.k), dtype=torch.bool)
    for pairs in torch.arange(len(query.k)).split(256):
        rows = a[query.source_of[pairs]] @ b
        value = rows.gather(1, query.targets[query.target_of[pairs]][:, None])
        hit[0, pairs] = (rows > value).sum(1) < query.k[pairs]
        hit[1, pairs] = (rows < value).sum(1) < query.k[pairs]
    return [hit[:, members].sum(1).tolist() for members in query.members]


@pytest.fixture(scope="module")
def real(default_checkpoint):
    weights = Weights(default_checkpoint)
    relations = real_query(default_checkpoint)
    return weights, relations, hits_of(weights, relations)


def test_default_model_equals_a_naive_loop_in_every_layer(default_checkpoint):
    """One head of every layer of the trained model, all relations, a tenth of the pairs each: identical counts."""
    # A layer gets every tenth pair, the next layer the next: together they get all. All pairs of all heads: slow.
    weights, relations = Weights(default_checkpoint), real_query(default_checkpoint)
    for part in range(10):
        some = [(pairs[part::10], k) for pairs, k in relations]
        layers = weights.card.layers[part::10]
        for layer, hits in count_hits(weights, Query.of(some), layers):
            head = (layer * 4) % weights.card.heads
            assert hits[:, :, head].tolist() == real_twin(weights, some, layer, head), (layer, head)


@pytest.mark.slow
def test_default_model_equals_a_naive_loop_on_every_head(real):
    """All 270 heads of the trained model, all relations: identical hit counts."""
    weights, relations, found = real
    for layer in weights.card.layers:
        for head in range(weights.card.heads):
            assert found[layer][:, :, head].tolist() == real_twin(weights, relations, layer, head), (layer, head)


def test_default_model_golden_values(default_scores):
    """Known heads of the trained model; X is float32, so on another machine a near tie may fall the other way."""
    golden = {
        ("country_capital", "promote", 23, 4): 26,
        ("noun_pronoun", "promote", 26, 2): 127,
        ("name_copying", "suppress", 23, 3): 235,
    }
    for (item, kind, layer, head), hits in golden.items():
        where = {"item": item, "kind": kind, "layer": layer, "head": head}
        assert abs(int(default_scores.hits.sel(where).item()) - hits) <= 1
