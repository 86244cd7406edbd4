"""Causal attention within one sequence, for queries that are the last tokens of the keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Optional

import torch
from torch import Tensor
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import dropout, scaled_dot_product_attention

# Queries per block in the computation with explicit scores, for soft caps and sinks. The scores of
# a block take 4 bytes x heads x queries x keys. A larger block needs fewer kernel launches and more
# memory.
_BLOCK_OF_SCORES = 256


@dataclass(frozen=True)
class Terms:
    """The parameters of an attention layer in addition to queries, keys and values.

    Attributes:
        scale: the factor of the products of queries and keys.
        window: number of tokens that a token sees, including itself; None: all tokens before it.
        softcap: scores become softcap * tanh(score / softcap); None: unchanged scores.
        sinks: [heads], a score of each head that takes part in the softmax and adds no value.
        dropout: the probability that a weight of the softmax is dropped.
    """

    scale: float
    window: Optional[int] = None
    softcap: Optional[float] = None
    sinks: Optional[Tensor] = None
    dropout: float = 0.0


def attend(query: Tensor, key: Tensor, value: Tensor, terms: Terms) -> Tensor:
    """Returns the attention of the last n tokens of a sequence of m tokens to the tokens before them.

    query: [heads, n, width]; key, value: [key heads, m, their widths]; key heads divide the heads.
    Returns [heads, n, width of values]. Memory is linear in m without soft cap and sinks on a device
    with a fused kernel.
    """
    window = terms.window if terms.window is not None and terms.window < key.shape[1] else None
    by_scores = terms.softcap is not None or terms.sinks is not None
    if not by_scores and window is None:
        return _fused(query, key, value, terms, None)
    if window is None:
        size = _BLOCK_OF_SCORES
    else:
        size = _BLOCK_OF_SCORES if by_scores else max(window, _BLOCK_OF_SCORES)
    parts = []
    for queries, keys in _blocks(query.shape[1], key.shape[1], size, window):
        mask = _mask(queries, keys, key.shape[1] - query.shape[1], window, query.device)
        block = query[:, queries], key[:, keys], value[:, keys]
        parts.append((_by_scores if by_scores else _fused)(*block, terms, mask))
    return torch.cat(parts, dim=1)


def _blocks(
    queries: int, keys: int, size: int, window: Optional[int]
) -> Iterator[tuple[slice, slice]]:
    """Yields blocks of `size` queries with the keys that at least one of them sees."""
    first = keys - queries
    for begin in range(0, queries, size):
        end = min(begin + size, queries)
        oldest = 0 if window is None else max(0, first + begin - window + 1)
        yield slice(begin, end), slice(oldest, first + end)


def _mask(
    queries: slice, keys: slice, first: int, window: Optional[int], device: torch.device
) -> Tensor:
    """Returns bool [queries, keys], true where a query sees a key. `first` is the position of query
    0."""
    at = torch.arange(first + queries.start, first + queries.stop, device=device)[:, None]
    seen = torch.arange(keys.start, keys.stop, device=device)[None]
    mask = seen <= at
    return mask if window is None else mask & (seen > at - window)


def _fused(
    query: Tensor, key: Tensor, value: Tensor, terms: Terms, mask: Optional[Tensor]
) -> Tensor:
    """Computes attention by the fused kernels of torch; causal if there is no mask."""
    n, m = query.shape[1], key.shape[1]
    whole = mask is None and n == m
    if mask is None and n < m:
        mask = causal_lower_right(n, m)
    seen = scaled_dot_product_attention(
        query[None],
        key[None],
        value[None],
        attn_mask=mask,
        dropout_p=terms.dropout,
        is_causal=whole,
        scale=terms.scale,
        enable_gqa=len(query) != len(key),
    )
    return seen[0]


def _by_scores(
    query: Tensor, key: Tensor, value: Tensor, terms: Terms, mask: Optional[Tensor]
) -> Tensor:
    """Computes attention with explicit scores, for terms that no fused kernel of torch supports."""
    shared = len(query) // len(key)
    key, value = key.repeat_interleave(shared, 0), value.repeat_interleave(shared, 0)
    scores = query @ key.transpose(1, 2) * terms.scale
    if terms.softcap is not None:
        scores = torch.tanh(scores / terms.softcap) * terms.softcap
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    if terms.sinks is not None:
        sinks = terms.sinks.to(scores.dtype)[:, None, None].expand(-1, scores.shape[1], 1)
        scores = torch.cat((scores, sinks), dim=-1)
    weights = scores.float() if scores.dtype != torch.float64 else scores
    weights = weights.softmax(-1)[..., : key.shape[1]].to(query.dtype)
    return dropout(weights, terms.dropout) @ value
