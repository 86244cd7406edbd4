"""Changes the group of DeepSpeed's sequence-parallel attention for transformers from row to row.

DeepSpeed replaces an attention implementation of transformers by a function. The function closes over
an UlyssesSPAttentionHF, whose numbers of heads belong to a fixed group.
"""

from __future__ import annotations

import types
from typing import Any, Iterator

import torch.distributed as dist
from torch import nn

from ._errors import Error

try:  # a DeepSpeed without these modules cannot register attention
    from deepspeed.runtime.sequence_parallel import ulysses_sp
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
except ImportError:
    ulysses_sp = None


def registered_attention(model: nn.Module) -> list[Any]:
    """Returns the UlyssesSPAttentionHF objects that the layers of `model` call, each once."""
    if ulysses_sp is None:
        return []
    names = {
        getattr(config, "_attn_implementation", None)
        for config in (getattr(module, "config", None) for module in model.modules())
    }
    found: dict[int, Any] = {}
    for name in sorted(name for name in names if isinstance(name, str)):
        for inside in _closed_over(ALL_ATTENTION_FUNCTIONS.get(name), 3):
            if isinstance(inside, ulysses_sp.UlyssesSPAttentionHF):
                found[id(inside)] = inside
    for module in model.modules():
        if isinstance(module, ulysses_sp.UlyssesSPAttentionHF):
            found[id(module)] = module
    return list(found.values())


def _closed_over(function: Any, depth: int) -> Iterator[Any]:
    """Yields the objects in a function's closure, and in the closures of functions there, up to a
    depth."""
    if depth == 0 or not isinstance(function, types.FunctionType):
        return
    for cell in function.__closure__ or ():
        try:
            inside = cell.cell_contents
        except ValueError:  # an empty cell
            continue
        yield inside
        yield from _closed_over(inside, depth - 1)


def use_group(attention: Any, model: nn.Module, group: dist.ProcessGroup, sequences: int) -> None:
    """Sets the group of an UlyssesSPAttentionHF that layers of `model` call, for a row of `sequences`.

    Raises ValueError and stowage.Error under the conditions of UlyssesGroups.use().
    """
    ranks = dist.get_world_size(group)
    heads, shared = attention.attn_head_count, attention.global_kv_head_count
    if not attention.seq_length_is_variable or attention.batch_size != 1:
        raise ValueError(
            "UlyssesSPAttentionHF: must be registered with seq_length_is_variable=True and "
            f"micro_batch_size=1, for rows differ, is with {attention.seq_length_is_variable} and "
            f"{attention.batch_size}"
        )
    if heads % ranks or (shared % ranks and ranks % shared):
        raise ValueError(
            f"group of {ranks} ranks: must divide {heads} heads, and divide or be a multiple of {shared} "
            "heads of keys: plan with other degrees"
        )
    core = attention.core_attn_implementation
    if sequences > 1 and core in ("sdpa", "flex_attention"):
        raise Error(
            f"a row of {sequences} sequences: its sequences would see each other, for DeepSpeed's attention "
            f'drops the mask of attn_implementation="{core}"; take flash attention, or plan rows of one '
            "sequence: Cluster.replace(max_sequences_per_group=1)"
        )
    if attention.process_group is group:
        return
    if hasattr(ulysses_sp, "register_all_to_all_group"):
        ulysses_sp.register_all_to_all_group(group)
    attention.process_group = group
    attention.world_size, attention.sp_rank = ranks, dist.get_rank(group)
    attention.local_q_head_count = heads // ranks
    attention.kv_replication_factor = ranks // shared
    attention.local_kv_head_count = max(1, shared // ranks)
    width = attention.attn_head_size * heads // ranks
    attention.required_context_shape = type(attention.required_context_shape)(
        [*attention.required_context_shape[:-1], width]
    )
    for (
        module
    ) in model.modules():  # if keys are copied, the forward pass changes it and does not restore it
        if hasattr(module, "num_key_value_groups"):
            module.num_key_value_groups = heads // shared
