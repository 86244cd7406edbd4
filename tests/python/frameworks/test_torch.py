"""stowage.torch: order, resumption, collation, workers."""

import json
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset

import stowage
from stowage.torch import Groups, PackedCollator, StepBatchSampler, target_counts

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
LENGTHS = np.random.default_rng(3).integers(4, 400, 100)


class Documents(Dataset):
    """Row i is the tokens i, i + 1, ...; the first third is a prompt."""

    def __len__(self):
        return len(LENGTHS)

    def __getitem__(self, row):
        ids = np.arange(row, row + LENGTHS[row])
        labels = ids.copy()
        labels[: len(ids) // 3] = -100
        return {"input_ids": ids, "labels": labels}


TARGETS = target_counts(Documents()[row]["labels"] for row in range(len(LENGTHS)))


def sampler_of(rank=0, **more):
    more = {"global_batch_size": 20, "loss_tokens": TARGETS, **more}
    return StepBatchSampler(LENGTHS, stowage.Planner(CLUSTER), rank=rank, **more)


def loader_of(sampler, slice="zigzag", **more):
    collator = PackedCollator(sampler, pad_token_id=7, slice=slice)
    return DataLoader(Documents(), batch_sampler=sampler, collate_fn=collator, **more)


def test_every_row_is_trained_once_an_epoch():
    sampler = sampler_of()
    assert sampler.steps == 5
    seen = [sampler.rows_of(step) for step in range(5)]
    assert sorted(np.concatenate(seen).tolist()) == list(range(100))
    for rank in range(DEVICES):
        again = sampler_of(rank)
        assert all(np.array_equal(a, again.rows_of(step)) for step, a in enumerate(seen))
    first = seen[0].tolist()
    sampler.set_epoch(1)
    assert sampler.rows_of(0).tolist() != first
    assert sampler_of(shuffle=False).rows_of(1).tolist() == list(range(20, 40))


def test_ranks_get_the_rows_of_their_batches():
    plans = [
        stowage.Planner(CLUSTER).plan(LENGTHS[r], ids=r, loss_tokens=TARGETS[r])
        for r in map(sampler_of().rows_of, range(5))
    ]
    for rank in range(DEVICES):
        got = list(sampler_of(rank))
        want = [[] if b is None else b.sequences.tolist() for p in plans for b in p.of_rank(rank)]
        assert got == want


@pytest.mark.parametrize("slice", ["zigzag", "contiguous", None])
def test_parts_of_a_row_make_the_row(slice):
    documents = Documents()
    parts = {}
    for rank in range(DEVICES):
        sampler = sampler_of(rank)
        for number, (step, batches) in enumerate(sampler.steps_with(loader_of(sampler, slice))):
            for batch in batches:
                if not batch.idle:
                    parts.setdefault((number, batch.micro_batch, batch.ranks), []).append(batch)
                    assert rank in batch.ranks and batch.loss_denominator == step.loss_denominator
    targets = 0
    for (_, _, ranks), batches in parts.items():
        assert len(batches) == len(ranks)
        rows = batches[:1] if slice is None else batches
        ids, labels, places = (
            torch.cat([getattr(b, name)[0] for b in rows])
            for name in ("input_ids", "labels", "position_ids")
        )
        targets += int((labels != -100).sum())
        starts = batches[0].cu_seqlens_padded
        assert len(ids) == starts[-1] and batches[0].max_seqlen == starts.diff().max()
        want = []
        for row in batches[0].sequences:
            document = documents[row]
            own = len(document["input_ids"])
            following = np.append(document["labels"][1:], -100)
            pad = -own % 8
            want += zip(
                np.append(document["input_ids"], [7] * pad).tolist(),
                np.append(following, [-100] * pad).tolist(),
                range(own + pad),
            )
        got = list(zip(ids.tolist(), labels.tolist(), places.tolist()))
        assert sorted(got) == sorted(want) if slice == "zigzag" else got == want
    assert targets == TARGETS.sum()


def trace(sampler, steps=None):
    """What a rank trains on: the plan and the tokens of each step."""
    seen = []
    for step, batches in sampler.steps_with(loader_of(sampler)):
        seen.append((step.to_bytes(), [b.input_ids.tolist() for b in batches]))
        if len(seen) == steps:
            break
    return seen


def test_resumes_with_the_same_order_and_plans(tmp_path):
    sampler = sampler_of(1)
    whole = trace(sampler) + trace(sampler)
    assert sampler.epoch == 2
    draw = random.Random(5)
    for _ in range(20):
        killed = draw.randrange(10)
        sampler = sampler_of(1)
        if killed >= 5:
            trace(sampler)
        for number, (_, batches) in enumerate(sampler.steps_with(loader_of(sampler))):
            if number == killed % 5:
                next(batches)  # within the step
                break
        sampler.save(tmp_path / "sampler.json")
        again = sampler_of(1)
        again.load(tmp_path / "sampler.json")
        assert again.state_dict() == {"epoch": killed // 5, "step": killed % 5}
        assert trace(again, 2) == whole[killed : killed + 5 - killed % 5][:2]


def job(folder, kill_at, with_worker):
    """Trains an epoch and writes what it sees; ends in the midst of a step, unsaved."""
    sampler = sampler_of(1)
    if (folder / "sampler.json").exists():
        sampler.load(folder / "sampler.json")
    workers = {"num_workers": 1, "multiprocessing_context": "fork"} if with_worker else {}
    loader = loader_of(sampler, **workers)
    for step, batches in sampler.steps_with(loader):
        rows = [batch.input_ids.tolist() for batch in batches]
        number = sampler.state_dict()["step"]
        if number == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / f"{number}.pickle").write_bytes(pickle.dumps((step.to_bytes(), rows)))
        done = {"epoch": sampler.epoch, "step": number + 1}
        (folder / "sampler.json").write_text(json.dumps(done))


def test_killed_jobs_go_on_where_they_were(tmp_path):
    whole = trace(sampler_of(1))
    draw = random.Random(9)
    fork = multiprocessing.get_context("fork")
    for attempt in range(20):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        kill_at = draw.randrange(5)
        killed = fork.Process(target=job, args=(folder, kill_at, attempt % 4 == 0))
        killed.start()
        killed.join(120)
        assert killed.exitcode == -signal.SIGKILL
        assert len(list(folder.glob("*.pickle"))) == kill_at
        again = fork.Process(target=job, args=(folder, None, attempt % 4 == 0))
        again.start()
        again.join(120)
        assert again.exitcode == 0
        assert [pickle.loads((folder / f"{k}.pickle").read_bytes()) for k in range(5)] == whole


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_of_a_loader(context):
    sampler = sampler_of(2)
    plain = trace(sampler_of(2), 3)
    loader = loader_of(sampler, num_workers=2, multiprocessing_context=context)
    seen = []
    for step, batches in sampler.steps_with(loader):
        seen.append((step.to_bytes(), [b.input_ids.tolist() for b in batches]))
        if len(seen) == 3:
            break
    assert seen == plain


def test_a_step_may_be_left_before_its_end():
    sampler = sampler_of()
    numbers = [step.to_bytes() for step, _ in sampler.steps_with(loader_of(sampler))]
    assert numbers == [plan for plan, _ in trace(sampler_of())]


def test_the_last_step_is_shorter_without_drop_last():
    assert sampler_of(global_batch_size=30).steps == 3
    sampler = sampler_of(global_batch_size=30, drop_last=False)
    assert sampler.steps == 4 and len(sampler.rows_of(3)) == 10


def test_refuses_what_would_train_on_something_else():
    wrong = sampler_of(loss_tokens=TARGETS + 1)
    with pytest.raises(ValueError, match="loss_tokens must be the labels"):
        trace(wrong)
    sampler = StepBatchSampler(LENGTHS + 1, stowage.Planner(CLUSTER), rank=0, global_batch_size=20)
    with pytest.raises(ValueError, match="lengths must be those that were planned"):
        trace(sampler)
    other = sampler_of()
    with pytest.raises(ValueError, match="loader: must have this sampler"):
        next(sampler_of().steps_with(loader_of(other)))


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"global_batch_size": 0}, "global_batch_size: must be at least 1"),
        ({"global_batch_size": 101}, "100 rows make no step of 101"),
        ({"ahead": 0}, "ahead: must be at least 1"),
        ({"loss_tokens": [1]}, "loss_tokens: must be as many"),
        ({"rank": 4}, "rank: must be from 0 to 3, is 4"),
    ],
    ids=str,
)
def test_refuses_arguments(wrong, said):
    with pytest.raises(ValueError, match=said):
        sampler_of(**wrong)


def test_a_time_limit_is_for_one_planner_only():
    planner = stowage.Planner(CLUSTER, method="auto", time_limit=1)
    with pytest.raises(ValueError, match="set node_limit, or replicated=False"):
        StepBatchSampler(LENGTHS, planner, rank=0, global_batch_size=20)
    StepBatchSampler(LENGTHS, planner, rank=0, global_batch_size=20, replicated=False)


def test_has_no_length():
    with pytest.raises(TypeError, match="see steps"):
        len(sampler_of())


def test_cpu_tensors_are_lengths():
    lengths = torch.from_numpy(LENGTHS)
    step = stowage.Planner(CLUSTER).plan(lengths)
    assert step.to_bytes() == stowage.Planner(CLUSTER).plan(LENGTHS).to_bytes()
    with pytest.raises(stowage.InputTypeError, match="must be integers, are float32"):
        stowage.Planner(CLUSTER).plan(lengths.float())
    with pytest.raises(stowage.InputTypeError, match="is on meta; use lengths.cpu"):
        stowage.Planner(CLUSTER).plan(lengths.to("meta"))


def test_groups_need_alignment():
    with pytest.raises(ValueError, match="not aligned"):
        Groups(CLUSTER.replace(aligned=False))


HERE = Path(__file__).resolve().parent


def torchrun(*arguments, processes=4, folder=None):
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        str(processes),
        *map(str, arguments),
    ]
    extensions = HERE.parents[2] / "build" / "torch_extensions"  # DeepSpeed compiles one
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(extensions)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env=environment, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_trains_the_same_model():
    out = torchrun(HERE.parents[2] / "examples" / "torch_ulysses.py", "--steps", "20")
    assert "against training alone: losses differ by" in out
    assert "degrees of the groups: [1, 2, 4]" in out  # otherwise it shows less than it says


def test_rank_0_plans_for_all():
    assert "4 ranks agree on 3 steps" in torchrun(HERE / "broadcast.py")


def test_the_loop_of_the_page_runs(tmp_path):
    CLUSTER.save(tmp_path / "cluster.json")
    out = torchrun(HERE / "loop.py", folder=tmp_path)
    assert "step 0: " in out and "4 steps, weights differ by" in out
