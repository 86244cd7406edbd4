"""Checks of arguments from callers: numbers, names and paths. Each error names its argument."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from ._errors import InputTypeError

if TYPE_CHECKING:
    from pathlib import Path


def whole(value: Any, name: str, bits: int = 63) -> int:
    """Returns an integer of Python or NumPy that fits in `bits` bits with a sign.

    Raises InputTypeError for another type, and ValueError for an integer that does not fit.
    """
    try:
        integer = operator.index(value)
    except TypeError:
        raise InputTypeError(f"{name}: must be an integer, is {value!r}") from None
    if not -(2**bits) <= integer < 2**bits:
        raise ValueError(f"{name}: must be from -2^{bits} to 2^{bits} - 1, is {_shown(integer)}")
    return integer


def number(value: Any, name: str) -> float:
    """Returns a number of Python or NumPy as a float. Raises InputTypeError for another type, and
    ValueError beyond 1.8e308."""
    try:
        return float(value + 0)
    except (TypeError, ValueError):
        raise InputTypeError(f"{name}: must be a number, is {value!r}") from None
    except OverflowError:
        raise ValueError(
            f"{name}: must be a number of at most 1.8e308, is {_shown(value)}"
        ) from None


def _shown(value: Any) -> str:
    """Returns a value as text; Python refuses to format integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    return str(value)


def text(value: Any, name: str) -> str:
    """Returns a str that can be encoded in UTF-8. Raises InputTypeError for anything else."""
    if not isinstance(value, str):
        raise InputTypeError(f"{name}: must be a text, is {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputTypeError(f"{name}: must be Unicode text, is {value!r}") from None
    return value


def path_of(value: Any, name: str) -> Path:
    """Returns a path as text. Raises InputTypeError for another type or for text that is not
    Unicode."""
    try:
        found = os.fspath(value)
    except TypeError:
        found = value
    if not isinstance(found, str):
        raise InputTypeError(f"{name}: must be the path of a file, is {_described(value)}")
    from pathlib import Path

    return Path(text(found, name))


def require(value: Any, kind: type, name: str) -> None:
    """Raises InputTypeError unless the value is an instance of the class `kind`."""
    if not isinstance(value, kind):
        raise InputTypeError(f"{name}: must be a {kind.__name__}, is {_described(value)}")


def each_of(value: Any, name: str) -> Iterator[Any]:
    """Returns the entries of an iterable. Raises InputTypeError for a text and for a value without
    entries."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return iter(value)
    raise InputTypeError(f"{name}: must be a list, or iterate otherwise, is {_described(value)}")


def _described(value: Any) -> str:
    return f"of the type {type(value).__name__}"
