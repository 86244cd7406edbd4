"""Activations that leave the device for the host in the forward pass, and come back for the backward pass."""

from __future__ import annotations

import math
from typing import Any, Optional, Union

import torch
from torch.autograd.graph import saved_tensors_hooks

from .._arguments import number, require, whole
from .._errors import Error
from ._offload_links import MIB
from ._offload_pass import Pass

#: Smaller tensors stay: at 24 MiB per ms, 64 KiB take 3 microseconds, no more than the launch of a copy.
MIN_BYTES = 2**16
#: MiB of copies that wait at a time, in each direction.
IN_FLIGHT_MIB = 256.0


class offloaded:
    """A context for the forward pass, in which a share of the tensors saved for the backward pass leaves the
    device for the host.

    with offloaded(batch.offload, model=model):
        loss = model(...)
    loss.backward()

    A tensor leaves if what has left is below `share` of the bytes saved so far, its own included: at every
    moment at least this share has left or is on its way. Storages leave as a whole and once, however many
    saved tensors are views of them. At the end of the context every copy out has ended. In the backward pass
    storages come back in the reverse order, ahead of their use. Gradients have the same bits as without.

    Stay and do not count: parameters and other leaves that require gradients, views and casts of them,
    storages of `model`, tensors below min_bytes, views of less than an eighth of their storage, tensors of
    other devices and of subclasses, and sparse or quantized ones.

    As without the context, the backward pass raises RuntimeError if a saved tensor was modified in place.
    What torch.utils.checkpoint saves inside its function is not seen, its inputs are. Of nested contexts, the
    innermost with a share above 0 gets the tensors. A context can be entered again for the next forward
    pass, even before the backward pass of the last one; its numbers are those of the last forward pass.

    On CUDA, copies use pinned memory and a stream of their own; this has not been tried on a GPU. On the
    CPU, one thread copies to other memory: this measures how copies and computation overlap, and saves
    nothing.

    Args:
        share: of the bytes, from 0 to 1; with 0 the context does nothing.
        model: a module whose parameters and buffers stay, also where their views cannot be recognised.
        device: of the tensors that leave, "cuda" or "cpu"; default CUDA if it is available.
        min_bytes: smaller tensors stay.
        in_flight_mib: MiB of copies that wait at a time: the device holds as much beyond the plan, or one
            storage if that is more.
        out_mib_per_ms, in_mib_per_ms: rates that copies on the CPU do not exceed, to measure how a link of
            these rates would do.

    Raises ValueError for values outside their ranges, and InputTypeError for other types.
    """

    def __init__(
        self,
        share: float,
        *,
        model: Optional[torch.nn.Module] = None,
        device: Optional[Union[str, torch.device]] = None,
        min_bytes: int = MIN_BYTES,
        in_flight_mib: float = IN_FLIGHT_MIB,
        out_mib_per_ms: Optional[float] = None,
        in_mib_per_ms: Optional[float] = None,
    ) -> None:
        self.share = number(share, "share")
        if not 0 <= self.share <= 1:
            raise ValueError(f"share: must be from 0 to 1, is {self.share}")
        if model is not None:
            require(model, torch.nn.Module, "model")
        self.model = model
        self.device = _device(device)
        self.min_bytes = whole(min_bytes, "min_bytes")
        if self.min_bytes < 0:
            raise ValueError(f"min_bytes: must be at least 0, is {self.min_bytes}")
        self.in_flight_mib = _positive(in_flight_mib, "in_flight_mib")
        self.rates = (
            _rate(out_mib_per_ms, "out_mib_per_ms"),
            _rate(in_mib_per_ms, "in_mib_per_ms"),
        )
        if self.device.type == "cuda" and self.rates != (None, None):
            raise ValueError(
                "out_mib_per_ms, in_mib_per_ms: are for the CPU, the device is "
                f'"{self.device}": leave them out, or pass device="cpu"'
            )
        self._pass: Optional[Pass] = None
        self._hooks: Optional[saved_tensors_hooks] = None

    def __enter__(self) -> offloaded:
        if self._hooks is not None:
            raise Error(
                "offloaded: this context is entered already; nested contexts are two objects"
            )
        self._pass = Pass(
            self.share,
            self.device,
            self.min_bytes,
            int(min(self.in_flight_mib * MIB, 2.0**62)),
            self.rates,
            self.model,
        )
        if self.share > 0:
            self._hooks = saved_tensors_hooks(self._pass.pack, self._pass.unpack)
            self._hooks.__enter__()
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        hooks, self._hooks = self._hooks, None
        if hooks is None:
            return
        hooks.__exit__(kind, value, trace)
        assert self._pass is not None
        self._pass.end(wait=kind is None)

    @property
    def saved_mib(self) -> float:
        """MiB of the storages of the last forward pass that could leave."""
        return 0.0 if self._pass is None else self._pass.seen / MIB

    @property
    def moved_mib(self) -> float:
        """MiB of them that left."""
        return 0.0 if self._pass is None else self._pass.moved / MIB

    @property
    def forward_stall_ms(self) -> float:
        """ms for which the last forward pass waited for copies, those at the end of the context
        included."""
        return self._waited_ms("out")

    @property
    def backward_stall_ms(self) -> float:
        """ms for which the backward passes of the last forward pass waited for copies."""
        return self._waited_ms("in")

    def _waited_ms(self, way: str) -> float:
        link = None if self._pass is None else self._pass.link
        return 0.0 if link is None else link.waited_ms(way)


def _device(given: Optional[Union[str, torch.device]]) -> torch.device:
    if given is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(given)
    except (TypeError, RuntimeError):
        raise ValueError(f'device: must be "cuda" or "cpu", is {given!r}') from None
    if device.type not in ("cuda", "cpu"):
        raise ValueError(f'device: must be "cuda" or "cpu", is {given!r}')
    return device


def _positive(given: float, name: str) -> float:
    value = number(given, name)
    if not (0 < value < math.inf):
        raise ValueError(f"{name}: must be above 0 and finite, is {value}")
    return value


def _rate(given: Optional[float], name: str) -> Optional[float]:
    return None if given is None else _positive(given, name)
