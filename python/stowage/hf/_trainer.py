"""Runs planned steps in the Trainer of transformers, and in trainers that inherit from it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any, Iterator, Optional

import torch
from torch.utils.data import DataLoader, IterableDataset

from ._packed_inputs import adds_to_the_loss, model_inputs, uses_stowage
from ..torch import PackedBatch, StepBatchSampler, StepLoader, offloaded


# The modules of the trainers whose loss is the model's.
_PLAIN = ("transformers.trainer", "trl.trainer.sft_trainer")


class StowageTrainer:
    """A mixin by which a Trainer runs planned steps: `class PlannedTrainer(StowageTrainer,
    Trainer): pass`.

    An item of the loader is a planned step, whose plan determines the number of micro-batches. A step of
    the optimizer is a planned step, or gradient_accumulation_steps of them. Its loss is the mean over its
    targets on all ranks. Activations leave for the host as planned. Training resumed from a checkpoint continues with the next step.

    Args:
        step_loader: stowage.torch.loader(..., by_step=True). With PackedCollator(slice=None) and groups of
            one rank, for models that separate the sequences of a packed row by position_ids
            (stowage.hf.check_packing). With slices and groups of any size, for models whose
            attn_implementation is "stowage" (stowage.hf.check_groups).
        arguments, named: arguments of the Trainer.

    The model computes the loss, and settings that change the loss are refused. A checkpoint does not contain
    the arguments of the sampler: resume with the same arguments. Raises ValueError for settings that planned
    steps do not support: micro-batches as items, groups of several ranks for other attention, a cluster of
    another size than the job, ignore_data_skip, label smoothing, and custom losses.
    """

    def __init__(self, *arguments: Any, step_loader: StepLoader, **named: Any) -> None:
        if not step_loader.by_step:
            raise ValueError("step_loader: must deliver whole steps: loader(..., by_step=True)")
        sampler = step_loader.planned
        if sampler.loss_tokens is None:
            raise ValueError(
                "step_loader: its sampler must have loss_tokens, by which the loss of a step is a mean: "
                "stowage.torch.target_counts()"
            )
        super().__init__(*arguments, **named)
        wrong = list(_wrong_rows(self.model, step_loader))  # type: ignore[attr-defined]
        if wrong := wrong + list(_wrong_settings(self, sampler)):
            raise ValueError("; ".join(wrong))
        self.step_loader = step_loader
        self._steps = _Steps(step_loader)
        self.add_callback(_resume(self._steps))  # type: ignore[attr-defined]

    def get_batch_samples(
        self, epoch_iterator: Iterator[Any], num_batches: int, device: torch.device
    ) -> tuple[list[Any], int]:
        """Returns the planned steps of the next step of the optimizer, and the number of their targets."""
        steps = list(islice(epoch_iterator, num_batches))
        return steps, sum(step[0].loss_denominator for step in steps)

    def offload_context(self, batch: PackedBatch) -> AbstractContextManager[Any]:
        """Returns the context of the forward pass of a batch, in which the planned share of the saved
        tensors leaves the device (Cluster.offload). Override it for other options of
        stowage.torch.offloaded()."""
        model = self.accelerator.unwrap_model(self.model)  # type: ignore[attr-defined]
        return offloaded(batch.offload, model=model)

    def _track_num_input_tokens(self, inputs: list[PackedBatch]) -> None:
        """Adds the tokens of a planned step, of all ranks, to the state of the Trainer."""
        counted = self.args.include_num_input_tokens_seen  # type: ignore[attr-defined]
        if counted != "no":
            plan = inputs[0].plan
            assert plan is not None  # of an item of a StepLoader
            rows = plan.tokens if counted == "all" else [starts[-1] for starts in plan.cu_seqlens]
            self.state.num_input_tokens_seen += int(sum(rows))  # type: ignore[attr-defined]

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Delivers planned steps, lists of PackedBatch."""
        return _StepsLoader(self._steps)

    def training_step(
        self,
        model: torch.nn.Module,
        inputs: list[PackedBatch],
        num_items_in_batch: Optional[Any] = None,
    ) -> torch.Tensor:
        """Runs the forward and backward passes of all micro-batches of a planned step. Returns its share
        of the loss, detached."""
        accelerator = self.accelerator  # type: ignore[attr-defined]
        own = accelerator.unwrap_model(model)
        model.train()
        if callable(getattr(self.optimizer, "train", None)):  # type: ignore[attr-defined]
            self.optimizer.train()  # type: ignore[attr-defined]
        # Gradients are averaged over the ranks, and the loss of a batch is this rank's share of the
        # planned step's loss. So the loss is multiplied by the number of ranks, and by the planned
        # step's share of the targets of all steps that are accumulated.
        scale = float(accelerator.num_processes)
        if num_items_in_batch:
            scale *= inputs[0].loss_denominator / int(num_items_in_batch)
        ends = accelerator.gradient_state.sync_gradients  # whether the optimizer steps afterwards
        deepspeed = accelerator.distributed_type == "DEEPSPEED"
        options = {"scale_wrt_gas": False} if deepspeed else {}
        # of SFTTrainer
        offloading = getattr(self, "maybe_activation_offload_context", nullcontext())
        total: Optional[torch.Tensor] = None
        for batch in inputs:
            synced = ends and batch.last
            # DeepSpeed uses this flag to decide when to step
            accelerator.gradient_state._set_sync_gradients(synced)
            with offloading, nullcontext() if synced else accelerator.no_sync(model):
                with self.offload_context(batch):
                    loss = model(**model_inputs(batch.to(accelerator.device), own)).loss * scale
                accelerator.backward(loss, **options)
            total = loss.detach() if total is None else total + loss.detach()
        assert total is not None
        return total


def _wrong_rows(model: torch.nn.Module, loader: StepLoader) -> Iterator[str]:
    """Yields the reasons why the model cannot compute the loader's rows."""
    degrees = loader.planned.planner.cluster.degrees
    if reason := adds_to_the_loss(model):
        yield f"model: {reason}"
    if uses_stowage(model):
        if degrees != (1,) and loader.collator.slice is None:
            yield (
                f"step_loader: groups of {degrees} ranks must share their rows: PackedCollator("
                'slice="zigzag")'
            )
        return
    if loader.collator.slice is not None:
        yield (
            "step_loader: must deliver whole rows, PackedCollator(slice=None), unless the model has "
            'attn_implementation="stowage"'
        )
    if degrees != (1,):
        yield (
            f"step_loader: groups must be of one rank, are of {degrees}: plan with degrees=[1], or load "
            'the model with attn_implementation="stowage"'
        )


def _wrong_settings(trainer: Any, sampler: StepBatchSampler) -> Iterator[str]:
    """Returns the reasons why settings of a Trainer conflict with planned steps."""
    arguments, ranks = trainer.args, sampler.planner.cluster.devices
    if trainer.accelerator.num_processes != ranks:
        yield (
            f"step_loader: its cluster must have the {trainer.accelerator.num_processes} processes of the "
            f"job as devices, has {ranks}"
        )
    if arguments.ignore_data_skip:
        yield "ignore_data_skip: must be False, for steps that are done are not loaded again anyway"
    if arguments.label_smoothing_factor:
        yield "label_smoothing_factor: must be 0, for the model computes the loss"
    if getattr(trainer, "compute_loss_func", None) is not None:
        yield "compute_loss_func: must be None, for the model computes the loss"
    kinds = type(trainer).__mro__
    behind = kinds[kinds.index(StowageTrainer) + 1 :]
    for name, searched in (("compute_loss", kinds), ("training_step", behind)):
        owner = next(kind for kind in searched if name in vars(kind))
        if owner.__module__ not in _PLAIN:
            yield f"{name} of {owner.__name__}: is not called, for the model computes the loss"
    for name in ("assistant_only_loss", "completion_only_loss"):
        if getattr(arguments, name, None):
            yield f"{name}: must be off, for the labels of the rows determine the targets"
    if getattr(arguments, "loss_type", None) not in (None, "nll", "chunked_nll"):
        yield f'loss_type: must be "nll", is {arguments.loss_type!r}'


class _Steps(IterableDataset[Any]):
    """The steps of a loader. In a resumed epoch, the steps before the checkpoint are None.

    The Trainer resumes by reading and discarding the items before the checkpoint.
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
    """A loader that returns the planned steps unchanged."""

    def __init__(self, steps: _Steps) -> None:
        super().__init__(steps, batch_size=None, collate_fn=_same)
        self.steps = steps

    def set_epoch(self, epoch: int) -> None:
        self.steps.loader.set_epoch(epoch)


def _same(item: Any) -> Any:
    return item


def _resume(steps: _Steps) -> Any:
    """Returns a callback that moves the sampler to the position of a checkpoint."""
    from transformers import TrainerCallback

    class Resume(TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            accumulated = args.gradient_accumulation_steps
            epoch, update = divmod(state.global_step, -(-len(steps) // accumulated))
            steps.done = update * accumulated
            steps.loader.load_state_dict({"epoch": epoch, "step": steps.done})

    return Resume()
