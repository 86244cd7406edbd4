"""Run by torchrun: rank 0 plans within a time limit and broadcasts, and all ranks must see the same
steps.

Then every rank plans, and plans are compared: equal plans pass, different ones are an error on all
ranks.
"""

import torch.distributed as dist
from torch.utils.data import DataLoader

import stowage
from stowage.torch import PackedCollator, StepBatchSampler
from planned_loader import CLUSTER, LENGTHS, TARGETS, Documents

dist.init_process_group("gloo")
planner = stowage.Planner(CLUSTER, method="auto", time_limit=0.2)
sampler = StepBatchSampler(
    LENGTHS, planner, global_batch_size=20, loss_tokens=TARGETS, replicated=False
)
loader = DataLoader(
    Documents(), batch_sampler=sampler, collate_fn=PackedCollator(sampler, pad_token_id=0)
)
seen = []
for step, batches in sampler.steps_with(loader):
    list(batches)
    seen.append((step.to_bytes(), step.sequences.tolist(), step.loss_denominator))
    if len(seen) == 3:
        break
everywhere = [None] * dist.get_world_size()
dist.all_gather_object(everywhere, seen)
assert all(own == seen for own in everywhere)
if dist.get_rank() == 0:
    print(f"{dist.get_world_size()} ranks agree on {len(seen)} steps", flush=True)
planner.close()

for methods, expected in ((["fast"] * 4, True), (["fast", "fast", "batch-ada", "fast"], False)):
    own = stowage.Planner(CLUSTER, method=methods[dist.get_rank()])
    sampler = StepBatchSampler(LENGTHS, own, global_batch_size=20, compare=True)
    try:
        next(iter(sampler))
        assert expected
    except stowage.Error as different:
        assert not expected and "the ranks [2] have planned otherwise" in str(different)
dist.barrier()
dist.destroy_process_group()
