"""A transformer whose rows are shared by the ranks of a group, for `torchrun -m stowage.calibrate`."""

from __future__ import annotations

from typing import Optional, Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn

from ._row_exchange import all_to_all
from ._zigzag import attention, own_tokens
from .torch._run_block import Block, Shape, rms_norm, rotary

_MIB = 2**20


class SharedBlock(Block):
    """A block whose tokens are distributed over a group."""

    def rows(
        self,
        x: Tensor,
        lengths: Sequence[int],
        group: Optional[dist.ProcessGroup],
        exchange: str = "all_to_all",
    ) -> Tensor:
        """Runs the block. x is [this rank's tokens, hidden]: a contiguous part of the row for an
        all-to-all, otherwise the tokens of own_tokens()."""
        shape = self.shape
        heads = self.qkv(rms_norm(x, self.norms[0])).unflatten(
            -1, (3 * shape.heads, shape.head_dim)
        )
        if group is None or exchange == "all_to_all":
            seen = self._ulysses(heads, lengths, group)
        else:
            _, positions = own_tokens(lengths, dist.get_rank(group), dist.get_world_size(group))
            query, key, value = heads.transpose(0, 1).chunk(3)
            query, key = rotary(query, positions), rotary(key, positions)
            own = attention(query, key, value, lengths, group, ring=exchange == "ring")
            seen = own.transpose(0, 1).flatten(1)
        x = x + self.out(seen)
        gate, value = self.up(rms_norm(x, self.norms[1])).chunk(2, -1)
        down: Tensor = self.down(nn.functional.silu(gate) * value)
        return x + down

    def _ulysses(
        self, heads: Tensor, lengths: Sequence[int], group: Optional[dist.ProcessGroup]
    ) -> Tensor:
        """Each rank computes attention of the whole row for its share of the heads."""
        shape, d = self.shape, 1 if group is None else dist.get_world_size(group)
        tokens = len(heads)
        if group is not None:  # [T / d, 3 heads, size] to [T, 3 heads / d, size]
            parts = heads.reshape(tokens, 3, d, shape.heads // d, -1).permute(2, 0, 1, 3, 4)
            heads = all_to_all(parts, group).flatten(0, 1).flatten(1, 2)
        seen = torch.cat(
            [self._seen(own, shape.heads // d) for own in torch.split(heads, list(lengths))]
        )
        if group is not None:
            parts = all_to_all(seen.reshape(d, tokens, -1), group)  # [d, T / d, width / d]
            seen = parts.transpose(0, 1).flatten(1)
        return seen

    def _seen(self, heads: Tensor, own: int) -> Tensor:
        query, key, value = torch.split(heads.transpose(0, 1), own)
        seen = nn.functional.scaled_dot_product_attention(
            rotary(query)[None], rotary(key)[None], value[None], is_causal=True
        )
        return seen[0].transpose(0, 1).flatten(1)


class Transformer(nn.Module):
    """The model that is measured without --model: blocks of a given shape."""

    def __init__(self, hidden: int, heads: int, layers: int) -> None:
        super().__init__()
        shape = Shape(hidden, heads, heads, hidden // heads, 2 * hidden)
        self.hidden = hidden
        self._own = [SharedBlock(shape, layer) for layer in range(layers)]
        self.blocks = nn.ModuleList(self._own)

    def forward(
        self,
        lengths: list[int],
        group: Optional[dist.ProcessGroup],
        exchange: str = "all_to_all",
    ) -> Tensor:
        d = 1 if group is None else dist.get_world_size(group)
        x = torch.ones(sum(lengths) // d, self.hidden, device=next(self.parameters()).device)
        for block in self._own:
            x = block.rows(x, lengths, group, exchange)
        return x.sum()

    def volumes(self) -> tuple[float, float]:
        """Returns the MiB per token exchanged forward and backward, over all layers. An all-to-all
        exchanges queries, keys, values and outputs, and their gradients. Other exchanges send keys
        and values, send them again in the backward pass, and send their gradients."""
        vector = 4 * self.hidden * len(self._own) / _MIB
        return 8 * vector, 6 * vector
