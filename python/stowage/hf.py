"""Packed rows for models of Hugging Face transformers.

    model(**stowage.hf.model_inputs(batch))

The batch is a whole row: PackedCollator(..., slice=None), on groups of one rank. Models that take
packed rows keep its sequences apart by `position_ids`; flash attention takes flash_kwargs() too.
"""

from __future__ import annotations

from typing import Any

from .torch import PackedBatch


def flash_kwargs(batch: PackedBatch) -> dict[str, Any]:
    """What flash attention of transformers wants to know of a packed row, padding included."""
    return {
        "cu_seq_lens_q": batch.cu_seqlens_padded,
        "cu_seq_lens_k": batch.cu_seqlens_padded,
        "max_length_q": batch.max_seqlen,
        "max_length_k": batch.max_seqlen,
    }


def model_inputs(batch: PackedBatch) -> dict[str, Any]:
    """input_ids, position_ids and labels already moved to the token that predicts them.

    `shift_labels` is what the loss functions of transformers take for that; `num_items_in_batch`
    makes the loss a share of the step's: summed over ranks and micro-batches it is the step's mean.
    Without `use_cache=False` models take a packed row for one sequence.
    """
    return {
        "input_ids": batch.input_ids,
        "position_ids": batch.position_ids,
        "labels": batch.labels,
        "shift_labels": batch.labels,
        "use_cache": False,
        "num_items_in_batch": batch.labels.new_tensor(batch.loss_denominator),
    }
