"""stowage.deepspeed with DeepSpeed's own attention, data loaders and learning rates."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("deepspeed")

import torch
from deepspeed.runtime.data_pipeline.data_sampling import variable_batch_size_and_lr as variable
from deepspeed.sequence.layer import DistributedAttention
from torch.utils.data import DataLoader

import stowage
from stowage.deepspeed import UlyssesDataLoader, UlyssesGroups, batches_by_plan
from planned_loader import CLUSTER, FRAMEWORKS, LENGTHS, Documents, loader_of, sampler_of, torchrun

SINGLE = CLUSTER.replace(degrees=[1], memory_mib=1000, no_idle_ranks=True, pad_multiple=1)


def steps_of(cluster, size=20):
    planner = stowage.Planner(cluster)
    for first in range(0, len(LENGTHS), size):
        rows = np.arange(first, first + size)
        yield planner.plan(LENGTHS[rows], ids=rows)


def test_attention_on_groups_is_attention_alone():
    assert "4 ranks, degrees [1, 2, 4]" in torchrun(FRAMEWORKS / "ulysses.py")


def test_rows_are_cut_as_deepspeed_cuts_them():
    out = torchrun(FRAMEWORKS / "ulysses_loader.py")
    assert "rows as DeepSpeed cuts them, degrees [1, 2, 4]" in out


def test_registered_attention_on_groups_is_attention_alone():
    out = torchrun(FRAMEWORKS / "alst.py")
    off = float(re.search(r"degrees \[1, 2, 4\], off by (\S+)", out)[1])
    assert off < 1e-10
    assert re.search(r"before: Error: model: must have attention that is sequence parallel, Llama", out)
    assert re.search(r'packed: Error: a row of \d+ sequences: .* attn_implementation="sdpa"', out)


def test_attention_that_is_not_parallel_is_refused():
    class Plain(torch.nn.Module):
        config = SimpleNamespace(_attn_implementation="sdpa")

    class Groups(UlyssesGroups):
        def __init__(self):  # of one process
            self._groups, self._alone = {}, {0: None}

    batch = stowage.Planner(SINGLE.replace(devices=1)).plan([30, 40]).batch(0)
    for model in (torch.nn.Linear(2, 2), Plain(), Plain().train()):
        with pytest.raises(stowage.Error, match="model: must have attention that is sequence paral"):
            Groups().use(model, batch)
    attention = DistributedAttention(torch.nn.Identity(), None)
    Groups().use(torch.nn.Sequential(attention), batch)


def test_refuses_loaders_that_do_not_fit():
    with pytest.raises(ValueError, match="must have a PackedCollator"):
        UlyssesDataLoader(loader_of(sampler_of(), "zigzag"), None)
    with pytest.raises(ValueError, match="must have a StepBatchSampler"):
        UlyssesDataLoader(DataLoader(Documents()), None)


@pytest.mark.parametrize("accumulation", [1, 2])
def test_batches_go_through_deepspeeds_loader_and_learning_rate(accumulation):
    cluster = SINGLE.replace(memory_mib=500, micro_batches_multiple_of=accumulation)
    steps = list(steps_of(cluster))
    ids, sizes, longest = batches_by_plan(steps, accumulation)
    theirs = variable.batch_by_seqlens(LENGTHS.tolist(), 500, effective_batch_size=4)
    assert [type(part) for part in theirs] == [list, list, list]
    assert {type(row) for row in ids} == {tuple} == {type(row) for row in theirs[0]}
    assert len(ids) == 4 * accumulation * len(sizes) and len(sizes) == len(longest)
    assert sorted(i for _, row in ids for i in row) == list(range(len(LENGTHS)))
    for rank in range(4):
        loader, _ = variable.dataloader_for_variable_batch_size(
            np.arange(len(LENGTHS)),
            ids,
            longest,
            dataloader_rank=rank,
            dataloader_num_replicas=4,
            dataloader_num_workers=0,
        )
        planned = [batch.sequences.tolist() for step in steps for batch in step.of_rank(rank)]
        assert [[int(i) for i in row] for row in loader] == planned
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rates = variable.lr_scheduler_for_variable_batch_size(10, sizes, loader, optimizer)
    for size in sizes:
        assert optimizer.param_groups[0]["lr"] == pytest.approx(0.1 * size / 10)
        optimizer.step()
        rates.step()
    batch_of = [batch for batch, _ in ids]
    for batch, (size, most) in enumerate(zip(sizes, longest)):
        own = [i for b, row in ids if b == batch for i in row]
        assert batch_of.count(batch) == 4 * accumulation
        assert size == len(own) and most == LENGTHS[own].max()


def test_batches_want_one_rank_a_row():
    step = stowage.Planner(CLUSTER).plan([500, 30, 30, 30])
    with pytest.raises(ValueError, match="every group must be one rank, .* degrees=.1."):
        batches_by_plan([step])
    idle = stowage.Planner(SINGLE.replace(no_idle_ranks=False)).plan([30, 40, 50])
    with pytest.raises(ValueError, match="rank . idles in micro-batch 0: .* no_idle_ranks"):
        batches_by_plan([idle])
    one = stowage.Planner(SINGLE).plan([30, 40, 50, 60])
    with pytest.raises(
        ValueError, match="must be a multiple of 2, is 1: .* micro_batches_multiple"
    ):
        batches_by_plan([one], accumulation=2)
