"""Distributes the sequences of a batch over bins of nearly equal cost, and over micro-batches below a
token limit."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Union

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


class MicroBatches(NamedTuple):
    """The micro-batches of each rank, with their costs and two bounds.

    Attributes:
        sequences: Ragged int64, the ids of each micro-batch, ascending. Micro-batch m of rank r is
            entry `r * per_rank + m`; a rank's most expensive micro-batch comes first.
        tokens, costs: int64 [ranks, per_rank], of each micro-batch.
        per_rank: number of micro-batches of each rank.
        per_rank_bound: no plan has fewer micro-batches on each rank.
        per_rank_bound_by: the proof of per_rank_bound, "tokens", "large" or "staircase".
        largest, smallest: the largest and the smallest cost of a rank.
        lower_bound: no plan has a smaller largest cost of a rank.
        bound_by: the proof of lower_bound, "average" or "pigeonhole".
        gap: relative difference of largest and lower_bound.
    """

    sequences: Ragged[np.int64]
    tokens: NDArray[np.int64]
    costs: NDArray[np.int64]
    per_rank: int
    per_rank_bound: int
    per_rank_bound_by: str
    largest: int
    smallest: int
    lower_bound: int
    bound_by: str
    gap: float

    def of_rank(self, rank: int) -> list[list[int]]:
        """Returns the ids of each micro-batch of a rank, 0 to ranks - 1. Raises IndexError."""
        ranks = len(self.costs)
        if not 0 <= whole(rank, "rank") < ranks:
            raise IndexError(f"rank {rank} of {ranks} ranks")
        first = rank * self.per_rank
        return [self.sequences[at].tolist() for at in range(first, first + self.per_rank)]


def micro_batches(
    lengths: Integers,
    ranks: int,
    max_tokens: int,
    *,
    multiple_of: int = 1,
    at_least: int = 1,
    keep_together: Union[int, Integers, None] = None,
    quadratic: int = 1,
    linear: int = 24576,
) -> MicroBatches:
    """Distributes the sequences of a batch over ranks and micro-batches (instances/partition).

    Every micro-batch has at most `max_tokens` tokens, none is empty, and all ranks have equally many.

    Args:
        lengths: tokens of the sequences, integers [K], each from 1 to max_tokens.
        ranks: number of data-parallel ranks.
        max_tokens: most tokens of a micro-batch.
        multiple_of: the number of micro-batches of a rank is a multiple of it (interleaved
            pipelines).
        at_least: least number of micro-batches of a rank.
        keep_together: a number G, if each G consecutive sequences share a micro-batch; or labels
            [K], integers, if sequences of equal labels do.
        quadratic, linear: a sequence of s tokens costs quadratic s^2 + linear s; integers, without a
            unit. The default is the workload that verl assumes for a hidden size of 4096.

    The search first minimises the number of micro-batches, then the cost of the most expensive rank,
    and then that of the most expensive micro-batch. It takes milliseconds and releases the
    interpreter's lock. Equal arguments give equal micro-batches, and independent code verifies them.
    Raises InputTypeError, and InputError: E354 for a sequence above max_tokens, E355 for fewer
    sequences than micro-batches.
    """
    tokens = as_integers(lengths, "lengths")
    given = {
        "ranks": ranks,
        "max_tokens": max_tokens,
        "multiple_of": multiple_of,
        "at_least": at_least,
        "quadratic": quadratic,
        "linear": linear,
    }
    for name, value in given.items():
        given[name] = whole(value, name, 4096)
        if not 0 <= given[name] < 2**63:
            raise InputError([("E205", "/" + name, f"must be from 0 to 2^63 - 1, is {value}")])
    found = _core.micro_batches(
        tokens,
        given["ranks"],
        given["max_tokens"],
        given["multiple_of"],
        given["at_least"],
        _labels(keep_together, tokens.size),
        given["quadratic"],
        given["linear"],
    )
    sequences, offsets, sizes, costs = found[:4]
    per_rank_bound, per_rank_bound_by = found[9:]
    shape = (given["ranks"], -1)
    return MicroBatches(
        Ragged(sequences, offsets),
        sizes.reshape(shape),
        costs.reshape(shape),
        sizes.size // given["ranks"],
        per_rank_bound,
        per_rank_bound_by,
        *found[4:9],
    )


def _labels(keep_together: Any, count: int) -> NDArray[np.int64]:
    """Returns a label for each sequence, or no label if none are kept together."""
    if keep_together is None:
        return np.zeros(0, np.int64)
    if hasattr(keep_together, "__len__"):
        labels = as_integers(keep_together, "keep_together")
        if labels.size != count:
            said = f"must have a label for each of {count} sequences, has {labels.size}"
            raise InputError([("E356", "/keep_together", said)])
        return labels
    size = whole(keep_together, "keep_together")
    if size < 1 or count % size:
        said = f"must be at least 1 and divide the number of sequences, {count}, is {size}"
        raise InputError([("E356", "/keep_together", said)])
    return np.arange(count, dtype=np.int64) // size
