# %% [markdown]
# # verl balances batches with stowage
# `use()` replaces one function, in each process that balances batches: the trainers' balancing over
# data-parallel ranks and `rearrange_micro_batches` call it.

# %%
import torch
from tensordict import TensorDict
from verl.utils import seqlen_balancing

import stowage.verl

generator = torch.Generator().manual_seed(0)
lengths = torch.exp(7 + 1.2 * torch.randn(64, generator=generator)).long().clamp(16, 8192)
costs = seqlen_balancing.calculate_workload(lengths)


def imbalance(parts):
    loads = [int(costs[part].sum()) for part in parts]
    return max(loads) / (sum(loads) / len(loads)) - 1


theirs = seqlen_balancing.get_seqlen_balanced_partitions(costs.tolist(), 8, equal_size=True)
stowage.verl.use()
ours = seqlen_balancing.get_seqlen_balanced_partitions(costs.tolist(), 8, equal_size=True)
print(f"largest of 8 ranks above the mean: {imbalance(ours):.4%}, verl's {imbalance(theirs):.4%}")

# %% [markdown]
# Micro-batches under a token limit, by verl's own function.

# %%
mask = torch.arange(int(lengths.max())) < lengths[:, None]
batch = TensorDict({"input_ids": mask.long(), "attention_mask": mask.long()}, batch_size=64)
micro_batches, rows = seqlen_balancing.rearrange_micro_batches(batch, max_token_len=16_384)
for part in rows:
    print(f"{len(part)} samples, {int(lengths[part].sum())} tokens")
