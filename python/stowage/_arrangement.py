"""Plans an order and the offsets of its tensors together."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional

from . import _core
from ._documents import Document, instance_of, plan_of
from ._errors import VerificationError
from ._search import Search, in_main_thread


class Arrangement(NamedTuple):
    """The result of arrange(). Documents are dictionaries, and all of them are verified.

    Attributes:
        order: the stowage/plan of the graph.
        buffers: the layout instance that `stowage convert --plan` makes of the order.
        layout: the stowage/plan of the buffers, whose `offsets` are in bytes; None if no layout
            fits in the graph's capacity.
        needed_bytes: peak of the best layout, even if it exceeds the capacity; None without a
            layout.
        orders: number of orders that were laid out.
        stopped_by: "proof" (the layout reaches the plan's claimed bound), "gap" (the layout reaches
            the order's peak, or the capacity if the objective is time), "heuristic_end", or a
            limit.
        detail: the reason why there is no layout, if that is not a limit.
    """

    order: dict[str, Any]
    buffers: dict[str, Any]
    layout: Optional[dict[str, Any]]
    needed_bytes: Optional[int]
    orders: int
    stopped_by: str
    detail: str


def arrange(
    instance: Document,
    plan: Document,
    *,
    time_limit: Optional[float] = 10.0,
    node_limit: Optional[int] = None,
    seed: int = 0,
) -> Arrangement:
    """Lays out the tensors of an order, and tries other orders if the layout has gaps.

    The other orders have the same peak and need less memory at other steps. Most of them have a
    layout without gaps. An order with recomputation or offloading is laid out without trying other
    orders.

    Args:
        instance: an instance of the problem order.
        plan: a plan of it, or an outcome with a plan.
        time_limit: wall-clock seconds; None for no limit.

    Raises InputError; VerificationError for an invalid plan; ValueError for another problem. The
    first Ctrl-C ends the search with the best layout, the second raises KeyboardInterrupt.
    """
    given = instance_of(instance)
    if given.family != "order":
        raise ValueError(f"instance: must be of the problem order, is of {given.family}")
    its = plan_of(plan, given)
    if violations := _core.verify(given, its):
        raise VerificationError(violations)
    search = Search.of("auto", time_limit, node_limit, 0.0, seed, "auto")
    search.check(given)
    interrupt = _core.Interrupt()
    found = _core.arrange(given, its, search.arguments(), interrupt, in_main_thread())
    if interrupt.signals > 1:
        raise KeyboardInterrupt
    return documents_of(found)


def documents_of(found: _core.Arrangement) -> Arrangement:
    """Returns the documents of an arrangement."""
    return Arrangement(
        json.loads(found.order.to_json()),
        json.loads(found.buffers.to_json()),
        None if found.layout is None else json.loads(found.layout.to_json()),
        found.needed_bytes,
        found.orders,
        found.stopped_by,
        found.detail,
    )
