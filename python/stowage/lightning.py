"""Planned steps as a LightningDataModule.

    module = stowage.lightning.StepDataModule(dataset, planner, lengths=lengths, global_batch_size=24)
    lightning.Trainer(use_distributed_sampler=False).fit(model, datamodule=module)

An item is a planned step, a list of PackedBatch. So a model has `automatic_optimization = False`, and its
training_step() runs the micro-batches of the item and the optimizer.
"""

from __future__ import annotations

from typing import Any, Optional

from lightning import LightningDataModule

from ._arguments import require
from ._lengths import Integers
from ._planner import Planner
from .torch import PackedCollator, StepBatchSampler, StepLoader, loader


class StepDataModule(LightningDataModule):
    """Planned steps for the rank of each process, which the Trainer tells.

    Args:
        dataset: rows with input_ids and, unless all tokens are targets, labels.
        planner: of a cluster with as many devices as the Trainer has processes.
        lengths: tokens of each row, integers.
        global_batch_size: rows of a step.
        pad_token_id: fills rows up to their padded lengths.
        slice: parts of rows that groups of ranks share (PackedCollator).
        sampler: further arguments of StepBatchSampler: loss_tokens, seed, shuffle and others.

    Attributes: sampler, a StepBatchSampler, once the Trainer has called setup(). In setup() raises
    ValueError for a cluster of another size than the job, and what StepBatchSampler raises. A checkpoint of
    the Trainer holds the position.
    """

    sampler: StepBatchSampler

    def __init__(
        self,
        dataset: Any,
        planner: Planner,
        *,
        lengths: Integers,
        global_batch_size: int,
        pad_token_id: int = 0,
        slice: Optional[str] = "zigzag",
        **sampler: Any,
    ) -> None:
        super().__init__()
        require(planner, Planner, "planner")
        self.dataset = dataset
        self._planner = planner
        self._pad_token_id, self._slice = pad_token_id, slice
        self._lengths = lengths
        self._sampler = {"global_batch_size": global_batch_size, **sampler}

    def setup(self, stage: str) -> None:
        """Makes the sampler of this process."""
        trainer, ranks = self.trainer, self._planner.cluster.devices
        assert trainer is not None  # which called
        if trainer.world_size != ranks:
            raise ValueError(
                f"planner: its cluster must have the {trainer.world_size} processes of the Trainer as devices, "
                f"has {ranks}"
            )
        self.sampler = StepBatchSampler(
            self._lengths, self._planner, rank=trainer.global_rank, **self._sampler
        )

    def train_dataloader(self) -> StepLoader:
        """Returns the loader of planned steps."""
        collator = PackedCollator(self.sampler, pad_token_id=self._pad_token_id, slice=self._slice)
        return loader(self.dataset, self.sampler, collator, by_step=True)
