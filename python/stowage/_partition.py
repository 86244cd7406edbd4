"""Distributes the sequences of a batch over bins of nearly equal cost."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import text, whole
from ._errors import InputError
from ._lengths import Integers, as_integers
from ._ragged import Ragged

_COUNTS = ("any", "equal", "nearly_equal")


class Partition(NamedTuple):
    """Bins, ordered by their first sequence, with their costs and a bound.

    Attributes:
        sequences: Ragged int64, the ids of each bin, ascending.
        tokens, costs: int64 [bins].
        largest, smallest: the largest and the smallest cost of a bin.
        lower_bound: no partition has a smaller largest cost.
        bound_by: the proof of lower_bound, "average" or "pigeonhole".
        gap: relative difference of largest and lower_bound.
    """

    sequences: Ragged[np.int64]
    tokens: NDArray[np.int64]
    costs: NDArray[np.int64]
    largest: int
    smallest: int
    lower_bound: int
    bound_by: str
    gap: float


def balanced_partitions(
    lengths: Integers,
    bins: int,
    *,
    counts: Literal["any", "equal", "nearly_equal"] = "any",
    quadratic: int = 1,
    linear: int = 24576,
) -> Partition:
    """Distributes the sequences of a batch over bins of nearly equal cost, none empty
    (instances/partition).

    Args:
        lengths: tokens of the sequences, integers [K], each at least 1.
        bins: number of bins, 1 to K.
        counts: number of sequences of a bin: "any", "equal", or "nearly_equal".
        quadratic, linear: a sequence of s tokens costs quadratic s^2 + linear s; integers, without a
            unit. The default is the workload that verl assumes for a hidden size of 4096.

    The search first minimises the largest cost of a bin and then maximises the smallest cost. It
    takes milliseconds and releases the interpreter's lock. Equal arguments give equal bins, and
    independent code verifies the bins. Raises InputTypeError and InputError.
    """
    if text(counts, "counts") not in _COUNTS:
        raise ValueError(f"counts: must be one of {_COUNTS}, is {counts!r}")
    tokens = as_integers(lengths, "lengths")
    given = {"bins": bins, "quadratic": quadratic, "linear": linear}
    for name, value in given.items():
        given[name] = whole(value, name, 4096)
        if not 0 <= given[name] < 2**63:
            raise InputError([("E205", "/" + name, f"must be from 0 to 2^63 - 1, is {value}")])
    found = _core.balanced_partitions(
        tokens, given["bins"], counts, given["quadratic"], given["linear"]
    )
    return Partition(Ragged(*found[:2]), *found[2:])
