# %% [markdown]
# # Planned batches for DeepSpeed
# `batches_by_plan` answers as DeepSpeed's `batch_by_seqlens` does, so that its data loader and learning
# rates take planned batches. For Ulysses, whose groups vary from row to row, see UlyssesDataLoader and
# UlyssesGroups in docs/start/frameworks.md.

# %%
import numpy as np
from deepspeed.runtime.data_pipeline.data_sampling.variable_batch_size_and_lr import (
    dataloader_for_variable_batch_size,
)

import stowage
from stowage.deepspeed import batches_by_plan

RANKS, ACCUMULATION = 4, 2
lengths = np.random.default_rng(0).lognormal(6.0, 1.0, 300).astype(np.int64).clip(8, 4096)

# %% [markdown]
# Groups of one rank, each of which has work in every micro-batch; two micro-batches to a step of the
# optimizer.

# %%
cluster = stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000).replace(
    devices=RANKS,
    degrees=[1],
    no_idle_ranks=True,
    max_tokens_per_rank=8192,
    micro_batches_multiple_of=ACCUMULATION,
)
planner = stowage.Planner(cluster)
steps = [planner.plan(lengths[rows], ids=rows) for rows in np.split(np.arange(300), 3)]
microbatch_ids, batch_sizes, max_seqlens = batches_by_plan(steps, ACCUMULATION)
print(f"{len(batch_sizes)} batches of {batch_sizes} sequences, the longest {max_seqlens}")

# %%
for rank in range(RANKS):
    loader, _ = dataloader_for_variable_batch_size(
        lengths,
        microbatch_ids,
        max_seqlens,
        dataloader_rank=rank,
        dataloader_num_replicas=RANKS,
        dataloader_num_workers=0,
    )
    print(f"rank {rank}: tokens of its rows {[int(sum(row)) for row in loader]}")
