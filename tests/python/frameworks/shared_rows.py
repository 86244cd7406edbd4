"""Run by torchrun: checks that rows shared by ranks equal those of one rank, gradients included, in
the built-in transformer of stowage.calibrate with the given exchange."""

import sys

import torch
import torch.distributed as dist

from stowage._shared_block import SharedBlock
from stowage._zigzag import own_tokens
from stowage.torch.run import Shape

LENGTHS = [16, 8, 40]

exchange = sys.argv[1]
dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
block = SharedBlock(Shape(32, 4, 4, 8, 64), 3)
random = torch.Generator().manual_seed(1)
whole = torch.randn(sum(LENGTHS), 32, generator=random).requires_grad_()
upstream = torch.randn(sum(LENGTHS), 32, generator=random)
truth = block.rows(whole, LENGTHS, None)
truth.backward(upstream)
weights = [own.grad.clone() for own in block.parameters()]
block.zero_grad()
if exchange == "all_to_all":
    own = torch.arange(rank * len(whole) // ranks, (rank + 1) * len(whole) // ranks)
else:
    own, _ = own_tokens(LENGTHS, rank, ranks)
part = whole[own].detach().requires_grad_()
made = block.rows(part, LENGTHS, dist.group.WORLD, exchange)
made.backward(upstream[own])
assert torch.allclose(made, truth[own], atol=1e-5)
assert torch.allclose(part.grad, whole.grad[own], atol=1e-4)
for parameter, weight in zip(block.parameters(), weights):  # of each rank a part
    dist.all_reduce(parameter.grad)
    assert torch.allclose(parameter.grad, weight, atol=1e-3)
if rank == 0:
    print("the same", flush=True)
dist.barrier()  # a rank that ends earlier breaks the others' connections
dist.destroy_process_group()
