"""A rank of context parallelism: FlexAttention on parts of the tokens is that on all tokens. Torch has no
backward pass of FlexAttention on the CPU. Run by test_context_parallel.py with torchrun."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental._attention import (
    _context_parallel_shard,
    _ContextParallel,
    context_parallel_unshard,
)
from torch.distributed.tensor.parallel import parallelize_module
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import stowage.context_parallel
from packed_masks import packed

TOKENS, HEADS, WIDTH = 2048, 2, 16
DOCUMENTS = [[700, 300, 1048], [2048]]


class Attention(torch.nn.Module):
    def forward(self, query, key, value, block_mask=None):
        return flex_attention(query, key, value, block_mask=block_mask)


def main():
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (ranks,), mesh_dim_names=("cp",))
    torch.manual_seed(3)
    whole = [torch.randn(len(DOCUMENTS), HEADS, TOKENS, WIDTH) for _ in range(3)]
    masks = [
        create_block_mask(packed(DOCUMENTS, window), len(DOCUMENTS), None, TOKENS, TOKENS, device="cpu")
        for window in (None, 256)
    ]
    balancer = stowage.context_parallel.LoadBalancer(masks, ranks, layers=[1, 3])
    layers = dict(zip(masks, (1, 3)))
    slowest = torch.zeros(len(DOCUMENTS), dtype=torch.int64)
    module = parallelize_module(
        Attention(), mesh, _ContextParallel(2, _ContextParallel.AttentionType.FLEX)
    )
    for mask in masks:
        query, key, value, part = _context_parallel_shard(
            mesh, [*whole, mask], [2, 2, 2, 2], load_balancer=balancer
        )
        result = module(query, key, value, block_mask=part)
        (found,) = context_parallel_unshard(mesh, [result], [2], load_balancer=balancer)
        wanted = flex_attention(*whole, block_mask=mask)
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
        read = (part.kv_num_blocks + part.full_kv_num_blocks)[:, 0].sum(1)
        every = [torch.empty_like(read) for _ in range(ranks)]
        dist.all_gather(every, read)
        slowest += layers[mask] * torch.stack(every).max(0).values
    # What the slowest ranks read is what the balancer has counted.
    assert slowest.tolist() == balancer.costs, (slowest, balancer.costs)
    if rank == 0:
        print("equal on", ranks, "ranks", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
