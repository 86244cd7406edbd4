# %% [markdown]
# # A planned DataLoader of torch
# The global batches of a data set are planned for eight ranks; this is what rank 0 trains on. Nothing
# here needs more than one process: under torchrun `rank` is that of the process.

# %%
import numpy as np
from torch.utils.data import DataLoader, Dataset

import stowage
from stowage.torch import PackedCollator, StepBatchSampler, target_counts


class Documents(Dataset):
    """Rows of made-up tokens; the first quarter of each is a prompt, whose labels are masked."""

    lengths = np.random.default_rng(0).lognormal(7.0, 1.2, 600).astype(np.int64).clip(16, 60_000)

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, row):
        ids = np.arange(self.lengths[row]) % 32_000
        return {"input_ids": ids, "labels": np.where(ids < len(ids) // 4, -100, ids)}


documents = Documents()
targets = target_counts(documents[row]["labels"] for row in range(len(documents)))

# %% [markdown]
# A published model on eight A100s; `Cluster(...)` takes the numbers of your own.

# %%
cluster = stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000, pad_multiple=16)
planner = stowage.Planner(cluster)
sampler = StepBatchSampler(
    documents.lengths, planner, global_batch_size=200, rank=0, loss_tokens=targets
)
collator = PackedCollator(sampler, pad_token_id=0, slice="zigzag")
loader = DataLoader(documents, batch_sampler=sampler, collate_fn=collator)

# %%
for number, (step, micro_batches) in enumerate(sampler.steps_with(loader)):
    print(
        f"step {number}: {step.objective_ms:.0f} ms planned, at least {step.bound_ms:.0f} ms, "
        f"{step.micro_batches} micro-batches"
    )
    for batch in micro_batches:
        if not batch.filler:  # a rank without work gets a token of padding, for the backward pass
            print(
                f"  {len(batch.sequences)} sequences with {batch.degree} ranks: "
                f"{batch.input_ids.shape[1]} tokens are rank 0's"
            )

# %% [markdown]
# `step` draws itself in a notebook; elsewhere it writes the picture to a file.

# %%
step.render("step.svg")
