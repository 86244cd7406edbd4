"""Planned global batches in a DataLoader of torch, and the process groups that they run on.

sampler = StepBatchSampler(lengths, planner, global_batch_size=512, rank=rank)
loader = stowage.torch.loader(dataset, sampler, PackedCollator(sampler, pad_token_id=0))
groups = Groups(planner.cluster)
for step, micro_batches in sampler.steps_with(loader):
    for batch in micro_batches:
        ...  # batch.input_ids [1, T / degree] on groups[batch]; every rank has a row
"""

from ._batch import IGNORED, PackedBatch
from ._groups import Groups
from ._loader import StepLoader, loader
from ._log import log
from ._offload import offloaded
from ._packed import PackedCollator, target_counts
from ._sampler import StepBatchSampler

__all__ = [
    "IGNORED",
    "Groups",
    "PackedBatch",
    "PackedCollator",
    "StepBatchSampler",
    "StepLoader",
    "loader",
    "log",
    "offloaded",
    "target_counts",
]
