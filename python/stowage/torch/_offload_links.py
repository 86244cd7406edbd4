"""The links by which saved activations leave a device for the host and come back."""

from __future__ import annotations

import queue
import threading
import time
import weakref
from typing import Any, Callable, Optional

import torch
from torch import Tensor

MIB = 2**20
_cuda: Any = torch.cuda  # parts of it have no types


class Unit:
    """A storage that leaves: its bytes are on the device, on the host, or on the way.

    A unit belongs to the saved tensors that are views of the storage: the host's copy ends with the last of
    them.
    """

    def __init__(self, source: Tensor, serial: int) -> None:
        self.nbytes = source.numel()
        self.device = source.device
        self.serial = serial  # place of its first tensor in the order in which tensors were saved
        self.source: Optional[Tensor] = source  # its bytes, until the copy out is done
        self.host: Optional[Tensor] = None
        self.restored: Optional[Tensor] = None  # until each of the saved tensors was used
        self.users = 1  # saved tensors
        self.pending = 0  # of them, not yet used since the storage came back
        self.round = 0  # the last backward pass for which the storage was fetched
        self.left: Any = None  # event: the copy out has ended
        self.came: Any = None  # event: the copy back has ended; None if there is none
        self.error: Optional[BaseException] = None


def bytes_of(storage: torch.UntypedStorage) -> Tensor:
    """Returns a storage as a tensor of bytes."""
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(
        storage, 0, (storage.nbytes(),), (1,)
    )


class ThreadLink:
    """Copies with one thread, for tensors on the CPU. The waits that it counts are those of the caller.

    out_rate, in_rate: MiB per ms that copies do not exceed; None for no limit. A copy begins when it is
    asked for and the one before it in its direction has ended.
    """

    def __init__(self, out_rate: Optional[float], in_rate: Optional[float]) -> None:
        self._jobs: queue.SimpleQueue[Optional[Callable[[], None]]] = queue.SimpleQueue()
        self._rates = {"out": out_rate, "in": in_rate}
        self._free_at = {"out": 0.0, "in": 0.0}  # seconds of the clock, when the link is free again
        self._started = False
        self._lock = threading.Lock()
        self._waited = {"out": 0.0, "in": 0.0}  # seconds

    def waited_ms(self, way: str) -> float:
        return 1000 * self._waited[way]

    def send(self, unit: Unit) -> None:
        """Begins to copy a unit to the host."""
        unit.left = threading.Event()
        # The caller allocates, so that a lack of memory is its error.
        unit.host = torch.empty(unit.nbytes, dtype=torch.uint8)

        def copy() -> None:
            assert unit.host is not None and unit.source is not None
            unit.host.copy_(unit.source)

        def end() -> None:
            unit.source = None
            unit.left.set()

        self._start("out", unit, copy, end)

    def settle(self, unit: Unit) -> None:
        """Waits until a unit has left."""
        self._wait("out", unit, unit.left)

    def fetch(self, unit: Unit) -> None:
        """Begins to copy a unit back."""
        came = unit.came = threading.Event()

        def copy() -> None:
            assert unit.host is not None
            unit.restored = unit.host.clone()

        self._start("in", unit, copy, came.set)

    def arrive(self, unit: Unit) -> None:
        """Waits until a unit is back."""
        self._wait("in", unit, unit.came)

    def _wait(self, way: str, unit: Unit, event: threading.Event) -> None:
        if not event.is_set():
            begin = time.perf_counter()
            event.wait()
            self._waited[way] += time.perf_counter() - begin
        if unit.error is not None:
            raise unit.error

    def _start(
        self, way: str, unit: Unit, copy: Callable[[], None], end: Callable[[], None]
    ) -> None:
        asked = time.perf_counter()

        def job() -> None:
            try:
                copy()
                if rate := self._rates[way]:
                    # Sleeps that last too long do not add up: the next copy begins where this one
                    # should have ended.
                    begin = max(asked, self._free_at[way])
                    self._free_at[way] = begin + unit.nbytes / MIB / rate / 1000
                    time.sleep(max(0.0, self._free_at[way] - time.perf_counter()))
            except BaseException as error:  # the thread that waits raises it
                unit.error = error
            end()

        with self._lock:
            if not self._started:
                self._started = True
                threading.Thread(
                    target=_work, args=(self._jobs,), name="stowage-offload", daemon=True
                ).start()
                weakref.finalize(self, self._jobs.put, None)
        self._jobs.put(job)


def _work(jobs: queue.SimpleQueue[Optional[Callable[[], None]]]) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # it holds its unit, and the unit its memory


class CudaLink:
    """Copies on a stream of its own, to pinned memory. The waits that it counts are those of the stream that
    computes; the host waits for nothing."""

    def __init__(self, device: torch.device) -> None:
        self._stream = _cuda.Stream(device)
        self._device = device
        self._waits: dict[str, list[tuple[Any, Any]]] = {"out": [], "in": []}

    def waited_ms(self, way: str) -> float:
        """Returns the time between the events around each wait, after it has passed."""
        total = 0.0
        for begin, end in list(self._waits[way]):
            end.synchronize()
            total += begin.elapsed_time(end)
        return total

    def send(self, unit: Unit) -> None:
        """Begins to copy a unit to the host, behind all work so far."""
        assert unit.source is not None
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            unit.host = torch.empty(unit.nbytes, dtype=torch.uint8, pin_memory=True)
            unit.host.copy_(unit.source, non_blocking=True)
            unit.left = self._stream.record_event()

    def settle(self, unit: Unit) -> None:
        """Makes further work wait until a unit has left. Its memory may be used anew by this work only."""
        if unit.source is not None:
            self._wait("out", unit.left)
            unit.source = None

    def fetch(self, unit: Unit) -> None:
        """Begins to copy a unit back, into memory that no work so far uses."""
        assert unit.host is not None
        restored = torch.empty(unit.nbytes, dtype=torch.uint8, device=self._device)
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            restored.copy_(unit.host, non_blocking=True)
            unit.came = self._stream.record_event()
        # Perhaps nobody will wait for the copy: the memory must outlast it even so.
        restored.record_stream(self._stream)
        unit.restored = restored

    def arrive(self, unit: Unit) -> None:
        """Makes further work wait until a unit is back."""
        self._wait("in", unit.came)

    def _wait(self, way: str, event: Any) -> None:
        if event.query():
            return
        stream = torch.cuda.current_stream(self._device)
        begin, end = _cuda.Event(enable_timing=True), _cuda.Event(enable_timing=True)
        begin.record(stream)
        stream.wait_event(event)
        end.record(stream)
        self._waits[way].append((begin, end))
