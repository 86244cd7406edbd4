"""Compares a model's packed rows on groups with sequences computed alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional

import torch
import torch.distributed as dist
from torch import Tensor, nn

from .._errors import Error
from .._trainer_step import row_positions
from ..torch import Groups, PackedBatch


def check_groups(
    model: nn.Module, groups: Groups, *, slice: str = "zigzag", tokens: int = 16
) -> float:
    """Checks that the model's result for a row is the same on one rank and on a group of ranks.

    Every rank calls it, once before training, with the model as it is trained: in its wrapper, on its
    device. A row of three random sequences goes through the model on each rank alone and then shared by
    the widest group of the rank; the logits of this rank's tokens must be equal up to rounding. The
    check detects layers that mix tokens outside attention (state-space layers, convolutions), absolute
    positions that the model counts itself, and masks of the model's own.

    Args:
        slice: the PackedCollator's. tokens: tokens of the shortest sequence on each rank, at least
            2.

    A rank that shares no row computes its own row twice, because FSDP waits for every rank.

    Returns the largest difference over the largest logit, 0.0 for a rank outside the cluster. Raises Error
    if the difference exceeds a hundred units of rounding of the model's type.
    """
    batch = _random_row(model, groups, slice, tokens)
    if batch is None:
        return 0.0
    whole = replace(batch, ranks=batch.ranks[:1], slice=None)
    group = groups[batch]
    place = 0 if group is None else dist.get_rank(group)
    starts = batch.cu_seqlens_padded.tolist()
    own = torch.from_numpy(row_positions(starts, batch.degree, place, slice)).to(
        batch.input_ids.device
    )
    part = replace(
        batch, input_ids=batch.input_ids[:, own], position_ids=batch.position_ids[:, own]
    )
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            right = _logits(model, whole)[:, own]
            have = _logits(model, part)
    finally:
        model.train(training)
    off = float((have - right).abs().max() / right.abs().max().clamp_min(1e-30))
    limit = 100 * torch.finfo(right.dtype).eps
    if not off <= limit:
        raise Error(
            f"model: {type(model).__name__} must compute the same on {batch.degree} ranks as on one; its "
            f"logits differ by {off:.1e}, more than {limit:.1e}: layers other than attention mix tokens"
        )
    return off


def _logits(model: nn.Module, batch: PackedBatch) -> Tensor:
    made: Tensor = model(
        input_ids=batch.input_ids,
        position_ids=batch.position_ids,
        use_cache=False,
        stowage_row=batch,
    ).logits
    return made


def _random_row(model: nn.Module, groups: Groups, slice: str, tokens: int) -> Optional[PackedBatch]:
    """Returns a whole row of three sequences for the widest group of this rank; None for a rank
    outside the cluster."""
    ranks = groups.widest(dist.get_rank())
    if ranks is None:
        return None
    text = model.config.get_text_config()  # type: ignore[union-attr, operator]
    device = next(model.parameters()).device
    lengths = [2 * len(ranks) * tokens * k for k in (1, 3, 2)]
    ids = torch.randint(
        text.vocab_size, (1, sum(lengths)), generator=torch.Generator().manual_seed(1)
    )
    starts = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)
    return PackedBatch(
        input_ids=ids.to(device),
        labels=ids.to(device),
        position_ids=torch.cat([torch.arange(length) for length in lengths])[None].to(device),
        cu_seqlens=starts,
        cu_seqlens_padded=starts,
        max_seqlen=max(lengths),
        ranks=ranks,
        slice=slice,
    )
