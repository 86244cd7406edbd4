"""The knapsack of torch's own partitioner, solved exactly."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import fx
from torch._functorch import partitioners
from torch._inductor.custom_graph_pass import CustomKnapsackSolver

from .._arguments import number
from ._joint_graph import RunTime

# Sums of the same values may differ by this share with the order of their terms.
_ROUNDING = 1e-12


class BudgetSolver(CustomKnapsackSolver):
    """An `activation_memory_budget_solver` of torch: the values that its partitioner saves within the
    budget are those whose recomputation takes most time. torch's default rounds sizes.

    A larger budget never means more recomputation.

    Args:
        run_time: the time of one run of a node; by default torch's estimate.

    Attributes:
        gaps: for each call, the share of all recomputation that a better choice could save at most. It
            is 0 unless the call met more than `most_states` choices of which none is better than
            another in time and in memory.
    """

    most_states = 100_000

    def __init__(self, run_time: Optional[RunTime] = None) -> None:
        self.run_time = run_time
        self.gaps: list[float] = []

    def __call__(
        self,
        memory: list[float],
        joint_graph: fx.Graph,
        max_memory: float,
        node_info: Any,
        all_recomputable_banned_nodes: list[fx.Node],
    ) -> tuple[list[int], list[int]]:
        """Returns the places in `memory` of the values to save, and of those to recompute.

        Args:
            memory: size of each value, in any unit.
            joint_graph, node_info: not used.
            max_memory: most of the sum of sizes that are saved.
            all_recomputable_banned_nodes: the node of each value.
        """
        run_time = partitioners.estimate_runtime if self.run_time is None else self.run_time
        times = [
            number(run_time(node), f"run_time({node.name})")
            for node in all_recomputable_banned_nodes
        ]
        saved, gap = most_valuable(memory, times, max_memory, self.most_states)
        self.gaps.append(gap)
        chosen = set(saved)
        return saved, [at for at in range(len(memory)) if at not in chosen]

    def uuid(self) -> Any:
        """Returns the key of compiled graphs in torch's caches."""
        return (type(self).__name__, self.most_states, repr(self.run_time))


def most_valuable(
    sizes: Sequence[float], values: Sequence[float], most: float, most_states: int = 100_000
) -> tuple[list[int], float]:
    """Returns the places of items of the largest sum of values whose sizes sum to at most `most`, and
    the share of all values by which a better choice may exceed it.

    The states of the recursion are the choices of the first items of which none has more value and less
    size than another (Nemhauser and Ullmann, 1969). A state goes if its linear relaxation (Dantzig,
    1957) is not above the best choice.
    """
    size, value = np.asarray(sizes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(size > 0, value / size, np.inf)
    order = np.argsort(-ratio, kind="stable")
    size, value = size[order], value[order]
    sums, worth = np.append(0, np.cumsum(size)), np.append(0, np.cumsum(value))
    most = max(float(most), 0.0)
    held, gained = np.zeros(1), np.zeros(1)
    steps: list[tuple[NDArray[np.int64], NDArray[np.bool_]]] = []
    lost = 0.0
    for at in range(len(size)):
        count = len(held)
        parent = np.tile(np.arange(count), 2)
        taken = np.repeat([False, True], count)
        held = np.concatenate([held, held + size[at]])
        gained = np.concatenate([gained, gained + value[at]])
        # What fits of the next items, the last one in part, bounds each state; without that item it is
        # a choice.
        room = most - held + sums[at + 1]
        fits = np.clip(np.searchsorted(sums, room, side="right") - 1, at + 1, len(size))
        choice = gained + worth[fits] - worth[at + 1]
        rest = np.minimum(fits, len(size) - 1)
        part = np.where(fits < len(size), (room - sums[fits]) * _ratio(value[rest], size[rest]), 0)
        possible = held <= most
        bar = choice[possible].max()
        kept = np.flatnonzero(possible & (choice + part >= bar * (1 - _ROUNDING)))
        kept = kept[np.lexsort((-gained[kept], held[kept]))]
        better = np.append(True, gained[kept][1:] > np.maximum.accumulate(gained[kept])[:-1])
        kept = kept[better]
        if len(kept) > most_states:
            # Of states with nearly equal value the one with the least size stays.
            width = (gained[kept[-1]] - gained[kept[0]]) / most_states
            kept = kept[
                np.unique(
                    ((gained[kept] - gained[kept[0]]) / width).astype(int), return_index=True
                )[1]
            ]
            lost += width
        held, gained = held[kept], gained[kept]
        steps.append((parent[kept], taken[kept]))
    state = int(gained.argmax())
    chosen = []
    for at in range(len(size) - 1, -1, -1):
        parents, takes = steps[at]
        if takes[state]:
            chosen.append(int(order[at]))
        state = int(parents[state])
    return sorted(chosen), lost / max(float(worth[-1]), 1e-300)


def _ratio(value: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(value, size, out=np.zeros_like(value), where=size > 0)
