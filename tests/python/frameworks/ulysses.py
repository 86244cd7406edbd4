"""Run by torchrun: compares DeepSpeed's DistributedAttention on planned rows with attention on one
rank."""

import deepspeed.comm
import torch
import torch.distributed as dist
from deepspeed.sequence.layer import DistributedAttention
from torch.nn.functional import scaled_dot_product_attention


from stowage.deepspeed import UlyssesGroups
from planned_loader import CLUSTER, loader_of, sampler_of

HEADS, SIZE = 4, 8


class Packed(torch.nn.Module):
    """Causal attention [1, T, heads, size] within the sequences of a row."""

    starts: list

    def forward(self, query, key, value, *_, **__):
        parts = [
            scaled_dot_product_attention(
                *(x[:, a:b].transpose(1, 2) for x in (query, key, value)), is_causal=True
            ).transpose(1, 2)
            for a, b in zip(self.starts, self.starts[1:])
        ]
        return torch.cat(parts, dim=1)


def inputs_of(row):
    """Returns query, key and value of a whole row, the same on every rank."""
    torch.manual_seed(int(row[0]))
    return torch.randn(3, 1, row.size, HEADS, SIZE, dtype=torch.float64)


deepspeed.comm.init_distributed("gloo", auto_mpi_discovery=False)
rank = dist.get_rank()
groups = UlyssesGroups(CLUSTER)
local = Packed()
model = torch.nn.Sequential(DistributedAttention(local, dist.group.WORLD))
degrees = set()
sampler = sampler_of(rank)
for step, batches in sampler.steps_with(loader_of(sampler, "contiguous")):
    for batch in batches:
        if batch.filler:
            continue
        degrees.add(batch.degree)
        index = int(step.schedule[rank, batch.micro_batch])
        places = step.positions(index, rank, "contiguous")
        whole = inputs_of(step.position_ids(index) + batch.sequences[0])
        whole.requires_grad_()
        local.starts = batch.cu_seqlens_padded.tolist()
        alone = local(*whole)
        (expected,) = torch.autograd.grad(alone.square().sum(), whole)
        own = whole.detach()[:, :, places].requires_grad_()
        groups.use(model, batch)
        got = model[0](*own, batch_dim_idx=0)
        (gradient,) = torch.autograd.grad(got.square().sum(), own)
        assert torch.allclose(got, alone[:, places], rtol=1e-12)
        assert torch.allclose(gradient, expected[:, :, places], rtol=1e-9)
everywhere = [None] * dist.get_world_size()
dist.all_gather_object(everywhere, degrees)
if rank == 0:
    print(f"{len(everywhere)} ranks, degrees {sorted(set().union(*everywhere))}", flush=True)
dist.barrier()
dist.destroy_process_group()
