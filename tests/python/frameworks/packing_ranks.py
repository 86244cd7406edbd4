"""Run by torchrun: check_packing() on sharded and replicated models, whose forward passes need all
ranks."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import stowage
from stowage.hf import check_packing
from test_packing import made, positions_alone

dist.init_process_group("gloo")
verdicts = []
for name in ("Llama", "Mamba"):
    for wrap in ("fsdp", "ddp"):
        model = made(name).train()
        model = fully_shard(model) if wrap == "fsdp" else DistributedDataParallel(model)
        try:
            check_packing(model, inputs=positions_alone)
            verdicts.append(f"{name} {wrap}: apart")
        except stowage.Error as error:
            verdicts.append(f"{name} {wrap}: {str(error).split(':')[0]}")
        assert all(module.training for module in model.modules())
        loss = model(input_ids=torch.arange(1, 9)[None], use_cache=False).logits.square().sum()
        loss.backward()  # still trains
everywhere = [None] * dist.get_world_size()
dist.all_gather_object(everywhere, verdicts)
assert all(own == verdicts for own in everywhere)
if dist.get_rank() == 0:
    print("\n".join(verdicts), flush=True)
dist.barrier()
dist.destroy_process_group()
