"""Attention to sequences that the ranks of a group share in zigzag: ring and all-gather.

Every sequence has 2 d equal parts, and rank r of d has the parts r and 2 d - 1 - r. So all ranks have
the same number of (query, key) pairs. The tokens of a rank are these parts, sequence after sequence.
In a ring, keys and values travel from rank to rank, and in the backward pass with their gradients (Liu
et al. 2023, arXiv 2310.01889); with all-gather each pass gathers them first (Llama 3, arXiv
2407.21783, section 3.3.2). The module works on CPUs only, where torch returns the sums that are needed
to combine parts of attention.
"""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple, Optional, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

_forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def own_tokens(lengths: Sequence[int], rank: int, ranks: int) -> tuple[Tensor, Tensor]:
    """Returns (indices in the row, positions in their sequences) of a rank's tokens, int64."""
    places, positions = [], []
    begin = 0
    for length in lengths:
        for part in (rank, 2 * ranks - 1 - rank):
            size = length // (2 * ranks)
            own = torch.arange(part * size, (part + 1) * size)
            places.append(begin + own)
            positions.append(own)
        begin += length
    return torch.cat(places), torch.cat(positions)


class _Piece(NamedTuple):
    """Queries and the keys of one block that they see; each is a range of its rank's tokens."""

    queries: slice
    keys: slice
    causal: bool


def _pieces(sizes: Sequence[int], rank: int, source: int) -> Iterator[_Piece]:
    """Yields the pieces. sizes: tokens of each sequence on a rank. source: the rank of the keys."""
    begin = 0
    for size in sizes:
        half, end = begin + size // 2, begin + size
        if source == rank:
            yield _Piece(slice(begin, end), slice(begin, end), True)
        elif source < rank:  # the source's later part is behind all queries
            yield _Piece(slice(begin, end), slice(begin, half), False)
        else:  # both parts are between the queries
            yield _Piece(slice(half, end), slice(begin, end), False)
        begin = end


class _Blocks:
    """Iterates over keys and values [2, heads, tokens of a rank, size] of every rank."""

    def __init__(self, own: Tensor, group: dist.ProcessGroup, ring: bool) -> None:
        self.own, self.group, self.ring = own.contiguous(), group, ring
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)

    def __iter__(self) -> Iterator[tuple[int, Tensor]]:
        """Yields (rank, its block), this rank's first."""
        if not self.ring:
            gathered = [torch.empty_like(self.own) for _ in range(self.ranks)]
            dist.all_gather(gathered, self.own, group=self.group)
            for step in range(self.ranks):
                source = (self.rank - step) % self.ranks
                yield source, gathered[source]
            return
        block = self.own
        for step in range(self.ranks):
            last = step + 1 == self.ranks
            arriving, waiting = (block, []) if last else self.sent_on(block)
            yield (self.rank - step) % self.ranks, block
            _wait(waiting)
            block = arriving

    def sent_on(self, block: Tensor) -> tuple[Tensor, list[Any]]:
        """Starts sending the block to the next rank. Returns a buffer that receives the previous
        rank's block, and the transfers to await."""
        arriving = torch.empty_like(block)
        after, before = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        return arriving, [
            dist.isend(block, group=self.group, group_dst=after),
            dist.irecv(arriving, group=self.group, group_src=before),
        ]

    def returned(self, gradients: list[Tensor]) -> Tensor:
        """Returns the sum of all ranks' gradients for this rank's block. gradients: by rank."""
        arriving = torch.empty(len(gradients), *self.own.shape)
        dist.all_to_all_single(arriving, torch.stack(gradients), group=self.group)
        return arriving.sum(0)


def _wait(transfers: list[Any]) -> None:
    for transfer in transfers:
        transfer.wait()


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, block: Tensor, sizes: Any, group: Any, ring: bool, scale: Any
    ) -> Tensor:
        exact = torch.promote_types(query.dtype, torch.float32)
        seen = torch.zeros_like(query, dtype=exact)
        sums = torch.full(query.shape[:2], -torch.inf, dtype=exact)
        blocks = _Blocks(block, group, ring)
        for source, (key, value) in blocks:
            for piece in _pieces(sizes, blocks.rank, source):
                _add(query, key, value, piece, seen, sums, scale)
        seen = seen.to(query.dtype)
        ctx.sizes, ctx.group, ctx.ring, ctx.scale = sizes, group, ring, scale
        ctx.save_for_backward(query, block, seen, sums)
        return seen

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        query, own, seen, sums = ctx.saved_tensors
        blocks = _Blocks(own, ctx.group, ctx.ring)
        at_query = torch.zeros_like(query)
        at_blocks = [torch.zeros_like(own) for _ in range(1 if ctx.ring else blocks.ranks)]
        for source, block in blocks:
            at_block = at_blocks[0 if ctx.ring else source]
            for piece in _pieces(ctx.sizes, blocks.rank, source):
                _add_gradients(
                    gradients[0], query, block, seen, sums, piece, at_query, at_block, ctx.scale
                )
            if ctx.ring:  # the gradients travel with their block and end at its rank
                at_blocks[0], waiting = blocks.sent_on(at_block)
                _wait(waiting)
        at_own = at_blocks[0] if ctx.ring else blocks.returned(at_blocks)
        return at_query, at_own, None, None, None, None


def _add(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    piece: _Piece,
    seen: Tensor,
    sums: Tensor,
    scale: Optional[float],
) -> None:
    """Adds the attention to these keys to the attention to earlier keys."""
    part, part_sums = _forward(
        query[None, :, piece.queries],
        _for_heads(key[:, piece.keys], len(query))[None],
        _for_heads(value[:, piece.keys], len(query))[None],
        0.0,
        piece.causal,
        scale=scale,
    )
    before = sums[:, piece.queries]
    both = torch.logaddexp(before, part_sums[0])
    old, new = (before - both).exp()[..., None], (part_sums[0] - both).exp()[..., None]
    seen[:, piece.queries] = old * seen[:, piece.queries] + new * part[0]
    sums[:, piece.queries] = both


def _add_gradients(
    upstream: Tensor,
    query: Tensor,
    block: Tensor,
    seen: Tensor,
    sums: Tensor,
    piece: _Piece,
    at_query: Tensor,
    at_block: Tensor,
    scale: Optional[float],
) -> None:
    own_query, own_key, own_value = _backward(
        upstream[None, :, piece.queries],
        query[None, :, piece.queries],
        _for_heads(block[0, :, piece.keys], len(query))[None],
        _for_heads(block[1, :, piece.keys], len(query))[None],
        seen[None, :, piece.queries],
        sums[None, :, piece.queries],
        0.0,
        piece.causal,
        scale=scale,
    )
    at_query[:, piece.queries] += own_query[0]
    shared = block.shape[1], -1
    at_block[0, :, piece.keys] += own_key[0].unflatten(0, shared).sum(1)
    at_block[1, :, piece.keys] += own_value[0].unflatten(0, shared).sum(1)


def _for_heads(shared: Tensor, heads: int) -> Tensor:
    """Returns keys or values [key heads, keys, size], repeated for `heads` query heads."""
    return shared.repeat_interleave(heads // len(shared), 0)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lengths: Sequence[int],
    group: dist.ProcessGroup,
    *,
    ring: bool,
    scale: Optional[float] = None,
) -> Tensor:
    """Returns the causal attention of this rank's tokens (own_tokens()); tensors are [heads,
    tokens, size].

    Keys and values may have fewer heads; their number must divide the number of query heads.
    lengths: tokens of the whole row's sequences, multiples of twice the ranks. scale: the factor of
    the products of queries and keys; None: 1 / sqrt(size).
    """
    sizes = [length // dist.get_world_size(group) for length in lengths]
    made: Tensor = _Attention.apply(  # type: ignore[no-untyped-call]
        query.contiguous(), torch.stack((key, value)), sizes, group, ring, scale
    )
    return made
