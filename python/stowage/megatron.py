"""Plans for Megatron-LM: its hybrid context parallelism, and its packing schedulers.

    stowage.megatron.use(planner)        # before HybridCPDataLoaderWrapper is made
    stowage.megatron.register(planner, "default_dynamic_cp")   # in the place of Megatron's scheduler
    torchrun ... -m stowage.megatron --cluster cluster.json pretrain_gpt.py ...   # registers, then runs

Hybrid context parallelism is that of megatron-core 0.16. It runs the sequences of a rank one by one, on
groups whose sizes are powers of two, and ends a micro-batch with a barrier. Packing schedulers are in
Megatron-LM itself, and in no release of megatron-core up to 0.19. Branch dev trains with them and accepts
only its own names of schedulers; branch main has the schedulers without an option for them.
"""

from __future__ import annotations

import sys

# must run before Megatron is imported, which may be in the script's directory
if __name__ == "__main__":
    from ._megatron.run import main

    sys.exit(main())

from typing import Any, Optional, Union

import torch
from megatron.core.datasets import data_schedule
from megatron.core.packed_seq_params import PackedSeqParams
from megatron.core.pipeline_parallel.hybrid_cp_schedule import BalancedCPScheduler

from ._arguments import require
from ._megatron.packing import add_choice as add_choice
from ._megatron.packing import register as register
from ._megatron.scheduler import PackingScheduler as PackingScheduler
from ._megatron.scheduler import require_same_plans
from ._planner import Planner
from ._trainer_step import Batch
from .torch import PackedBatch


class HybridCPScheduler(BalancedCPScheduler):  # type: ignore[misc]
    """Replaces BalancedCPScheduler. It takes the planner, and then the arguments of
    BalancedCPScheduler.

    The planner's cluster must have as many devices as `dp_cp_group` has ranks, all powers of two as
    degrees, and at most `max_seq_len_per_rank` tokens on a device. The planner must have no time limit
    and omit no sample. Raises ValueError otherwise.
    """

    def __init__(
        self,
        planner: Planner,
        max_seq_len_per_rank: int,
        dp_cp_group: torch.distributed.ProcessGroup,
    ) -> None:
        super().__init__(max_seq_len_per_rank, dp_cp_group)
        require_same_plans(planner)
        cluster = planner.cluster
        ranks = dp_cp_group.size()
        powers = tuple(1 << bit for bit in range(ranks.bit_length()))
        if ranks != powers[-1] or cluster.devices != ranks or cluster.degrees != powers:
            raise ValueError(
                f"planner: must be of {ranks} devices, a power of two, and of all degrees {powers}, "
                f"is of {cluster.devices} and {cluster.degrees}"
            )
        if cluster.tokens_per_device > max_seq_len_per_rank:
            raise ValueError(
                f"planner: a device must hold at most max_seq_len_per_rank, {max_seq_len_per_rank} "
                f"tokens, holds {cluster.tokens_per_device}: lower memory_mib"
            )
        self.planner = planner

    def get_groups_and_subsamples(
        self, sample_id_seqlens: list[tuple[int, int]], config: Any
    ) -> tuple[list[list[list[int]]], list[list[list[int]]]]:
        """Returns the lengths and the ids of the sequences of each micro-batch and rank.

        Megatron requires that every rank has a sequence in the last micro-batch. So groups are
        widened if ranks would idle.
        """
        ids = [sample for sample, _ in sample_id_seqlens]
        length_of = dict(sample_id_seqlens)
        step = self.planner.plan([length for _, length in sample_id_seqlens], ids=ids)
        groups = []
        for m in range(step.micro_batches):
            idle = bool((step.schedule[:, m] < 0).any())
            batches = [
                step.batch(b) for b in range(len(step.sequences)) if step.micro_batch[b] == m
            ]
            groups.append((idle, [(batch.degree, batch.sequences.tolist()) for batch in batches]))
        groups.sort(key=lambda group: not group[0])  # groups without idle ranks last
        samples = [self._by_rank(batches) for _, batches in groups[:-1]]
        samples.append(self._by_rank(_widened(groups[-1][1], step.ranks)))
        return [[[length_of[i] for i in own] for own in ranks] for ranks in samples], samples

    def _by_rank(self, batches: list[tuple[int, list[int]]]) -> list[list[int]]:
        """Returns the ids of each rank. The widest groups come first, so that each begins at a
        multiple of its width."""
        ranks: list[list[int]] = []
        for degree, ids in sorted(batches, key=lambda batch: -batch[0]):
            ranks.extend(list(ids) for _ in range(degree))
        ranks.extend([] for _ in range(self.total_hdp_gpus - len(ranks)))
        return ranks


def _widened(batches: list[tuple[int, list[int]]], ranks: int) -> list[tuple[int, list[int]]]:
    """Returns groups that use all ranks: the narrowest group is doubled until they do.

    All widths and `ranks` are powers of two, so the number of free ranks is a multiple of the
    narrowest width.
    """
    own = list(batches)
    while sum(degree for degree, _ in own) < ranks:
        narrowest = min(range(len(own)), key=lambda k: own[k][0])
        degree, ids = own[narrowest]
        own[narrowest] = (2 * degree, ids)
    return own


def use(planner: Planner) -> None:
    """Makes HybridCPDataLoaderWrapper plan with `planner` from now on, in this process."""
    require(planner, Planner, "planner")

    def scheduler(
        max_seq_len_per_rank: int, dp_cp_group: torch.distributed.ProcessGroup
    ) -> HybridCPScheduler:
        return HybridCPScheduler(planner, max_seq_len_per_rank, dp_cp_group)

    data_schedule.BalancedCPScheduler = scheduler


def packed_seq_params(
    batch: Union[PackedBatch, Batch],
    group: Optional[torch.distributed.ProcessGroup],
    device: Any = None,
) -> PackedSeqParams:
    """Returns Megatron's parameters of a packed row, "thd", for attention on `group`
    (stowage.torch.Groups)."""
    own = torch.tensor(batch.cu_seqlens.tolist(), dtype=torch.int32, device=device)
    padded = torch.tensor(batch.cu_seqlens_padded.tolist(), dtype=torch.int32, device=device)
    return PackedSeqParams(
        qkv_format="thd",
        cu_seqlens_q=own,
        cu_seqlens_kv=own,
        cu_seqlens_q_padded=padded,
        cu_seqlens_kv_padded=padded,
        max_seqlen_q=batch.max_seqlen,
        max_seqlen_kv=batch.max_seqlen,
        local_cp_size=batch.degree,
        cp_group=group,
    )
