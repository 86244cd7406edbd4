"""Run by torchrun: compares models of transformers on planned groups with one process, sequence by
sequence.

    hf_groups.py MODEL ...

attn_implementation="stowage" on four processes, whose groups have 1, 2 and 4 ranks, must give the losses and the
weights of attn_implementation="eager" without plans, with every exchange and in every wrapper. Models of
transformers compute the loss in float32 for every type, which determines the tolerances.
"""

import sys
from contextlib import nullcontext

import torch
import torch.distributed as dist
import transformers
from task import RATE, VOCABULARY, Tokenised, cluster_of, largest_difference, sampler_of
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import stowage
from stowage.hf import attention, check_groups, model_inputs
from stowage.torch import Groups, PackedCollator, loader

STEPS = 11
WAYS = ("plain", "ddp", "fsdp2", "checkpointed")
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 512,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "initializer_range": 0.3,  # so that attention prefers some tokens to others
}
WINDOWED = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 37}
LATENT = {
    "first_k_dense_replace": 2,
    "q_lora_rank": 8,
    "kv_lora_rank": 8,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 6,
    "head_dim": 4,
}
EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 2}

# The kind of model, its configuration in addition to SHAPE, and its possible exchanges.
MODELS = {
    "llama": ("Llama", {"num_key_value_heads": 2}, ("all_to_all", "all_gather", "ring")),
    "qwen3": ("Qwen3", {"num_key_value_heads": 1, "head_dim": 8}, ("all_to_all", "ring")),
    "mistral": ("Mistral", {"num_key_value_heads": 4, "sliding_window": 37}, ("all_to_all", "all_gather")),
    "gemma2": ("Gemma2", {"num_key_value_heads": 2, "head_dim": 8, **WINDOWED}, ("all_to_all", "all_gather")),
    "gemma3": ("Gemma3Text", {"num_key_value_heads": 2, "head_dim": 8, **WINDOWED}, ("all_to_all", "all_gather")),
    "gpt_oss": ("GptOss", {"num_key_value_heads": 2, "head_dim": 4, **WINDOWED, **EXPERTS}, ("all_to_all", "all_gather")),
    "deepseek": ("DeepseekV3", {"num_key_value_heads": 4, **LATENT}, ("all_to_all", "all_gather")),
    "three_heads": ("Llama", {"num_attention_heads": 3, "num_key_value_heads": 3, "hidden_size": 18}, ("all_gather", "ring")),
}  # fmt: skip


def build_model(name, implementation):
    kind, more, _ = MODELS[name]
    config = getattr(transformers, f"{kind}Config")(**{**SHAPE, **more})
    config._experts_implementation = "eager"  # grouped products have no float64
    torch.manual_seed(3)
    causal = transformers.AutoModelForCausalLM.from_config(
        config, attn_implementation=implementation
    )
    return causal.double()


def trained_alone(name, rows, sampler):
    model = build_model(name, "eager")
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    losses = []
    for step in range(STEPS):
        own = sampler.rows_of(step)
        targets = torch.tensor(int(rows.target_counts[own].sum()))
        losses.append(0.0)
        for row in own.tolist():
            ids, labels = (torch.from_numpy(part)[None] for part in rows[row].values())
            loss = model(input_ids=ids, labels=labels, num_items_in_batch=targets).loss
            loss.backward()
            losses[-1] += float(loss.detach())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return model, losses


def trained(model, own, way, rows, sampler, slice):
    """Returns the losses of the steps, and the degrees of the groups. own: the model without its
    wrapper."""
    averaged = way in ("ddp", "fsdp2")  # they average gradients over the ranks
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    collator = PackedCollator(sampler, pad_token_id=0, slice=slice)
    losses, degrees = [], set()
    for plan, micro_batches in sampler.steps_with(loader(rows, sampler, collator)):
        degrees.update(plan.degree.tolist())
        total = torch.zeros((), dtype=torch.float64)
        for batch in micro_batches:
            synced = not isinstance(model, DistributedDataParallel) or batch.last
            with nullcontext() if synced else model.no_sync():
                loss = model(**model_inputs(batch, own)).loss
                (loss * dist.get_world_size() if averaged else loss).backward()
            total += loss.detach()
        if not averaged:
            for parameter in model.parameters():
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                dist.all_reduce(parameter.grad)
        dist.all_reduce(total)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(float(total))
        if len(losses) == STEPS:
            return losses, degrees
    raise AssertionError("too few rows")


def wrapped(model, way):
    if way == "checkpointed":
        model.gradient_checkpointing_enable()
    if way in ("plain", "checkpointed"):
        return model
    if way == "ddp":
        return DistributedDataParallel(model)
    for layer in model.model.layers:
        fully_shard(layer)
    return fully_shard(model)


def full(model):
    """Returns the complete (unsharded) weights of a model."""
    tensors = (p.detach() for p in model.parameters())
    return [t.full_tensor() if hasattr(t, "full_tensor") else t for t in tensors]


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = Tokenised()
    cluster = cluster_of(world).replace(memory_mib=1024 // world)
    groups = Groups(cluster)
    if world % 2:  # the last rank shares no row, and FSDP waits for it
        attention(groups)
        own = build_model("llama", stowage.hf.ATTENTION)
        off = check_groups(wrapped(own, "fsdp2"), groups)
        print(f"rank {rank} of {world}: checked, differs by {off:.0e}", flush=True)
    for name in sys.argv[1:]:
        right, losses = trained_alone(name, rows, sampler_of(rows, cluster, rank))
        for exchange in MODELS[name][2]:
            for way in WAYS if exchange == MODELS[name][2][0] else WAYS[:1]:
                attention(groups, exchange=exchange)
                slice = "contiguous" if way == "ddp" and exchange != "ring" else "zigzag"
                own = build_model(name, stowage.hf.ATTENTION)
                check_groups(own, groups, slice=slice)
                model = wrapped(own, way)
                sampler = sampler_of(rows, cluster, rank)
                found, degrees = trained(model, own, way, rows, sampler, slice)
                off = largest_difference(full(model), right)
                away = max(abs(a - b) for a, b in zip(found, losses))
                assert off < 1e-7 and away < 2e-6, (name, exchange, way, off, away)
                if rank == 0:
                    print(
                        f"{name}, {exchange}, {way}, {slice}: weights differ by {off:.0e}, losses by "
                        f"{away:.0e}, degrees {sorted(degrees)}",
                        flush=True,
                    )
    dist.barrier()
    dist.destroy_process_group()
