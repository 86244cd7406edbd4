"""Orders of a graph whose sizes depend on a length: one order for each range of lengths."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import whole
from ._documents import Document, instance_of, plan_of
from ._errors import VerificationError


class OrderRow(NamedTuple):
    """The order of a range of lengths, both ends included (instances/order).

    Attributes:
        from_tokens, to_tokens: the range.
        peak_bytes_at_from, peak_bytes_at_to: the peak at the ends of the range; in between, the
            peak is at most the linear interpolation.
        bound_bytes_at_from, bound_bytes_at_to: no plan has a smaller peak.
        bound_operator: the operator whose step needs the bound (-1: all inputs, -2: the tensors
            left at the end).
        order: int64, indices of operators in the order of execution; an index that occurs again
            runs again.
    """

    from_tokens: int
    to_tokens: int
    peak_bytes_at_from: int
    peak_bytes_at_to: int
    bound_bytes_at_from: int
    bound_bytes_at_to: int
    bound_operator: int
    order: NDArray[np.int64]


class OrderRows:
    """The rows of a verified order plan, and the selection of the row for a length. Threads may
    share it.

    Args:
        instance: with `tokens`, as a dictionary or a path.
        plan: a plan of this instance, or an outcome with a plan, as a dictionary or a path.

    `rows[k]` is the k-th OrderRow in the order of ascending lengths. The rows cover all lengths of
    `tokens`. The object can be pickled. Raises InputError; VerificationError for an invalid plan or
    a plan of another instance; ValueError for an instance without `tokens`.
    """

    def __init__(self, instance: Document, plan: Document) -> None:
        given = instance_of(instance)
        its = plan_of(plan, given)
        if violations := _core.verify(given, its):
            raise VerificationError(violations)
        if its.family != "order" or not _core.order_rows(its):
            raise ValueError("instance: must be of the problem order and have `tokens`")
        self._keep(its)

    def _keep(self, plan: _core.Plan) -> None:
        self._plan = plan
        self._rows = [OrderRow(*row) for row in _core.order_rows(plan)]

    def row_at(self, tokens: int) -> OrderRow:
        """Returns the row that contains this length, by bisection. Raises ValueError if no row
        does."""
        index = _core.row_index(self._plan, whole(tokens, "tokens"))
        if index < 0:
            raise ValueError(
                f"tokens: must be from {self._rows[0].from_tokens} to {self._rows[-1].to_tokens}, "
                f"is {tokens}"
            )
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> OrderRow:
        return self._rows[whole(index, "index")]

    def __iter__(self) -> Iterator[OrderRow]:
        return iter(self._rows)

    def __repr__(self) -> str:
        first, last = self._rows[0].from_tokens, self._rows[-1].to_tokens
        return f"<OrderRows {len(self)} of {first} to {last} tokens>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._plan.to_json(),)


def _again(plan: str) -> OrderRows:
    """Rebuilds the rows when unpickling; the plan was verified before."""
    rows = OrderRows.__new__(OrderRows)
    rows._keep(_core.read_plan(plan, None))
    return rows
