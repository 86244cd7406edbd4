"""The time that a trainer's distribution of a step loses, with a proof."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional

from . import _core
from ._arguments import each_of, number, require, whole
from ._cluster import Cluster
from ._errors import InputTypeError
from ._lengths import Integers, as_integers


class Audit(NamedTuple):
    """The verdict on a trainer's distribution of a step.

    Attributes:
        now: cost of the trainer's slowest rank; of `sample_id_groups` the time of its step in ms.
        planned: the same of a verified plan; `now` if no plan is cheaper.
        lower_bound: no distribution has less.
        bound_by: the name of the bound.
        lost_at_least: share of `now` that the plan saves.
        lost_at_most: share of `now` above the bound.
        line: the line of code that changes the trainer's distribution.
        plan: ids of the plan, nested like the work: by rank and row, or by micro-batch and rank.
    """

    now: float
    planned: float
    lower_bound: float
    bound_by: str
    lost_at_least: float
    lost_at_most: float
    line: str
    plan: list[list[list[int]]]

    def __str__(self) -> str:
        """Returns the verdict as a sentence."""
        least, most = 100 * self.lost_at_least, 100 * self.lost_at_most
        return f"loses at least {least:.1f} %, at most {most:.1f} %; this changes it: {self.line}"


def audit(
    lengths: Integers,
    *,
    rows: Any = None,
    partition: Any = None,
    batch_rebalance: Any = None,
    sample_id_groups: Any = None,
    cluster: Optional[Cluster] = None,
    max_tokens: Optional[int] = None,
    quadratic: int = 1,
    linear: int = 24576,
    time_limit: float = 1.0,
) -> Audit:
    """Compares a trainer's distribution of one step with a plan and a lower bound.

    Ids are places in `lengths`; each stands once. Exactly one of the four kinds of work is given.

    Args:
        lengths: tokens of the sequences, integers [K].
        rows: `[rank][row]`, the ids of each packed row.
        partition: `[rank]`, the ids of each rank, as functions of verl return them.
        batch_rebalance: `[rank][micro-batch]`, the ids that BatchRebalanceSampler of transformers
            yields. A micro-batch is padded to its longest sequence.
        sample_id_groups: `[micro-batch][rank]`, the ids that schedulers of Megatron-LM return. Ranks of
            a group have equal lists.
        cluster: of sample_id_groups: memory and cost. Default: the preset gpt-7b with as many devices
            as ranks, without a limit on memory.
        max_tokens: most tokens of a row of the plan; default those of the largest row of the work.
        quadratic, linear: a sequence of s tokens costs quadratic s^2 + linear s, without a unit.
        time_limit: seconds of the search for groups; other work takes milliseconds.

    The slowest rank decides the time of a step; rows of a rank run one after another. Separate code
    verifies the verdict. Raises InputTypeError, ValueError for a negative time_limit, and InputError
    (E357: ids that do not stand once).
    """
    tokens = as_integers(lengths, "lengths")
    given = {
        "rows": rows,
        "partition": partition,
        "batch_rebalance": batch_rebalance,
        "sample_id_groups": sample_id_groups,
    }
    kinds = [name for name, work in given.items() if work is not None]
    if len(kinds) != 1:
        raise InputTypeError(f"audit: must have one of {', '.join(given)}, has {len(kinds)}")
    kind = kinds[0]
    if not number(time_limit, "time_limit") >= 0:
        raise ValueError(f"time_limit: must be at least 0 seconds, is {time_limit}")
    depth = 1 if kind == "partition" else 2
    ids = _nested(given[kind], kind, depth)
    instance = None
    if kind == "sample_id_groups":
        instance = _instance(cluster, len(ids[0]) if ids else 1)
    elif cluster is not None:
        raise InputTypeError("cluster: has no effect without sample_id_groups")
    found = _core.audit(
        json.dumps({"lengths": tokens.tolist(), kind: ids}),
        instance,
        None if max_tokens is None else whole(max_tokens, "max_tokens"),
        whole(quadratic, "quadratic"),
        whole(linear, "linear"),
        number(time_limit, "time_limit"),
    )
    return Audit(*found)


def _nested(given: Any, name: str, depth: int) -> list[Any]:
    """Returns lists of integers in lists of that depth."""
    if depth == 0:
        ids: list[Any] = as_integers(given, name).tolist()
        return ids
    return [
        _nested(each, f"{name}[{at}]", depth - 1) for at, each in enumerate(each_of(given, name))
    ]


def _instance(cluster: Optional[Cluster], ranks: int) -> _core.Instance:
    if cluster is None:
        cluster = Cluster.preset("gpt-7b", devices=max(ranks, 1), memory_mib=1e9, pad_multiple=1)
    require(cluster, Cluster, "cluster")
    return cluster._instance
