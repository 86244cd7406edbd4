"""Rows of plans whose groups are single ranks, in the order in which data loaders distribute them."""

from __future__ import annotations

import numpy as np

from ._trainer_step import Batch, TrainerStep


def single_rank_rows(step: TrainerStep) -> list[Batch]:
    """Returns the batches of a step by micro-batch and then rank: row i belongs to rank i modulo
    the number of ranks.

    Raises ValueError for a step with wider groups or idle ranks.
    """
    wide = step.degree * step.stages > 1
    if wide.any():
        raise ValueError(
            f"step {step.name!r}: every group must be one rank, {int(wide.sum())} are wider: plan "
            "with degrees=[1]"
        )
    schedule = step.schedule.T
    if (schedule < 0).any():
        micro_batch, rank = (int(at[0]) for at in np.nonzero(schedule < 0))
        raise ValueError(
            f"step {step.name!r}: every rank must have work, rank {rank} idles in micro-batch "
            f"{micro_batch}: plan with no_idle_ranks=True"
        )
    return [step.batch(b) for b in schedule.ravel().tolist()]
