"""Plans for DeepSpeed-Ulysses: attention on another group of ranks for each packed row.

groups = UlyssesGroups(cluster)
...
groups.use(model, batch)     # before the forward pass of each row
"""

from __future__ import annotations

from typing import Optional, Sequence, Union

import torch.distributed as dist
from deepspeed.sequence.layer import DistributedAttention
from torch import nn

from ._cluster import Cluster
from ._trainer_step import Batch
from .torch import Groups, PackedBatch


class UlyssesGroups(Groups):
    """stowage.torch.Groups, and a group of each rank alone, for DistributedAttention wants one.

    Every rank must make it, at the same place of its program, after init_process_group(). Rows are cut
    by PackedCollator(slice="contiguous"); heads divide by the largest degree.
    """

    def __init__(self, cluster: Cluster, ranks: Optional[Sequence[int]] = None) -> None:
        super().__init__(cluster, ranks)
        own = range(cluster.devices) if ranks is None else ranks
        self._alone = {rank: dist.new_group([own[rank]]) for rank in range(cluster.devices)}

    def group_of(self, batch: Union[PackedBatch, Batch]) -> dist.ProcessGroup:
        """The group that computes `batch`, also where that is one rank."""
        return self[batch] or self._alone[batch.ranks[0]]

    def use(self, model: nn.Module, batch: Union[PackedBatch, Batch]) -> None:
        """Sets the group of every DistributedAttention in `model`, the backward pass included."""
        group = self.group_of(batch)
        for module in model.modules():
            if isinstance(module, DistributedAttention):
                module.spg = group
