"""A DataLoader of planned rows that frameworks do not replace or wrap."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional

from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from .._arguments import require
from ._batch import PackedBatch
from ._delivery import Delivery
from ._packed import PackedCollator
from ._sampler import StepBatchSampler


class _ShardedAlready(DistributedSampler[Any]):
    """The loader's `sampler`, from which Lightning and Ray recognise that rows are already
    distributed to ranks."""

    def __init__(self, planned: StepBatchSampler) -> None:
        self._planned = planned
        self.num_replicas, self.rank = planned.planner.cluster.devices, planned.rank

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("rows come from the batch sampler of the loader")

    def __len__(self) -> int:
        return len(self._planned.lengths)

    def set_epoch(self, epoch: int) -> None:
        self._planned.set_epoch(epoch)


class StepLoader(DataLoader[Any]):
    """A DataLoader that delivers planned rows; stowage.torch.loader() makes it.

    `prepare()` of accelerate, Lightning's Trainer and Ray's prepare_data_loader() do not change its
    sampler, since each rank already gets its own part. state_dict() and load_state_dict() are those of
    the sampler. `len()` is the number of steps of an epoch if by_step, and unknown otherwise.
    """

    #: Accelerator.prepare() does not change a loader with this attribute.
    _is_accelerate_prepared = True
    #: Accelerator.save_state() and load_state() call state_dict() of such loaders.
    use_stateful_dataloader = True

    def __init__(
        self,
        dataset: Dataset[Any],
        planned: StepBatchSampler,
        collator: PackedCollator,
        by_step: bool,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(dataset, batch_sampler=planned, collate_fn=collator, **options)
        self.planned, self.collator, self.by_step = planned, collator, by_step
        # DataLoader forbids setting the sampler after construction.
        object.__setattr__(self, "sampler", _ShardedAlready(planned))

    def __len__(self) -> int:
        if self.by_step:
            return self.planned.steps
        return len(self.planned)  # raises TypeError

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        # __iter__ is a generator, because Lightning creates the iterator before it calls
        # set_epoch().
        delivered = Delivery(self.planned, super().__iter__(), self.collator)
        yield from (self._steps(delivered) if self.by_step else self._rows(delivered))

    def _rows(self, delivered: Delivery) -> Iterator[PackedBatch]:
        for row in delivered:
            delivered.arrived()
            yield row

    def _steps(self, delivered: Delivery) -> Iterator[list[PackedBatch]]:
        for row in delivered:
            yield list(delivered.rest_of_step(row))

    def set_epoch(self, epoch: int) -> None:
        """Calls set_epoch() of the sampler."""
        self.planned.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Returns state_dict() of the sampler."""
        return self.planned.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Calls load_state_dict() of the sampler."""
        self.planned.load_state_dict(state)


def loader(
    dataset: Dataset[Any],
    sampler: StepBatchSampler,
    collator: Optional[PackedCollator] = None,
    *,
    by_step: bool = False,
    pad_token_id: int = 0,
    **options: Any,
) -> StepLoader:
    """Returns a DataLoader of planned rows that frameworks do not replace or wrap.

    Args:
        dataset: rows by number, mappings with "input_ids" and optionally "labels".
        sampler: the planned batches of this rank.
        collator: packs rows; default PackedCollator(sampler, pad_token_id=pad_token_id).
        by_step: if True, an item is the list of the PackedBatches of a whole step, which is one step
            of the optimizer; otherwise an item is one PackedBatch.
        options: options of torch.utils.data.DataLoader: num_workers, pin_memory, and others.

    Raises ValueError for options that the sampler and the collator determine, and for a dataset
    whose number of rows differs from the sampler's number of lengths.
    """
    require(sampler, StepBatchSampler, "sampler")
    if collator is not None:
        require(collator, PackedCollator, "collator")
    decided = {"batch_size", "shuffle", "sampler", "batch_sampler", "drop_last", "collate_fn"}
    if wrong := sorted(decided & set(options)):
        raise ValueError(f"{', '.join(wrong)}: the sampler and the collator decide that")
    rows = len(dataset) if hasattr(dataset, "__len__") else sampler.lengths.size
    if rows != sampler.lengths.size:
        raise ValueError(
            f"dataset: must have the {sampler.lengths.size} rows whose lengths the sampler has, has "
            f"{rows}"
        )
    packer = collator or PackedCollator(sampler, pad_token_id=pad_token_id)
    return StepLoader(dataset, sampler, packer, by_step, options)
