"""Heads switched off, against a whole forward pass per head."""

import pytest
import torch

from analysis.compute.ablation import AblatedModel
from analysis.data.prompts import Batch, Encoded
from analysis.models.checkpoint import Checkpoint
from tests import tiny_models

PROMPTS = (Encoded((5, 9, 2, 77, 31, 8), 1), Encoded((4, 4, 60, 100), 2), Encoded((7, 3, 200, 12, 90, 41, 6, 5, 11), 3))


@pytest.fixture(scope="module", params=list(tiny_models.FAMILIES))
def tiny(request, tmp_path_factory):
    """A tiny model of a family in float64, and the plain model of transformers."""
    folder = tmp_path_factory.mktemp("ablated") / request.param
    plain = tiny_models.FAMILIES[request.param].make()
    model = AblatedModel(Checkpoint.open(tiny_models.save(plain, folder)), dtype=torch.float64)
    return model, plain.double(), tiny_models.FAMILIES[request.param]


def plain_predictions(plain, tiny, heads, off, instead, item, positions):
    """The naive twin: one whole forward pass of one prompt, with a hook on every output projection."""
    border = len(item.ids) - item.targets - 1  # the first position that predicts
    handles = []
    blocks = [m for _, m in plain.named_modules() if type(m).__name__.endswith(("Block", "Layer"))]
    for layer, block in enumerate(blocks):

        def hook(_, args, layer=layer):
            outputs = args[0].clone()
            by_head = outputs.unflatten(-1, (heads, -1))
            for head in range(heads):
                if off[layer, head]:
                    by_head[:, border if positions == "last" else 0 :, head] = instead[layer, head]
            return (outputs,)

        handles.append(block.get_submodule(tiny.output).register_forward_pre_hook(hook))
    logits = plain(input_ids=torch.tensor([item.ids])).logits[0, border:-1].log_softmax(-1)
    for handle in handles:
        handle.remove()
    targets = torch.tensor(item.ids[border + 1 :])
    return logits[torch.arange(len(targets)), targets], logits.argmax(-1) == targets


def all_plain(tiny, off, instead, positions):
    """All prompts' predictions by the twin, [V, n]."""
    model, plain, family = tiny
    log_probs, right = [], []
    for variant in off:
        found = [plain_predictions(plain, family, model.card.heads, variant, instead, p, positions) for p in PROMPTS]
        log_probs.append(torch.cat([one for one, _ in found]))
        right.append(torch.cat([one for _, one in found]))
    return torch.stack(log_probs), torch.stack(right)


@pytest.mark.parametrize("positions", ["last", "all"])
def test_every_head_is_off_as_in_a_forward_pass_of_its_own(tiny, positions):
    """Log-probabilities of all families agree with the twin, for zero and for the mean output."""
    model = tiny[0]
    run = model.untouched(Batch.of(PROMPTS))
    off = torch.eye(model.heads, dtype=torch.bool).view(model.heads, -1, model.card.heads)
    for instead in (model.nothing(), model.head_means([Batch.of(PROMPTS)])):
        found = model.each_head(run, instead, positions)
        expected, right = all_plain(tiny, off, instead, positions)
        torch.testing.assert_close(found.log_probs, expected, rtol=0, atol=1e-5)
        assert torch.equal(found.right, right)
        assert (found.log_probs - run.predicted.log_probs).abs().max() > 1e-3
