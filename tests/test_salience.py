import json
from pathlib import Path

import pytest
import torch

from analysis.compute.weights import Weights
from analysis.data.printable import printable
from analysis.methods.salience.compute import salient_operations
from analysis.models.card import HeadId
from analysis.models.checkpoint import Checkpoint
from tests import tiny_models
from tests.computing import salience
from tests.hand_made import HandMade


def naive(weights, layer, head, tokens, entries):
    """σ of every token and the whole M, formed."""
    x = weights.embed(torch.arange(weights.card.vocabulary))
    x = (x if layer == 0 else weights.first_mlp()(x)).double()
    group = head // (weights.card.heads // weights.card.kv_heads)
    moved = x @ weights.values(layer)[group].double() @ weights.outputs(layer)[head].double()
    sigma = moved.norm(dim=1) / x.norm(dim=1)
    best = sigma.topk(tokens)
    m = moved[best.indices] @ weights.unembed_span(0, weights.vocabulary).double().T
    return best, m.topk(entries), (-m).topk(entries)


@pytest.mark.parametrize("family", ["llama", "gpt2", "gemma3"])
def test_equals_the_definition(tmp_path, family):
    """The most stretched tokens, and what each promotes and suppresses, as in the formula."""
    weights = Weights(Checkpoint.open(tiny_models.save(tiny_models.FAMILIES[family].make(), tmp_path)))
    found = salient_operations(weights, [0, 2], tokens=6, entries=4)
    assert set(found) == {HeadId(layer, head) for layer in (0, 2) for head in range(4)}
    for (layer, head), operations in ((((h.layer, h.head)), ops) for h, ops in found.items()):
        best, large, small = naive(weights, layer, head, 6, 4)
        assert [op.token for op in operations] == best.indices.tolist()
        torch.testing.assert_close(
            torch.tensor([op.sigma for op in operations]), best.values.float(), rtol=1e-4, atol=0
        )
        assert [[t for t, _ in op.promoted] for op in operations] == large.indices.tolist()
        assert [[t for t, _ in op.suppressed] for op in operations] == small.indices.tolist()
        assert all(v >= w for op in operations for (_, v), (_, w) in zip(op.promoted, op.promoted[1:], strict=False))


def test_by_hand_a_head_that_sees_one_token():
    """W_V keeps only the first coordinate: the token along it has σ = 1, the others 0."""
    unit = torch.eye(3)
    w_v = torch.zeros(3, 1)
    w_v[0] = 1
    model = HandMade(unit, unit, w_v[None, None], torch.tensor([[0.0, 1.0, 0.0]])[None, None])
    first, second, _ = salient_operations(model, [0], tokens=3, entries=1)[HeadId(0, 0)]
    assert (first.token, first.sigma, first.promoted) == (0, 1.0, ((1, 1.0),))
    assert second.sigma == 0


def test_default_model_capitals_head(default_checkpoint, store):
    """The head that maps countries to capitals acts most on words of places, and is found again in the store."""
    operations = salience(default_checkpoint, HeadId(23, 4), store)
    assert " Italian" in [token.text for token in operations[:3]]
    assert " Italy" in [entry.text for entry in operations[0].promoted]
    assert salience(default_checkpoint, HeadId(23, 4), store) == operations


TEXTS = json.loads((Path(__file__).parent / "cases" / "texts.json").read_text())  # the scripts' tests have them, too


@pytest.mark.parametrize(("text", "shown"), TEXTS["printable"])
def test_tokens_are_shown_by_signs(text, shown):
    """No control character, nothing that changes the direction, nothing unseen; the same in the browser."""
    assert printable(text) == shown
