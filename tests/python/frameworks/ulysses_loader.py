"""Run by torchrun: checks that UlyssesDataLoader gives the rows of DeepSpeed's own adapter, on one
group of all ranks.

The adapter gets the whole rows, with labels that it shifts itself, and cuts them for its group.
"""

import deepspeed
import torch
import torch.distributed as dist
from deepspeed.runtime.sequence_parallel.ulysses_sp import UlyssesSPDataLoaderAdapter
from deepspeed.sequence.layer import DistributedAttention
from torch.utils.data import DataLoader

import stowage
from stowage.deepspeed import UlyssesDataLoader, UlyssesGroups
from stowage.torch import PackedCollator, StepBatchSampler
from planned_loader import CLUSTER, LENGTHS, Documents

deepspeed.comm.init_distributed("gloo", auto_mpi_discovery=False)
rank, ranks = dist.get_rank(), dist.get_world_size()
model = torch.nn.Sequential(DistributedAttention(torch.nn.Identity(), dist.group.WORLD))


def delivered(cluster):
    """Returns this rank's rows of an epoch, and the ranks of the groups used for them."""
    sampler = StepBatchSampler(LENGTHS, stowage.Planner(cluster), rank=rank, global_batch_size=20)
    collator = PackedCollator(sampler, pad_token_id=7, slice="contiguous")
    loader = DataLoader(Documents(), batch_sampler=sampler, collate_fn=collator)
    rows, groups = [], []
    for _, own in UlyssesDataLoader(loader, UlyssesGroups(cluster), model):
        for row in own:
            rows.append(row)
            groups.append((row["batch"].ranks, dist.get_process_group_ranks(model[0].spg)))
    return rows, groups


# One group of all ranks in every micro-batch, which the adapter supports.
wide = CLUSTER.replace(degrees=[4])
rows, _ = delivered(wide)
sampler = StepBatchSampler(LENGTHS, stowage.Planner(wide), rank=rank, global_batch_size=20)
collator = PackedCollator(sampler, pad_token_id=7, slice=None, shift=False)
whole = []
for _, batches in sampler.steps_with(
    DataLoader(Documents(), batch_sampler=sampler, collate_fn=collator)
):
    for batch in batches:
        names = ("input_ids", "position_ids", "labels")
        whole.append({name: getattr(batch, name) for name in names})
adapter = UlyssesSPDataLoaderAdapter(whole, rank, dist.group.WORLD, ranks, "cpu")
assert len(rows) == len(whole)
for row in rows:
    for _ in range(ranks):  # it gathers the row of every rank, which are the same one here
        theirs = next(adapter)
    for name in ("input_ids", "position_ids", "shift_labels"):
        assert torch.equal(row[name], theirs[name]), (name, row[name], theirs[name])

# Groups of varying size, as planned, which the adapter does not support.
rows, groups = delivered(CLUSTER)
assert all(list(planned) == used for planned, used in groups)
everywhere = [None] * ranks
dist.all_gather_object(everywhere, [len(planned) for planned, _ in groups])
if rank == 0:
    degrees = sorted(set(sum(everywhere, [])))
    print(f"{ranks} ranks, {len(whole)} rows as DeepSpeed cuts them, degrees {degrees}", flush=True)
dist.barrier()
dist.destroy_process_group()
