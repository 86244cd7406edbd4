"""audit() on what trainers really run: Trainer's batch_rebalance, Megatron's groups, verl's
partitions, over the bundled lists of lengths."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

import stowage
from planned_loader import HERE

LISTS = sorted((HERE.parents[2] / "instances" / "data" / "lengths").glob("*.txt"))
RANKS, STEPS, SIZE, CAP = 8, 2, 128, 32768


def batches():
    draw = np.random.default_rng(3)
    for path in LISTS:
        lengths = np.minimum(np.loadtxt(path, np.int64), CAP)
        yield draw.choice(lengths, SIZE)


def timed(lengths, **work):
    begin = time.process_time()  # a loaded machine takes longer
    found = stowage.audit(lengths, **work)
    assert time.process_time() - begin < 2
    assert found.lower_bound <= found.planned <= found.now
    assert 0 <= found.lost_at_least <= found.lost_at_most < 1
    return found


def cost(lengths):
    return int((lengths * lengths + 24576 * lengths).sum())


def assert_costs(found, lengths, now):
    """Computes the verdict again from the lengths: the work's cost, the plan's, and a bound on any."""
    ids = [[i for row in rank for i in row] for rank in found.plan]
    assert sorted(i for own in ids for i in own) == list(range(len(lengths)))
    planned = max(cost(lengths[own]) for own in ids)
    assert (found.now, found.planned) == (now, min(now, planned))
    average = -(-cost(lengths) // len(ids))
    longest = cost(lengths[[lengths.argmax()]])
    assert max(average, longest) <= found.lower_bound <= planned
    assert found.lost_at_least == pytest.approx(1 - found.planned / now, abs=1e-12)
    assert found.lost_at_most == pytest.approx(1 - found.lower_bound / now, abs=1e-12)


def test_batch_rebalance_of_a_trainer():
    trainer = pytest.importorskip("transformers.trainer_pt_utils")
    if not hasattr(trainer, "BatchRebalanceSampler"):
        pytest.skip("this release of transformers has no batch_rebalance")
    lost = []
    for lengths in batches():
        work = [
            list(
                trainer.BatchRebalanceSampler(
                    lengths.tolist(), SIZE, dp_size=RANKS, grad_accum=STEPS, rank=rank
                )
            )
            for rank in range(RANKS)
        ]
        found = timed(lengths, batch_rebalance=work)
        assert "StowageTrainer" in found.line
        padded = [[np.full(len(ids), lengths[ids].max()) for ids in rank] for rank in work]
        assert_costs(found, lengths, max(sum(map(cost, rank)) for rank in padded))
        lost.append(found.lost_at_least)
    assert np.median(lost) > 0.01 and max(lost) > 0.05, lost


def test_partitions_of_verl():
    balancing = pytest.importorskip("verl.utils.seqlen_balancing")
    for lengths in batches():
        costs = (lengths * lengths + 24576 * lengths).tolist()
        theirs = balancing.karmarkar_karp(costs, RANKS, True)
        found = timed(lengths, partition=theirs)
        assert_costs(found, lengths, max(sum(costs[i] for i in ids) for ids in theirs))
        assert found.planned == stowage.balanced_partitions(lengths, RANKS, counts="equal").largest


def test_groups_of_megatron():
    schedule = pytest.importorskip("megatron.core.pipeline_parallel.hybrid_cp_schedule")
    config = SimpleNamespace(pipeline_model_parallel_size=1)
    for lengths in batches():
        group = SimpleNamespace(size=lambda: RANKS)
        scheduler = schedule.BalancedCPScheduler(CAP // 4, group)
        _, ids = scheduler.get_groups_and_subsamples(
            [(i, int(n)) for i, n in enumerate(lengths)], config
        )
        found = timed(lengths, sample_id_groups=ids)
        assert "stowage.megatron" in found.line
        assert sorted({i for ranks in found.plan for own in ranks for i in own}) == list(range(SIZE))
