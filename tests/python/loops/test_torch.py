"""Tests of stowage.torch: order, resumption, collation, workers."""

import json
import multiprocessing
import os
import pickle
import random
import signal

import numpy as np
import pytest
import torch
from planned_loader import (
    BY_DEGREE,
    CLUSTER,
    DEVICES,
    Documents,
    HERE,
    LENGTHS,
    TARGETS,
    loader_of,
    sampler_of,
    torchrun,
    trace,
)

import stowage
from stowage.torch import PackedCollator, StepBatchSampler, loader, target_counts


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


def test_rows_of_a_window_change_steps():
    """Five steps make two windows, of three and of two steps."""
    window = {"window": 3, "token_spread": 1.5}
    ranks = [sampler_of(rank, **window) for rank in range(DEVICES)]
    plans = [[step for step, _ in own.steps_with(loader_of(own))] for own in ranks]
    assert all(own == plans[0] for own in plans)
    drawn = [ranks[0].rows_of(step, epoch=0) for step in range(5)]
    for steps in (range(3), range(3, 5)):
        planned = np.concatenate([plans[0][step].ids for step in steps])
        assert sorted(planned) == sorted(np.concatenate([drawn[step] for step in steps]))
    assert any(set(own.ids) != set(rows) for own, rows in zip(plans[0], drawn))
    for step in plans[0]:
        assert step.loss_denominator == TARGETS[step.ids].sum()
    apart = [stowage.Planner(CLUSTER).plan(LENGTHS[rows]) for rows in drawn]
    assert sum(s.objective_ms for s in plans[0]) < sum(s.objective_ms for s in apart)


def windowed():
    return sampler_of(window=3, token_spread=1.5)


def test_a_window_resumes_in_its_midst():
    sampler = windowed()
    state, rest = None, []
    for number, (_, batches) in enumerate(sampler.steps_with(loader_of(sampler))):
        for batch in batches:
            if state is not None:
                rest.append((batch.micro_batch, batch.sequences.tolist()))
            if number == 1 and state is None:
                state = sampler.state_dict()
    again = windowed()
    again.load_state_dict(state)
    got = [
        (batch.micro_batch, batch.sequences.tolist())
        for _, batches in again.steps_with(loader_of(again))
        for batch in batches
    ]
    assert got == rest
    ended = windowed()
    ended.load_state_dict({"epoch": 0, "step": ended.steps})
    assert list(ended) == []
    for other in ({}, {"window": 3}, {"window": 2, "token_spread": 1.5}):
        with pytest.raises(ValueError, match="global_batch_size or window"):
            sampler_of(**other).load_state_dict(state)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"window": 0}, "window: must be at least 1"),
        ({"delay": 1}, "no effect without window"),
        ({"window": 2, "delay": -1}, "delay: must be"),
        ({"window": 2, "token_spread": 0}, "token_spread: must be"),
    ],
    ids=str,
)
def test_refuses_windows(wrong, said):
    with pytest.raises(ValueError, match=said):
        sampler_of(**wrong)


@pytest.mark.parametrize("cluster", [CLUSTER, BY_DEGREE], ids=["by 8", "by degree"])
@pytest.mark.parametrize("slice", ["zigzag", "contiguous", None])
def test_parts_of_a_row_make_the_row(slice, cluster):
    documents = Documents()
    parts = {}
    for rank in range(DEVICES):
        sampler = sampler_of(rank, cluster)
        for number, (step, batches) in enumerate(sampler.steps_with(loader_of(sampler, slice))):
            for batch in batches:
                if not batch.filler:
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
            pad = -own % (8 if cluster is CLUSTER else 2 * len(ranks))
            want += zip(
                np.append(document["input_ids"], [7] * pad).tolist(),
                np.append(following, [-100] * pad).tolist(),
                range(own + pad),
            )
        got = list(zip(ids.tolist(), labels.tolist(), places.tolist()))
        assert sorted(got) == sorted(want) if slice == "zigzag" else got == want
    assert targets == TARGETS.sum()


def test_a_step_is_begun_anew_without_its_micro_batch(tmp_path):
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
        state = json.loads((tmp_path / "sampler.json").read_text())
        assert [path.name for path in tmp_path.iterdir()] == ["sampler.json"]
        assert (state["epoch"], state["step"]) in (
            (killed // 5, killed % 5),
            (killed // 5, killed % 5 + 1),  # the step has one micro-batch
        )
        again = sampler_of(1)
        again.load_state_dict({"epoch": killed // 5, "step": killed % 5})
        assert trace(again, 2) == whole[killed : killed + 5 - killed % 5][:2]


def job(folder, kill_at, with_worker):
    """Trains an epoch and writes each step to a file; at `kill_at` it ends within the step, before
    saving."""
    sampler = sampler_of(1)
    if (folder / "sampler.json").exists():
        sampler.load(folder / "sampler.json")
    workers = {"num_workers": 1, "multiprocessing_context": "fork"} if with_worker else {}
    loader = loader_of(sampler, **workers)
    for step, batches in sampler.steps_with(loader):
        number = sampler.state_dict()["step"]
        rows = [batch.input_ids.tolist() for batch in batches]
        if number == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / f"{number}.pickle").write_bytes(pickle.dumps((step.to_bytes(), rows)))
        sampler.save(folder / "sampler.json")


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


def alone_of(rank):
    """Returns a sampler with groups of one rank and three rows per step, so that ranks are idle."""
    planner = stowage.Planner(CLUSTER.replace(degrees=[1], memory_mib=400))
    return StepBatchSampler(LENGTHS, planner, rank=rank, global_batch_size=3)


def test_an_idle_rank_computes_a_row_of_padding():
    fillers = 0
    for rank in range(DEVICES):
        sampler = alone_of(rank)
        for step, batches in sampler.steps_with(loader_of(sampler)):
            rows = list(batches)
            assert len(rows) == step.micro_batches and [r.last for r in rows][-1:] == [True]
            for m, row in enumerate(rows):
                assert row.filler == (step.schedule[rank, m] < 0) and not row.idle
                if row.filler:
                    fillers += 1
                    assert row.ranks == (rank,) and row.micro_batch == m and not len(row.sequences)
                    assert row.input_ids.tolist() == [[7] * 8] and row.max_seqlen == 8
                    assert row.position_ids.tolist() == [list(range(8))]
                    assert row.cu_seqlens.tolist() == [0, 1]
                    assert row.cu_seqlens_padded.tolist() == [0, 8]
                    assert (row.labels == -100).all()
                    assert row.loss_denominator == step.loss_denominator
    assert fillers > 0


def test_idle_ranks_get_empty_rows_if_asked():
    idle = 0
    for rank in range(DEVICES):
        sampler = alone_of(rank)
        collator = PackedCollator(sampler, pad_token_id=7, fill_idle=False)
        for _, batches in sampler.steps_with(loader(Documents(), sampler, collator)):
            for row in batches:
                idle += row.idle
                assert not row.filler and row.idle == (row.input_ids.shape[1] == 0)
    assert idle > 0


def test_scales_of_the_loss():
    sampler = sampler_of()
    for step, batches in sampler.steps_with(loader_of(sampler)):
        for batch in batches:
            assert batch.loss_scale == 1 / step.loss_denominator
            assert batch.mean_loss_scale == DEVICES * batch.loss_scale
    (row,) = [next(iter(loader_of(sampler)))]
    with pytest.raises(stowage.Error, match="the row has no plan: a plain loop"):
        _ = row.loss_scale


def clipped(**more):
    """Returns a sampler whose planner clips sequences that no group holds; 40 % of the rows are
    longer."""
    small = CLUSTER.replace(memory_mib=64)
    planner = stowage.Planner(small, on_oversize="clip")
    assert 0 < (LENGTHS > small.largest_sequence).sum() < len(LENGTHS)
    return StepBatchSampler(LENGTHS, planner, rank=0, global_batch_size=20, **more)


def test_the_collator_cuts_what_the_planner_clips():
    sampler = clipped()
    longest = sampler.planner.cluster.largest_sequence
    cut = set()
    for step, batches in sampler.steps_with(loader_of(sampler, slice=None)):
        cut.update(step.clipped.tolist())
        for batch in batches:
            for row, length in zip(batch.sequences, batch.cu_seqlens.diff().tolist()):
                assert length == min(LENGTHS[row], longest)
    assert cut == set(np.flatnonzero(LENGTHS > longest).tolist())


def test_targets_of_cut_rows_are_counted_or_refused():
    longest = clipped().planner.cluster.largest_sequence
    with pytest.raises(ValueError, match=rf"clipped to {longest} tokens.*longest={longest}"):
        clipped(loss_tokens=TARGETS)
    with pytest.raises(ValueError, match="how many of their targets are left is unknown"):
        clipped().planner.plan(LENGTHS, loss_tokens=TARGETS)
    rows = Documents()
    targets = target_counts((rows[i]["labels"] for i in range(len(rows))), longest=longest)
    sampler = StepBatchSampler(
        np.minimum(LENGTHS, longest),
        clipped().planner,
        rank=0,
        global_batch_size=20,
        loss_tokens=targets,
    )
    trained = sum(step.loss_denominator for step, _ in sampler.steps_with(loader_of(sampler)))
    assert trained == targets.sum() < TARGETS.sum()


def test_the_example_trains_the_same_model():
    out = torchrun(HERE.parents[2] / "examples" / "torch_ulysses.py", "--steps", "20")
    assert "against training alone: losses differ by" in out
    assert "degrees of the groups: [1, 2, 4]" in out  # otherwise it shows less than it says


def test_rank_0_plans_for_all():
    assert "4 ranks agree on 3 steps" in torchrun(HERE / "broadcast.py")
