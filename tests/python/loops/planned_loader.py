"""A small data set, its planned batches, and programs of several processes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from torch.utils.data import DataLoader, Dataset

import stowage
from stowage.torch import PackedCollator, StepBatchSampler, target_counts

DEVICES = 4
CLUSTER = stowage.Cluster(
    devices=DEVICES,
    memory_mib=128,
    states_mib=0,
    activation_mib_per_token=1,
    quadratic_ms=1e-5,
    linear_ms=0.02,
    fixed_ms=0.5,
    all_to_all_mib_per_token=1,
    mib_per_ms={2: 50, 4: 50},
    pad_multiple=8,
)
BY_DEGREE = CLUSTER.replace(padding={"device_multiple": 2})
LENGTHS = np.random.default_rng(3).integers(4, 400, 100)


class Documents(Dataset):
    """A data set whose row i has the tokens i, i + 1, ...; the first third is a prompt."""

    def __len__(self):
        return len(LENGTHS)

    def __getitem__(self, row):
        ids = np.arange(row, row + LENGTHS[row])
        labels = ids.copy()
        labels[: len(ids) // 3] = -100
        return {"input_ids": ids, "labels": labels}


TARGETS = target_counts(Documents()[row]["labels"] for row in range(len(LENGTHS)))


def sampler_of(rank=0, cluster=CLUSTER, **more):
    more = {"global_batch_size": 20, "loss_tokens": TARGETS, **more}
    return StepBatchSampler(LENGTHS, stowage.Planner(cluster), rank=rank, **more)


def loader_of(sampler, slice="zigzag", **more):
    collator = PackedCollator(sampler, pad_token_id=7, slice=slice)
    return DataLoader(Documents(), batch_sampler=sampler, collate_fn=collator, **more)


def trace(sampler, steps=None):
    """Returns the data that a rank trains on: the plan and the tokens of each step."""
    seen = []
    for step, batches in sampler.steps_with(loader_of(sampler)):
        seen.append((step.to_bytes(), [b.input_ids.tolist() for b in batches]))
        if len(seen) == steps:
            break
    return seen


HERE = Path(__file__).resolve().parent
FRAMEWORKS = HERE.parent / "frameworks"
LIMIT = float(os.environ.get("STOWAGE_TORCHRUN_SECONDS", 600))  # of a run; more on a loaded machine


def torchrun(*arguments, processes=4, folder=None):
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        str(processes),
        *map(str, arguments),
    ]
    extensions = HERE.parents[2] / "build" / "torch_extensions"  # DeepSpeed compiles one
    environment = {
        **os.environ,
        "TORCH_EXTENSIONS_DIR": str(extensions),
        "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
