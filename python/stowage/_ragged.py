"""Lists of arrays of different lengths, stored in two flat arrays."""

from __future__ import annotations

from typing import Any, Generic, Iterator, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._arguments import whole

Number = TypeVar("Number", bound=np.generic)


class Ragged(Generic[Number]):
    """`ragged[b]` is a view of `values` from `offsets[b]` to `offsets[b + 1]`.

    values: [sum of the lengths], of any type. offsets: int64 [count + 1], ascending from 0.
    """

    __slots__ = ("values", "offsets")

    def __init__(self, values: NDArray[Number], offsets: NDArray[np.int64]) -> None:
        self.values = values
        self.offsets = offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[Number]:
        index = whole(index, "index")
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"index {index} of {count} arrays")
        index %= count
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[NDArray[Number]]:
        for index in range(len(self)):
            yield self[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ragged):
            return NotImplemented
        return bool(
            np.array_equal(self.values, other.values)
            and np.array_equal(self.offsets, other.offsets)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Ragged({self.tolist()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Ragged, (self.values, self.offsets)

    def tolist(self) -> list[list[Any]]:
        """Returns the arrays as lists of Python numbers."""
        values = self.values.tolist()
        offsets = self.offsets.tolist()
        return [values[begin:end] for begin, end in zip(offsets, offsets[1:])]
