# %% [markdown]
# # Megatron-LM plans with stowage
# Branch dev of Megatron-LM packs sequences with a scheduler, and takes no name but its own. `register` puts
# plans in the place of one, in each process and before training begins. A run does so without a change of
# the script: `torchrun ... -m stowage.megatron --cluster cluster.json pretrain_gpt.py ...`, with
# `--dynamic-context-parallel --sequence-packing-scheduler default_dynamic_cp` among its arguments.

# %%
import numpy as np

import stowage
import stowage.megatron

cluster = stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000)
planner = stowage.Planner(cluster)
try:
    stowage.megatron.register(planner, "default_dynamic_cp")
    print("registered")
except stowage.Error as without:  # releases of megatron-core up to 0.19
    print(without)

# %% [markdown]
# Releases of megatron-core have hybrid context parallelism. `use(planner)` gives it these plans; here its
# scheduler is asked directly. A group of ranks computes its samples one by one there, which
# `packed=False` says, and a rank holds at most `per_rank` tokens.


# %%
class DataAndContextRanks:
    """As much of a process group as the scheduler asks for."""

    def size(self):
        return 8


one_by_one = stowage.Planner(cluster.replace(packed=False))
per_rank = cluster.tokens_per_device
stowage.megatron.use(one_by_one)
scheduler = stowage.megatron.HybridCPScheduler(one_by_one, per_rank, DataAndContextRanks())
lengths = np.random.default_rng(1).lognormal(7.0, 1.5, 60).astype(int).clip(16, 50_000)
_, samples = scheduler.get_groups_and_subsamples(list(enumerate(lengths.tolist())), None)
for number, ranks in enumerate(samples):
    print(f"micro-batch {number}: samples on each rank {[len(own) for own in ranks]}")
