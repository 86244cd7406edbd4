"""The rows of a loader, matched with their plans and counted for the sampler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Iterator, Optional

from .._errors import Error
from .._step import Step
from .._trainer_step import Batch
from ._batch import PackedBatch
from ._iteration import Iteration, PlannedRows


class Packer(ABC):
    """A collator whose rows can be matched with their plans: PackedCollator."""

    @abstractmethod
    def planned(
        self, step: Step, micro_batch: int, batch: Optional[Batch], row: PackedBatch, rank: int
    ) -> PackedBatch:
        """Returns the part of a row on `rank` in a micro-batch of `step`; the rank idles if `batch`
        is None.

        Raises ValueError for a row that does not match the plan.
        """


class Delivery(Iterator[PackedBatch]):
    """The rows of a loader, each with its plan, and counted if the sampler can see the loop."""

    def __init__(self, sampler: PlannedRows, rows: Iterator[PackedBatch], packer: Packer) -> None:
        self._sampler, self._rows, self._packer = sampler, rows, packer
        self._iteration: Optional[Iteration] = None
        self._fetched = 0
        # StatefulDataLoader has read on from its snapshot and discarded rows before the first row
        # here.
        begun = sampler._iteration
        self._dropped = (begun, 0 if begun is None or begun.counted else begun.count())

    def __next__(self) -> PackedBatch:
        """Returns the next row. It counts as received after a call of arrived()."""
        try:
            row = next(self._rows)
        except StopIteration:
            if self._iteration is not None:
                self._iteration.leave()
            raise
        if self._iteration is None:  # the loader begins it, at the latest with its first row
            self._iteration = self._sampler._iteration
            begun, dropped = self._dropped
            self._fetched = dropped if begun is self._iteration else 0
        iteration = self._iteration
        if iteration is None or iteration is not self._sampler._iteration:
            raise Error(
                "the sampler was moved, or another loop over it was begun, in the midst of this loop"
            )
        iteration.arrive(self._fetched)
        handed = iteration.entry(self._fetched)
        self._fetched += 1
        if row.plan is not None:  # a loader of stowage.torch.loader() delivers planned rows
            return row
        rank = self._sampler.rank
        batch = handed.step.batch_of(rank, handed.micro_batch)
        return self._packer.planned(handed.step, handed.micro_batch, batch, row, rank)

    def arrived(self) -> None:
        """Records that the loop received every fetched row."""
        assert self._iteration is not None
        self._iteration.arrive(self._fetched)

    def rest_of_step(self, batch: PackedBatch) -> Iterator[PackedBatch]:
        """Returns the fetched `batch` and the following batches up to the end of its step."""
        while True:
            self.arrived()
            yield batch
            if batch.last:
                return
            batch = next(self)
