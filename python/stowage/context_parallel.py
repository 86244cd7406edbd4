"""A load balancer for torch's context parallelism with FlexAttention.

    balancer = stowage.context_parallel.LoadBalancer([causal, window], ranks, layers=[8, 24])
    _context_parallel_shard(mesh, buffers, seq_dims, load_balancer=balancer)
    context_parallel_unshard(mesh, outputs, seq_dims, load_balancer=balancer)
    balancer.gap                           # how far the slowest ranks may be from the optimum

Written for torch 2.13, whose load balancers are a private interface of
torch.distributed.tensor.experimental. Every rank gets the same number of blocks of queries. The time of
a layer is counted as the blocks of keys that the slowest rank reads.
"""

from __future__ import annotations

from typing import Optional, Sequence, Union

import numpy as np
import torch
from numpy.typing import NDArray
from torch.distributed.tensor.experimental._attention import _LoadBalancer
from torch.nn.attention.flex_attention import BlockMask

from ._arguments import each_of, whole
from ._partition import balanced_partitions

Costs = NDArray[np.int64]


class LoadBalancer(_LoadBalancer):
    """Distributes blocks of queries over the ranks of context parallelism.

    Layers with other masks, such as sliding windows beside full attention, share one distribution,
    since the hidden states of all layers are sharded alike. With packed documents every row of the
    batch has a mask, and a distribution, of its own.

    Args:
        block_masks: the mask of all layers, or one of each kind of layer. The mask of a kind has shape
            (B, 1, tokens, tokens) or (1, 1, tokens, tokens), and all have square blocks of one size.
        world_size: number of ranks; divides the number of blocks of queries.
        layers: number of layers of each kind; default one of each.

    Attributes:
        costs: for each row of the batch the blocks of keys that the slowest ranks read, summed over
            all layers.
        lower_bounds: no distribution has a smaller cost of the row.
        gap: relative difference of the sums of `costs` and `lower_bounds`.

    Raises ValueError for masks of different shapes, for masks that differ between heads and for blocks
    that `world_size` does not divide.
    """

    def __init__(
        self,
        block_masks: Union[BlockMask, Sequence[BlockMask]],
        world_size: int,
        *,
        layers: Optional[Sequence[int]] = None,
    ) -> None:
        # A BlockMask is a tuple in some releases of torch.
        masks = [block_masks] if isinstance(block_masks, BlockMask) else list(block_masks)
        ranks = whole(world_size, "world_size")
        kinds = [1] * len(masks)
        if layers is not None:
            kinds = [whole(each, "layers") for each in each_of(layers, "layers")]
        counts = _blocks_read(masks, ranks, kinds)
        self._block = int(masks[0].BLOCK_SIZE[0])
        self._device = masks[0].kv_num_blocks.device
        self._order: list[Costs] = []
        self.costs: list[int] = []
        self.lower_bounds: list[int] = []
        for row in range(counts.shape[1]):
            order, cost, bound = _distributed(
                counts[:, row], ranks, np.asarray(kinds, dtype=np.int64)
            )
            self._order.append(order)
            self.costs.append(cost)
            self.lower_bounds.append(bound)

    @property
    def gap(self) -> float:
        return sum(self.costs) / max(1, sum(self.lower_bounds)) - 1

    def _generate_indices(self, restore: bool = False) -> torch.Tensor:
        """Returns the places of all tokens, int64 [rows, tokens], as torch asks for them."""
        within = np.arange(self._block)
        places = np.stack(
            [(order[:, None] * self._block + within).ravel() for order in self._order]
        )
        if restore:
            places = np.argsort(places, axis=1)
        return torch.from_numpy(places).to(self._device)


def _blocks_read(masks: list[BlockMask], ranks: int, kinds: list[int]) -> Costs:
    """Returns the number of blocks of keys that each block of queries reads, int64
    [kind, row, block]."""
    if not masks or len(kinds) != len(masks):
        raise ValueError(
            f"layers: must have one number for each of the {len(masks)} masks, at least one, "
            f"has {len(kinds)}"
        )
    if min(kinds) < 1 or ranks < 1:
        raise ValueError(f"layers and world_size: must be at least 1, are {kinds} and {ranks}")
    found = []
    for mask in masks:
        size = tuple(mask.BLOCK_SIZE)
        if size[0] != size[1] or size != tuple(masks[0].BLOCK_SIZE):
            raise ValueError(f"block_masks: must have square blocks of one size, has {size}")
        count = mask.kv_num_blocks
        if mask.full_kv_num_blocks is not None:
            count = count + mask.full_kv_num_blocks
        if count.shape[1] != 1:
            raise ValueError(
                f"block_masks: must be the same for all heads, has {count.shape[1]} of them; "
                "create them with H=None"
            )
        found.append(count[:, 0].cpu().numpy().astype(np.int64))
    rows = max(each.shape[0] for each in found)
    blocks = found[0].shape[1]
    if any(each.shape[0] not in (1, rows) or each.shape[1] != blocks for each in found):
        shapes = [each.shape for each in found]
        raise ValueError(f"block_masks: must agree in rows and blocks of queries, have {shapes}")
    if blocks % ranks:
        raise ValueError(
            f"world_size: must divide the {blocks} blocks of queries, is {ranks}; pad the tokens to a "
            f"multiple of {ranks * int(masks[0].BLOCK_SIZE[0])}"
        )
    return np.stack([np.broadcast_to(each, (rows, blocks)) for each in found])


def _distributed(costs: Costs, ranks: int, layers: Costs) -> tuple[Costs, int, int]:
    """Returns the blocks in the order of their ranks, int64 [blocks], the cost and a bound on it."""
    starts, bound = [], 0
    for kind, weight in zip(costs, layers):
        part = _balanced(kind, ranks)
        starts.append(part[0])
        bound += int(weight) * part[1]
    if len(costs) > 1:
        starts.append(_balanced(layers @ costs, ranks)[0])
    found = [_exchanged(start, costs, layers, bound) for start in starts]
    best, cost = min(found, key=lambda each: each[1])
    return np.sort(best, axis=1).ravel(), cost, bound


def _balanced(costs: Costs, ranks: int) -> tuple[Costs, int]:
    """Returns the blocks of each rank, int64 [ranks, blocks / ranks], and a bound on the largest cost."""
    # A cost of one more for every block changes no difference between ranks with equally many.
    found = balanced_partitions(costs + 1, ranks, counts="equal", quadratic=0, linear=1)
    each = len(costs) // ranks
    return np.stack([np.asarray(ids) for ids in found.sequences]), found.lower_bound - each


def _exchanged(start: Costs, costs: Costs, layers: Costs, bound: int) -> tuple[Costs, int]:
    """Exchanges blocks between two ranks while the cost falls; returns the blocks of each rank and the
    cost."""
    blocks = start.copy()
    loads = costs[:, blocks].sum(axis=2)  # [kind, rank]
    cost = int(layers @ loads.max(axis=1))
    improved = True
    while improved and cost > bound and len(costs) > 1:
        improved = False
        for slow in sorted({int(rank) for rank in loads.argmax(axis=1)}):
            for other in range(len(blocks)):
                if other == slow:
                    continue
                rest = np.delete(loads, [slow, other], axis=1).max(axis=1, initial=0)
                # The growth of the load of `other` by the exchange of each pair of blocks.
                more = costs[:, blocks[slow], None] - costs[:, None, blocks[other]]
                largest = np.maximum(
                    loads[:, slow, None, None] - more, loads[:, other, None, None] + more
                )
                new = np.tensordot(layers, np.maximum(largest, rest[:, None, None]), 1)
                a, b = np.unravel_index(int(new.argmin()), new.shape)
                if new[a, b] < cost:
                    blocks[slow, a], blocks[other, b] = blocks[other, b], blocks[slow, a]
                    loads = costs[:, blocks].sum(axis=2)
                    cost = int(new[a, b])
                    improved = True
    return blocks, cost
