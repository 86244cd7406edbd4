"""Packed rows as tensors."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from .._errors import Error
from .._step import Step

#: The label that cross_entropy ignores.
IGNORED = -100


@dataclass(frozen=True, eq=False)
class PackedBatch:
    """A rank's part of one packed row.

    If the plan has no work for the rank in a micro-batch, the row is a filler: one token of padding,
    whose label is -100. The rank computes it like any other row, because the wrappers of models
    (DDP, FSDP, DeepSpeed) wait for the backward pass of every rank. Its loss and its gradients are
    0.

    Attributes:
        input_ids, labels, position_ids: int64 [1, T / degree]; labels are the tokens to predict, or
            -100 for tokens without a target.
        cu_seqlens, cu_seqlens_padded: int32 [sequences + 1], of the whole row.
        max_seqlen: tokens of the longest sequence, padding included.
        ranks: the ranks that share the row. micro_batch: index of the micro-batch in the step.
        loss_denominator: number of targets of the step. sequences: ids of the row's sequences.
        slice: distribution of the row over the ranks, "zigzag" or "contiguous"; None if the row is
            whole.
        filler: True if the row is a filler. offload: share of the activations that can leave for the
            host which do, for stowage.torch.offloaded(). plan: the Step; None in rows that a loader has not yet
            matched with their plan.
    """

    input_ids: Tensor
    labels: Tensor
    position_ids: Tensor
    cu_seqlens: Tensor
    cu_seqlens_padded: Tensor
    max_seqlen: int = 0
    ranks: tuple[int, ...] = ()
    micro_batch: int = 0
    loss_denominator: int = 0
    sequences: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    filler: bool = False
    plan: Optional[Step] = None
    slice: Optional[str] = None
    offload: float = 0.0

    @property
    def idle(self) -> bool:
        """Whether the row holds no token, because the rank idles and PackedCollator has
        fill_idle=False."""
        return self.input_ids.numel() == 0

    @property
    def degree(self) -> int:
        return len(self.ranks)

    @property
    def last(self) -> bool:
        """Whether this is the last micro-batch of its step, after which gradients are summed over
        ranks."""
        return self.micro_batch + 1 == self._planned().micro_batches

    @property
    def loss_scale(self) -> float:
        """The factor of a sum of token losses if gradients are summed over all ranks.

        It is 1 / loss_denominator, or 0 for a step without targets. Raises stowage.Error for a row
        without plan.
        """
        self._planned()
        return 1.0 / self.loss_denominator if self.loss_denominator else 0.0

    @property
    def mean_loss_scale(self) -> float:
        """The factor of a sum of token losses if gradients are averaged over all ranks.

        It is ranks / loss_denominator, for DDP, FSDP and DeepSpeed, which average.
        """
        return self._planned().ranks * self.loss_scale

    def _planned(self) -> Step:
        if self.plan is None:
            raise Error(
                "the row has no plan: a plain loop over a DataLoader delivers rows without loss "
                "denominator and slice; loop over sampler.steps_with(loader), or make the loader with "
                "stowage.torch.loader()"
            )
        return self.plan

    def _with_tensors(self, change: Any) -> PackedBatch:
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(self, **{k: change(v) for k, v in own.items() if isinstance(v, Tensor)})

    def to(self, device: Any, non_blocking: bool = False) -> PackedBatch:
        """Returns the same row on another device."""
        return self._with_tensors(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> PackedBatch:
        """Returns the same row in pinned memory; DataLoader(pin_memory=True) calls it."""
        return self._with_tensors(lambda tensor: tensor.pin_memory())
