"""One pass of a loader over the rows of a sampler, with the position of the last row that the loop
received."""

from __future__ import annotations

import hashlib
import sys
from collections import deque
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Protocol

from torch.utils.data import DataLoader, Sampler
from torch.utils.data.dataloader import _BaseDataLoaderIter

from .._errors import Error
from .._step import Step

#: Number of entries of the log that are kept before the last delivered entry. A wrapper that reads
#: ahead of the loop (Ray reads one micro-batch ahead) counts more deliveries than the loop received.
_KEPT = 64


class Position(NamedTuple):
    """The position of the next micro-batch: epoch, step of the epoch, micro-batch of the step, from
    0."""

    epoch: int
    step: int
    micro_batch: int


class Start(NamedTuple):
    """The position at which an iteration begins. Within a step, it includes the digest of the
    step's plan."""

    position: Position
    plan: str = ""


class Handed(NamedTuple):
    """A micro-batch that was returned to the loader, and the position after it."""

    step: Step
    micro_batch: int
    after: Position


class PlannedRows(Protocol):
    """The members of StepBatchSampler that an iteration over its rows calls."""

    rank: int
    _start: Start
    _iteration: Optional[Iteration]

    @property
    def steps(self) -> int: ...
    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...
    def _plans(self, at: Position) -> Iterator[Step]: ...
    def _state(self, start: Start) -> dict[str, Any]: ...


class Iteration(Iterator[list[int]]):
    """The rows of one rank from a position to the end of its epoch, micro-batch after micro-batch.

    A loader with workers requests rows ahead of the loop. So the iteration keeps a log of the
    returned micro-batches, and has two positions. state_dict() is the position after the last
    returned micro-batch, which StatefulDataLoader records for each batch. `reached` is the position
    after the last micro-batch that the loop received.
    """

    def __init__(self, sampler: PlannedRows, start: Start, reader: Optional[Any]) -> None:
        self._sampler = sampler
        self._start = start
        # The attributes of the iterator of a DataLoader, which counts the delivered batches. They
        # outlive the iterator: a loop that breaks drops it, its workers end, and the loop requests
        # the state afterwards.
        self._reader: Mapping[str, Any] = {} if reader is None else vars(reader)
        # the iterator's count when the first row was returned
        self._read_before: Optional[int] = None
        self._plans: Optional[Iterator[Step]] = None
        self._step: Optional[Step] = None  # the step whose rows are being returned
        self._at = start.position
        self._log: deque[Handed] = deque()
        self._forgotten = 0  # number of entries removed from the front of the log
        # number of received micro-batches, if a loop of this package counts them
        self._arrived: Optional[int] = None
        self._ended = False  # the last row of the epoch was returned, and another row was requested
        self._left = False  # a loop of this package has ended
        self._failed: Optional[Exception] = None  # the exception that prevented planning a step

    def __iter__(self) -> Iteration:
        return self

    def __next__(self) -> list[int]:
        if self._plans is None:
            self._plans = self._sampler._plans(self._at)
            self._read_before = self._reader.get("_num_yielded")
        if self._failed is not None:  # otherwise the epoch would seem to end here
            raise self._failed
        if self._step is None:
            try:
                self._step = next(self._plans, None)
            except Exception as failed:
                self._failed = failed
                raise
            if self._step is None:
                self._ended = True
                raise StopIteration
            self._require_same_plan(self._step)
        step, (epoch, number, micro_batch) = self._step, self._at
        if micro_batch + 1 < step.micro_batches:
            self._at = Position(epoch, number, micro_batch + 1)
        else:
            self._at, self._step = Position(epoch, number + 1, 0), None
        self._forget()
        self._log.append(Handed(step, micro_batch, self._at))
        batch = step.batch_of(self._sampler.rank, micro_batch)
        return [] if batch is None else batch.sequences.tolist()

    def _require_same_plan(self, step: Step) -> None:
        """Raises stowage.Error if the resumed state is within a step that now has another plan."""
        _, number, micro_batch = self._at
        if micro_batch and self._start.plan != digest_of(step):
            raise Error(
                f"the state is behind micro-batch {micro_batch - 1} of a plan of step {number} that "
                "this planner does not make: resume with the same cluster, method and seed, or load "
                "the state without micro_batch to begin the step anew"
            )

    def _forget(self) -> None:
        """Removes the entries of the log that are no longer needed."""
        while len(self._log) > _KEPT and self._forgotten + _KEPT < self.count():
            self._log.popleft()
            self._forgotten += 1

    def count(self) -> int:
        """Returns the number of micro-batches that the loop received."""
        if self._arrived is not None:
            return self._arrived
        handed = self._forgotten + len(self._log)
        read = self._reader.get("_num_yielded")
        if read is None or self._read_before is None:
            return handed
        return min(int(read) - self._read_before, handed)

    @property
    def complete(self) -> bool:
        """Returns whether the loop received every row of the epoch and ended.

        Workers request rows ahead of the loop, and are shut down when it ends.
        """
        if not self._ended or self.count() < self._forgotten + len(self._log):
            return False
        if self.counted:
            return self._left
        return not self._reader.get("_num_workers") or bool(self._reader.get("_shutdown"))

    @property
    def exhausted(self) -> bool:
        """Returns whether the loop received every row of the epoch, even if it has not requested
        another row."""
        handed = self._forgotten + len(self._log)
        begun = handed > 0 or self._ended
        return begun and handed <= self.count() and self._at.step == self._sampler.steps

    @property
    def counted(self) -> bool:
        """Returns whether a loop of this package counts the received rows: steps_with(), or a
        loader of stowage.torch.loader()."""
        return self._arrived is not None

    @property
    def reached(self) -> Start:
        """The start of an iteration that continues after the last micro-batch that the loop
        received."""
        if self.complete:
            return Start(Position(self._at.epoch + 1, 0, 0))
        kept = self.count() - self._forgotten
        if kept <= 0:
            return self._start
        handed = self._log[kept - 1]
        return Start(handed.after, digest_of(handed.step) if handed.after.micro_batch else "")

    def entry(self, number: int) -> Handed:
        """Returns the micro-batch that was returned as number `number`, from 0."""
        return self._log[number - self._forgotten]

    def arrive(self, count: int) -> None:
        """Records that the loop received `count` micro-batches of this iteration and continues.

        For nested loops (steps_with() over a wrapped loader) the count of the outer loop is used.
        """
        self._arrived, self._left = count, False

    def leave(self) -> None:
        """Records that the loop ended."""
        self._left = True

    def state_dict(self) -> dict[str, Any]:
        """Returns the state after the last returned micro-batch, even if the loop has not received
        it."""
        if self._ended:
            return self._sampler._state(Start(Position(self._at.epoch + 1, 0, 0)))
        if self._step is None:  # at the beginning of a step or of the iteration
            return self._sampler._state(Start(self._at, self._start.plan))
        return self._sampler._state(Start(self._at, digest_of(self._step)))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues at the position of a state. Raises ValueError for the state of another sampler."""
        self._sampler.load_state_dict(state)
        self._start = self._sampler._start
        self._at = self._start.position
        self._sampler._iteration = self


def digest_of(step: Step) -> str:
    """Returns a short digest of a plan: 16 hexadecimal digits."""
    return hashlib.sha256(step.to_bytes() + step.ids.tobytes()).hexdigest()[:16]


def reader_of_caller(sampler: Sampler[list[int]]) -> Optional[Any]:
    """Returns the DataLoader iterator that called __iter__ of a sampler; None for another caller.

    Raises stowage.Error if the caller would distribute the rows of one rank over several ranks:
    accelerate and other frameworks wrap a batch sampler into a sharding one.
    """
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_locals.get("self") is sampler:
        frame = frame.f_back  # __iter__ of a subclass
    reader = frame.f_locals.get("self")
    if isinstance(reader, Sampler) and reader is not sampler:
        raise Error(
            f"StepBatchSampler: is wrapped in {type(reader).__module__}.{type(reader).__name__}, which "
            "takes rows away that were planned for this rank; make the loader with "
            "stowage.torch.loader(), which prepare() leaves as it is, and resume by its state_dict()"
        )
    if not isinstance(reader, _BaseDataLoaderIter):
        return None
    if not getattr(reader, "_in_order", True):
        raise Error(
            "StepBatchSampler: its loader has in_order=False, and rows would be taken for those of "
            "another micro-batch; leave in_order at True"
        )
    owner: Any = reader
    # up to the loader that the loop iterates over
    while isinstance(owner, (_BaseDataLoaderIter, DataLoader)):
        if type(owner).__module__.startswith("accelerate."):
            raise Error(
                f"StepBatchSampler: its loader was replaced by accelerate's {type(owner).__name__}, "
                "which reads ahead of the loop and deals batches out to all ranks; make the loader "
                "with stowage.torch.loader(), which prepare() leaves as it is"
            )
        if frame.f_back is None:
            break
        frame = frame.f_back
        owner = frame.f_locals.get("self")
    return reader
