"""Balanced partitions for verl.

    stowage.verl.use()      # once, in the process that balances batches

Written for verl 0.9. Its trainers spread the samples of a step over data-parallel ranks, and each rank
its own over micro-batches below a token limit; both go through one function, which this replaces.
"""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np
from verl.utils import seqlen_balancing

from . import _core
from ._lengths import as_integers
from ._partition import balanced_partitions

_NAME = "get_seqlen_balanced_partitions"
_replaced = getattr(seqlen_balancing, _NAME)


def get_seqlen_balanced_partitions(
    seqlen_list: Any, k_partitions: int, equal_size: bool
) -> list[list[int]]:
    """In place of verl's function of that name: k lists of ascending indices, none empty.

    Args:
        seqlen_list: what each sample costs, integers [K], a list or a tensor on any device: verl's
            trainers hand in workloads. A sample that costs nothing counts as 1.
        k_partitions: of at most K.
        equal_size: whether all lists have the same length, which must be K / k_partitions.

    Raises InputError where verl's has an assertion: too few samples (E351), or a number of them that
    equal lists cannot share (E352).
    """
    bins = operator.index(k_partitions)
    if type(seqlen_list) is list and 0 <= bins < 2**63:  # what verl hands in: no array is needed
        lists = _core.balanced_lists(seqlen_list, bins, bool(equal_size))
        if lists is not None:
            return lists
    costs = seqlen_list.cpu() if hasattr(seqlen_list, "cpu") else seqlen_list
    found = balanced_partitions(
        np.maximum(as_integers(costs, "seqlen_list"), 1),
        bins,
        counts="equal" if equal_size else "any",
        quadratic=0,
        linear=1,
    )
    return found.sequences.tolist()


def use() -> None:
    """Lets verl partition with stowage from here on, in this process.

    `rearrange_micro_batches`, `get_group_balanced_partitions` and the trainers' balancing of batches
    call it. Ray workers are processes of their own: call it in each.
    """
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "verl" and getattr(module, _NAME, None) is _replaced:
            setattr(module, _NAME, get_seqlen_balanced_partitions)
