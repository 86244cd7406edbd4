"""Run by torchrun: Megatron's own HybridCPDataLoaderWrapper plans with stowage and moves the samples.

It is written for GPUs; this program replaces its CUDA calls by the CPU.
"""

from types import SimpleNamespace

import numpy as np
import torch
import torch.distributed as dist

torch.Tensor.cuda = lambda tensor, *_, **__: tensor
torch.cuda.current_device = lambda: torch.device("cpu")

from megatron.core.datasets.data_schedule import HybridCPDataLoaderWrapper

import stowage
import stowage.megatron
from planned_loader import CLUSTER

dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()


def lengths_of(step, owner):
    return np.random.default_rng([step, owner]).integers(1, 500, 9)


def batches():
    """Yields this rank's nine sequences of each step, in two packed samples. Tokens encode their
    origin."""
    for step in range(8):
        lengths = lengths_of(step, rank)
        tokens = [torch.arange(n) + 1000 * (9 * rank + i) for i, n in enumerate(lengths)]
        yield [
            {
                "tokens": torch.cat(part),
                "cu_seqlens": torch.tensor([0] + [len(p) for p in part]).cumsum(0),
            }
            for part in (tokens[:4], tokens[4:])
        ]


stowage.megatron.use(stowage.Planner(CLUSTER))
alone = [dist.new_group([other]) for other in range(ranks)][rank]
groups = SimpleNamespace(dp_cp=dist.group.WORLD, dp=dist.group.WORLD, tp=alone)
wrapper = HybridCPDataLoaderWrapper(
    batches(), SimpleNamespace(max_seqlen_per_dp_cp_rank=128), groups
)
for step, (samples, ids) in enumerate(wrapper):
    lengths = np.concatenate([lengths_of(step, owner) for owner in range(ranks)])
    own = [i for micro_batch in ids for i in micro_batch[rank]]
    assert sorted(own) == sorted(samples) and ids[-1][rank]
    for i in own:
        assert samples[i]["tokens"].tolist() == (np.arange(lengths[i]) + 1000 * i).tolist()
    if step == 7:
        break
if rank == 0:
    print(f"{ranks} ranks got {step + 1} global batches", flush=True)
dist.barrier()
dist.destroy_process_group()
