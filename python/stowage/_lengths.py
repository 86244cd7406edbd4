"""Checks of integer arrays from callers: lengths in tokens, ids, loss tokens."""

from __future__ import annotations

from typing import Any, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._errors import InputError, InputTypeError

#: A 1-d array, list or CPU tensor of integers.
Integers = Union[NDArray[Any], Sequence[int], Any]


def as_integers(given: Integers, name: str) -> NDArray[np.int64]:
    """Returns `given` as int64 [count], without a copy if it already has that type.

    Raises InputTypeError for floats, bools, objects, tensors on a device, and arrays that are not
    1-d; InputError for integers beyond 64 bits.
    """
    device = getattr(given, "device", None)
    if getattr(device, "type", "cpu") != "cpu":
        raise InputTypeError(
            f"{name}: must be in the memory of the CPU, is on {device}; use {name}.cpu()"
        )
    try:
        array = np.asarray(given)
    except ValueError as ragged:
        raise InputTypeError(f"{name}: must be 1-d, is a list of lists: {ragged}") from None
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InputTypeError(f"{name}: must have no masked entries; use {name}.compressed()")
    if array.ndim == 0:
        raise InputTypeError(
            f"{name}: must be an array, a list or a CPU tensor of integers, is of the type "
            f"{type(given).__name__}; use numpy.array(list({name}))"
        )
    if array.ndim != 1:
        raise InputTypeError(
            f"{name}: must be 1-d, has the shape {array.shape}; use {name}.reshape(-1)"
        )
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iu":
        raise InputTypeError(
            f"{name}: must be integers, are {array.dtype}; {name}[0] is {array[0]!r}; use "
            f"numpy.asarray({name}, dtype=numpy.int64)"
        )
    if array.dtype == np.uint64 and (large := np.flatnonzero(array > np.uint64(2**63 - 1))).size:
        at = int(large[0])
        raise InputError([("E205", f"/{name}/{at}", f"must be below 2^63, is {array[at]}")])
    return np.ascontiguousarray(array, np.int64)
