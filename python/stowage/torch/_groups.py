"""The process groups of torch.distributed for the plans of a cluster."""

from __future__ import annotations

from typing import Optional, Sequence, Union

import torch.distributed as dist

from .._arguments import require
from .._cluster import Cluster
from .._trainer_step import Batch
from ._batch import PackedBatch


class Groups:
    """The process groups for all groups that plans of a cluster can contain, created once.

    Every rank must construct it at the same place of its program. `groups[batch]` is the group of a
    PackedBatch or Batch, or None for a single rank. N aligned ranks have N - 1 groups. Raises
    ValueError for a cluster that is not aligned, which would have too many groups.
    """

    def __init__(self, cluster: Cluster, ranks: Optional[Sequence[int]] = None) -> None:
        """`ranks` are the ranks of torch.distributed for the cluster's devices, default 0 to N - 1."""
        require(cluster, Cluster, "cluster")
        if not cluster.aligned:
            raise ValueError("groups of a cluster that is not aligned may begin at any rank")
        own = range(cluster.devices) if ranks is None else ranks
        if len(own) != cluster.devices:
            raise ValueError(f"ranks: must be {cluster.devices}, are {len(own)}")
        self._first = {rank: first for first, rank in enumerate(own)}
        self._groups: dict[tuple[int, int], dist.ProcessGroup] = {}
        for degree in cluster.degrees:
            if degree == 1:
                continue
            for first in range(0, cluster.devices - degree + 1, degree):
                members = [own[rank] for rank in range(first, first + degree)]
                self._groups[first, degree] = dist.new_group(members)

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, batch: Union[PackedBatch, Batch]) -> Optional[dist.ProcessGroup]:
        if batch.degree <= 1:
            return None
        group = self._groups.get((batch.ranks[0], batch.degree))
        if group is None:
            raise KeyError(
                f"no group of {batch.degree} ranks begins at {batch.ranks[0]}: make the groups of the cluster "
                "of the plans"
            )
        return group

    def widest(self, rank: int) -> Optional[tuple[int, ...]]:
        """Returns the devices of the widest group of a rank of torch.distributed, its own device alone if
        it shares no row, and None if it is no device of the cluster."""
        place = self._first.get(rank)
        if place is None:
            return None
        for degree in sorted({degree for _, degree in self._groups}, reverse=True):
            if (place // degree * degree, degree) in self._groups:
                return tuple(range(place // degree * degree, (place // degree + 1) * degree))
        return (place,)
