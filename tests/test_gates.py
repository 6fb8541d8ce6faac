"""Gates: the model under gates against plain loops, fits against torch's own Adam, roles against a built model."""

import io
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from torch.nn import functional as F
from transformers import LlamaConfig, LlamaForCausalLM

from analysis.compute.gated_model import GatedModel
from analysis.compute.loaded_model import attention_outputs
from analysis.data.prompts import Batch, Encoded, batch_order, batches, within
from analysis.errors import StoreError
from analysis.methods.causal.compute.fitting import advance, contrast_and_gradient, loss_and_gradient, untouched
from analysis.methods.causal.compute.steps import gate_gradients, toggled
from analysis.methods.causal.fits import Fit, FittedGates
from analysis.methods.causal.result import rank_correlation
from analysis.methods.causal.settings import GateSettings
from analysis.models.checkpoint import Checkpoint
from tests import tiny_models
from tests.benchmarks.published_gates import published_update

FAST = GateSettings(free_updates=6, push_updates=8, batch=4)
unit = st.floats(0, 1, width=32)


def random_items(count=12, seed=0, words=tiny_models.WORDS):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, 9, count)
    return [Encoded(tuple(rng.integers(0, words, n).tolist()), int(rng.integers(1, 3))) for n in lengths]


@pytest.fixture(scope="module", params=list(tiny_models.FAMILIES))
def family(request, tmp_path_factory):
    model = tiny_models.FAMILIES[request.param].make()
    folder = tiny_models.save(model, tmp_path_factory.mktemp(request.param))
    checkpoint = Checkpoint.open(folder)
    return GatedModel(checkpoint), model, tiny_models.FAMILIES[request.param], checkpoint


@pytest.fixture(scope="module")
def tiny(tiny_folder):
    return GatedModel(Checkpoint.open(tiny_folder))


def plain_log_probs(model, tiny, checkpoint, item, gates):
    """One prompt alone, transformers' own forward pass with full logits, each head multiplied in a hook of its own."""
    prefix = next(
        p
        for p in checkpoint.family.prefixes
        if p + checkpoint.family.layer.format(layer=0) + tiny.output in dict(model.named_modules())
    )
    hooks = []
    for layer in range(len(gates)):
        module = model.get_submodule(prefix + checkpoint.family.layer.format(layer=layer) + tiny.output)

        def gate(_, args, layer=layer):
            z = args[0].clone()
            size = z.shape[-1] // len(gates[layer])
            for head, value in enumerate(gates[layer]):
                z[..., head * size : (head + 1) * size] *= value
            return (z, *args[1:])

        hooks.append(module.register_forward_pre_hook(gate))
    logits = model(torch.tensor([item.ids])).logits[0].log_softmax(-1)
    for hook in hooks:
        hook.remove()
    where = range(len(item.ids) - item.targets, len(item.ids))
    return [float(logits[position - 1, item.ids[position]]) for position in where]


def test_gated_batches_of_every_family_equal_one_prompt_and_one_variant_at_a_time(family):
    """A padded batch under two sets of gates equals transformers' forward pass, prompt by prompt."""
    gated, model, tiny, checkpoint = family
    items = random_items(3)
    shape = (2, len(gated.card.layers), gated.card.heads)
    gates = torch.rand(shape, generator=torch.Generator().manual_seed(1))
    found = gated.log_probs(Batch.of(items), gates)
    for variant in range(2):
        plain = [v for item in items for v in plain_log_probs(model, tiny, checkpoint, item, gates[variant].tolist())]
        np.testing.assert_allclose(found[variant].numpy(), plain, rtol=2e-4, atol=2e-4)


def test_work_that_variants_share_is_done_once_and_logits_only_where_targets_are(tiny):
    """Of three variants of the gates the first layer attends once; the vocabulary is met at the target tokens alone."""
    seen = {}
    blocks = tiny.module.base_model.layers
    watched = {"first": blocks[0].self_attn.q_proj, "second": blocks[1].self_attn.q_proj, "head": tiny.module.lm_head}
    hooks = [
        module.register_forward_pre_hook(lambda _, args, name=name: seen.update({name: args[0].shape[:-1].numel()}))
        for name, module in watched.items()
    ]
    batch = Batch.of([Encoded(tuple(range(1, 9)), 2) for _ in range(4)])
    tiny.log_probs(batch, torch.ones(3, len(tiny.card.layers), tiny.card.heads))
    for hook in hooks:
        hook.remove()
    assert seen == {"first": 4 * 8, "second": 3 * 4 * 8, "head": 3 * 4 * 2}


def test_a_model_of_one_layer_is_gated_too(tmp_path):
    """Its first layer is its last."""
    config = LlamaConfig(
        vocab_size=tiny_models.WORDS, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, intermediate_size=16,
    )  # fmt: skip
    gated = GatedModel(Checkpoint.open(tiny_models.save(LlamaForCausalLM(config).eval(), tmp_path)))
    gates = torch.rand(3, 1, 2, generator=torch.Generator().manual_seed(1))
    together = gated.log_probs(Batch.of(random_items(3)), gates)
    for variant in range(3):
        alone = gated.log_probs(Batch.of(random_items(3)), gates[variant : variant + 1])[0]
        torch.testing.assert_close(together[variant], alone)


@given(st.lists(st.integers(2, 30), min_size=1, max_size=20), st.integers(1, 100))
def test_prompts_go_through_in_pieces_that_have_room(lengths, tokens):
    """All of them, in order, and no piece larger than allowed unless a single prompt is."""
    items = [Encoded(tuple(range(length)), 1) for length in lengths]
    found = list(within(items, tokens))
    assert [int(length) for batch in found for length in batch.lengths] == lengths
    assert all(batch.ids.size <= tokens or len(batch.ids) == 1 for batch in found)


def test_gates_of_one_change_nothing_and_a_closed_gate_removes_its_head(tiny):
    """With all gates at 1 the model equals transformers' own; with one gate at 0 its log-probabilities change."""
    items = random_items(2)
    ones = torch.ones(1, 3, 4)
    closed = ones.clone()
    closed[0, 1, 2] = 0
    batch = Batch.of(items)
    assert not torch.allclose(tiny.log_probs(batch, ones), tiny.log_probs(batch, closed))
    logits = tiny.module(torch.tensor([items[0].ids])).logits[0].log_softmax(-1)
    targets = range(len(items[0].ids) - items[0].targets, len(items[0].ids))
    expected = [float(logits[p - 1, items[0].ids[p]]) for p in targets]
    found = tiny.log_probs(Batch.of(items[:1]), ones)[0]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_the_gradient_of_the_loss_equals_differences_of_the_loss(tiny):
    """For both pushes, the gradient by a gate's logit equals the central difference of the loss in float64."""
    batch, push = Batch.of(random_items(4)), torch.tensor([0.1, -0.1])
    tiny.module.double()
    logits = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    _, gradient = loss_and_gradient(tiny, batch, logits, push)

    def loss(at):
        nll, _ = loss_and_gradient(tiny, batch, at, push)
        return nll - push * at.clamp(-4, 4).mean((1, 2))

    for layer, head in ((0, 0), (1, 3), (2, 2)):
        step = torch.zeros(3, 4, dtype=torch.float64)
        step[layer, head] = 0.02
        slope = (loss(logits + step) - loss(logits - step)) / 0.04
        np.testing.assert_allclose(slope.numpy(), gradient[:, layer, head].numpy(), rtol=0.02, atol=2e-4)
    tiny.module.float()


def test_a_fit_equals_torchs_adam_on_the_written_out_loss(tiny):
    """The first stage ends at the logits that torch.optim.Adam reaches with the same batches, rates and clipping."""
    items, seeds = random_items(40), (0, 1)
    fit = Fit.begin(seeds, 3, 4)
    ours = advance(tiny, items, FAST, fit, 100)
    for at in range(2):
        logits = torch.tensor(fit.logits[at]).requires_grad_()
        optimiser = torch.optim.Adam([logits], lr=1.0)
        for update, batch in zip(range(FAST.free_updates), batches(items, FAST.batch), strict=False):
            optimiser.param_groups[0]["lr"] = 1.0 + (0.1 - 1.0) * update / (FAST.free_updates - 1)
            optimiser.zero_grad()
            with torch.enable_grad():
                loss = -tiny.log_probs(batch, torch.sigmoid(logits)[None]).mean()
                loss.backward()
            torch.nn.utils.clip_grad_norm_([logits], 1.0)
            optimiser.step()
        np.testing.assert_allclose(ours.logits[at], logits.detach().numpy(), rtol=1e-3, atol=1e-3)


def test_the_pushes_equal_a_fresh_adam_of_torch_where_the_first_stage_ended(tiny):
    """Both pushed stages equal a fresh torch.optim.Adam that starts from the logits of the first stage."""
    items = random_items(40)
    fit = advance(tiny, items, FAST, Fit.begin((0,), 3, 4), 100)
    ours = advance(tiny, items, FAST, fit, 100)
    for at, push in enumerate((FAST.push, -FAST.push)):
        logits = torch.tensor(fit.logits[0]).requires_grad_()
        optimiser = torch.optim.Adam([logits], lr=1.0)
        for update, batch in zip(range(FAST.push_updates), batches(items, FAST.batch, FAST.free_updates), strict=False):
            optimiser.param_groups[0]["lr"] = 0.5 + (0.1 - 0.5) * update / (FAST.push_updates - 1)
            optimiser.zero_grad()
            with torch.enable_grad():
                loss = -tiny.log_probs(batch, torch.sigmoid(logits)[None]).mean() - push * logits.clamp(-4, 4).mean()
                loss.backward()
            torch.nn.utils.clip_grad_norm_([logits], 1.0)
            optimiser.step()
        np.testing.assert_allclose(ours.logits[at], logits.detach().numpy(), rtol=1e-3, atol=1e-3)


def test_a_fit_stopped_and_resumed_after_any_update_equals_one_that_was_not(tiny):
    """A fit in pieces of three updates, each stored and read back, equals an uninterrupted one bit for bit."""
    items = random_items(40)
    whole = Fit.begin((0, 1), 3, 4)
    while whole.update < FAST.total:
        whole = advance(tiny, items, FAST, whole, 100)
    piece = Fit.begin((0, 1), 3, 4)
    while piece.update < FAST.total:
        piece = Fit.from_bytes(advance(tiny, items, FAST, piece, 3).to_bytes())
    for name in ("logits", "mean", "square", "free_nll", "push_nll"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(piece, name))


def bytes_without_a_stage(fit):
    """A fit as it was stored before its file named the stage."""
    sink = io.BytesIO()
    names = ("seeds", "update", "logits", "mean", "square", "free_nll", "push_nll")
    np.savez_compressed(sink, **{name: np.asarray(getattr(fit, name)) for name in names})
    return sink.getvalue()


def test_a_fit_is_free_until_it_is_pushed_and_its_file_says_so(tiny):
    """The stage changes when the free updates are done, and survives the file; only then are there gates to tell."""
    items = random_items(40)
    fit = Fit.begin((0, 1), 3, 4)
    stages = []
    while fit.update < FAST.total:
        fit = Fit.from_bytes(advance(tiny, items, FAST, fit, 3).to_bytes())
        stages.append((fit.update, fit.stage, fit.of_seed(1).stage, len(fit.logits), len(list(fit.gates()))))
    free = [(update, "free", "free", 2, 0) for update in (3, 6)]
    assert stages == free + [(update, "pushed", "pushed", 4, 2) for update in (9, 12, 14)]


def test_fits_stored_without_their_stage_are_read_and_go_on(tiny):
    """Files of older versions, in either stage: they have the stage of the same fit today, and so all later updates."""
    items = random_items(40)
    fit = Fit.begin((0, 1), 3, 4)
    while fit.update < FAST.total:
        old = Fit.from_bytes(bytes_without_a_stage(fit))
        assert old.stage == fit.stage
        fit = advance(tiny, items, FAST, fit, 3)
        assert advance(tiny, items, FAST, old, 3).to_bytes() == fit.to_bytes()
    alone = fit.of_seed(1)
    assert Fit.from_bytes(bytes_without_a_stage(alone)).to_bytes() == alone.to_bytes()


def test_older_versions_find_all_they_read_in_a_stored_fit():
    """The file still has every array that it had before it named the stage, with the same content."""
    fit = Fit.begin((3, 5), 2, 4).pushed()
    with np.load(io.BytesIO(fit.to_bytes())) as new, np.load(io.BytesIO(bytes_without_a_stage(fit))) as old:
        assert set(new.files) == {*old.files, "stage"}
        for name in old.files:
            np.testing.assert_array_equal(new[name], old[name])


@pytest.mark.parametrize("damage", ["no fit at all", "cut off", "another stage"])
def test_a_fit_that_cannot_be_read_is_an_error_of_the_store(damage):
    """Whatever is wrong with its file."""
    fit = Fit.begin((0,), 2, 4)
    contents = {
        "no fit at all": b"not a fit",
        "cut off": fit.to_bytes()[:-100],
        "another stage": replace(fit, stage="third").to_bytes(),
    }
    with pytest.raises(StoreError):
        Fit.from_bytes(contents[damage])


def test_a_seed_does_not_notice_which_others_share_its_batch(tiny):
    """A seed fitted together with two others ends where it ends when fitted alone."""
    items = random_items(40)
    together, alone = Fit.begin((0, 1, 2), 3, 4), Fit.begin((1,), 3, 4)
    while together.update < FAST.total:
        together, alone = advance(tiny, items, FAST, together, 50), advance(tiny, items, FAST, alone, 50)
    np.testing.assert_allclose(together.of_seed(1).logits, alone.logits, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(together.of_seed(1).push_nll, alone.push_nll, rtol=1e-4, atol=1e-4)


@given(arrays.arrays(np.float64, (2, 3, 4), elements=unit))
def test_the_three_roles_are_shares_that_obey_their_law(gates):
    """For any gates F, N and R lie between 0 and 1 and sum to 1 + F·N."""
    opened, shut = gates
    f, n, r = FittedGates(opened, shut, {}).roles()
    for role in (f, n, r):
        assert ((role >= 0) & (role <= 1)).all()
    np.testing.assert_allclose(f + n + r, 1 + shut * (1 - opened))


def test_every_prompt_comes_once_before_any_comes_twice():
    """Five batches of four visit all twenty prompts once, and the next round has another order."""
    seen = [at for number in range(5) for at in batch_order(20, 4, number)]
    assert sorted(seen) == list(range(20))
    assert batch_order(20, 4, 0) != batch_order(20, 4, 5)
    assert batch_order(11, 4, 3) == [5, 2, 4, 7]  # stored fits go on with the same batches


def test_the_preview_of_a_prompt_is_the_slope_of_its_loss_at_open_gates(tiny):
    """The preview of each prompt equals the central difference of that prompt's loss by the gate at 1."""
    items = random_items(3)
    gradient = gate_gradients(tiny, items)
    assert gradient.shape == (3, 3, 4)
    step = 1e-2
    for prompt, layer, head in ((0, 0, 1), (1, 1, 2), (2, 2, 3)):
        gates = torch.ones(2, 3, 4)
        gates[0, layer, head] += step
        gates[1, layer, head] -= step
        nll = -tiny.log_probs(Batch.of([items[prompt]]), gates).mean(1)
        assert gradient[prompt, layer, head] == pytest.approx(float(nll[0] - nll[1]) / (2 * step), rel=0.05, abs=1e-3)


def test_toggling_a_head_gives_the_change_of_its_targets_log_probability(tiny):
    """A head's effect equals the difference of two forward passes, with its gate at 0 and at 1."""
    items, gates = random_items(4), np.random.default_rng(0).uniform(size=(3, 4))
    found = toggled(tiny, items, gates, layer=1)
    for head in range(4):
        both = torch.tensor(gates, dtype=torch.float32).repeat(2, 1, 1)
        both[0, 1, head], both[1, 1, head] = 1, 0
        value = tiny.log_probs(Batch.of(items), both).mean(1)
        assert found[head] == pytest.approx(float(value[1] - value[0]), abs=1e-5)


def test_the_contrast_of_equal_sides_is_nothing_and_its_push_alone_moves_the_gates(tiny):
    """When both sides are the same prompts the loss is 0 and the gradient is that of the push."""
    batch = Batch.of(random_items(4))
    logits = torch.zeros(1, 3, 4)
    loss, gradient = contrast_and_gradient(tiny, batch, batch, logits, torch.tensor([0.1]))
    assert float(loss) == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(gradient.numpy(), -0.1 / 12, atol=1e-5)


def test_a_pair_far_from_forgotten_still_moves_the_gates_and_a_forgotten_one_does_not(tiny, monkeypatch):
    """The difference is clipped on one side only."""
    forget, retain = Batch.of(random_items(4)), Batch.of(random_items(4, seed=5))
    logits, still = torch.zeros(1, 3, 4), torch.zeros(1)
    monkeypatch.setattr("analysis.methods.causal.compute.fitting.CONTRAST", -1e3)  # as if every pair were forgotten
    assert not contrast_and_gradient(tiny, forget, retain, logits, still)[1].any()
    monkeypatch.setattr("analysis.methods.causal.compute.fitting.CONTRAST", 1e3)
    assert contrast_and_gradient(tiny, forget, retain, logits, still)[1].any()


def test_the_untouched_models_nll_and_greedy_answers_equal_transformers_own(tiny):
    """Each item's loss and whether all its target tokens are the most likely ones equal transformers' logits."""
    items = random_items(6)
    nll, right = untouched(tiny, items, at_once=24)
    for at, item in enumerate(items):
        logits = tiny.module(torch.tensor([item.ids])).logits[0]
        first = len(item.ids) - item.targets
        expected = F.cross_entropy(logits[first - 1 : -1], torch.tensor(item.ids[first:]))
        assert nll[at] == pytest.approx(float(expected), rel=1e-3)
        assert right[at] == (logits[first - 1 : -1].argmax(-1).tolist() == list(item.ids[first:]))


def test_rank_correlation_is_one_for_any_rising_function_and_shares_equal_ranks():
    """It is 1 for a rising and -1 for a falling function, also with ties, and undefined for constants."""
    values = np.array([3.0, 1.0, 2.0, 2.0])
    assert rank_correlation(values, np.exp(values)) == pytest.approx(1)
    assert rank_correlation(values, -values) == pytest.approx(-1)
    assert np.isnan(rank_correlation(values, np.ones(4)))


def test_loss_and_gradient_equal_the_published_way_on_padded_batches(family):
    """To 1e-5 of their size, with every position's logits and one set of gates at a time."""
    gated, _, _, checkpoint = family
    items = [Encoded(item.ids * (1 + at % 3), item.targets) for at, item in enumerate(random_items(8))]
    logits = torch.randn(
        2, len(gated.card.layers), gated.card.heads, generator=torch.Generator().manual_seed(3)
    ).double()
    gated.module.double()
    outputs = attention_outputs(gated.module, checkpoint)
    nll, gradient = loss_and_gradient(gated, Batch.of(items), logits, torch.tensor([0.1, -0.1]).double())
    for at, push in enumerate((0.1, -0.1)):
        published, slope = published_update(gated.module, outputs, items, logits[at], push)
        assert float(nll[at]) == pytest.approx(published, rel=1e-5)
        assert float((gradient[at] - slope).norm() / slope.norm()) < 1e-5
    gated.module.float()


def test_a_batch_in_two_parts_has_every_target_once():
    """Short prompts apart from long ones need fewer tokens, and each target is found in its part where it was."""
    items = random_items(6) + [Encoded(item.ids * 4, item.targets) for item in random_items(3, seed=1)]
    batch = Batch.of(items)
    parts = batch.parts()
    assert len(parts) == 2
    assert sorted(np.concatenate([targets for _, targets in parts])) == list(range(len(batch.tokens)))
    assert sum(part.ids.size for part, _ in parts) < 0.9 * batch.ids.size
    for part, targets in parts:
        np.testing.assert_array_equal(part.ids[part.rows, part.positions + 1], batch.tokens[targets])
