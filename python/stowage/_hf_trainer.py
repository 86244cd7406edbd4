"""Planned steps in the Trainer of transformers, and in trainers that inherit from it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Iterator, Optional

import torch
from torch.utils.data import DataLoader, IterableDataset

from ._packed_inputs import model_inputs
from .torch import PackedBatch, StepLoader


class StowageTrainer:
    """Lets a Trainer run planned steps: `class PlannedTrainer(StowageTrainer, Trainer): pass`.

    An item of the loader is a planned step, which is one step of the optimizer. Its micro-batches are
    as many as the plan has, so gradient_accumulation_steps stays 1. The loss of a step is the mean over
    its targets on all ranks. A checkpoint of the Trainer resumes with the step that comes next.

    Args:
        step_loader: stowage.torch.loader(..., by_step=True) with PackedCollator(slice=None), for models
            that tell the sequences of a packed row apart by position_ids (stowage.hf.check_packing).
        arguments, named: of the Trainer.

    Raises ValueError for a loader of micro-batches, and for gradient_accumulation_steps above 1.
    """

    def __init__(self, *arguments: Any, step_loader: StepLoader, **named: Any) -> None:
        if not step_loader.by_step:
            raise ValueError("step_loader: must deliver whole steps: loader(..., by_step=True)")
        if step_loader.collator.slice is not None:
            raise ValueError("step_loader: must deliver whole rows: PackedCollator(slice=None)")
        super().__init__(*arguments, **named)
        accumulation = self.args.gradient_accumulation_steps  # type: ignore[attr-defined]
        if accumulation != 1:
            raise ValueError(
                f"gradient_accumulation_steps: must be 1, is {accumulation}: the plan decides how many "
                "micro-batches a step has"
            )
        self.step_loader = step_loader
        self._steps = _Steps(step_loader)
        self.add_callback(_resume(self._steps))  # type: ignore[attr-defined]

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Delivers planned steps, lists of PackedBatch."""
        return _StepsLoader(self._steps)

    def training_step(
        self,
        model: torch.nn.Module,
        inputs: list[PackedBatch],
        num_items_in_batch: Optional[Any] = None,
    ) -> torch.Tensor:
        """Forward and backward passes of all micro-batches of a step; its loss, detached."""
        accelerator = self.accelerator  # type: ignore[attr-defined]
        own = accelerator.unwrap_model(model)
        model.train()
        total: Optional[torch.Tensor] = None
        for batch in inputs:
            with nullcontext() if batch.last else accelerator.no_sync(model):
                # Gradients are averaged over the ranks, the loss is this rank's share of the step's.
                loss = model(**model_inputs(batch.to(accelerator.device), own)).loss
                loss = loss * accelerator.num_processes
                accelerator.backward(loss)
            total = loss.detach() if total is None else total + loss.detach()
        assert total is not None
        return total


class _Steps(IterableDataset[Any]):
    """The steps of a loader. Of an epoch that is resumed, None stands for those that are done.

    The Trainer resumes by reading and dropping the items that it has trained already.
    """

    def __init__(self, loader: StepLoader) -> None:
        self.loader = loader
        self.done = 0

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Optional[list[PackedBatch]]]:
        done, self.done = self.done, 0
        yield from [None] * done
        yield from self.loader


class _StepsLoader(DataLoader[Any]):
    """Hands the steps on as they are."""

    def __init__(self, steps: _Steps) -> None:
        super().__init__(steps, batch_size=None, collate_fn=_same)
        self.steps = steps

    def set_epoch(self, epoch: int) -> None:
        self.steps.loader.set_epoch(epoch)


def _same(item: Any) -> Any:
    return item


def _resume(steps: _Steps) -> Any:
    """A callback that moves the sampler to where a checkpoint was taken."""
    from transformers import TrainerCallback

    class Resume(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            epoch, step = divmod(state.global_step, len(steps))
            steps.loader.load_state_dict({"epoch": epoch, "step": step})
            steps.done = step

    return Resume()
