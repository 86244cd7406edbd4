"""Run by torchrun: compares a model of transformers with DeepSpeed's registered attention on planned
groups with the same model without sequence parallelism."""

import copy

import deepspeed.comm
import torch
import torch.distributed as dist
from deepspeed.runtime.sequence_parallel.ulysses_sp import UlyssesSPAttentionHF
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

import stowage
from stowage.deepspeed import UlyssesDataLoader, UlyssesGroups
from stowage.torch import StepBatchSampler
from planned_loader import CLUSTER, LENGTHS, Documents, loader_of

deepspeed.comm.init_distributed("gloo", auto_mpi_discovery=False)
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=600,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=8,
    num_key_value_heads=2,  # groups of four ranks get copies of these
    max_position_embeddings=512,
)
config._attn_implementation = "sdpa"
model = LlamaForCausalLM(config).double()
plain = ALL_ATTENTION_FUNCTIONS["sdpa"]
cluster = CLUSTER.replace(max_sequences_per_group=1)  # ALST drops the mask of sdpa


def steps_of(own):
    sampler = StepBatchSampler(LENGTHS, stowage.Planner(own), rank=rank, global_batch_size=20)
    groups = UlyssesGroups(own)
    loader = loader_of(sampler, "contiguous")
    return groups, UlyssesDataLoader(loader, groups, model)


def said(call):
    try:
        call()
    except (stowage.Error, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


groups, loader = steps_of(cluster)
batch = next(b for b in stowage.Planner(cluster).plan([500, 30, 30, 30]).of_rank(rank) if b)
before = said(lambda: groups.use(model, batch))
UlyssesSPAttentionHF.register_with_transformers(
    model, "sdpa", sequence_parallel_size=ranks, micro_batch_size=1
)
twin = copy.deepcopy(model)
parallel = ALL_ATTENTION_FUNCTIONS["sdpa"]
degrees, worst = [], 0.0  # logits, and gradients relative to the largest of a weight
for _, rows in loader:
    for row in rows:
        if row is None:
            continue
        own = row["batch"]
        degrees.append(own.degree)
        logits = model(
            input_ids=row["input_ids"], position_ids=row["position_ids"], use_cache=False
        ).logits
        model.zero_grad()
        logits.square().sum().backward()
        gradients = [p.grad.clone() for p in model.parameters()]
        for each in gradients:
            dist.all_reduce(each, group=groups.group_of(own))
        ALL_ATTENTION_FUNCTIONS["sdpa"] = plain
        ids = torch.as_tensor(Documents()[int(own.sequences[0])]["input_ids"])
        ids = torch.nn.functional.pad(ids, (0, int(own.cu_seqlens_padded[-1]) - len(ids)), value=7)
        twin.zero_grad()
        alone = twin(input_ids=ids[None], use_cache=False).logits
        alone.square().sum().backward()
        ALL_ATTENTION_FUNCTIONS["sdpa"] = parallel
        part = alone.shape[1] // own.degree
        place = own.ranks.index(rank)
        expected = alone[:, place * part : (place + 1) * part]
        worst = max(worst, float((logits - expected).detach().abs().max()))
        for got, other in zip(gradients, twin.parameters()):
            off = float((got - other.grad).abs().max() / other.grad.abs().max())
            worst = max(worst, off)
everywhere = [None] * ranks
dist.all_gather_object(everywhere, (degrees, worst))
packed = stowage.Planner(CLUSTER).plan([30] * 40)
many = next(b for b in packed.of_rank(rank) if b is not None and len(b.sequences) > 1)
after = said(lambda: groups.use(model, many))
if rank == 0:
    seen = sorted({d for own, _ in everywhere for d in own})
    print(f"degrees {seen}, off by {max(worst for _, worst in everywhere):.1e}")
    print("before:", before)
    print("packed:", after, flush=True)
dist.barrier()
dist.destroy_process_group()
