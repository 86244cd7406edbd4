"""Plans several global batches together, whose sequences may change steps."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Iterable, Iterator, Mapping, Optional, Union

import numpy as np

from . import _core
from ._arguments import each_of, number, whole
from ._cluster import Cluster
from ._errors import InputError, InputTypeError
from ._lengths import Integers, as_integers
from ._step import Sequences

Batch = Union[Integers, Mapping[str, Any]]
_KEYS = ("lengths", "ids", "loss_tokens")


def batches_of(batches: Iterable[Batch]) -> list[dict[str, Any]]:
    """Returns each batch as arguments of Planner.plan(). Default ids count on from batch to batch.

    Raises ValueError if only some batches have loss tokens, if a batch has more or fewer ids than
    sequences, or if two sequences have one id.
    """
    given: list[dict[str, Any]] = []
    count = 0
    for at, batch in enumerate(each_of(batches, "batches")):
        own = dict(batch) if isinstance(batch, Mapping) else {"lengths": batch}
        unknown = sorted(set(own) - set(_KEYS))
        if unknown or "lengths" not in own:
            raise InputTypeError(
                f"batches[{at}]: must be lengths, or a mapping with lengths and perhaps ids and "
                f"loss_tokens, has the keys {', '.join(map(str, own)) or 'of nothing'}"
            )
        size = as_integers(own["lengths"], f"batches[{at}]").size
        if own.get("ids") is None:
            own["ids"] = np.arange(count, count + size)
        elif (ids := as_integers(own["ids"], "ids").size) != size:
            raise ValueError(
                f"ids: must be as many as lengths, are {ids} for the {size} of batches[{at}]"
            )
        count += size
        given.append(own)
    stating = [batch.get("loss_tokens") is not None for batch in given]
    if any(stating) and not all(stating):
        raise ValueError(
            "batches: all of them or none must have loss_tokens, which go with their sequences: "
            f"batches[{stating.index(False)}] has none"
        )
    seen: dict[int, int] = {}  # the batch of each id
    for at, batch in enumerate(given):
        for own_id in as_integers(batch["ids"], "ids").tolist():
            if own_id in seen:
                raise ValueError(
                    "ids: must be unique in the window, because sequences change steps; "
                    f"{own_id} is of batches[{seen[own_id]}] and of batches[{at}]"
                )
            seen[own_id] = at
    return given


@contextlib.contextmanager
def errors_of(batch: int) -> Iterator[None]:
    """Adds the place of a batch to input errors."""
    try:
        yield
    except InputError as wrong:
        entries = [(code, f"/batches/{batch}{at}", said) for code, at, said in wrong.errors]
        raise InputError(entries) from None


def rule_of(steps: int, delay: Optional[int], token_spread: Optional[float]) -> tuple[int, float]:
    """Returns the delay and the token spread of a window. Raises ValueError for values out of range."""
    most = max(steps - 1, 0)
    late = most if delay is None else whole(delay, "delay")
    if late < 0:
        raise ValueError(f"delay: must be at least 0 steps, is {late}")
    spread = math.inf if token_spread is None else number(token_spread, "token_spread")
    if not spread >= 1:
        raise ValueError(f"token_spread: must be at least 1, is {spread}")
    return min(late, most), spread  # no window has a step later than its last


def instances_of(
    cluster: Cluster, batches: list[tuple[Any, Any, Sequences]]
) -> list[_core.Instance]:
    """Returns the instance of each batch of lengths, loss tokens and ids."""
    return [
        cluster._instance.with_lengths(lengths, targets, cluster.name)
        for lengths, targets, _ in batches
    ]


def dealt(drawn: list[Sequences], step: int, steps: Any, indices: Any) -> Sequences:
    """Returns the ids of a step whose sequences were drawn with these steps and indices.

    Omitted sequences stay with the batch that they were drawn in.
    """
    ids = np.array([drawn[s].ids[i] for s, i in zip(steps, indices)], np.int64)
    cut = np.concatenate([own.clipped for own in drawn])
    return Sequences(ids, drawn[step].dropped, ids[np.isin(ids, cut)])
