"""Balanced partitions for verl.

    stowage.verl.use()      # once, in the process that balances batches

Written for verl 0.9. Its trainers distribute the samples of a step over data-parallel ranks, and each
rank distributes its samples over micro-batches below a token limit. Both use one function, which this
module replaces.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from verl.utils import seqlen_balancing

from . import _core
from ._arguments import each_of, number, whole
from ._errors import InputError, InputTypeError
from ._partition import balanced_partitions

# Limit on the sum of a partition's costs.
_MOST = 2**53

_NAME = "get_seqlen_balanced_partitions"
_replaced = getattr(seqlen_balancing, _NAME)


def get_seqlen_balanced_partitions(
    seqlen_list: Any, k_partitions: int, equal_size: bool
) -> list[list[int]]:
    """Replaces verl's function of that name. Returns k lists of ascending indices, none empty.

    Args:
        seqlen_list: the cost of each sample, numbers [K], a list or a tensor on any device; verl's
            trainers pass workloads. A cost of 0 counts as 1, or as the smallest representable
            difference. Costs that are not integers, or whose sum exceeds 2^53, are rounded to 2^-53 of
            their sum, the precision of float64 sums.
        k_partitions: number of lists, at most K.
        equal_size: if True, all lists have the same length, K / k_partitions, which must be an
            integer.

    Raises InputError where verl's function has an assertion: too few samples (E351), or a number of
    samples that is not a multiple of k_partitions (E352); and for costs that are not finite (E205).
    Raises InputTypeError for an argument that is not a list of numbers.
    """
    bins = whole(k_partitions, "k_partitions")
    if type(seqlen_list) is list and bins >= 0 and _sum_of_integers(seqlen_list) <= _MOST:
        lists = _core.balanced_lists(seqlen_list, bins, bool(equal_size))
        if lists is not None:
            return lists
    found = balanced_partitions(
        _integer_costs(seqlen_list),
        bins,
        counts="equal" if equal_size else "any",
        quadratic=0,
        linear=1,
    )
    return found.sequences.tolist()


def _sum_of_integers(costs: list[Any]) -> float:
    """Returns the sum of a list, or infinity if an entry is not an integer of Python."""
    try:
        total = sum(costs)
    except (TypeError, RuntimeError):
        return math.inf
    return total if type(total) is int else math.inf


def _integer_costs(given: Any) -> NDArray[np.int64]:
    """Returns costs as positive integers whose sum a partition may have: the costs themselves, or
    the costs times a power of two."""
    values = given.tolist() if hasattr(given, "tolist") else list(each_of(given, "seqlen_list"))
    if not isinstance(values, list):
        raise InputTypeError(f"seqlen_list: must be a list of numbers, is {given!r}")
    costs = np.array(
        [number(value, f"seqlen_list[{at}]") for at, value in enumerate(values)], np.float64
    )
    wrong = np.flatnonzero(~np.isfinite(costs))
    if wrong.size:
        raise InputError(
            ("E205", f"/seqlen_list/{at}", f"must be finite, is {costs[at]}") for at in wrong
        )
    costs = np.maximum(costs, 0)
    if np.maximum(costs, 1).sum() <= _MOST and (costs == np.rint(costs)).all():
        plain: NDArray[np.int64] = costs.astype(np.int64)
        return np.maximum(plain, 1)
    _, exponent = np.frexp(costs.max())
    shares = np.ldexp(costs, -exponent)  # at most 1
    room = (_MOST - 2 * costs.size) / shares.sum()
    scaled: NDArray[np.int64] = np.rint(np.ldexp(shares, int(np.log2(room)))).astype(np.int64)
    return np.maximum(scaled, 1)


def use() -> None:
    """Makes verl partition with stowage from now on, in this process.

    `rearrange_micro_batches`, `get_group_balanced_partitions` and the trainers' balancing of batches
    call it. Ray workers are separate processes, so call it in each worker.
    """
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "verl" and getattr(module, _NAME, None) is _replaced:
            setattr(module, _NAME, get_seqlen_balanced_partitions)
