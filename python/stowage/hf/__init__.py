"""Packed rows for models of Hugging Face transformers, and for TRL's trainers.

    stowage.hf.check_packing(model)                       # once: raises if packed rows leak
    model(**stowage.hf.model_inputs(batch))
    rows = stowage.hf.packed_dataset(dataset, [step])     # what trl.pack_dataset() makes

On groups of one rank a batch is a whole row: PackedCollator(..., slice=None). On groups of several ranks
a batch is a part of a row, for models with stowage's attention:

    stowage.hf.attention(stowage.torch.Groups(cluster))
    model = AutoModelForCausalLM.from_pretrained(name, attn_implementation="stowage")
    stowage.hf.check_groups(model, groups)                # once: raises if parts of rows are not enough
    model(**stowage.hf.model_inputs(batch, model))
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Iterable

import numpy as np

from ._attention import attention as attention
from ._groups_check import check_groups as check_groups
from ._trainer import StowageTrainer as StowageTrainer
from ._packed_inputs import ATTENTION as ATTENTION
from ._packed_inputs import flash_kwargs as flash_kwargs
from ._packed_inputs import model_inputs as model_inputs
from ._packing_check import PackingCheck as PackingCheck
from ._packing_check import check_packing as check_packing
from .._single_rank_rows import single_rank_rows
from .._step import Step
from .._trainer_step import TrainerStep


def packed_dataset(dataset: Any, steps: Iterable[TrainerStep]) -> Any:
    """Returns a `datasets.Dataset` of packed rows, as a replacement of TRL's pack_dataset().

    Args:
        dataset: rows of lists, "input_ids" and other columns of equal length ("labels",
            "completion_mask"); the ids of the steps are the numbers of its rows.
        steps: plans on groups of single ranks (degrees=[1]), each of which has work in every
            micro-batch (no_idle_ranks=True); max_tokens_per_rank corresponds to TRL's max_length.

    The result has the concatenated columns of `dataset`, and `seq_lengths` for TRL's collator. Row i
    belongs to rank i modulo the number of ranks: accelerate distributes rows as planned if it takes
    them one at a time, in order. SFTTrainer takes them with SFTConfig(padding_free=True,
    max_length=None, per_device_train_batch_size=1, train_sampling_strategy="sequential",
    dataset_kwargs={"skip_prepare_dataset": True}). Sequences of a row are not padded, and clipped
    sequences are cut. Raises ValueError for other steps, and for a dataset whose lengths differ from
    the planned lengths.
    """
    from datasets import Dataset

    columns: dict[str, list[Any]] = {name: [] for name in dataset.column_names}
    columns["seq_lengths"] = []
    for step in steps:
        clipped = set(step.clipped.tolist()) if isinstance(step, Step) else set()
        for batch in single_rank_rows(step):
            samples = dataset[batch.sequences.tolist()]
            planned = np.diff(batch.cu_seqlens).tolist()
            for row, ids, length in zip(batch.sequences.tolist(), samples["input_ids"], planned):
                if len(ids) != length and not (row in clipped and len(ids) > length):
                    raise ValueError(
                        f"dataset: row {row} must have the {length} tokens that were planned, has "
                        f"{len(ids)}"
                    )
            for name in dataset.column_names:
                parts = (part[:length] for part, length in zip(samples[name], planned))
                columns[name].append(list(chain.from_iterable(parts)))
            columns["seq_lengths"].append(planned)
    return Dataset.from_dict(columns)
