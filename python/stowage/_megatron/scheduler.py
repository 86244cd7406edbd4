"""A packing scheduler with the interface of Megatron-LM's, for Megatron-LM itself and for verl.

A trainer constructs a scheduler for every step from its configuration. The scheduler returns the samples
that each rank packs in each micro-batch. Each rank plans on its own, and all ranks get the same plan.
"""

from __future__ import annotations

import sys
from typing import Any, Optional

from .._arguments import require
from .._planner import Planner


class PackingScheduler:
    """The base class that stowage.megatron.register() adds to Megatron's own scheduler. It plans by
    the rules of Megatron's data path.

    In every micro-batch every rank has work. Groups are sorted by size and have the sizes of Megatron's
    process groups (powers of two that divide the ranks, and all ranks), the tokens of a rank are at most
    `max_seqlen_per_dp_cp_rank`, and the number of micro-batches is a multiple of
    `microbatch_group_size_per_vp_stage`. Memory and cost are those of the planner's cluster. Lengths are
    Megatron's, rounded up to the cluster's pad_multiple. If a branch of Megatron aligns the sequences of
    a pack, pad_multiple must be that alignment.
    """

    planner: Planner  # set on the class that is made of this one
    is_dynamic_cp: bool

    def __init__(
        self,
        max_seqlen_per_dp_cp_rank: int,
        cp_size: int,
        dp_size: int,
        microbatch_group_size_per_vp_stage: Optional[int] = None,
        *,
        max_num_seqs: Optional[int] = None,
        min_cp_size: int = 1,
        **more: Any,
    ) -> None:
        """Takes the arguments of Megatron's schedulers, including `max_num_seqs` and `min_cp_size`."""
        own = {} if max_num_seqs is None else {"max_num_seqs": max_num_seqs}
        super().__init__(  # type: ignore[call-arg]
            max_seqlen_per_dp_cp_rank,
            cp_size,
            dp_size,
            microbatch_group_size_per_vp_stage,
            **own,
            **more,
        )
        cluster = self.planner.cluster
        if cluster.devices != cp_size * dp_size:
            raise ValueError(
                f"planner: must be of the {cp_size * dp_size} ranks that share data and context, "
                f"is of {cluster.devices} devices"
            )
        self.is_dynamic_cp = True
        self._cp_size = cp_size
        self._rules = {
            "no_idle_ranks": True,
            "sorted_groups": True,
            "max_tokens_per_rank": max_seqlen_per_dp_cp_rank,
            "micro_batches_multiple_of": microbatch_group_size_per_vp_stage or 1,
            "max_sequences_per_group": max_num_seqs,
            "min_degree": min_cp_size,
        }

    def run(self, *arguments: Any, **more: Any) -> Any:
        """Calls Megatron's run() with values that only the configuration, its last argument,
        contains."""
        config = more.get("config", arguments[-1] if arguments else None)
        self.is_dynamic_cp = bool(getattr(config, "dynamic_context_parallel", True))
        least = getattr(config, "min_dynamic_context_parallel_size", None)
        self._rules["min_degree"] = least or self._rules["min_degree"]
        most = _most_sequences(config) or self._rules["max_sequences_per_group"]
        self._rules["max_sequences_per_group"] = most
        return super().run(*arguments, **more)  # type: ignore[misc]

    def get_groups_and_subsamples(
        self, sample_id_seqlens: list[tuple[int, int]]
    ) -> list[list[list[int]]]:
        """Returns the ids of each rank's samples, by micro-batch and rank, for the list [(id,
        padded length)].

        Raises the exceptions of Planner.plan(): Infeasible, for instance, for fewer samples than
        groups.
        """
        step = self._planner().plan(
            [length for _, length in sample_id_seqlens], ids=[own for own, _ in sample_id_seqlens]
        )
        ids = step.sequences.tolist()
        return [[list(ids[b]) for b in ranks] for ranks in step.schedule.T.tolist()]

    def _planner(self) -> Planner:
        """Returns the planner with the rules of this run, and with a single degree if all groups
        have one size."""
        own, rules = self.planner, dict(self._rules)
        if self.is_dynamic_cp:
            degrees = _sizes_of_groups(own.cluster.devices, own.cluster.degrees)
        else:
            degrees, rules["min_degree"] = [self._cp_size], 1
        cluster = own.cluster.replace(degrees=degrees, **rules)
        return Planner(cluster, **own.search._asdict())


def _most_sequences(config: Any) -> Optional[int]:
    """Returns the largest number of sequences of a row, without the sequence that Megatron appends
    for padding; None for no limit."""
    data_schedule = sys.modules.get("megatron.core.datasets.data_schedule")
    theirs = getattr(data_schedule, "_get_scheduler_max_real_num_seqs", None)
    most = theirs(config) if theirs else getattr(config, "thd_max_packed_sequences", None)
    return None if most is None else int(most)


def _sizes_of_groups(ranks: int, degrees: tuple[int, ...]) -> list[int]:
    """Returns the degrees for which Megatron has process groups."""
    sizes = [d for d in degrees if d == ranks or (ranks % d == 0 and d & (d - 1) == 0)]
    if not sizes:
        raise ValueError(
            f"planner: degrees must have a power of two that divides {ranks}, or {ranks}, "
            f"are {degrees}"
        )
    return sizes


def require_same_plans(planner: Planner) -> None:
    """Raises ValueError for a planner whose plans depend on the machine or omit samples."""
    require(planner, Planner, "planner")
    if planner.search.time_limit is not None:
        raise ValueError(
            "planner: every rank plans by itself: set node_limit in place of time_limit"
        )
    if planner.on_oversize != "raise":
        raise ValueError(f'planner: on_oversize must be "raise", is "{planner.on_oversize}"')
