"""Attention of transformers' models on groups of varying size: attn_implementation="stowage".

Importing the module registers the name with transformers. For a packed row shared by a group of ranks,
the ranks exchange by the method set with attention(), and each sequence of the row attends only to
itself. Without a packed row the result is that of attn_implementation="sdpa".
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, replace
from typing import Any, Iterator, NamedTuple, Optional

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from .._errors import Error
from .._row_exchange import all_gather, heads_for_tokens, tokens_for_heads
from .._sequence_attention import Terms, attend
from .._trainer_step import row_positions
from .._zigzag import attention as zigzag_attention
from ..torch import Groups, PackedBatch
from ._packed_inputs import ATTENTION

EXCHANGES = ("all_to_all", "all_gather", "ring")

# The parts of a transformers mask that a packed row implies: a token sees the tokens before it, of
# its own sequence, within a window.
_IMPLIED = (
    "and_masks",
    "causal_mask_function",
    "packed_sequence_mask_function",
    "remap_positions_for_packed_sequence",
    "sliding_window_overlay",
)

# The shapes of masks without elements. A shape describes the single row of tokens to the layers.
_PACKED = (1, 1, 0, 0)  # several sequences, or parts of sequences
_ALONE = (1, 1, 0, 1)  # one sequence


@dataclass(frozen=True)
class _Settings:
    groups: Optional[Groups] = None
    exchange: str = "all_to_all"


_settings = _Settings()


def attention(groups: Groups, *, exchange: str = "all_to_all") -> None:
    """Sets the process groups for all models with attn_implementation="stowage" in this process.

        stowage.hf.attention(Groups(cluster))
        model = AutoModelForCausalLM.from_pretrained(name, attn_implementation="stowage")
        loss = model(**stowage.hf.model_inputs(batch, model)).loss

    Args:
        groups: the process groups of the plans.
        exchange: the method by which the ranks of a group exchange tokens. "all_to_all" gives each
            rank all tokens of its share of the heads (DeepSpeed-Ulysses, arXiv 2309.14509); heads of
            keys are repeated where the group has more ranks. "all_gather" gives each rank all keys
            and values (Llama 3, arXiv 2407.21783, section 3.3.2), for any number of heads. "ring"
            sends keys and values around a ring (arXiv 2310.01889); it is available on CPUs, for
            zigzag rows, without windows, soft caps, sinks and dropout.

    Raises ValueError for another exchange. Call check_groups() once for each model.
    """
    global _settings
    if not isinstance(groups, Groups):
        raise TypeError(f"groups: must be stowage.torch.Groups, is {type(groups).__name__}")
    if exchange not in EXCHANGES:
        raise ValueError(f"exchange: must be one of {', '.join(EXCHANGES)}, is {exchange!r}")
    _settings = _Settings(groups, exchange)


class _Layout(NamedTuple):
    """The distribution of a packed row over the ranks of a group."""

    starts: list[int]  # first token of each sequence, and the number of tokens of the row
    group: Optional[dist.ProcessGroup]  # None: the row is on one rank
    positions: list[Any]  # by rank: the row's tokens on the rank, int64
    place: int  # index of this rank in the group
    out_of_row: Tensor  # int64 [tokens]: the tokens of the row, rank after rank
    into_row: Tensor  # int64 [tokens]: its inverse
    slice: Optional[str]  # as in PackedBatch

    @classmethod
    def of_one_sequence(cls, query: Tensor) -> _Layout:
        """Returns the layout of a single sequence on one rank."""
        tokens = query.shape[2]
        none = torch.empty(0, dtype=torch.int64)
        return cls([0, tokens], None, [range(tokens)], 0, none, none, None)


_layouts: weakref.WeakKeyDictionary[PackedBatch, _Layout] = weakref.WeakKeyDictionary()


# The positions that the model of a forward pass had, once they are known to be right.
_right_positions: Optional[weakref.ref[Tensor]] = None


def _require_positions(positions: Optional[Tensor], batch: Optional[PackedBatch]) -> None:
    """Raises Error for positions that are not those of the packed row, or without one do not begin at 0,
    as those of a part of a row. Waits for the device at most once for each forward pass."""
    global _right_positions
    if positions is None or positions.ndim != 2 or torch.compiler.is_compiling():
        return
    if batch is not None and positions is batch.position_ids:
        return
    if _right_positions is not None and _right_positions() is positions:
        return
    if batch is None:
        if positions.numel() and (first := int(positions[0, 0])) != 0:
            raise Error(
                f"a row whose first token has position {first}: a part of a row needs "
                "**stowage.hf.model_inputs(batch, model)"
            )
    elif not torch.equal(positions.to(batch.position_ids.device), batch.position_ids):
        raise Error(
            "a packed row: position_ids must be those of the batch, as in "
            "**stowage.hf.model_inputs(batch, model)"
        )
    _right_positions = weakref.ref(positions)


def _layout(batch: PackedBatch, device: torch.device) -> _Layout:
    """Returns the layout of the row, computed at the first call. Raises Error for a row whose group
    is not known."""
    known = _layouts.get(batch)
    if known is not None:
        return known
    starts = batch.cu_seqlens_padded.tolist()
    group, place, degree = None, 0, max(batch.degree, 1)
    if batch.slice is not None and degree > 1:
        if _settings.groups is None:
            raise Error(
                f"a row on {degree} ranks: its process group is not known; call "
                "stowage.hf.attention(groups) once, before training"
            )
        group = _settings.groups[batch]
        assert group is not None
        place = dist.get_rank(group)
    ranks = degree if group is not None else 1
    positions = [
        row_positions(starts, ranks, at, batch.slice or "contiguous") for at in range(ranks)
    ]
    out_of_row = torch.from_numpy(np.concatenate(positions))
    made = _Layout(
        starts,
        group,
        positions,
        place,
        out_of_row.to(device),
        out_of_row.argsort().to(device),
        batch.slice,
    )
    _layouts[batch] = made
    return made


def _stowage_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Optional[Tensor],
    dropout: float = 0.0,
    scaling: Optional[float] = None,
    is_causal: Optional[bool] = None,
    stowage_row: Optional[PackedBatch] = None,
    **named: Any,
) -> tuple[Tensor, None]:
    """Computes the attention of a layer. query is [1, heads, tokens, width]; returns [1, tokens,
    heads, width]."""
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    shape = None if attention_mask is None else tuple(attention_mask.shape)
    if stowage_row is None and shape == _PACKED:
        raise Error(
            "a packed row: the model must know where its sequences begin; give it "
            "**stowage.hf.model_inputs(batch, model)"
        )
    if stowage_row is None and (shape != _ALONE or not causal):
        given: tuple[Tensor, None] = sdpa_attention_forward(
            module,
            query,
            key,
            value,
            None if shape == _ALONE else attention_mask,
            dropout,
            scaling,
            is_causal,
            **named,
        )
        return given
    if shape not in (None, _PACKED, _ALONE):
        raise Error(
            f"a packed row: {type(module).__name__} masks more than what comes after a token and what lies "
            "before a window; drop the attention_mask, or take another model"
        )
    if stowage_row is None:
        layout = _Layout.of_one_sequence(query)
    else:
        layout = _layout(stowage_row, query.device)
    tokens = len(layout.positions[layout.place])
    if len(query) != 1 or query.shape[2] != tokens or key.shape[2] != tokens:
        raise Error(
            f"a packed row: the layer must have one row of {tokens} tokens, has {len(query)} of "
            f"{query.shape[2]} queries and {key.shape[2]} keys: models with a cache, or that add "
            "tokens, do not go with packed rows"
        )
    _require_positions(named.get("position_ids"), stowage_row)
    if not causal:
        raise Error(
            f"a packed row: attention of {type(module).__name__} must be causal, sees what comes after"
        )
    if named.get("position_bias") is not None:
        raise Error(
            f"a packed row: {type(module).__name__} adds a position bias, which is not computed"
        )
    window = named.get("sliding_window")
    terms = Terms(
        scale=query.shape[-1] ** -0.5 if scaling is None else float(scaling),
        window=window,
        softcap=named.get("softcap"),
        sinks=named.get("s_aux"),
        dropout=dropout if module.training else 0.0,
    )
    if window is None and _windowed(module):
        raise Error(
            f"a packed row: {type(module).__name__} has a sliding window, and does not name it to its "
            "attention"
        )
    seen = _shared(query[0], key[0], value[0], layout, terms)
    return seen.transpose(0, 1)[None].contiguous(), None


def _windowed(module: nn.Module) -> bool:
    """Returns whether the configuration gives the layer of this attention a window or chunks."""
    config, layer = getattr(module, "config", None), getattr(module, "layer_idx", None)
    kinds = getattr(config, "layer_types", None)
    if kinds is None or layer is None or not 0 <= layer < len(kinds):
        return False
    return kinds[layer] in ("sliding_attention", "chunked_attention")


def _shared(query: Tensor, key: Tensor, value: Tensor, layout: _Layout, terms: Terms) -> Tensor:
    """Returns the attention of this rank's tokens, [heads, tokens, width of values]."""
    group, starts = layout.group, layout.starts
    if group is None:
        return _by_sequence(query, key, value, starts, terms)
    if _settings.exchange == "all_to_all":
        return _by_heads(query, key, value, layout, group, terms)
    if _settings.exchange == "all_gather":
        both = [all_gather(each, group).transpose(0, 1).flatten(1, 2) for each in (key, value)]
        key, value = (each[:, layout.into_row] for each in both)
        seen = [
            attend(query[:, own], key[:, keys], value[:, keys], terms)
            for own, keys in _runs(layout.positions[layout.place], starts)
        ]
        return torch.cat(seen, dim=1)
    lengths = np.diff(starts)
    longest = int(lengths.max())
    if reason := _not_in_a_ring(query, key, value, layout.slice, terms, longest):
        raise Error(
            f'exchange "ring": {reason}; take stowage.hf.attention(groups, exchange="all_gather")'
        )
    return zigzag_attention(
        query, key, value, lengths.tolist(), group, ring=True, scale=terms.scale
    )


def _by_sequence(
    query: Tensor, key: Tensor, value: Tensor, starts: list[int], terms: Terms
) -> Tensor:
    """Returns the attention of whole sequences, computed one by one."""
    lengths = np.diff(starts).tolist()
    queries, keys, values = (torch.split(each, lengths, dim=1) for each in (query, key, value))
    return torch.cat([attend(q, k, v, terms) for q, k, v in zip(queries, keys, values)], dim=1)


def _by_heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    layout: _Layout,
    group: dist.ProcessGroup,
    terms: Terms,
) -> Tensor:
    """Returns this rank's tokens of all heads; each rank computes the whole row for its share of
    the heads."""
    ranks, heads, of_keys = len(layout.positions), len(query), len(key)
    if heads % ranks:
        raise Error(
            f"a row on {ranks} ranks: they must divide the {heads} heads of the model; plan with other "
            'degrees, or take stowage.hf.attention(groups, exchange="all_gather")'
        )
    copies = ranks // math.gcd(of_keys, ranks)
    if (heads // of_keys) % copies:
        copies = heads // of_keys
    if copies > 1:
        key, value = key.repeat_interleave(copies, 0), value.repeat_interleave(copies, 0)
    own = tokens_for_heads([query, key, value], group, layout.into_row)
    if terms.sinks is not None:
        terms = replace(terms, sinks=terms.sinks.chunk(ranks)[layout.place])
    seen = _by_sequence(own[0], own[1], own[2], layout.starts, terms)
    return heads_for_tokens(seen, group, layout.out_of_row)


def _runs(positions: Any, starts: list[int]) -> Iterator[tuple[slice, slice]]:
    """Yields ranges of a rank's consecutive tokens within a sequence, and the tokens that they see.

    Each item is (tokens of the rank, tokens of the row from the start of their sequence to the end
    of the range).
    """
    ends = np.flatnonzero(np.diff(positions) != 1) + 1
    cuts = np.flatnonzero(np.isin(positions, starts[1:-1]))
    bounds = np.unique(np.concatenate(([0], ends, cuts, [len(positions)])))
    for begin, end in zip(bounds.tolist(), bounds[1:].tolist()):
        first, last = int(positions[begin]), int(positions[end - 1])
        start = starts[int(np.searchsorted(starts, first, side="right")) - 1]
        yield slice(begin, end), slice(start, last + 1)


def _not_in_a_ring(
    query: Tensor, key: Tensor, value: Tensor, slice: Optional[str], terms: Terms, longest: int
) -> Optional[str]:
    """Returns the reason why a ring cannot compute this attention, or None."""
    if query.device.type != "cpu":
        return f"runs on CPUs, the model is on {query.device}"
    if slice != "zigzag":
        return f"rows must be sliced in zigzag, are {slice}"
    if not query.shape[-1] == key.shape[-1] == value.shape[-1]:
        return "keys and values must be equally wide"
    if terms.window is not None and terms.window < longest:
        return f"knows no window, the layer has one of {terms.window} tokens"
    if terms.softcap is not None or terms.sinks is not None or terms.dropout:
        return "knows no soft cap, no sinks and no dropout"
    return None


def _stowage_mask(**named: Any) -> Optional[Tensor]:
    """Returns the mask that layers get: a marker for one row of tokens, else the mask of SDPA.

    Raises Error for a packed row whose mask is more than causal within sequences and windows.
    """
    function, padding = named.get("mask_function"), named.get("attention_mask")
    names = list(_names(function))
    extra = [name for name in names if not name.startswith(_IMPLIED)]
    packed = any(name.startswith("packed_sequence") for name in names)
    if packed and (extra or named.get("use_vmap")):
        raise Error(
            "a packed row: the model must mask what comes after a token, and nothing else but a window; "
            f"it has {', '.join(extra) or 'a mask of its own'}"
        )
    alone = named.get("batch_size") == 1 and padding is None and not extra
    alone = alone and not named.get("use_vmap") and not named.get("q_offset")
    if alone and named.get("q_length") == named.get("kv_length") and not named.get("kv_offset"):
        shape = _PACKED if packed else _ALONE
        return torch.zeros(shape, dtype=torch.bool, device=named.get("device"))
    made: Optional[Tensor] = sdpa_mask(**named)
    return made


def _names(function: Any, depth: int = 6) -> Iterator[str]:
    """Yields the name of a mask function, and the names of the functions that it combines."""
    if not callable(function) or depth == 0:
        return
    yield getattr(function, "__qualname__", type(function).__name__)
    for cell in getattr(function, "__closure__", None) or ():
        inside = cell.cell_contents
        for each in inside if isinstance(inside, (tuple, list)) else (inside,):
            yield from _names(each, depth - 1)


AttentionInterface.register(ATTENTION, _stowage_attention)
AttentionMaskInterface.register(ATTENTION, _stowage_mask)
