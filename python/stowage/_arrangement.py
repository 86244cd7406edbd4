"""An order and the offsets of its tensors, planned together."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional

from . import _core
from ._documents import Document, instance_of, plan_of
from ._errors import VerificationError
from ._search import Search, in_main_thread


class Arrangement(NamedTuple):
    """What arrange() found; documents are dictionaries, and verified.

    order: the stowage/plan of the graph. buffers: the layout instance that `stowage convert --plan`
    makes of it. layout: the stowage/plan of the buffers, whose `offsets` are where they lie, in
    bytes; None if none was found within the capacity of the graph. needed_bytes: by the best layout,
    within the capacity or not; None without any. orders: how many were laid out. stopped_by: "proof"
    (no more than the bound of the plan, whose word is taken for it), "gap" (no more than its peak, or
    than the capacity where the objective is time), "heuristic_end", or a limit. detail: why there is
    no layout where no limit is the reason.
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
    """Lays out the tensors of an order, and of other orders where they leave gaps.

    An order with a peak as low whose other steps need less mostly lies in no more than the peak.
    An order in which operators run again or tensors go to the host is laid out as it is.

    Args:
        instance: of the problem order. plan: of it, or an outcome that holds one.
        time_limit: seconds of wall clock; None for none.

    Raises InputError; VerificationError for a plan that is invalid; ValueError for another problem.
    The first Ctrl-C ends the search with the best layout, the second raises KeyboardInterrupt.
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
    return Arrangement(
        json.loads(found.order.to_json()),
        json.loads(found.buffers.to_json()),
        None if found.layout is None else json.loads(found.layout.to_json()),
        found.needed_bytes,
        found.orders,
        found.stopped_by,
        found.detail,
    )
