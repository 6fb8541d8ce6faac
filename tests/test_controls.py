"""What a score is compared with, β, the copied share and the control: by hand, law, twin and real."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.compute.hits import HitCounter, Query, controls, weights_inputs
from analysis.compute.hits.control_query import DRAWS, ControlQuery
from analysis.compute.weights import Weights
from analysis.data.relations import FLOOR
from tests.computing import count_all
from tests.hand_made import HandMade
from tests.test_function_map import random_pairs, real_query


def counted(weights, relations):
    return dict(count_all(weights, Query.of(relations), weights.card.layers))


# The twin: full rows in float64 -------------------------------------------------------------------------------------


def draws_of(pairs):
    """The relation's targets shuffled, true pairs left out: the definition, written down."""
    for seed in range(DRAWS):
        order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(seed))
        mixed = [(pairs[i][0], pairs[order[i]][1]) for i in range(len(pairs))]
        yield [pair for pair in mixed if pair not in pairs]


def naive_counts(weights, relations, layer, head):
    """Hits, β, copied share and control of a head: [relation, way, 4]."""
    card = weights.card
    u = weights.unembed_span(0, weights.vocabulary).double()
    w_v = weights.values(layer)[head // (card.heads // card.kv_heads)].double()
    w_o = weights.outputs(layer)[head].double()
    numbers = []
    for pairs, k in relations:
        sources = sorted({source for source, _ in pairs})
        x = weights.embed(torch.tensor(sources))
        x = x if layer == card.layers[0] else weights.first_mlp()(x)
        q = x.double() @ w_v @ w_o
        for sign in (1, -1):
            rows = dict(zip(sources, sign * q @ u.T, strict=True))
            ties = dict(zip(sources, 1e-12 * q.norm(dim=1) * u.norm(dim=1).max(), strict=True))
            numbers.append(_of_way(pairs, k, rows, ties))
    return np.array(numbers).reshape(len(relations), 2, 4)


def _of_way(pairs, k, rows, ties):
    def is_hit(source, target):
        row = rows[source]
        return int((row > row[target] + ties[source]).sum()) < k

    def share(some):
        return np.mean([is_hit(*pair) for pair in some])

    hits = [pair for pair in pairs if is_hit(*pair)]
    copying = all(source == target for source, target in pairs)
    beyond = copied = control = math.nan
    if hits and not copying:
        beyond = np.mean([bool(rows[s][t] > rows[s][s] + ties[s]) for s, t in hits])
    if len(hits) / len(pairs) >= FLOOR:
        if not copying:
            copied = share([(source, source) for source, _ in pairs])
        control = np.mean([share(draw) for draw in draws_of(pairs) if draw] or [math.nan])
    return len(hits), beyond, copied, control


def assert_equals_twin(weights, relations, layer, counts, heads):
    for head in heads:
        found = np.stack([getattr(counts, name)[:, :, head] for name in ("hits", "beyond", "copied", "control")], -1)
        np.testing.assert_allclose(found, naive_counts(weights, relations, layer, head), atol=1e-12)


# By hand ------------------------------------------------------------------------------------------------------------


def shifting_head(vocabulary=40):
    """Unit vectors; the head maps token i to token i + 1 and half as strongly to itself."""
    unit = torch.eye(vocabulary)
    return HandMade(unit, unit, unit[None, None], (unit.roll(1, dims=1) + 0.5 * unit)[None, None])


def test_by_hand_a_mapping_goes_beyond_copying_and_is_specific():
    """With k = 1 only the next token is a hit, not the source and not another pair's target."""
    pairs = [(i, i + 1) for i in range(0, 38, 2)]
    counts = counted(shifting_head(), [(pairs, 1)])[0]
    assert counts.hits[0, 0, 0] == len(pairs)
    assert (counts.beyond[0, 0, 0], counts.copied[0, 0, 0], counts.control[0, 0, 0]) == (1, 0, 0)


def test_by_hand_a_copying_head_does_not_go_beyond_copying():
    """The head promotes the source and, half as strongly, the next token: with k = 2 hits, all below the source."""
    unit = torch.eye(40)
    model = HandMade(unit, unit, unit[None, None], (0.5 * unit.roll(1, dims=1) + unit)[None, None])
    pairs = [(i, i + 1) for i in range(0, 38, 2)]
    counts = counted(model, [(pairs, 2)])[0]
    assert counts.hits[0, 0, 0] == len(pairs)
    assert (counts.beyond[0, 0, 0], counts.copied[0, 0, 0], counts.control[0, 0, 0]) == (0, 1, 0)


def test_by_hand_a_head_that_promotes_the_same_tokens_for_all_sources_is_unspecific():
    """The control of a head that ignores its source is as high as its score."""
    unit = torch.eye(40)
    favourites = torch.zeros(40)
    favourites[30:34] = torch.tensor([4.0, 3.0, 2.0, 1.0])
    model = HandMade(unit, unit, torch.ones(1, 1, 40, 1), favourites[None, None, None])
    pairs = [(i, 30 + i % 4) for i in range(20)]
    counts = counted(model, [(pairs, 4)])[0]
    assert counts.hits[0, 0, 0] == 20
    assert (counts.beyond[0, 0, 0], counts.copied[0, 0, 0], counts.control[0, 0, 0]) == (1, 0, 1)


def test_copying_relations_are_exempt():
    """Where every target is the source itself, β and the copied share mean nothing; the control does."""
    pairs = [(i, i) for i in range(30)]
    counts = counted(shifting_head(), [(pairs, 2)])[0]
    assert counts.hits[0, 0, 0] == 30
    assert math.isnan(counts.beyond[0, 0, 0])
    assert math.isnan(counts.copied[0, 0, 0])
    assert 0 <= counts.control[0, 0, 0] < 0.1  # only a source whose shuffled target is the next token


def test_below_the_floor_nothing_but_beyond_is_measured():
    """One hit of thirty: β has a value, the controls have none."""
    pairs = [(0, 1)] + [(i, (i + 5) % 40) for i in range(1, 30)]
    counts = counted(shifting_head(), [(pairs, 1)])[0]
    assert counts.hits[0, 0, 0] == 1
    assert counts.beyond[0, 0, 0] == 1
    assert math.isnan(counts.copied[0, 0, 0])
    assert math.isnan(counts.control[0, 0, 0])


def test_a_relation_with_one_target_has_no_control():
    """Every shuffled pair is a true pair and left out, so nothing is left to compare with."""
    pairs = [(i, 39) for i in range(30)]
    model = HandMade(torch.eye(40), torch.eye(40), torch.ones(1, 1, 40, 1), torch.eye(40)[39][None, None, None])
    counts = counted(model, [(pairs, 1)])[0]
    assert counts.hits[0, 0, 0] == 30
    assert math.isnan(counts.control[0, 0, 0])


def test_a_head_of_zeros_copies_everything_and_is_unspecific():
    """All entries tie, so every claim holds, and no target outranks its source."""
    model = HandMade.random(5)
    model.w_o[1, 2] = 0
    counts = counted(model, [(random_pairs(5, 50, 600), 1)])[1]
    assert counts.beyond[0, :, 2].tolist() == [0, 0]
    assert counts.copied[0, :, 2].tolist() == [1, 1]
    assert counts.control[0, :, 2].tolist() == [1, 1]


# Law ----------------------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), min_size=2, max_size=60, unique=True))
def test_shuffled_pairs_are_false_and_have_the_relations_own_targets(pairs):
    """No draw holds a true pair, and its sources and targets are the relation's."""
    query = Query.of([(pairs, 3)])
    control = ControlQuery.of(query)
    tokens = control.query.targets[control.query.target_of]
    sources = control.query.sources[control.query.source_of]
    for draw in control.shuffled[0]:
        for source, target in zip(sources[draw].tolist(), tokens[draw].tolist(), strict=True):
            assert (source, target) not in pairs
            assert target in {target for _, target in pairs}
    itself = control.itself[0]
    assert sources[itself].tolist() == tokens[itself].tolist() == [source for source, _ in pairs]
    assert torch.equal(control.query.targets[control.own], query.sources)


def test_controls_do_not_depend_on_what_else_is_asked():
    """A relation alone and among others: the same numbers."""
    model = HandMade.random(21, vocabulary=120)
    relations = [(random_pairs(seed, 60, 120), 12) for seed in (1, 2, 3)]
    together = counted(model, relations)
    alone = counted(model, relations[1:2])
    for layer, counts in alone.items():
        for name in ("beyond", "copied", "control"):
            np.testing.assert_array_equal(getattr(counts, name)[0], getattr(together[layer], name)[1])


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_turning_the_sign_of_a_head_swaps_the_controls(seed):
    """−W_O suppresses beyond copying what W_O promotes beyond copying."""
    model = HandMade.random(seed, vocabulary=100)
    relations = [(random_pairs(seed, 60, 100), 10)]
    plain = counted(model, relations)
    model.w_o = -4 * model.w_o
    for layer, counts in counted(model, relations).items():
        for name in ("beyond", "copied", "control"):
            np.testing.assert_array_equal(getattr(counts, name).flip(1), getattr(plain[layer], name))


# Twin ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([(4, 2), (3, 3), (4, 1)]))
def test_equals_full_rows_on_random_models(seed, tied_rows, heads):
    """Every head, relation and way, with grouped values, with exactly tied columns and with a copying relation."""
    model = HandMade.random(seed, heads=heads[0], kv_heads=heads[1], vocabulary=120)
    if tied_rows:
        model.u[60:] = model.u[:60]
    itself = ([(token, token) for token in range(20)], 10)
    relations = [(random_pairs(seed, 30, 120), 4), (random_pairs(seed + 1, 30, 120), 20), itself]
    for layer, counts in counted(model, relations).items():
        assert_equals_twin(model, relations, layer, counts, range(model.card.heads))


def test_near_ties_with_the_source_are_decided_in_float64():
    """Targets whose vectors differ from their source's by less than float32 can see still outrank it or not."""
    model = HandMade.random(3, layers=1, vocabulary=200)
    g = torch.Generator().manual_seed(3)
    model.u[100:] = model.u[:100] * (1 + 2e-7 * torch.randint(-1, 2, (100, 1), generator=g))
    relations = [([(i, i + 100) for i in range(100)], 60), (random_pairs(4, 40, 200), 20)]
    counts = counted(model, relations)[0]
    assert_equals_twin(model, relations, 0, counts, range(model.card.heads))


def test_layers_are_independent_of_grouping(monkeypatch):
    """Whether claims of many layers or of one meet the vocabulary together, the controls are the same."""
    from analysis.compute.hits import counter, counting, unembedding

    model = HandMade.random(7, layers=4, vocabulary=200)
    relations = [(random_pairs(7, 80, 200), 20)]
    together = counted(model, relations)
    monkeypatch.setattr(counter, "GROUP_BYTES", 1)
    monkeypatch.setattr(unembedding, "TILE", 37)
    monkeypatch.setattr(counting, "_ROWS", 37)
    for layer, counts in counted(model, relations).items():
        for name in ("beyond", "copied", "control"):
            np.testing.assert_array_equal(getattr(counts, name), getattr(together[layer], name))


def test_sources_of_several_tokens_are_compared_with_the_token_they_are_read_at():
    """The source itself is its last token; a relation that maps each source to that token is one of copying."""
    query = Query.of([([((5, i), i) for i in range(10, 40)], 1), ([((5, i), i + 1) for i in range(10, 40)], 1)])
    control = ControlQuery.of(query)
    assert torch.equal(control.query.targets[control.own], query.sources)
    assert control.query.sources.tolist() == list(range(10, 40))
    assert control.copying.tolist() == [True, False]


# Real ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_default_model_equals_full_rows(default_checkpoint):
    """Heads of the trained model with labels, copy-like and not, specific and not: the same numbers as full rows."""
    weights = Weights(default_checkpoint)
    relations = [(pairs[::4] if len(pairs) > 120 else pairs, k) for pairs, k in real_query(default_checkpoint)]
    counter = HitCounter(weights_inputs(weights, Query.of(relations)))
    heads = {22: [7], 23: [4], 26: [2]}
    for layer, counts in counter.count(list(heads)):
        assert_equals_twin(weights, relations, layer, counts, heads[layer])


def test_default_model_golden_controls(default_scores):
    """Country → capital maps each country to its own capital, noun → pronoun half by habit, and copies nothing."""

    def at(part, item, layer, head):
        return float(default_scores.parts[part].sel(item=item, layer=layer, head=head).item())

    assert at("control promote", "country_capital", 23, 4) < 0.02
    assert at("beyond promote", "country_capital", 23, 4) == pytest.approx(0.5, abs=0.05)
    assert at("copied promote", "country_capital", 23, 4) == pytest.approx(0.9, abs=0.03)
    assert at("beyond promote", "noun_pronoun", 26, 2) > 0.99
    assert at("control promote", "noun_pronoun", 26, 2) == pytest.approx(0.154, abs=0.01)


def test_controls_are_asked_of_few_heads(default_checkpoint, monkeypatch):
    """Only heads at or above the floor cost anything more."""
    asked = []
    plain = controls.Elimination.survivors_of_head

    def noted(self, head, x, owner, way, pair):
        asked.append(owner)
        return plain(self, head, x, owner, way, pair)

    monkeypatch.setattr(controls.Elimination, "survivors_of_head", noted)
    weights = Weights(default_checkpoint)
    counts = dict(count_all(weights, Query.of(real_query(default_checkpoint)), [23]))[23]
    kept = torch.tensor([len(pairs) for pairs, _ in real_query(default_checkpoint)])[:, None, None]
    loud = (counts.hits / kept >= FLOOR).any(0).any(0).nonzero().squeeze(1).tolist()
    assert sorted(asked) == loud
    assert len(loud) < weights.card.heads
