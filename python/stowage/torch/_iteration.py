"""One pass of a loader over the rows of a sampler: what was handed out, and how much of it arrived."""

from __future__ import annotations

import hashlib
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NamedTuple, Optional

from torch.utils.data import DataLoader, Sampler
from torch.utils.data.dataloader import _BaseDataLoaderIter

from .._errors import Error
from .._step import Step

if TYPE_CHECKING:
    from ._sampler import StepBatchSampler

#: Entries of the log that stay behind the last delivered one. A wrapper that reads ahead of the loop
#: (Ray reads one micro-batch ahead) counts more as delivered than the loop has got.
_KEPT = 64


class Position(NamedTuple):
    """The micro-batch that comes next: epoch, step of the epoch, micro-batch of the step, from 0."""

    epoch: int
    step: int
    micro_batch: int


class Start(NamedTuple):
    """Where an iteration begins; in the midst of a step, the digest of the plan of that step."""

    position: Position
    plan: str = ""


class Handed(NamedTuple):
    """A micro-batch that was handed out, and the position behind it."""

    step: Step
    micro_batch: int
    after: Position


class Iteration(Iterator[list[int]]):
    """The rows of one rank from a position to the end of its epoch, micro-batch after micro-batch.

    A loader with workers asks for rows ahead of the loop. The iteration therefore keeps a log of what
    it handed out, and has two positions: state_dict() is behind what was handed out, which
    StatefulDataLoader records for each batch; `reached` is behind what the loop has got.
    """

    def __init__(self, sampler: StepBatchSampler, start: Start, reader: Optional[Any]) -> None:
        self._sampler = sampler
        self._start = start
        # The attributes of the iterator of a DataLoader, which counts what it delivers. They outlive it:
        # a loop that breaks drops the iterator, whose workers end then, and asks for the state after.
        self._reader: Mapping[str, Any] = {} if reader is None else vars(reader)
        self._read_before: Optional[int] = None  # its count when the first row was handed out
        self._plans: Optional[Iterator[Step]] = None
        self._step: Optional[Step] = None  # the step that rows are handed out of
        self._at = start.position
        self._log: deque[Handed] = deque()
        self._forgotten = 0  # entries that have left the front of the log
        self._arrived: Optional[int] = None  # micro-batches, where a loop of ours counts them
        self._ended = False  # the last row of the epoch was handed out, and another one asked for
        self._left = False  # a loop of ours has come to its end
        self._failed: Optional[Exception] = None  # why a step could not be planned

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
        """Raises stowage.Error if the state to resume from is in the midst of another plan."""
        _, number, micro_batch = self._at
        if micro_batch and self._start.plan != digest_of(step):
            raise Error(
                f"the state is behind micro-batch {micro_batch - 1} of a plan of step {number} that "
                "this planner does not make: resume with the same cluster, method and seed, or load "
                "the state without micro_batch to begin the step anew"
            )

    def _forget(self) -> None:
        """Drops the entries of the log that nobody asks for any more."""
        while len(self._log) > _KEPT and self._forgotten + _KEPT < self.count():
            self._log.popleft()
            self._forgotten += 1

    def count(self) -> int:
        """Micro-batches that the loop has got."""
        if self._arrived is not None:
            return self._arrived
        handed = self._forgotten + len(self._log)
        read = self._reader.get("_num_yielded")
        if read is None or self._read_before is None:
            return handed
        return min(int(read) - self._read_before, handed)

    @property
    def complete(self) -> bool:
        """The loop has got every row of the epoch, and has come to its end.

        Workers ask for rows ahead of the loop; they are shut down when it ends.
        """
        if not self._ended or self.count() < self._forgotten + len(self._log):
            return False
        if self.counted:
            return self._left
        return not self._reader.get("_num_workers") or bool(self._reader.get("_shutdown"))

    @property
    def exhausted(self) -> bool:
        """The loop has got every row of the epoch, whether or not it has asked for another one."""
        handed = self._forgotten + len(self._log)
        begun = handed > 0 or self._ended
        return begun and handed <= self.count() and self._at.step == self._sampler.steps

    @property
    def counted(self) -> bool:
        """A loop of ours counts what arrives: steps_with(), or a loader of stowage.torch.loader()."""
        return self._arrived is not None

    @property
    def reached(self) -> Start:
        """Where an iteration begins that goes on behind the last micro-batch that the loop has got."""
        if self.complete:
            return Start(Position(self._at.epoch + 1, 0, 0))
        kept = self.count() - self._forgotten
        if kept <= 0:
            return self._start
        handed = self._log[kept - 1]
        return Start(handed.after, digest_of(handed.step) if handed.after.micro_batch else "")

    def entry(self, number: int) -> Handed:
        """The micro-batch that was handed out as number `number`, from 0."""
        return self._log[number - self._forgotten]

    def arrive(self, count: int) -> None:
        """The loop has got `count` micro-batches of this iteration, and goes on.

        If loops are nested (steps_with() over a wrapped loader), the outer one has the last word.
        """
        self._arrived, self._left = count, False

    def leave(self) -> None:
        """The loop has come to its end."""
        self._left = True

    def state_dict(self) -> dict[str, Any]:
        """The state behind what was handed out, whether or not it has arrived."""
        if self._ended:
            return self._sampler._state(Start(Position(self._at.epoch + 1, 0, 0)))
        if self._step is None:  # at the beginning of a step, or of the iteration
            return self._sampler._state(Start(self._at, self._start.plan))
        return self._sampler._state(Start(self._at, digest_of(self._step)))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where the state was taken. Raises ValueError for the state of another sampler."""
        self._sampler.load_state_dict(state)
        self._start = self._sampler._start
        self._at = self._start.position
        self._sampler._iteration = self


def digest_of(step: Step) -> str:
    """A short digest of a plan: 16 hexadecimal digits."""
    return hashlib.sha256(step.to_bytes() + step.ids.tobytes()).hexdigest()[:16]


def reader_of_caller(sampler: StepBatchSampler) -> Optional[Any]:
    """The iterator of a DataLoader that called __iter__ of a sampler; None for any other caller.

    Raises stowage.Error if the caller would hand the rows of one rank to several: accelerate and others
    wrap a batch sampler into one that shards what is already the part of one rank.
    """
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_locals.get("self") is sampler:
        frame = frame.f_back  # __iter__ of a class that inherits
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
    while isinstance(owner, (_BaseDataLoaderIter, DataLoader)):  # up to the loader that is iterated
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
