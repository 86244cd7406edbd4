"""Fits the cost of a cluster anew to the steps of a training run."""

from __future__ import annotations

import json
from typing import Any, Iterable, NamedTuple, Union

import numpy as np

from .. import _core
from .._arguments import each_of, number, require
from .._cluster import Cluster
from .._documents import groups_at_once
from .._step import Step
from ._samples import Sample, arrays, sample_of


class Refit(NamedTuple):
    """A cost adapted to new measurements.

    cost: the object `cost` of an instance, for Cluster.with_cost and Planner.use_cost. factor:
    median of measured over predicted time by the old cost. drifted: True if the noise of the times
    does not explain the factor's distance from 1. noise: standard deviation of relative errors.
    mean_error, old_mean_error: mean of |measured / predicted - 1| by the new and by the old cost,
    on these steps.
    """

    cost: dict[str, Any]
    factor: float
    drifted: bool
    noise: float
    mean_error: float
    old_mean_error: float


def refit(old: Cluster, measured: Iterable[Union[Sample, tuple[Step, float]]]) -> Refit:
    """Adapts the cost of a cluster to times that a training loop measured.

    Args:
        old: the cluster with the old cost.
        measured: pairs (step, ms) of steps of a planner and their measured times, without the
            optimizer and waiting for data; or Samples of single groups.

    All coefficients change by a common factor, and each changes further if the times determine it. So
    few steps change only the factor, and many different steps determine all coefficients
    (instances/scatter/fit/refit.h). Raises InputError; pointers are /measured/ENTRY/MEMBER.
    """
    groups: list[Sample] = []
    steps: list[int] = []
    batches: list[int] = []
    times: list[float] = []
    require(old, Cluster, "old")
    for at, entry in enumerate(each_of(measured, "measured")):
        if isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], Step):
            own = _groups_of(entry[0])
            times.append(number(entry[1], f"measured/{at}/ms"))
        else:
            sample = sample_of(entry, f"measured/{at}")
            own = [(0, sample)]
            times.append(sample.ms)
        batches += [batch for batch, _ in own]
        groups += [group for _, group in own]
        steps += [at] * len(own)
    degrees, lengths, offsets, _, _, exchanges = arrays(groups)
    cost, factor, drifted, noise, error, old_error = _core.refit(
        old._instance,
        degrees,
        lengths,
        offsets,
        exchanges,
        np.array(steps, np.int64),
        np.array(batches, np.int64),
        np.array(times, np.float64),
    )
    return Refit(json.loads(cost), factor, drifted, noise, error, old_error)


def _groups_of(step: Step) -> list[tuple[int, Sample]]:
    """Returns the groups of a plan, with their micro-batches."""
    lengths = step.instance["lengths"]
    return [
        (
            number,
            Sample(
                group["degree"],
                [lengths[own] for own in group["sequences"]],
                1.0,
                None,
                group.get("exchange", ""),
            ),
        )
        for number, groups in enumerate(groups_at_once(step.plan))
        for group in groups
    ]
