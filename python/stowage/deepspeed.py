"""Plans for DeepSpeed: Ulysses on a different group of ranks for each row, and variable batch
sizes.

loader = UlyssesDataLoader(loader, UlyssesGroups(cluster), model, device)   # on every rank
for step, rows in loader:
    for row in rows:
        ...                      # row["input_ids"], row["position_ids"], row["shift_labels"]
"""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Optional, Sequence, Union

import torch.distributed as dist
from deepspeed.sequence.layer import DistributedAttention
from torch import nn
from torch.utils.data import DataLoader

from ._arguments import each_of, require, whole
from ._cluster import Cluster
from ._errors import Error
from ._registered_ulysses import registered_attention, use_group
from ._single_rank_rows import single_rank_rows
from ._step import Step
from ._trainer_step import Batch, TrainerStep
from .torch import Groups, PackedBatch, StepBatchSampler


class UlyssesGroups(Groups):
    """stowage.torch.Groups with an additional group for each single rank, which DeepSpeed's
    attention requires.

    Every rank must construct it at the same place of its program, after init_process_group().
    PackedCollator(slice="contiguous") cuts the rows. The largest degree must divide the number of
    heads.
    """

    def __init__(self, cluster: Cluster, ranks: Optional[Sequence[int]] = None) -> None:
        require(cluster, Cluster, "cluster")
        super().__init__(cluster, ranks)
        own = range(cluster.devices) if ranks is None else ranks
        self._alone = {rank: dist.new_group([own[rank]]) for rank in range(cluster.devices)}

    def group_of(self, batch: Union[PackedBatch, Batch]) -> dist.ProcessGroup:
        """Returns the group that computes `batch`, also for a single rank."""
        return self[batch] or self._alone[batch.ranks[0]]

    def use(self, model: nn.Module, batch: Union[PackedBatch, Batch]) -> None:
        """Sets the group of all sequence-parallel attention of `model`, for forward and backward
        passes.

        The function changes every DistributedAttention in the model, and DeepSpeed's attention for
        transformers (UlyssesSPAttentionHF.register_with_transformers(), the method of ALST), which is in
        the registry of transformers and not in the model.

        Raises stowage.Error if there is no such attention, or if it would mix the sequences of the row;
        ValueError if the group does not divide the heads, and for an attention that was registered for
        rows of one length or for several rows at a time.
        """
        require(model, nn.Module, "model")
        group = self.group_of(batch)
        found = False
        for module in model.modules():
            if isinstance(module, DistributedAttention):
                module.spg, found = group, True
        for attention in registered_attention(model):
            use_group(attention, model, group, len(batch.sequences))
            found = True
        if not found:
            raise Error(
                f"model: must have attention that is sequence parallel, {type(model).__name__} has none: "
                "neither a DistributedAttention nor what "
                "UlyssesSPAttentionHF.register_with_transformers() puts in the place of its "
                "attn_implementation; call that before training, or make the layers with "
                "DistributedAttention"
            )


class UlyssesDataLoader:
    """Replaces UlyssesSPDataLoaderAdapter, whose group of ranks is fixed.

    Args:
        loader: a DataLoader with a StepBatchSampler and a PackedCollator(slice="contiguous").
        groups: the groups of the sampler's cluster.
        model: the model whose attention is set to the group of each delivered row; None if the caller
            calls groups.use() itself.
        device: device of the delivered tensors.

    An iteration yields the remaining steps of an epoch, each with its rows as dictionaries. An idle
    rank gets a filler row (PackedBatch), because DeepSpeed waits for the backward pass of every
    rank; with PackedCollator(fill_idle=False) it gets None. A row has the entries of the adapter's
    rows for this rank's part: input_ids, position_ids and shift_labels, int64 [1, T / degree]; and
    `batch`, the PackedBatch. Labels are shifted before rows are cut, as in the adapter. Nothing is
    gathered: each rank loads only its own sequences.
    """

    def __init__(
        self,
        loader: DataLoader[Any],
        groups: UlyssesGroups,
        model: Optional[nn.Module] = None,
        device: Any = "cpu",
    ) -> None:
        if not isinstance(loader.batch_sampler, StepBatchSampler):
            raise ValueError("loader: must have a StepBatchSampler")
        if getattr(loader.collate_fn, "slice", None) != "contiguous":
            raise ValueError('loader: must have a PackedCollator(slice="contiguous")')
        self.sampler = loader.batch_sampler
        self.loader, self.groups, self.model, self.device = loader, groups, model, device

    def __iter__(self) -> Iterator[tuple[Step, Iterator[Optional[dict[str, Any]]]]]:
        for step, batches in self.sampler.steps_with(self.loader):
            yield step, map(self._row, batches)

    def _row(self, batch: PackedBatch) -> Optional[dict[str, Any]]:
        if batch.idle:
            return None
        if self.model is not None:
            self.groups.use(self.model, batch)
        moved = batch.to(self.device)
        return {
            "input_ids": moved.input_ids,
            "position_ids": moved.position_ids,
            "shift_labels": moved.labels,
            "batch": moved,
        }


def batches_by_plan(
    steps: Iterable[TrainerStep], accumulation: int = 1
) -> tuple[list[tuple[int, list[int]]], list[int], list[int]]:
    """Returns planned steps in the format of DeepSpeed's `batch_by_seqlens`: microbatch_ids, batch_sizes,
    max_seqlens.

    Args:
        steps: plans whose ids are the rows of a data set, on groups of single ranks (degrees=[1]),
            each of which has work in every micro-batch (no_idle_ranks=True).
        accumulation: micro-batches per step of the optimizer; the number of micro-batches of each
            plan must be a multiple of it (micro_batches_multiple_of).

    microbatch_ids are (batch, rows), by batch, micro-batch and rank. dataloader_for_variable_batch_size
    with one replica per rank and batches of size one distributes them as planned. batch_sizes are the
    numbers of sequences of each batch, by which the learning rate is scaled; max_seqlens are the
    longest padded sequences. Raises ValueError for other steps, and for steps with clipped sequences.
    """
    accumulation = whole(accumulation, "accumulation")
    if accumulation < 1:
        raise ValueError(f"accumulation: must be at least 1, is {accumulation}")
    microbatch_ids: list[tuple[int, list[int]]] = []
    batch_sizes: list[int] = []
    max_seqlens: list[int] = []
    for step in each_of(steps, "steps"):
        require(step, TrainerStep, "steps")
        rows = [batch.sequences for batch in single_rank_rows(step)]
        if isinstance(step, Step) and step.clipped.size:
            raise ValueError(
                f"step {step.name!r}: rows {step.clipped.tolist()} are clipped, and DeepSpeed loads them "
                'whole: cut the data set, or plan with on_oversize="drop"'
            )
        if step.micro_batches % accumulation:
            raise ValueError(
                f"step {step.name!r}: the number of micro-batches must be a multiple of "
                f"{accumulation}, is {step.micro_batches}: plan with micro_batches_multiple_of"
            )
        of_batch = accumulation * step.ranks
        longest = step.max_seqlen[step.schedule.T.ravel()]
        for first in range(0, len(rows), of_batch):
            own = rows[first : first + of_batch]
            microbatch_ids += [(len(batch_sizes), row.tolist()) for row in own]
            batch_sizes.append(sum(map(len, own)))
            max_seqlens.append(int(longest[first : first + of_batch].max()))
    return microbatch_ids, batch_sizes, max_seqlens
