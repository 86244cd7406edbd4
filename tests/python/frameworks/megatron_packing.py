"""Run by torchrun in a checkout of Megatron-LM with packing schedulers: its own wrap_data_iterator() packs
with stowage's plans, on groups of varying size and of one size.

It is written for GPUs; this program replaces its CUDA calls by the CPU.
"""

import importlib.machinery
import importlib.util
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import torch
import torch.distributed as dist

torch.Tensor.cuda = lambda tensor, *_, **__: tensor
torch.cuda.current_device = lambda: torch.device("cpu")

_barrier = dist.barrier
dist.barrier = lambda group=None, **_: _barrier(group=group)
torch.cuda.synchronize = lambda *_: None
torch.compile = lambda function=None, **_: function or (lambda own: own)
if importlib.util.find_spec("triton") is None:  # of kernels, none of which runs here
    for name in ("triton", "triton.language"):
        spec = importlib.machinery.ModuleSpec(name, None)
        sys.modules[name] = MagicMock(__spec__=spec, __version__="3.5.0")

import megatron.core
from megatron.core import parallel_state
from megatron.core.datasets import data_schedule

import stowage
import stowage.megatron
from planned_loader import CLUSTER

assert megatron.core.__file__.startswith(sys.argv[1]), megatron.core.__file__
PAD, PER_RANK, SAMPLES = 8, 128, 12  # of each data-parallel rank and step
dist.init_process_group("gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()


def length_of(step, sample):
    return int(np.random.default_rng([step, sample]).integers(4, 500))


def sample_of(step, sample):
    """Returns a sample whose tokens encode the sample and the position."""
    length = length_of(step, sample)
    padded = -(-length // PAD) * PAD
    tokens = 1000 * sample + torch.arange(padded)
    return {
        "tokens": tokens,
        "labels": tokens + 1,
        "loss_mask": (torch.arange(padded) < length).float(),
        "position_ids": torch.arange(padded),
        "original_seq_len": torch.tensor([length]),
        "padded_seq_len": torch.tensor([padded]),
    }


def packed(name, context, dynamic, most=None):
    """Packs five steps with the scheduler of that name. Returns the sizes of the groups used."""
    parallel_state.initialize_model_parallel(
        context_parallel_size=context, **({"dynamic_context_parallel": True} if dynamic else {})
    )
    config = SimpleNamespace(
        sequence_packing_scheduler=name,
        dynamic_context_parallel=dynamic,
        min_dynamic_context_parallel_size=1,
        max_seqlen_per_dp_cp_rank=PER_RANK,
        virtual_pipeline_model_parallel_size=None,
        microbatch_group_size_per_vp_stage=1,
        pipeline_model_parallel_layout=None,
        mtp_num_layers=None,
        thd_max_packed_sequences=most,
    )
    owner, owners = parallel_state.get_data_parallel_rank(), ranks // context
    sizes = []
    for step in range(5):
        first = owner * SAMPLES
        source = iter([sample_of(step, first + i) for i in range(SAMPLES)])
        rows, count, tokens, squares = data_schedule.wrap_data_iterator(source, config, SAMPLES)
        lengths = [length_of(step, i) for i in range(owners * SAMPLES)]
        padded = [-(-length // PAD) * PAD for length in lengths]
        assert (tokens, squares) == (sum(padded), sum(n * n for n in padded))
        own = []
        for _ in range(count):
            row = next(rows)
            starts = row["cu_seqlens_padded"].tolist()
            ids = [int(row["tokens"][start]) // 1000 for start in starts[:-1]]
            size = int(row["local_cp_size"]) if dynamic else context
            assert np.diff(starts).tolist() == [padded[i] for i in ids]
            assert row["cu_seqlens"].diff().tolist() == [lengths[i] for i in ids]
            assert torch.equal(row["tokens"], torch.cat([sample_of(step, i)["tokens"] for i in ids]))
            assert torch.equal(row["labels"], row["tokens"] + 1)
            assert starts[-1] <= PER_RANK * size and (most is None or len(ids) <= most)
            own.append((size, ids))
        everywhere = [None] * ranks
        dist.all_gather_object(everywhere, own)
        seen = []
        for m in range(count):
            at = 0
            while at < ranks:
                size, ids = everywhere[at][m]
                assert all(everywhere[k][m] == (size, ids) for k in range(at, at + size))
                sizes.append(size)
                seen += ids
                at += size
        assert sorted(seen) == list(range(len(lengths))), "a sample is lost, or there twice"
    parallel_state.destroy_model_parallel()
    return sorted(set(sizes))


cluster = CLUSTER.replace(memory_mib=1000, pad_multiple=PAD)
for name in ("default_dynamic_cp", "dp_balanced", "stowage"):
    stowage.megatron.register(stowage.Planner(cluster), name)
told = [
    ("default_dynamic_cp", packed("default_dynamic_cp", 2, True)),
    ("default_dynamic_cp, 2 sequences", packed("default_dynamic_cp", 1, True, most=2)),
    ("stowage", packed("stowage", 2, True)),
    ("dp_balanced", packed("dp_balanced", 4, False)),
]
refused = []
from megatron.core.model_parallel_config import ModelParallelConfig

for name in ("default_dynamic_cp", "stowage"):
    try:
        ModelParallelConfig(
            dynamic_context_parallel=True,
            sequence_packing_scheduler=name,
            max_seqlen_per_dp_cp_rank=PER_RANK,
        )
    except ValueError:
        refused.append(name)
if rank == 0:
    for name, sizes in told:
        print(f"{name}: groups of {sizes}")
    print(f"its configuration refuses {refused}", flush=True)
dist.barrier()
dist.destroy_process_group()
