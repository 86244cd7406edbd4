"""Compares predicted with measured times of plans."""

from __future__ import annotations

import math
from typing import Any, Optional

import numpy as np
import torch.distributed as dist

from .._cluster import Cluster
from .._documents import groups_at_once
from .._planner import Planner
from ._fit import Fit
from ._measuring import Measuring
from ._rows import Row


def compared_plans(
    measuring: Measuring, found: Optional[Fit], cluster: Optional[Cluster], lengths: list[int]
) -> dict[str, Any]:
    """Compares the predicted and the measured times of several methods' plans for a step. All ranks
    must call it; only rank 0 needs `found` and `cluster`."""
    plans: list[Any] = []
    if found and cluster:
        for method, ms in found.separation(cluster, lengths).plans:
            step = Planner(cluster, method=method).plan(lengths)
            padded = [-(-own // cluster.pad_multiple) * cluster.pad_multiple for own in lengths]
            batches = [
                [
                    Row(
                        group["degree"],
                        [padded[own] for own in group["sequences"]],
                        group.get("exchange", "") if group["degree"] > 1 else "",
                    )
                    for group in groups
                ]
                for groups in groups_at_once(step.plan)
            ]
            plans.append((method, ms, batches))
    told = [plans]
    dist.broadcast_object_list(told)
    one = measuring.settings.exchanges[0]
    compared = []
    for method, predicted, batches in told[0]:
        measured = 0.0
        for rows in batches:
            times = [
                measuring.row(
                    row if row.exchange or row.degree == 1 else row._replace(exchange=one)
                )[0]
                for row in rows
            ]
            measured += max(times)
        compared.append({"method": method, "predicted_ms": predicted, "measured_ms": measured})
    predicted_ranks, measured_ranks = (
        _ranks([own[key] for own in compared]) for key in ("predicted_ms", "measured_ms")
    )
    spread = [own - own.mean() for own in (predicted_ranks, measured_ranks)]
    scale = math.sqrt(float((spread[0] ** 2).sum() * (spread[1] ** 2).sum()))
    return {
        "plans": compared,
        "rank_correlation": float((spread[0] * spread[1]).sum()) / scale if scale > 0 else None,
        **_pairs(compared, found.held_out.mean if found else 0.0),
    }


def _pairs(plans: list[Any], error: float) -> dict[str, int]:
    """Returns the number of pairs of plans, the number of pairs whose predictions differ by no more
    than `error`, and the number of other pairs that were measured in the predicted order."""
    undecided = agreed = 0
    pairs = [(a, b) for i, a in enumerate(plans) for b in plans[:i]]
    for a, b in pairs:
        first, second = sorted((a, b), key=lambda own: own["predicted_ms"])
        if second["predicted_ms"] / first["predicted_ms"] - 1 <= error:
            undecided += 1
        elif first["measured_ms"] <= second["measured_ms"]:
            agreed += 1
    return {"pairs": len(pairs), "undecided_pairs": undecided, "agreed_pairs": agreed}


def _ranks(times: list[float]) -> Any:
    """Returns the rank of each value, 1 for the least; equal values share the mean of their ranks."""
    all_times = np.array(times, np.float64)
    return np.array(
        [(all_times < own).sum() + ((all_times == own).sum() + 1) / 2 for own in all_times]
    )
