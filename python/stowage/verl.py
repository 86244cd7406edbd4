"""Balanced partitions, micro-batches and dynamic context parallelism for verl.

    stowage.verl.use()                 # once, in the process that balances batches
    stowage.verl.use(dynamic_cp=planner)  # and plans for dynamic context parallelism

Written for verl 0.9. Its trainers distribute the samples of a step over data-parallel ranks, and each
rank distributes its samples over micro-batches below a token limit. This module replaces the functions
that do so.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Callable, Optional

import numpy as np
import torch
from numpy.typing import NDArray
from torch import distributed
from verl.utils import seqlen_balancing
from verl.utils import tensordict_utils
from verl.utils.device import get_device_name

from . import _core
from ._arguments import each_of, number, whole
from ._errors import InputError, InputTypeError
from ._megatron.scheduler import PackingScheduler, require_same_plans
from ._partition import MicroBatches, balanced_partitions, micro_batches
from ._planner import Planner

# Limit on the sum of a partition's costs.
_MOST = 2**53

_NAME = "get_seqlen_balanced_partitions"
_replaced = getattr(seqlen_balancing, _NAME)
_MICRO = "rearrange_micro_batches"
_their_micro = getattr(seqlen_balancing, _MICRO)


def get_seqlen_balanced_partitions(
    seqlen_list: Any, k_partitions: int, equal_size: bool
) -> list[list[int]]:
    """Replaces verl's function of that name. Returns k lists of ascending indices, none empty.

    Args:
        seqlen_list: the cost of each sample, numbers [K], a list or a tensor on any device; verl's
            trainers pass workloads. A cost of 0 counts as 1, or as the smallest representable
            difference. Costs that are not integers, or whose sum exceeds 2^53, are rounded to 2^-53 of
            their sum, the precision of float64 sums.
        k_partitions: number of lists, at most K.
        equal_size: if True, all lists have the same length, K / k_partitions, which must be an
            integer.

    Raises InputError where verl's function has an assertion: too few samples (E351), or a number of
    samples that is not a multiple of k_partitions (E352); and for costs that are not finite (E205).
    Raises InputTypeError for an argument that is not a list of numbers.
    """
    bins = whole(k_partitions, "k_partitions")
    if type(seqlen_list) is list and bins >= 0 and _sum_of_integers(seqlen_list) <= _MOST:
        lists = _core.balanced_lists(seqlen_list, bins, bool(equal_size))
        if lists is not None:
            return lists
    found = balanced_partitions(
        _integer_costs(seqlen_list),
        bins,
        counts="equal" if equal_size else "any",
        quadratic=0,
        linear=1,
    )
    return found.sequences.tolist()


def _sum_of_integers(costs: list[Any]) -> float:
    """Returns the sum of a list, or infinity if an entry is not an integer of Python."""
    try:
        total = sum(costs)
    except (TypeError, RuntimeError):
        return math.inf
    return total if type(total) is int else math.inf


def _integer_costs(given: Any) -> NDArray[np.int64]:
    """Returns costs as positive integers whose sum a partition may have: the costs themselves, or
    the costs times a power of two."""
    values = given.tolist() if hasattr(given, "tolist") else list(each_of(given, "seqlen_list"))
    if not isinstance(values, list):
        raise InputTypeError(f"seqlen_list: must be a list of numbers, is {given!r}")
    costs = np.array(
        [number(value, f"seqlen_list[{at}]") for at, value in enumerate(values)], np.float64
    )
    wrong = np.flatnonzero(~np.isfinite(costs))
    if wrong.size:
        raise InputError(
            ("E205", f"/seqlen_list/{at}", f"must be finite, is {costs[at]}") for at in wrong
        )
    costs = np.maximum(costs, 0)
    if np.maximum(costs, 1).sum() <= _MOST and (costs == np.rint(costs)).all():
        plain: NDArray[np.int64] = costs.astype(np.int64)
        return np.maximum(plain, 1)
    _, exponent = np.frexp(costs.max())
    shares = np.ldexp(costs, -exponent)  # at most 1
    room = (_MOST - 2 * costs.size) / shares.sum()
    scaled: NDArray[np.int64] = np.rint(np.ldexp(shares, int(np.log2(room)))).astype(np.int64)
    return np.maximum(scaled, 1)


def rearrange_micro_batches(
    batch: Any,
    max_token_len: int,
    dp_group: Any = None,
    num_batches_divided_by: Optional[int] = None,
    same_micro_num_in_dp: bool = True,
    min_num_micro_batch: Optional[int] = None,
    use_dynamic_bsz_balance: bool = True,
    force_group_size: int = 1,
) -> tuple[list[Any], list[list[int]]]:
    """Replaces verl's function of that name. Returns the micro-batches and the sample ids of each.

    Every micro-batch has at most `max_token_len` tokens, and their number is the least for which a
    packing is found: verl's function raises the number until its balanced partition fits.

    Args:
        batch: a TensorDict with `input_ids`, nested or with an `attention_mask`.
        max_token_len: most tokens of a micro-batch.
        dp_group, same_micro_num_in_dp: if torch.distributed is initialised, the ranks of the group
            agree on one number of micro-batches.
        num_batches_divided_by: the number is a multiple of it.
        min_num_micro_batch: least number.
        use_dynamic_bsz_balance: if True, the cheapest micro-batches come first and last, else
            micro-batches are sorted by their first sample.
        force_group_size: each so many consecutive samples share a micro-batch.

    Raises InputError on every rank of the group if one rank has a sample above the limit (E354), or
    fewer groups of samples than micro-batches (E355).
    """
    ids = batch["input_ids"]
    lengths = ids.offsets().diff() if ids.is_nested else batch["attention_mask"].sum(dim=1)
    lengths = lengths.cpu().numpy().astype(np.int64)

    def planned(at_least: int) -> MicroBatches:
        return micro_batches(
            lengths,
            1,
            max_token_len,
            multiple_of=num_batches_divided_by or 1,
            at_least=at_least,
            keep_together=force_group_size,
        )

    if distributed.is_initialized() and same_micro_num_in_dp and dp_group is not None:
        found = _agreed(planned, min_num_micro_batch or 1, dp_group)
    else:
        found = planned(min_num_micro_batch or 1)
    samples = found.of_rank(0)
    if use_dynamic_bsz_balance:
        samples = samples[::2][::-1] + samples[1::2]
    else:
        samples.sort()
    return [tensordict_utils.index_select_tensor_dict(batch, own) for own in samples], samples


def _agreed(planned: Callable[[int], MicroBatches], at_least: int, group: Any) -> MicroBatches:
    """Returns a plan with as many micro-batches as the plans of all ranks of the group. If one rank
    has no plan, raises InputError on all."""
    while True:
        found: Optional[MicroBatches] = None
        failure: Optional[InputError] = None
        try:
            found = planned(at_least)
        except InputError as error:
            failure = error
        count = found.per_rank if found else 0
        agreed = torch.tensor([count, -count, failure is not None], device=get_device_name())
        distributed.all_reduce(agreed, op=distributed.ReduceOp.MAX, group=group)
        most, least, failed = agreed.tolist()
        if failure is not None:
            raise failure
        if failed or found is None:
            raise InputError([("E355", "/ranks", "another rank of dp_group has no micro-batches")])
        if most == -least:
            return found
        at_least = most


class _Alone:
    """In the place of Megatron's scheduler, whose arguments it ignores."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        pass


def dynamic_cp_scheduler(planner: Planner) -> type:
    """Returns a class in the place of Megatron-Core's DefaultDynamicCPScheduler, which verl's
    dynamic_cp_scheduler constructs for each batch. No release of megatron-core needs to have one.

    The planner's cluster must have as many devices as data and context parallelism have ranks. Raises
    ValueError for planners whose plans depend on the machine or omit samples.
    """
    require_same_plans(planner)
    return type("StowageDynamicCPScheduler", (PackingScheduler, _Alone), {"planner": planner})


def use(dynamic_cp: Optional[Planner] = None) -> None:
    """Makes verl partition with stowage from now on, in this process.

    `rearrange_micro_batches`, `get_group_balanced_partitions` and the trainers' balancing of batches
    call it. Ray workers are separate processes, so call it in each worker.

    Args:
        dynamic_cp: the planner of dynamic context parallelism (dynamic_cp_scheduler()); None leaves
            verl's scheduler.
    """
    ours: dict[str, tuple[Any, Any]] = {
        _NAME: (_replaced, get_seqlen_balanced_partitions),
        _MICRO: (_their_micro, rearrange_micro_batches),
    }
    if dynamic_cp is not None:
        from verl.utils import dynamic_cp_scheduler as theirs

        made = dynamic_cp_scheduler(dynamic_cp)
        for name in (
            "get_megatron_dynamic_cp_scheduler_cls",
            "_get_megatron_dynamic_cp_scheduler_cls",
        ):
            if hasattr(theirs, name):
                ours[name] = (getattr(theirs, name), lambda: made)
    for module_name, module in list(sys.modules.items()):
        if module_name.split(".")[0] != "verl":
            continue
        for name, (old, new) in ours.items():
            if getattr(module, name, None) is old:
                setattr(module, name, new)
