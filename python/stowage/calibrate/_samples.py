"""Measured rows, from a table or from Python objects."""

from __future__ import annotations

import os
from typing import Any, Iterable, NamedTuple, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from .._arguments import number, text, whole
from .._errors import InputError, InputTypeError
from .._lengths import Integers, as_integers

KINDS = ("none", "all_to_all", "ring", "all_gather", "two_level")


class Sample(NamedTuple):
    """A measured row.

    Attributes:
        degree: devices of the group.
        lengths: tokens of its sequences, integers, before padding.
        ms: time of forward and backward of all layers on the slowest rank.
        mib: peak memory of a device, or None.
        exchange: a kind of cost.exchange of an instance; "" if groups of the degree have only one
            kind.
    """

    degree: int
    lengths: Integers
    ms: float
    mib: Optional[float] = None
    exchange: str = ""


#: Measured rows, each a Sample or its members in that order; or the path of a table of them.
Samples = Union[str, "os.PathLike[str]", Iterable[Union[Sample, Sequence[Any]]]]


def sample_of(row: Any, name: str) -> Sample:
    """Converts a row to a Sample. Raises InputTypeError with the place of the error if that is
    impossible."""
    if not isinstance(row, (tuple, list)) or not 3 <= len(row) <= 5:
        raise InputTypeError(
            f"{name}: must be a Sample, or degree, lengths, ms and perhaps mib and exchange, is {row!r}"
        )
    own = Sample(*row)
    return Sample(
        whole(own.degree, f"{name}/degree"),
        own.lengths,
        number(own.ms, f"{name}/ms"),
        None if own.mib is None else number(own.mib, f"{name}/mib"),
        text(own.exchange, f"{name}/exchange"),
    )


_Arrays = tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    "list[str]",
]


def arrays(rows: Sequence[Sample]) -> _Arrays:
    lengths = [
        as_integers(row.lengths, f"samples/{number}/lengths") for number, row in enumerate(rows)
    ]
    wrong = [
        ("E361", f"/samples/{number}/exchange", f"must be one of {KINDS}, is {row.exchange!r}")
        for number, row in enumerate(rows)
        if row.exchange not in ("", *KINDS)
    ]
    if wrong:
        raise InputError(wrong)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([own.size for own in lengths], out=offsets[1:])
    return (
        as_integers([row.degree for row in rows], "degrees"),
        np.concatenate([np.zeros(0, np.int64), *lengths]),
        offsets,
        np.array([row.ms for row in rows], np.float64),
        np.array([np.nan if row.mib is None else row.mib for row in rows], np.float64),
        [row.exchange for row in rows],
    )
