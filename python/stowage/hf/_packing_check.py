"""check_packing() detects models that mix the sequences of a packed row; stowage.hf exports the
names.

It makes two comparisons. The row is computed again with other tokens in all sequences but one: if the
logits of that sequence change, the model leaks. Each sequence is also computed alone: if its logits in
the row differ by more than rounding, positions or states continue from sequence to sequence. The first
comparison has equal shapes, so it detects leaks far below the rounding of bfloat16.
"""

from __future__ import annotations

import contextlib
import inspect
import random
import warnings
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from .._arguments import each_of, require, whole
from .._errors import Error
from ._packed_inputs import model_inputs, packing_was_checked
from ..torch import PackedBatch

# The logits of a computation in two shapes may differ by this many units in the last place.
_ROUNDING = 8

#: Makes the keyword arguments of a model from a packed row.
Inputs = Callable[[PackedBatch], Mapping[str, Any]]


class PackingCheck(NamedTuple):
    """The result for a model that separates the sequences of a packed row.

    Attributes:
        difference: the largest difference between a logit of the row and the logit of its sequence
            alone.
        tolerance: the largest difference that rounding explains.
        scale: the largest logit.
        lengths: tokens of the row's sequences.
    """

    difference: float
    tolerance: float
    scale: float
    lengths: tuple[int, ...]


def check_packing(
    model: nn.Module, *, inputs: Optional[Inputs] = None, lengths: Sequence[int] = (13, 23, 11)
) -> PackingCheck:
    """Compares one packed row with its sequences, and raises for a model whose sequences affect
    each other.

    Call it once before training, with the weights, data type and attention implementation of the
    training, and on every rank if a forward pass of the model needs all ranks. It makes some ten forward
    passes of a short row, without gradients and dropout. Afterwards the model's mode and all random
    number generators have their previous state.

    Args:
        model: a causal model that maps `input_ids` [1, T] to logits, an output of transformers or a
            tensor [1, T, N]. It may be wrapped in DistributedDataParallel.
        inputs: makes the keyword arguments of the training loop for a row; default
            model_inputs(batch), or if that does not separate sequences, model_inputs(batch, model).
        lengths: tokens of the row's sequences: at least two sequences of at least 2 tokens. A model with
            chunked attention needs longer sequences.

    The check detects leaks between sequences from about 1e-6 of the largest logit on. It detects wrong
    positions if they change logits by more than rounding: 1e-6 of the largest logit in float32, some
    percent in bfloat16. In a mixture of experts, other tokens change the rounding, which hides leaks of
    that size.

    Raises stowage.Error with the layer that leaks, the size of the leak and a remedy; ValueError for
    lengths that form no row. Exceptions for a sequence computed alone are the model's own.
    """
    sizes = tuple(whole(length, "lengths") for length in each_of(lengths, "lengths"))
    require(model, nn.Module, "model")
    if len(sizes) < 2 or min(sizes) < 2:
        raise ValueError(f"lengths: must be at least two, each at least 2, are {list(sizes)}")
    if isinstance(model, nn.parallel.DistributedDataParallel):
        model = model.module
    with _undisturbed(model):
        if inputs is not None:
            found = _Trial(model, inputs, sizes).run()
            packing_was_checked(model, True)
            return found
        try:
            found = _Trial(model, model_inputs, sizes).run()
            packing_was_checked(model, True)
        except Error:
            found = _Trial(model, lambda batch: model_inputs(batch, model), sizes).run()
            packing_was_checked(model, False)
    return found


class _Trial:
    """The forward passes of one check and their evaluation."""

    def __init__(self, model: nn.Module, inputs: Inputs, lengths: tuple[int, ...]) -> None:
        self.model, self.lengths, self.inputs = model, lengths, inputs
        self.name = type(model).__name__
        self.device = next((p.device for p in model.parameters()), torch.device("cpu"))
        starts = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        self.places = [slice(begin, end) for begin, end in zip(starts, starts[1:])]
        draw = torch.Generator().manual_seed(0)
        known = _plain_tokens(model)
        own = torch.randint(len(known), (sum(lengths),), generator=draw)
        self.tokens = known[own]
        # a different token at each place
        self.others = known[(own + 1 + len(known) // 3) % len(known)]

    def run(self) -> PackingCheck:
        alone = [self._alone(place) for place in self.places]
        row = self._row(self.tokens)
        scale = float(max(logits.abs().max() for logits in alone))
        if not np.isfinite(scale) or not bool(row.isfinite().all()):
            raise Error(f"{self.name}: logits must be finite numbers to be compared")
        again = self._row(self.tokens)
        noise = _mean_change(again, row)
        changes = [
            _mean_change(self._row(self._only(place))[place], row[place]) for place in self.places
        ]
        coarse, fine = self._units(row)
        rounding = _ROUNDING * fine * scale
        # Later tokens change the first sequence of a causal model only by rounding.
        if changes[0] <= max(8 * noise, _ROUNDING * coarse * scale):
            rounding = max(rounding, 8 * changes[0])
        rounding = max(rounding, 8 * noise)
        apart = [float((row[p] - own).abs().max()) for p, own in zip(self.places, alone)]
        worst = int(np.argmax(changes))
        if changes[worst] > rounding:
            raise self._leak(worst, max(apart[worst], changes[worst]), scale)
        if changes[0] > 0 and (leaking := self._layer_that_leaks(exactly=True)):
            at, layer = leaking
            raise self._leak(at, apart[at], scale, layer)
        tolerance = _ROUNDING * (coarse * scale + apart[0])
        worst = int(np.argmax(apart[1:])) + 1
        if apart[worst] > tolerance:
            raise self._shifted(worst, apart[worst], scale)
        return PackingCheck(max(apart), tolerance, scale, self.lengths)

    def _units(self, logits: Tensor) -> tuple[float, float]:
        """Returns the relative rounding of the coarsest data type in the computation, and of
        float32, which many layers use internally."""
        fine = float(torch.finfo(torch.float32).eps)
        kinds = {p.dtype for p in self.model.parameters() if p.is_floating_point()} | {logits.dtype}
        if torch.is_autocast_enabled(self.device.type):
            kinds.add(torch.get_autocast_dtype(self.device.type))
        return max([fine, *(float(torch.finfo(kind).eps) for kind in kinds)]), fine

    def _only(self, kept: slice) -> Tensor:
        """Returns the row with different tokens in all sequences except one."""
        tokens = self.others.clone()
        tokens[kept] = self.tokens[kept]
        return tokens

    def _alone(self, place: slice) -> Tensor:
        given: dict[str, Any] = {"input_ids": self.tokens[place][None].to(self.device)}
        if _takes(self.model, "use_cache"):
            given["use_cache"] = False
        return _logits(self.model(**given))[0].detach()

    def _row(self, tokens: Tensor) -> Tensor:
        given = dict(self.inputs(self._batch(tokens)))
        for name in ("labels", "shift_labels", "num_items_in_batch"):
            given.pop(name, None)
        try:
            return _logits(self.model(**given))[0].detach()
        except (ValueError, TypeError, NotImplementedError, RuntimeError) as refused:
            raise Error(
                f"{self.name} takes no packed row, though it takes each sequence alone: {refused}; "
                f"{_REMEDY}"
            ) from refused

    def _batch(self, tokens: Tensor) -> PackedBatch:
        starts = torch.tensor([0, *np.cumsum(self.lengths)], dtype=torch.int32)
        labels = [torch.cat([tokens[p][1:], tokens.new_full((1,), -100)]) for p in self.places]
        return PackedBatch(
            input_ids=tokens[None],
            labels=torch.cat(labels)[None],
            position_ids=torch.cat([torch.arange(length) for length in self.lengths])[None],
            cu_seqlens=starts,
            cu_seqlens_padded=starts,
            max_seqlen=max(self.lengths),
            ranks=(0,),
            loss_denominator=sum(self.lengths),
            sequences=np.arange(len(self.lengths)),
        ).to(self.device)

    def _leak(self, at: int, by: float, scale: float, layer: str = "") -> Error:
        if not layer:
            leaking = self._layer_that_leaks(exactly=False)
            layer = leaking[1] if leaking else self.name
        return Error(
            f"{self.name} leaks between the sequences of a packed row: sequence {at} of "
            f"{len(self.lengths)} changes with the tokens of the others, and its logits are off by "
            f"{by:.2g} (the largest logit is {scale:.2g}), in {layer}; {_REMEDY}"
        )

    def _shifted(self, at: int, by: float, scale: float) -> Error:
        return Error(
            f"{self.name} computes sequence {at} of {len(self.lengths)} of a packed row otherwise than "
            f"alone: its logits are off by {by:.2g} (the largest logit is {scale:.2g}), though no token "
            "of the others matters. Positions that go on from sequence to sequence do that, where "
            f"the model ignores position_ids; {_REMEDY}"
        )

    def _layer_that_leaks(self, exactly: bool) -> Optional[tuple[int, str]]:
        """Returns a sequence that depends on other sequences, and the first layer that causes it; None if
        no layer does.

        exactly: skips layers that also change the first sequence, since only rounding can change
        it.
        """
        own = self._watched(self.tokens)
        first = self._watched(self._only(self.places[0]))
        for at, place in list(enumerate(self.places))[1:]:
            other = self._watched(self._only(place))
            if [name for name, *_ in own] != [name for name, *_ in other]:
                return None
            for (name, kind, ins, outs), (_, _, ins_2, outs_2), (_, _, _, calm) in zip(
                own, other, first
            ):
                if any(not torch.equal(a[0, place], b[0, place]) for a, b in zip(ins, ins_2)):
                    continue
                changed = any(
                    not torch.equal(a[0, place], b[0, place]) for a, b in zip(outs, outs_2)
                )
                rounded = any(
                    not torch.equal(a[0, self.places[0]], b[0, self.places[0]])
                    for a, b in zip(outs, calm)
                )
                if changed and not (exactly and rounded):
                    return at, f"{name or 'the model'} ({kind})"
        return None

    def _watched(self, tokens: Tensor) -> list[tuple[str, str, list[Tensor], list[Tensor]]]:
        """Returns name, class, inputs and outputs of each layer that maps tokens to tokens, inner layers
        first."""
        seen: list[tuple[str, str, list[Tensor], list[Tensor]]] = []
        count = len(tokens)

        def watch(name: str) -> Any:
            def hook(module: nn.Module, args: Any, more: Any, output: Any) -> None:
                ins, outs = list(_of_tokens((args, more), count)), list(_of_tokens(output, count))
                if outs:
                    seen.append((name, type(module).__name__, ins, outs))

            return hook

        hooks = [
            module.register_forward_hook(watch(name), with_kwargs=True)
            for name, module in self.model.named_modules()
        ]
        try:
            self._row(tokens)
        finally:
            for each in hooks:
                each.remove()
        return seen


_REMEDY = (
    "give the arguments that the model keeps sequences apart by (stowage.hf.model_inputs(batch, model), "
    "kernels that take seq_idx or cu_seq_lens_q), take another attn_implementation, or plan rows of one sequence: "
    "Cluster.replace(max_sequences_per_group=1)"
)


def _of_tokens(value: Any, count: int) -> Iterator[Tensor]:
    """Yields copies of the floating tensors [1, count, ...] in nested arguments."""
    if isinstance(value, Tensor):
        if value.is_floating_point() and value.dim() > 2 and value.shape[:2] == (1, count):
            yield value.detach().clone()
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _of_tokens(inner, count)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _of_tokens(inner, count)


def _mean_change(own: Tensor, other: Tensor) -> float:
    """Returns the mean change over the vocabulary for the token that changes most.

    A change below the last place moves few logits, each by a whole unit in the last place. So their
    mean has the size of the change.
    """
    return float((own.double() - other.double()).abs().mean(-1).max())


def _logits(output: Any) -> Tensor:
    """Returns the logits of an output of transformers, a tuple, or a tensor."""
    for name in ("logits", "last_hidden_state"):
        found = getattr(output, name, None)
        if isinstance(found, Tensor):
            return found
    if isinstance(output, (tuple, list)):
        return _logits(output[0])
    if isinstance(output, Tensor):
        return output
    raise Error(f"the model must return logits, returns {type(output).__name__}")


def _takes(model: nn.Module, name: str) -> bool:
    """Returns whether forward() takes an argument of that name."""
    parameters = inspect.signature(model.forward).parameters
    return name in parameters or any(
        each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()
    )


def _plain_tokens(model: nn.Module) -> Tensor:
    """Returns ids of the vocabulary without a special meaning for the model, int64."""
    config = getattr(model, "config", None)
    config = getattr(config, "get_text_config", lambda: config)()
    size = getattr(config, "vocab_size", None)
    # an id must be valid for every embedding table, and the table of positions can be the largest
    if size is None:
        sizes = [m.num_embeddings for m in model.modules() if isinstance(m, nn.Embedding)]
        size = min((each for each in sizes if each > 2), default=2)
    values: Mapping[str, Any] = vars(config) if config is not None else {}
    special: set[int] = set()
    for name, value in values.items():
        if name.endswith(("token_id", "token_index")):
            special.update(value if isinstance(value, (list, tuple)) else [value])
    plain = [token for token in range(min(int(size), 50_000)) if token not in special]
    return torch.tensor(plain, dtype=torch.int64)


@contextlib.contextmanager
def _undisturbed(model: nn.Module) -> Iterator[None]:
    """A context without gradients and dropout, which restores modes and random number generators.

    It sets the flag of each module directly, because train() and eval() of some modules have other
    effects.
    """
    modes = [(module, module.training) for module in model.modules()]
    devices = {p.device for p in model.parameters() if p.device.type not in ("cpu", "meta")}
    states = random.getstate(), np.random.get_state()
    kind = next((device.type for device in devices), "cuda")
    try:
        with contextlib.ExitStack() as own:
            own.enter_context(torch.no_grad())
            numbers = [device.index or 0 for device in devices]
            own.enter_context(torch.random.fork_rng(numbers, device_type=kind))
            own.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            for module, _ in modes:
                module.training = False
            yield
    finally:
        for module, mode in modes:
            module.training = mode
        random.setstate(states[0])
        np.random.set_state(states[1])
