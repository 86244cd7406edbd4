"""stowage.verl with verl's own functions, which call it once use() was called."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("verl")

import torch
from verl.trainer.ppo.ray_trainer import RayPPOTrainer
from verl.protocol import DataProto
from verl.utils import seqlen_balancing

import stowage.verl

theirs = stowage.verl._replaced


@pytest.fixture
def used(monkeypatch):
    """use(), and verl as it was afterwards."""
    name = stowage.verl._NAME
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("verl") and hasattr(module, name):
            monkeypatch.setattr(module, name, getattr(module, name))
    stowage.verl.use()


def drawn(seed, count):
    draw = np.random.default_rng(seed)
    return np.minimum(draw.lognormal(7.0, 1.2, count).astype(np.int64) + 1, 32768)


def extremes(costs, bins):
    loads = [sum(costs[i] for i in own) for own in bins]
    return max(loads), -min(loads)


@pytest.mark.parametrize("equal", [False, True])
def test_is_never_worse_than_verls(equal):
    draw = np.random.default_rng(5)
    better = 0
    for seed in range(40):
        bins = int(draw.choice([2, 3, 8, 32]))
        lengths = torch.from_numpy(drawn(seed, bins * int(draw.integers(1, 20))))
        costs = seqlen_balancing.calculate_workload(lengths)
        own = stowage.verl.get_seqlen_balanced_partitions(costs, bins, equal)
        assert own == stowage.verl.get_seqlen_balanced_partitions(costs.tolist(), bins, equal)
        other = theirs(costs.tolist(), bins, equal)
        assert sorted(i for part in own for i in part) == list(range(len(lengths)))
        assert len(own) == bins and all(part == sorted(part) != [] for part in own)
        assert not equal or len({len(part) for part in own}) == 1
        ours, verls = extremes(costs.tolist(), own), extremes(costs.tolist(), other)
        assert ours <= verls
        better += ours < verls
    assert better > 20


def test_refuses_what_verl_asserts():
    for given in [([5, 6], 3, False), ([5, 6, 7], 2, True)]:
        with pytest.raises(AssertionError):
            theirs(*given)
        with pytest.raises(stowage.InputError):
            stowage.verl.get_seqlen_balanced_partitions(*given)
    assert stowage.verl.get_seqlen_balanced_partitions([0, 7, 0], 2, False)


def data_of(lengths):
    """Left-aligned rows, as rollouts have them; each says its number."""
    mask = torch.arange(int(lengths.max())) < torch.from_numpy(lengths)[:, None]
    ids = torch.arange(len(lengths))[:, None].expand(mask.shape) * mask
    return DataProto.from_dict({"input_ids": ids, "attention_mask": mask.long()})


def test_the_trainer_balances_a_batch(used):
    lengths = drawn(3, 64)
    batch, metrics = data_of(lengths), {}
    trainer = SimpleNamespace(_get_dp_size=lambda *_: 8, actor_rollout_wg=None)
    RayPPOTrainer._balance_batch(trainer, batch, metrics)
    seen = batch.batch["attention_mask"].sum(-1).numpy()
    assert sorted(seen) == sorted(lengths)
    workloads = [int(part.sum()) for part in np.split(seen * seen + 24576 * seen, 8)]
    own = stowage.balanced_partitions(lengths, 8, counts="equal")
    assert (max(workloads), min(workloads)) == (own.largest, own.smallest)
    assert metrics["global_seqlen/mean"] == lengths.sum() / 8


@pytest.mark.parametrize("divided_by, group", [(None, 1), (4, 1), (None, 2)])
def test_micro_batches_hold_the_token_limit(used, monkeypatch, divided_by, group):
    calls = []

    def counting(*arguments, **more):
        calls.append(arguments)
        return stowage.verl.get_seqlen_balanced_partitions(*arguments, **more)

    monkeypatch.setattr(seqlen_balancing, stowage.verl._NAME, counting)
    lengths = drawn(11, 48)
    limit = int(2 * lengths.max())
    rows, ids = seqlen_balancing.rearrange_micro_batches(
        data_of(lengths).batch, limit, num_batches_divided_by=divided_by, force_group_size=group
    )
    assert calls and sorted(i for part in ids for i in part) == list(range(48))
    for row, part in zip(rows, ids):
        assert row["attention_mask"].sum() == lengths[part].sum() <= limit
        assert (row["input_ids"].max(-1).values.tolist()) == part
    if divided_by:
        assert len(rows) % divided_by == 0
    if group == 2:
        assert all(part[::2] == [i - 1 for i in part[1::2]] for part in ids)
