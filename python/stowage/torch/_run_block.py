"""The transformer block that runs planned rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """The shape of a transformer block: widths of the residual stream and of the feed-forward part,
    and heads."""

    hidden: int = 256
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 32
    ffn: int = 512

    def flop(self, tokens: float) -> float:
        """Returns the FLOP of a sequence forward and backward: 6 per token and weight, and causal
        attention."""
        attention = self.heads * self.head_dim
        weights = self.hidden * (2 * attention + 2 * self.kv_heads * self.head_dim + 3 * self.ffn)
        return 6 * weights * tokens + 6 * attention * tokens**2


class Block(nn.Module):
    """Attention with rotary positions and grouped heads, then SwiGLU, each after an RMS norm.

    The rows of a packed batch are tokens. Attention is computed per sequence, all other operations
    for all tokens together.
    """

    def __init__(self, shape: Shape, seed: int) -> None:
        super().__init__()
        self.shape = shape
        query, key = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        self.norms = nn.ParameterList([nn.Parameter(torch.ones(shape.hidden)) for _ in range(2)])
        self.qkv = nn.Linear(shape.hidden, query + 2 * key, bias=False)
        self.out = nn.Linear(query, shape.hidden, bias=False)
        self.up = nn.Linear(shape.hidden, 2 * shape.ffn, bias=False)
        self.down = nn.Linear(shape.ffn, shape.hidden, bias=False)
        random = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for linear in (self.qkv, self.out, self.up, self.down):
                weight = linear.weight
                weight.copy_(torch.randn(weight.shape, generator=random) / weight.shape[1] ** 0.5)

    def forward(self, x: Tensor, lengths: Sequence[int]) -> Tensor:
        """Computes the block. x: [sum of the lengths, hidden]; positions begin at 0 in every
        sequence."""
        shape = self.shape
        projected = self.qkv(rms_norm(x, self.norms[0]))
        heads = projected.unflatten(-1, (shape.heads + 2 * shape.kv_heads, shape.head_dim))
        parts = [self._attention(own) for own in torch.split(heads, list(lengths))]
        x = x + self.out(torch.cat(parts))
        gate, value = self.up(rms_norm(x, self.norms[1])).chunk(2, -1)
        down: Tensor = self.down(nn.functional.silu(gate) * value)
        return x + down

    def _attention(self, heads: Tensor) -> Tensor:
        """Computes the attention of one sequence: [tokens, query, key and value heads, head_dim] to
        [tokens, queries]."""
        shape = self.shape
        query, key, value = torch.split(
            heads.transpose(0, 1), [shape.heads, shape.kv_heads, shape.kv_heads]
        )
        seen = nn.functional.scaled_dot_product_attention(
            rotary(query)[None], rotary(key)[None], value[None], is_causal=True, enable_gqa=True
        )
        return seen[0].transpose(0, 1).flatten(1)


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def rotary(x: Tensor, positions: Optional[Tensor] = None) -> Tensor:
    """Rotates x [heads, tokens, head_dim]. positions: [tokens], default from 0."""
    half = x.shape[-1] // 2
    if positions is None:
        positions = torch.arange(x.shape[-2])
    rates = 10_000 ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = torch.outer(positions.double(), rates)
    cos, sin = angles.cos().to(x), angles.sin().to(x)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)
