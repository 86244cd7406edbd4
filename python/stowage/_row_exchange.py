"""Differentiable exchanges among the ranks of a group that share a packed row."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


class _AllToAll(torch.autograd.Function):
    """An all-to-all of equal parts. Its gradient is the inverse exchange."""

    @staticmethod
    def forward(ctx: Any, parts: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        parts = parts.contiguous()
        out = torch.empty_like(parts)
        dist.all_to_all_single(out, parts, group=group)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return all_to_all(gradients[0], ctx.group), None


class _AllGather(torch.autograd.Function):
    """An all-gather. Its gradient is sent to the owners of the parts, which sum the received
    gradients."""

    @staticmethod
    def forward(ctx: Any, part: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        part = part.contiguous()
        parts = [torch.empty_like(part) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, part, group=group)
        return torch.stack(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return all_to_all(gradients[0], ctx.group).sum(0), None


def all_to_all(parts: Tensor, group: dist.ProcessGroup) -> Tensor:
    """Returns the parts that the ranks of `group` have for this rank, by rank. parts: [ranks, ...], by
    receiver."""
    made: Tensor = _AllToAll.apply(parts, group)  # type: ignore[no-untyped-call]
    return made


def all_gather(part: Tensor, group: dist.ProcessGroup) -> Tensor:
    """Returns the parts of all ranks of `group`, [ranks, ...], by rank."""
    made: Tensor = _AllGather.apply(part, group)  # type: ignore[no-untyped-call]
    return made


def tokens_for_heads(
    tensors: list[Tensor], group: dist.ProcessGroup, into_row: Tensor
) -> list[Tensor]:
    """Exchanges this rank's tokens of all heads for all tokens of this rank's heads.

    Args:
        tensors: [heads, tokens / ranks, width] each; heads and width may differ, the ranks divide the
            heads.
        into_row: int64 [tokens], for each token of the row its index in the concatenated tokens of
            all ranks.

    Returns tensors of [heads / ranks, tokens, width]. All tensors share one all-to-all.
    """
    ranks = dist.get_world_size(group)
    parts = [each.reshape(ranks, -1) for each in tensors]
    sizes = [part.shape[1] for part in parts]
    made = all_to_all(torch.cat(parts, dim=1), group)
    own = []
    for tensor, part in zip(tensors, torch.split(made, sizes, dim=1)):
        heads, tokens, width = tensor.shape
        by_rank = part.reshape(ranks, heads // ranks, tokens, width).transpose(0, 1)
        own.append(by_rank.flatten(1, 2)[:, into_row])
    return own


def heads_for_tokens(tensor: Tensor, group: dist.ProcessGroup, out_of_row: Tensor) -> Tensor:
    """Exchanges all tokens of this rank's heads for this rank's tokens of all heads.

    Args:
        tensor: [heads / ranks, tokens, width].
        out_of_row: int64 [tokens], the tokens of the row in the order in which the ranks hold them,
            rank after rank.

    Returns [heads, tokens / ranks, width].
    """
    ranks = dist.get_world_size(group)
    tokens = len(out_of_row) // ranks
    by_rank = tensor[:, out_of_row].reshape(len(tensor), ranks, tokens, -1).transpose(0, 1)
    return all_to_all(by_rank, group).flatten(0, 1)
