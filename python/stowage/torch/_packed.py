"""The collator that packs samples into rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Iterable, Mapping, Optional, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .._arguments import require, whole
from .._step import Step
from .._trainer_step import Batch
from ._batch import IGNORED, PackedBatch
from ._delivery import Packer
from ._sampler import StepBatchSampler


class PackedCollator(Packer):
    """Packs the sequences of a micro-batch into one row, with the planned padding.

    If the planner's cluster pads by degree (Cluster.padding), a row is padded when
    sampler.steps_with() or stowage.torch.loader() matches it with its plan, which has its degree.

    Samples are mappings with 1-d "input_ids" and optionally 1-d "labels"; default labels are the
    input_ids. If the planner clips (on_oversize="clip"), longer samples are cut to
    Cluster.largest_sequence tokens.

    Args:
        sampler: the sampler whose planner determines the padding.
        pad_token_id: token of padding in input_ids; its labels are -100.
        shift: True if labels are at their own token, as in Hugging Face data sets; the collator
            then moves each label to the token before, which predicts it. False if they were moved
            already.
        slice: "zigzag" or "contiguous" parts of a row for the ranks of its group, None for whole rows.
        fill_idle: if True, an idle rank gets a filler row (PackedBatch); if False, it gets a row
            without tokens, and the loop must keep the ranks in step.
    """

    def __init__(
        self,
        sampler: StepBatchSampler,
        *,
        pad_token_id: int,
        shift: bool = True,
        slice: Optional[str] = "zigzag",
        fill_idle: bool = True,
    ) -> None:
        require(sampler, StepBatchSampler, "sampler")
        if slice not in ("zigzag", "contiguous", None):
            raise ValueError(f'slice: must be "zigzag", "contiguous" or None, is {slice!r}')
        planner = sampler.planner
        #: 0: rows are padded when they meet their plan, by the degree of their group.
        self.pad_multiple = 0 if planner.cluster.padding else planner.cluster.pad_multiple
        self.pad_token_id = whole(pad_token_id, "pad_token_id")
        self.shift = shift
        self.slice = slice
        self.fill_idle = fill_idle
        self.longest = planner.cluster.largest_sequence if planner.on_oversize == "clip" else None
        self.counted = sampler.loss_tokens is not None

    def __call__(self, samples: Sequence[Mapping[str, Any]]) -> PackedBatch:
        """Returns the whole row of `samples`, or a filler row if there are no samples and idle
        ranks are filled.

        Raises ValueError for samples that are not a list of mappings with 1-d "input_ids", and if
        the numbers of labels and tokens differ.
        """
        if isinstance(samples, Mapping):
            raise ValueError(
                "samples: must be the rows of a micro-batch, is one row: the loader has lost its "
                "StepBatchSampler; make it with stowage.torch.loader()"
            )
        filler = not samples and self.fill_idle
        if filler:
            samples = [{"input_ids": [self.pad_token_id], "labels": [IGNORED]}]
        ids, labels, places, lengths, padded = [], [], [], [0], [0]
        multiple = self.pad_multiple or 1
        for sample in samples:
            tokens, targets = self._tokens(sample)
            length = -(-len(tokens) // multiple) * multiple
            more = length - len(tokens)
            ids.append(torch.nn.functional.pad(tokens, (0, more), value=self.pad_token_id))
            labels.append(torch.nn.functional.pad(targets, (0, more), value=IGNORED))
            places.append(torch.arange(length))
            lengths.append(len(tokens))
            padded.append(length)
        none = torch.zeros(0, dtype=torch.int64)
        return PackedBatch(
            input_ids=torch.cat([none, *ids])[None],
            labels=torch.cat([none, *labels])[None],
            position_ids=torch.cat([none, *places])[None],
            cu_seqlens=torch.tensor(lengths).cumsum(0).to(torch.int32),
            cu_seqlens_padded=torch.tensor(padded).cumsum(0).to(torch.int32),
            filler=filler,
        )

    def _tokens(self, sample: Mapping[str, Any]) -> tuple[Tensor, Tensor]:
        """Returns the tokens and targets of a sample, cut to the longest planned sequence."""
        tokens = _integers(sample["input_ids"], "input_ids")
        targets = tokens if "labels" not in sample else _integers(sample["labels"], "labels")
        if tokens.ndim != 1 or targets.shape != tokens.shape:
            raise ValueError(
                "samples: input_ids and labels must be 1-d and equally long, have the shapes "
                f"{tuple(tokens.shape)} and {tuple(targets.shape)}"
            )
        if self.longest is not None:
            tokens, targets = tokens[: self.longest], targets[: self.longest]
        if self.shift:
            targets = torch.cat([targets[1:], targets.new_full((1,), IGNORED)])
        return tokens, targets

    def planned(
        self, step: Step, micro_batch: int, batch: Optional[Batch], row: PackedBatch, rank: int
    ) -> PackedBatch:
        """Returns the part of a row on `rank` in a micro-batch of `step`; the rank idles if `batch`
        is None.

        Raises ValueError for a row that does not match the plan.
        """
        if batch is not None:
            return self.part(step, batch, row, rank)
        if row.input_ids.numel() and not row.filler:
            raise ValueError(
                f"rank {rank} idles in micro-batch {micro_batch}, the loader delivers a row of "
                f"{row.input_ids.numel()} tokens"
            )
        alone = (rank,) if row.filler else ()
        return replace(
            row,
            max_seqlen=int(row.cu_seqlens_padded[-1]),
            ranks=alone,
            micro_batch=micro_batch,
            loss_denominator=step.loss_denominator,
            plan=step,
        )

    def _as_planned(self, row: PackedBatch, planned: NDArray[np.int32]) -> PackedBatch:
        """Returns the row, which is not padded, with the padding of its plan behind each sequence."""
        ends = torch.from_numpy(planned.astype(np.int64))
        lengths = row.cu_seqlens.diff()
        moved = torch.repeat_interleave(ends[:-1] - row.cu_seqlens[:-1], lengths)
        at = torch.arange(row.input_ids.shape[1]) + moved
        size = int(ends[-1])
        ids = row.input_ids.new_full((1, size), self.pad_token_id)
        labels = row.labels.new_full((1, size), IGNORED)
        ids[:, at], labels[:, at] = row.input_ids, row.labels
        places = torch.arange(size) - torch.repeat_interleave(ends[:-1], ends.diff())
        return replace(
            row,
            input_ids=ids,
            labels=labels,
            position_ids=places[None],
            cu_seqlens_padded=ends.to(torch.int32),
        )

    def part(self, step: Step, batch: Batch, row: PackedBatch, rank: int) -> PackedBatch:
        """Returns the part of a row of `step` on `rank`.

        Raises ValueError for a row that does not match the plan.
        """
        if not self.pad_multiple and np.array_equal(row.cu_seqlens.numpy(), batch.cu_seqlens):
            row = self._as_planned(row, batch.cu_seqlens_padded)
        if not np.array_equal(row.cu_seqlens_padded.numpy(), batch.cu_seqlens_padded) and (
            np.array_equal(row.cu_seqlens.numpy(), batch.cu_seqlens)
        ):
            raise ValueError(
                f"rows {batch.sequences.tolist()}: must be padded as they were planned, to "
                f"{np.diff(batch.cu_seqlens_padded).tolist()} tokens, are padded to "
                f"{row.cu_seqlens_padded.diff().tolist()}: the PackedCollator is of another sampler"
            )
        if not np.array_equal(row.cu_seqlens.numpy(), batch.cu_seqlens):
            raise ValueError(
                f"rows {batch.sequences.tolist()}: lengths must be those that were planned, "
                f"{np.diff(batch.cu_seqlens).tolist()}, are {row.cu_seqlens.diff().tolist()}"
            )
        targets = int((row.labels != IGNORED).sum())
        if self.counted and targets != batch.loss_denominator:
            raise ValueError(
                f"rows {batch.sequences.tolist()}: loss_tokens must be the labels that are not "
                f"{IGNORED}, {targets} behind the shift, are {batch.loss_denominator}"
            )
        own = replace(
            row,
            max_seqlen=batch.max_seqlen,
            ranks=tuple(batch.ranks),
            micro_batch=batch.micro_batch,
            loss_denominator=step.loss_denominator,
            sequences=batch.sequences,
            offload=batch.offload,
            plan=step,
        )
        if self.slice is None or batch.degree == 1:
            return own
        at = torch.from_numpy(step.positions(batch.index, rank, self.slice))
        return replace(
            own,
            slice=self.slice,
            input_ids=row.input_ids[:, at],
            labels=row.labels[:, at],
            position_ids=row.position_ids[:, at],
        )


def _integers(given: Any, name: str) -> Tensor:
    tensor = torch.as_tensor(given)
    if tensor.numel() and (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"samples: {name} must be integers, are {tensor.dtype}")
    return tensor.to(torch.int64)


def target_counts(
    labels: Iterable[Sequence[int]], shift: bool = True, longest: Optional[int] = None
) -> NDArray[np.int64]:
    """Returns the number of labels of each row that are not ignored, int64 [K]: the `loss_tokens`
    of the data set.

    Args:
        labels: labels of each row, integers.
        shift: True if labels are at their own token (PackedCollator); the first label of a row is
            then not a target.
        longest: number of tokens to which rows are cut first, for a planner with
            on_oversize="clip".
    """
    first = 1 if shift else 0
    return np.array(
        [int(np.sum(np.asarray(row)[first:longest] != IGNORED)) for row in labels], np.int64
    )
