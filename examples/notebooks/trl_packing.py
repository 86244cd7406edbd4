# %% [markdown]
# # Packed rows for TRL and transformers
# `packed_dataset` makes of planned steps what TRL's `pack_dataset` makes: joined rows and their
# `seq_lengths`. Row i is for rank i modulo all ranks, so that ranks finish together.

# %%
import numpy as np
import torch
import transformers
from datasets import Dataset
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

import stowage
from stowage.hf import packed_dataset

RANKS, MAX_LENGTH = 4, 2048
lengths = np.random.default_rng(0).lognormal(5.5, 1.0, 200).astype(np.int64).clip(8, MAX_LENGTH)
dataset = Dataset.from_dict({"input_ids": [(np.arange(n) % 500).tolist() for n in lengths]})

# %%
cluster = stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000).replace(
    devices=RANKS, degrees=[1], max_tokens_per_rank=MAX_LENGTH, no_idle_ranks=True
)
step = stowage.Planner(cluster).plan(lengths)
rows = packed_dataset(dataset, [step])
tokens = np.array([sum(own) for own in rows["seq_lengths"]]).reshape(-1, RANKS)
print(f"{len(rows)} rows of {len(lengths)} sequences, tokens of each rank {tokens.sum(0)}")

# %% [markdown]
# TRL's collator numbers the positions, and a model of transformers keeps the sequences apart by them.

# %%
collator = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)
torch.manual_seed(0)
model = transformers.LlamaForCausalLM(
    transformers.LlamaConfig(
        vocab_size=500,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
)
batch = collator([rows[0]])
inputs = {name: batch[name] for name in ("input_ids", "labels", "position_ids")}
print(f"loss of row 0: {model(**inputs, use_cache=False).loss:.2f}, log 500 = {np.log(500):.2f}")
