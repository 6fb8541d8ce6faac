"""Heads switched off in a running model, with exact reuse of what the untouched model computed.

A head is switched off by putting zero, or another fixed vector, in the place of its output before the output
projection. What that cannot change is taken from one untouched run:

- a *variant* (a set of heads that are off) starts in its first such layer: the residual stream that enters it and the
  outputs of its heads are recorded, so that of its attention only the output projection runs;
- where heads are off only at the positions that predict the target, all earlier positions keep their keys and values,
  so a variant costs these positions alone: the variants stand side by side in one sequence, each seeing the prompt and
  itself (`SideBySide`); where they are off everywhere, each variant is a row of one batch (`Rows`), in which prompts
  that begin alike or differ in length form a tree, so that a common beginning is computed once (`Tree`);
- variants join the batch behind their first layer, so that a layer runs once for many of them;
- of the last layer only keys and values are computed everywhere, all else and the logits where a target is predicted.

The layers are transformers' own: their calls are recorded in the untouched run and repeated with other inputs.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from analysis.compute.loaded_model import (
    attention_layers,
    attention_outputs,
    attentions,
    load_model,
    module_prefix,
)
from analysis.compute.packed_linear import can_pack, pack
from analysis.compute.positions import Replacement
from analysis.compute.readout import Predicted, Readout
from analysis.compute.rms_norm import simplify_norms
from analysis.compute.untouched_run import Arguments, Halt, KeysAndValues, Recorder, UntouchedRun, cache_name
from analysis.compute.variants import Layout, Positions, SideBySide, first_layers, layout_of
from analysis.data.prompts import Batch
from analysis.errors import UnknownFamily
from analysis.models.checkpoint import Checkpoint


class AblatedModel:
    """Runs prompts with heads switched off and tells how well their targets are predicted."""

    def __init__(
        self, checkpoint: Checkpoint, device: torch.device | str = "cpu", dtype: torch.dtype | None = None
    ) -> None:
        """`dtype`: another one than that of the loaded model, such as float64 to tell rounding from mistakes."""
        self.card = checkpoint.card
        self.device = torch.device(device)
        self.module = load_model(checkpoint, self.device)
        self._dtype: torch.dtype = dtype or self.module.dtype
        self.module.to(self._dtype)
        self._layers = attention_layers(self.module, checkpoint)
        self._numbers = sum(weight.numel() for layer in self._layers for weight in layer.parameters())
        if can_pack(self._dtype, self.device):
            pack(self.module.base_model)
            for layer in self._layers:
                simplify_norms(layer)
        softcap: float | None = getattr(self.module.config, "final_logit_softcapping", None)
        self._readout = Readout(self.module.get_output_embeddings(), softcap)
        self._window: int | None = getattr(self.module.config, "window_size", None)  # counted along the sequence
        self._signatures = [inspect.signature(layer.forward) for layer in self._layers]
        prefix = module_prefix(self.module, checkpoint)
        self._final_norm = self.module.get_submodule(f"{prefix}{checkpoint.family.final_norm}")
        self._recorder: Recorder | None = None  # of the untouched run that is under way
        self._replace: Replacement | None = None  # or what acts on the heads' outputs of variants
        self._outputs: Tensor | None = None  # or these outputs, with which attention need not be computed
        for layer, signature in zip(self._layers, self._signatures, strict=True):
            layer.register_forward_pre_hook(self._layer_hook(signature), with_kwargs=True)
        projections = attention_outputs(self.module, checkpoint)
        for attention, projection in zip(attentions(self.module, checkpoint), projections, strict=True):
            projection.register_forward_pre_hook(self._output_hook)
            attention.forward = self._attention(attention.forward, projection)

    @property
    def device_name(self) -> str:
        """The device as provenance writes it."""
        return f"{self.device} ({torch.cuda.get_device_name(self.device)})" if self.device.type == "cuda" else "cpu"

    @property
    def heads(self) -> int:
        """All of them."""
        return len(self.card.layers) * self.card.heads

    def operations(self, tokens: int, positions: Positions) -> float:
        """Multiplications and additions that it takes to switch off each head in turn on one prompt."""
        share = (len(self._layers) + 1) / (2 * len(self._layers))  # of the layers, from each head's own on
        computed = tokens if positions == "all" else 1
        vocabulary: int = self.module.get_output_embeddings().weight.numel()
        return 2.0 * self.heads * (share * self._numbers * computed + vocabulary)

    def nothing(self) -> Tensor:  # [L, H, d_head]
        """Zero in the place of every head."""
        return torch.zeros(
            len(self._layers), self.card.heads, self.card.head_dim, dtype=self._dtype, device=self.device
        )

    def head_means(self, batches: Iterable[Batch]) -> Tensor:  # [L, H, d_head]
        """The mean output of every head over all tokens of the prompts that can reach a prediction."""
        total, count = torch.zeros((), device=self.device), 0
        for batch in batches:
            run = self.untouched(batch)
            ends = torch.as_tensor(batch.lengths - 1, device=self.device)
            real = torch.arange(run.length, device=self.device) < ends[:, None]  # [B, T]
            total = total + torch.stack([output[real].double().sum(0) for output in run.outputs])
            count += int(real.sum())
        mean: Tensor = (total / count).to(self._dtype).unflatten(-1, (self.card.heads, -1))
        return mean

    def untouched(self, batch: Batch) -> UntouchedRun:
        """Run a batch as it is, as far as the last position that predicts a target token."""
        length = int(batch.positions.max()) + 1
        ids = torch.as_tensor(batch.ids[:, :length], device=self.device)
        recorder = Recorder()
        self._recorder = recorder
        try:
            hidden = self.module.base_model(input_ids=ids, use_cache=False).last_hidden_state
        finally:
            self._recorder = None
        rows, positions = (torch.as_tensor(index, device=self.device) for index in (batch.rows, batch.positions))
        predicted = self._readout(hidden[rows, positions][None], self._tokens(batch))
        return UntouchedRun(batch, predicted, recorder.calls, recorder.keys, recorder.values, recorder.outputs)

    def ablated(
        self,
        run: UntouchedRun,
        off: Tensor,  # [V, L, H] bool: the heads that are off in each variant
        instead: Tensor,  # [L, H, d_head]: what stands in the place of a head's output
        positions: Positions,
    ) -> Predicted:
        """Predictions of V variants; their heads are off everywhere, or only where the target is predicted."""
        layout = layout_of(run, positions, self._window)
        order = torch.argsort(first_layers(off), stable=True)
        hidden = (self._run(run, off[chosen], instead, layout) for chosen in order.split(layout.at_once))
        tokens = self._tokens(run.batch)
        read = [self._readout(self._final_norm(part), tokens) for part in _together(hidden, self._readout.at_once)]
        back = torch.argsort(order)
        log_probs = torch.cat([part.log_probs for part in read])
        return Predicted(log_probs[back], torch.cat([part.right for part in read])[back])

    def each_head(self, run: UntouchedRun, instead: Tensor, positions: Positions) -> Predicted:
        """One variant per head, layer by layer: that head alone is off."""
        off = torch.eye(self.heads, dtype=torch.bool).unflatten(-1, (len(self._layers), self.card.heads))
        return self.ablated(run, off, instead, positions)

    def _run(self, run: UntouchedRun, off: Tensor, instead: Tensor, layout: Layout) -> Tensor:  # [V, n, d]
        """The residual stream behind the last layer, where targets are predicted."""
        first = first_layers(off).tolist()  # ascending
        count = first.count(first[0])
        hidden = self._entered(run, first[0], off[:count, first[0]], instead, layout)
        for layer in range(first[0] + 1, len(self._layers)):
            hidden = self._through(run, layer, hidden, off[:count, layer], instead, layout)
            entering = first.count(layer)
            if entering:
                new = off[count : count + entering, layer]
                hidden = layout.joined(hidden, self._entered(run, layer, new, instead, layout))
                count += entering
        return layout.at_targets(hidden, count)

    def _entered(self, run: UntouchedRun, layer: int, off: Tensor, instead: Tensor, layout: Layout) -> Tensor:
        """Variants behind their first layer, whose heads' outputs are the untouched run's but for those replaced."""
        call = run.calls[layer]
        hidden, outputs = (layout.copies(states, len(off)) for states in (call["hidden_states"], run.outputs[layer]))
        layout.replacement(off, instead[layer])(outputs)
        if layer == len(self._layers) - 1:
            hidden, outputs = layout.narrow(hidden), layout.narrow(outputs)
        self._outputs = outputs
        try:
            return self._called(layer, {**call, "hidden_states": hidden})
        finally:
            self._outputs = None

    def _through(
        self, run: UntouchedRun, layer: int, hidden: Tensor, off: Tensor, instead: Tensor, layout: Layout
    ) -> Tensor:
        """Variants behind a layer that they compute in full."""
        arguments = layout.arguments(run.calls[layer], layer, len(off)) | {"hidden_states": hidden}
        if layer == len(self._layers) - 1 and not isinstance(layout, SideBySide) and layout.narrows:
            arguments = layout.narrowed(arguments, self._keys_and_values(layer, arguments), len(off))
        self._replace = layout.replacement(off, instead[layer])
        try:
            return self._called(layer, arguments)
        finally:
            self._replace = None

    def _keys_and_values(self, layer: int, arguments: Arguments) -> KeysAndValues:
        """Keys and values of a layer whose call ends here."""
        try:
            self._called(layer, {**arguments, cache_name(arguments): Halt()})
        except KeysAndValues as cached:
            return cached
        raise UnknownFamily(
            f"{self.card.id} does not cache keys and values",
            "The weights-only map may still work.",
        )

    def _called(self, layer: int, arguments: Arguments) -> Tensor:
        call = self._signatures[layer].bind_partial()
        call.arguments.update(arguments)
        output = self._layers[layer](*call.args, **call.kwargs)
        hidden: Tensor = output if isinstance(output, Tensor) else output[0]
        return hidden

    def _tokens(self, batch: Batch) -> Tensor:  # [n]
        return torch.as_tensor(batch.tokens, device=self.device)

    def _layer_hook(self, signature: inspect.Signature) -> Callable[..., Any]:
        """In an untouched run: record a layer's call, and its keys and values."""

        def hook(_: nn.Module, args: tuple[Any, ...], kwargs: Arguments) -> tuple[Any, Any]:
            if self._recorder is None:
                return args, kwargs
            call = signature.bind(*args, **kwargs)  # by name: some families pass the mask by position, others do not
            name = cache_name(signature.parameters)
            self._recorder.calls.append({**call.arguments, name: None})
            call.arguments[name] = self._recorder
            return call.args, call.kwargs

        return hook

    def _attention(self, forward: Callable[..., Any], projection: nn.Module) -> Callable[..., Any]:
        """A layer's attention, which is only its output projection where the heads' outputs are given."""

        def attention(*args: Any, **kwargs: Any) -> Any:
            return forward(*args, **kwargs) if self._outputs is None else (projection(self._outputs), None)

        return attention

    def _output_hook(self, _: nn.Module, args: tuple[Any, ...]) -> None:
        """Before an output projection: record the heads' outputs, or replace those of heads that are off."""
        if self._recorder is not None:
            self._recorder.outputs.append(args[0])
        elif self._replace is not None:
            self._replace(args[0])


def _together(parts: Iterable[Tensor], rows: int) -> Iterator[Tensor]:  # [V, n, d] each
    """Parts joined to at least so many rows V · n: the unembedding is larger than they are, and read each time."""
    waiting: list[Tensor] = []
    for part in parts:
        waiting.append(part)
        if sum(len(one) for one in waiting) * part.shape[1] >= rows:
            yield torch.cat(waiting)
            waiting = []
    if waiting:
        yield torch.cat(waiting)
