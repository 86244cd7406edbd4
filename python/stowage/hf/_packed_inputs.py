"""Arguments of transformers' models for a packed row; stowage.hf exports the names."""

from __future__ import annotations

import inspect
import warnings
import weakref
from typing import Any, Optional

import torch
from torch import nn

from .._errors import Error
from ..torch import PackedBatch

#: The attn_implementation of transformers that takes packed rows, and parts of them.
ATTENTION = "stowage"

# The models of this process that passed check_packing(), and the models that passed with the
# arguments of model_inputs() without a model.
_checked: weakref.WeakSet[nn.Module] = weakref.WeakSet()
_checked_without: weakref.WeakSet[nn.Module] = weakref.WeakSet()


def packing_was_checked(model: nn.Module, without: bool) -> None:
    """Disables the warning of model_inputs() for this model, and with `without` also for calls
    without a model."""
    _checked.add(model)
    if without:
        _checked_without.add(model)


def _was_checked(model: Optional[nn.Module]) -> bool:
    if isinstance(model, nn.parallel.DistributedDataParallel):
        model = model.module
    return model in _checked if model is not None else len(_checked_without) > 0


def flash_kwargs(batch: PackedBatch) -> dict[str, Any]:
    """Returns the arguments of transformers' flash attention for a packed row, padding included."""
    return {
        "cu_seq_lens_q": batch.cu_seqlens_padded,
        "cu_seq_lens_k": batch.cu_seqlens_padded,
        "max_length_q": batch.max_seqlen,
        "max_length_k": batch.max_seqlen,
    }


def sequence_indices(batch: PackedBatch) -> torch.Tensor:
    """Returns the index of each token's sequence in a whole row, int32 [1, T]; padding belongs to
    its sequence."""
    lengths = batch.cu_seqlens_padded.diff()
    indices = torch.arange(len(lengths), dtype=torch.int32, device=lengths.device)
    tokens = batch.input_ids.shape[1]
    return torch.repeat_interleave(indices, lengths, output_size=tokens)[None]


def model_inputs(batch: PackedBatch, model: Optional[nn.Module] = None) -> dict[str, Any]:
    """Returns the keyword arguments of a model of transformers for a packed row.

    `shift_labels` holds the labels, already moved to the token that predicts them, for the loss
    functions of transformers. With `num_items_in_batch` the loss is a share of the step's loss: the
    sum over ranks and micro-batches is the step's mean. `use_cache=False` is needed because models
    with a cache take a packed row for one sequence.

    Attention separates the sequences of a row by `position_ids` or by flash_kwargs(). State-space layers
    need `seq_idx`, int32 [1, T], the index of each token's sequence; linear attention needs both. A part
    of a row (PackedCollator(slice="zigzag")) gets neither.

    Args:
        batch: a whole row: PackedCollator(slice=None). Parts of rows are for attn_implementation="stowage",
            for which stowage.hf.attention() sets the groups.
        model: the result contains all arguments that its forward() takes, including those of
            flash_kwargs(), and the row for attn_implementation="stowage". With None the caller must add
            these arguments.

    Some models still leak between the sequences of a row. The first row of several sequences gives a
    warning, unless `model` (or any model if that is None) has passed check_packing().
    """
    given: dict[str, Any] = {
        "input_ids": batch.input_ids,
        "position_ids": batch.position_ids,
        "labels": batch.labels,
        "shift_labels": batch.labels,
        "use_cache": False,
        "num_items_in_batch": batch.labels.new_tensor(max(batch.loss_denominator, 1)),
    }
    sequences = len(batch.cu_seqlens_padded) - 1
    if model is not None and (reason := adds_to_the_loss(model)):
        raise Error(f"model: {reason}")
    if _is_whole(batch):
        given["seq_idx"] = sequence_indices(batch)
    if model is not None and uses_stowage(model):
        if batch.degree > 1 and batch.slice is None:
            raise Error(
                f"a packed row: each of {batch.degree} ranks would count the whole row; share it, "
                'PackedCollator(slice="zigzag")'
            )
        given["stowage_row"] = batch
    elif model is not None and _is_whole(batch):
        given.update(flash_kwargs(batch))
    if sequences > 1 and not _was_checked(model):
        warnings.warn(
            "a packed row goes to a model that was not checked: models with state-space layers, "
            "linear attention or ALiBi can leak between its sequences; call "
            "stowage.hf.check_packing(model) once before training, and model_inputs(batch, model)",
            stacklevel=1,  # filters by module find it under stowage
        )
    return given if model is None else _taken(given, model)


def uses_stowage(model: nn.Module) -> bool:
    """Returns whether the model, or the model in a wrapper, has attn_implementation="stowage"."""
    configs = (_unwrapped_config(model), text_config(model))
    return any(getattr(each, "_attn_implementation", None) == ATTENTION for each in configs)


def _unwrapped_config(model: nn.Module) -> Any:
    while isinstance(inside := getattr(model, "module", None), nn.Module):
        model = inside
    return getattr(model, "config", None)


def text_config(model: nn.Module) -> Any:
    """Returns the configuration of the model, or of the model in a wrapper, for text."""
    config = _unwrapped_config(model)
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def adds_to_the_loss(model: nn.Module) -> Optional[str]:
    """Returns why the model's loss of a row is more than its share of a step's mean, or None."""
    config = text_config(model)
    coefficients = ("router_aux_loss_coef", "aux_loss_coef")
    weighted = any(getattr(config, name, 0) for name in coefficients)
    if getattr(config, "output_router_logits", False) and weighted:
        return (
            "config.output_router_logits must be False (of SFTConfig: router_aux_loss_coef=0): each row would "
            "add a whole balance loss of its experts to its share of the step's loss"
        )
    return None


def _is_whole(batch: PackedBatch) -> bool:
    """Returns whether the batch is a whole row. The call waits for the device only if ranks share
    the row."""
    if batch.degree <= 1:
        return batch.input_ids.numel() > 0
    return int(batch.cu_seqlens_padded[-1]) == batch.input_ids.shape[1]


def _taken(given: dict[str, Any], model: nn.Module) -> dict[str, Any]:
    """Returns those of the given arguments that forward() of the model takes."""
    parameters = inspect.signature(model.forward).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return given
    if "stowage_row" in given and "stowage_row" not in parameters:
        raise Error(
            f"model: forward() of {type(model).__name__} must take stowage_row, or **named, and give it to "
            "the model inside"
        )
    lost = [name for name in ("shift_labels", "num_items_in_batch") if name not in parameters]
    if "labels" in parameters and lost:
        raise Error(
            f"model: forward() of {type(model).__name__} takes labels and no {' or '.join(lost)}: it would "
            "shift labels that are shifted already, or average over a row; compute the loss from its "
            "logits and batch.labels"
        )
    return {name: value for name, value in given.items() if name in parameters}
