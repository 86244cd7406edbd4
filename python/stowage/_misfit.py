"""Errors of searches without a plan, and what would fit a cluster without memory for any sequence."""

from __future__ import annotations

from typing import Optional

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._cluster import Cluster
from ._errors import BackendError, Infeasible, NoPlan
from ._step import Sequences

# Limit of the search for a number of devices; no cluster has as many devices.
_MOST_DEVICES = 2**20


def why_no_token_fits(cluster: Cluster) -> str:
    """Returns the cause. Requires a cluster whose largest sequence has 0 tokens."""
    memory = max([cluster.memory_mib, *(kind.get("memory_mib", 0) for kind in cluster.kinds)])
    taken = f"the states of the model take {cluster.states_mib:,.0f} MiB of a device"
    if cluster.states_mib >= memory:
        return f"no token fits: {taken}, which has {memory:,.0f} MiB"
    return (
        f"no sequence fits: {taken}, and the {memory - cluster.states_mib:,.0f} MiB that are left "
        f"hold less than {_least_sequence(cluster)}"
    )


def _least_sequence(cluster: Cluster) -> str:
    if cluster.padding:
        return "the shortest padded sequence"
    return f"a sequence of {cluster.pad_multiple} tokens"


def what_would_fit(cluster: Cluster, memory: str) -> str:
    """Returns the remedies. `memory` is a text that says how to change the memory of a device."""
    total = cluster.states_mib * cluster.devices
    least = _least_devices(cluster, total)
    if least is None:
        return f"{memory}, or lower states_mib"
    return (
        f"{memory}, or plan for at least {least:,} devices: states that all devices share take "
        f"{total / least:,.0f} MiB there; or lower states_mib"
    )


def _least_devices(cluster: Cluster, total_mib: float) -> Optional[int]:
    """Returns the fewest devices whose share of the states leaves memory for a sequence, or None if
    no number of devices does."""
    if cluster.kinds:  # the kind of additional nodes is unknown
        return None

    def fits(devices: int) -> bool:
        return cluster.replace(states_mib=total_mib / devices).largest_sequence > 0

    low, high = cluster.devices, 2 * cluster.devices  # `low` does not fit
    while not fits(high):
        low, high = high, 2 * high
        if high > _MOST_DEVICES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def without_plan(
    cluster: Cluster,
    outcome: _core.Outcome,
    lengths: NDArray[np.int64],
    sequences: Sequences,
) -> Exception:
    """Returns the error of a search that found no plan."""
    if outcome.status == "infeasible":
        over = outcome.unplaceable
        if over.size == 0:  # so the rules are the cause
            return Infeasible(outcome.detail, over, outcome.remedy)
        ids, most = sequences.ids[over], cluster.largest_sequence
        if most == 0:
            memory = outcome.remedy.replace(", or shorten the sequences", "")
            return Infeasible(why_no_token_fits(cluster), ids, what_would_fit(cluster, memory))
        listed = [f"{own} of {length}" for own, length in zip(ids[:10], lengths[over])]
        more = [f"and {len(ids) - 10} more"] if len(ids) > 10 else []
        remedy = f'{outcome.remedy}, or set on_oversize="drop" or "clip"'
        if len(ids) == len(sequences.ids):  # "drop" would leave no sequence
            remedy = f'{outcome.remedy}, or set on_oversize="clip"'
        return Infeasible(
            f"{len(ids)} sequences are longer than the {most} tokens that the largest group "
            f"holds, of degree {cluster.degrees[-1]}: {', '.join(listed + more)}",
            ids,
            remedy,
        )
    if outcome.status == "error":
        return BackendError(outcome.detail)
    return NoPlan(f"no plan within the limits ({outcome.stopped_by})")
