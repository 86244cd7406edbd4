"""Records of planned steps for TensorBoard and Weights & Biases."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .._arguments import number, require, whole
from .._errors import InputTypeError
from .._step import Step


def log(
    step: Step,
    writer: Any,
    *,
    at: int,
    measured_ms: Optional[float] = None,
    samples: Optional[list[tuple[Step, float]]] = None,
    prefix: str = "stowage/",
) -> dict[str, float]:
    """Writes the values of a planned step, and returns them by name.

    Values: gap (of the plan to its bound), idle_share (of the ranks' time, as planned), tokens, padding
    (share of the tokens of rows), planned_ms, and with a measurement measured_ms and ms_ratio.

    Args:
        step: a step of a planner.
        writer: torch.utils.tensorboard.SummaryWriter, or the module or a run of wandb: an object with
            add_scalar() or with log().
        at: number of the step.
        measured_ms: measured time of the step, without the optimizer and waiting for data.
        samples: a list to which (step, measured_ms) is added, for stowage.calibrate.refit(cluster,
            samples).
        prefix: precedes each name.

    Raises InputTypeError for another writer.
    """
    require(step, Step, "step")
    at = whole(at, "at")
    values = _values(step)
    if measured_ms is not None:
        measured_ms = number(measured_ms, "measured_ms")
        values["measured_ms"] = measured_ms
        values["ms_ratio"] = measured_ms / step.objective_ms if step.objective_ms else 1.0
        if samples is not None:
            samples.append((step, measured_ms))
    if hasattr(writer, "add_scalar"):
        for name, value in values.items():
            writer.add_scalar(prefix + name, value, at)
    elif hasattr(writer, "log"):
        writer.log({prefix + name: value for name, value in values.items()}, step=at)
    else:
        raise InputTypeError(
            f"writer: must have add_scalar() or log(), is of the type {type(writer).__name__}"
        )
    return values


def _values(step: Step) -> dict[str, float]:
    busy = float((step.predicted_ms * step.degree * step.stages).sum())
    whole_step = step.ranks * step.objective_ms
    rows = int(step.tokens.sum(dtype=np.int64))
    own = sum(int(sums[-1]) for sums in step.cu_seqlens)
    return {
        "gap": step.gap,
        "idle_share": max(0.0, 1.0 - busy / whole_step) if whole_step else 0.0,
        "tokens": float(own),
        "padding": 1.0 - own / rows if rows else 0.0,
        "planned_ms": step.objective_ms,
    }
