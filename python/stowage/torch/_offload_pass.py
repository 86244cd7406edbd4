"""What a forward pass under offloaded() saved: tensors that stay, and storages that leave and come back."""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_left
from collections import deque
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from ._offload_links import CudaLink, ThreadLink, Unit, bytes_of

#: A view that is a smaller part of its storage stays, since the storage would leave as a whole.
_LEAST_PART = 1 / 8
#: The tensors of one node come back in any order: as many saved after a tensor are fetched with it.
_OF_A_NODE = 16


class _View(NamedTuple):
    """What a saved tensor is of its storage."""

    dtype: torch.dtype
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]


class _Kept(NamedTuple):
    """A saved tensor that stays on the device."""

    tensor: Tensor
    version: int
    serial: int  # place in the order in which tensors were saved


class _Sent:
    """A saved tensor whose storage leaves."""

    def __init__(self, unit: Unit, tensor: Tensor, serial: int) -> None:
        self.unit = unit
        self.serial = serial
        self.view = _View(
            tensor.dtype, int(tensor.storage_offset()), tuple(tensor.size()), tensor.stride()
        )
        self.kind = tensor.type()
        self.version = tensor._version
        # Shares the version counter of the tensor, and holds none of its memory.
        self.witness = tensor.detach()
        self.witness.data = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        self.unpacked = 0


class Pass:
    """One forward pass under a context, and its backward passes. It holds no unit: they end with the graph."""

    def __init__(
        self,
        share: float,
        device: torch.device,
        min_bytes: int,
        bound: int,
        rates: tuple[Optional[float], Optional[float]],
        model: Optional[torch.nn.Module],
    ) -> None:
        self.share, self.device, self.min_bytes = share, device, min_bytes
        self.bound, self.rates = bound, rates
        self.link: Union[ThreadLink, CudaLink, None] = None
        self.seen = 0  # bytes that could leave
        self.moved = 0
        self._lock = threading.Lock()  # hooks may be called by threads of autograd
        self._serial = 0
        self._leaving: deque[Unit] = (
            deque()
        )  # whose copies out may not have ended, the oldest first
        self._leaving_bytes = 0
        self._sent: list[weakref.ref[Unit]] = []  # in the order in which they left
        self._serials: list[int] = []  # of them
        self._round = 0  # of the backward pass, from 1
        self._next = 0  # of self._sent, those below are to be fetched in this round
        # Bytes of the storages that are back or on their way and not yet used, by their serial.
        self._coming: dict[int, int] = {}
        # The address of a storage is its name while the weak reference exists.
        self._storages: dict[int, tuple[Any, int, Optional[weakref.ref[Unit]]]] = {}
        self._fixed: dict[int, Any] = {}  # storages of parameters
        if model is not None and share > 0:
            for own in (*model.parameters(), *model.buffers()):
                self._fix(own)

    def _fix(self, tensor: Tensor) -> None:
        if type(tensor) in _PLAIN and tensor.layout is torch.strided:
            weak = _weak(tensor.untyped_storage())
            self._fixed[weak.cdata] = weak

    # --- the forward pass

    def pack(self, tensor: Tensor) -> Union[_Kept, _Sent]:
        with torch.no_grad(), self._lock:
            self._serial += 1
            unit = self._unit_of(tensor)
            if unit is None:
                # A tensor that its own node saved would be a cycle, which detach() avoids. Leaves have
                # no node, and some wrappers replace their data.
                own = tensor if tensor.is_leaf else tensor.detach()
                return _Kept(own, tensor._version, self._serial)
            sent = _Sent(unit, tensor, self._serial)
        self._settle(self.bound)
        return sent

    def _unit_of(self, tensor: Tensor) -> Optional[Unit]:
        """Returns the unit of a tensor that leaves, None for one that stays."""
        if not self._can_leave(tensor):
            return None
        storage = tensor.untyped_storage()
        weak = _weak(storage)
        version = tensor._version
        known = self._storages.get(weak.cdata)
        if known is not None and known[1] == version:
            unit = None if known[2] is None else known[2]()
            if unit is not None:
                unit.users += 1
                return unit
            if known[2] is None:
                return None
        else:
            self.seen += storage.nbytes()
        if not self.moved < self.share * self.seen:
            self._storages[weak.cdata] = (weak, version, None)
            return None
        unit = Unit(bytes_of(storage), self._serial)
        if self.link is None:
            cuda = tensor.device.type == "cuda"
            self.link = CudaLink(tensor.device) if cuda else ThreadLink(*self.rates)
            self.device = tensor.device
        self.link.send(unit)
        self.moved += unit.nbytes
        self._leaving.append(unit)
        self._leaving_bytes += unit.nbytes
        serial, coming = unit.serial, self._coming
        own = weakref.ref(unit, lambda _: coming.pop(serial, None))
        self._sent.append(own)
        self._serials.append(serial)
        self._storages[weak.cdata] = (weak, version, own)
        return unit

    def _can_leave(self, tensor: Tensor) -> bool:
        if type(tensor) not in _PLAIN or tensor.layout is not torch.strided:
            return False
        if tensor.device.type != self.device.type or tensor.is_quantized or tensor.is_nested:
            return False
        if tensor.is_conj() or tensor.is_neg():
            return False
        if self.device.index is not None and tensor.device != self.device:
            return False
        if _is_weight(tensor):
            self._fix(tensor)
            return False
        storage = tensor.untyped_storage()
        own = tensor.numel() * tensor.element_size()
        if own < max(self.min_bytes, 1) or own < _LEAST_PART * storage.nbytes():
            return False
        fixed = self._fixed.get(storage._cdata)
        return fixed is None or fixed.expired()

    def _settle(self, bound: int) -> None:
        """Waits until the copies out, but for the last, have at most `bound` bytes."""
        while True:
            with self._lock:
                least = 1 if bound else 0  # copies that may wait whatever their size
                if self._leaving_bytes <= bound or len(self._leaving) <= least:
                    return
                unit = self._leaving.popleft()
                self._leaving_bytes -= unit.nbytes
            assert self.link is not None
            self.link.settle(unit)

    def end(self, wait: bool) -> None:
        """Ends the forward pass: every copy out has ended, unless an exception passes through."""
        if wait:
            self._settle(0)
        self._leaving.clear()
        self._storages.clear()
        self._fixed.clear()

    # --- the backward passes

    def unpack(self, packed: Union[_Kept, _Sent]) -> Tensor:
        if isinstance(packed, _Kept):
            _check(packed.tensor, packed.version, packed.tensor.type())
            if self._sent:
                with torch.no_grad(), self._lock:
                    self._begin(1)
                    self._fetch_ahead(packed.serial)
            return packed.tensor
        with torch.no_grad():
            _check(packed.witness, packed.version, packed.kind)
            return self._back(packed)

    def _back(self, packed: _Sent) -> Tensor:
        unit = packed.unit
        with self._lock:
            packed.unpacked += 1
            self._begin(packed.unpacked)
            if unit.came is None:
                self._fetch(unit)
            self._fetch_ahead(packed.serial)
            came = unit.came
        assert self.link is not None and came is not None
        self.link.arrive(unit)
        with self._lock:
            restored = unit.restored
            if restored is None:  # another thread has just used it up
                assert unit.host is not None
                restored = unit.host.to(unit.device)
            unit.pending -= 1
            if unit.pending <= 0:
                unit.restored = unit.came = None
                self._coming.pop(unit.serial, None)
        view = packed.view
        return torch.empty(0, dtype=view.dtype, device=unit.device).set_(
            restored.untyped_storage(), view.offset, view.size, view.stride
        )

    def _begin(self, number: int) -> None:
        """Begins a backward pass if it has not begun yet."""
        if number > self._round:
            self._round, self._next = number, len(self._sent)

    def _fetch(self, unit: Unit) -> None:
        assert self.link is not None
        unit.round = self._round
        unit.pending = unit.users
        self._coming[unit.serial] = unit.nbytes
        self.link.fetch(unit)

    def _fetch_ahead(self, serial: int) -> None:
        """Fetches the units that were saved before a tensor, the latest first, up to the bound."""
        self._next = min(self._next, bisect_left(self._serials, serial + _OF_A_NODE))
        while self._next > 0 and sum(list(self._coming.values())) < self.bound:
            self._next -= 1
            unit = self._sent[self._next]()
            if unit is not None and unit.came is None and unit.round < self._round:
                self._fetch(unit)


_weak: Any = StorageWeakRef  # torch has no types for it
_PLAIN = (Tensor, torch.nn.Parameter)
# Nodes whose output is their input, perhaps in another type: what autocast and layers do to a weight.
_RESHAPES = {
    "AsStridedBackward0",
    "DetachBackward0",
    "PermuteBackward0",
    "SplitBackward0",
    "TBackward0",
    "ToCopyBackward0",
    "TransposeBackward0",
    "UnsafeViewBackward0",
    "UnsqueezeBackward0",
    "ViewBackward0",
}


def _is_weight(tensor: Tensor) -> bool:
    """Whether a tensor is a parameter or another leaf that requires gradients, a view or a cast of one."""
    for own in (tensor, tensor._base):
        if own is not None and (
            isinstance(own, torch.nn.Parameter) or (own.is_leaf and own.requires_grad)
        ):
            return True
    node = tensor.grad_fn
    while node is not None and node.name() in _RESHAPES:
        node = node.next_functions[0][0]
    return node is not None and node.name() == "torch::autograd::AccumulateGrad"


def _check(tensor: Tensor, version: int, kind: str) -> None:
    """Raises torch's error if a saved tensor was modified in place; torch does not check under hooks."""
    if tensor._version != version:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: [{kind}] is at version {tensor._version}; expected version {version} instead. "
            "It was saved under stowage.torch.offloaded()."
        )
