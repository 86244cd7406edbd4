"""Tests of stowage.verl with verl's own functions, which call it after use()."""

import itertools
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("verl")

import torch
from verl.trainer.ppo.ray_trainer import RayPPOTrainer
from verl.protocol import DataProto
from verl.utils import seqlen_balancing

import stowage
import stowage.verl

theirs = stowage.verl._replaced


@pytest.fixture
def used(monkeypatch):
    """Calls use(), and restores verl after the test."""
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


FORMS = {
    "floats": lambda costs: costs.tolist(),
    "array": lambda costs: costs,
    "float32": lambda costs: torch.from_numpy(costs).float(),
    "bfloat16": lambda costs: torch.from_numpy(costs).bfloat16(),
    "tensors": lambda costs: list(torch.from_numpy(costs)),
    "numbers": lambda costs: [np.float64(cost) for cost in costs],
    "mixed": lambda costs: [float(cost) if i % 2 else int(cost) for i, cost in enumerate(costs)],
    "tuple": lambda costs: tuple(costs.tolist()),
}


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_costs_may_be_any_numbers(form, equal):
    draw = np.random.default_rng(8)
    for seed in range(8):
        bins = int(draw.choice([2, 3, 8]))
        lengths = drawn(seed, 6 * bins)
        given = FORMS[form](calculated(lengths) * draw.choice([1.0, 1e-12, 1e9]))
        own = stowage.verl.get_seqlen_balanced_partitions(given, bins, equal)
        assert sorted(i for part in own for i in part) == list(range(len(lengths)))
        assert len(own) == bins and all(part == sorted(part) != [] for part in own)
        assert not equal or len({len(part) for part in own}) == 1
        costs = [float(cost) for cost in given]
        ours, verls = extremes(costs, own), extremes(costs, theirs(costs, bins, equal))
        assert ours[0] <= verls[0] * (1 + 1e-12)


def calculated(lengths):
    """Returns a workload with fractions, as cost models have it."""
    return 0.37 * lengths + 1.1e-5 * lengths.astype(np.float64) ** 2


def test_integers_as_floats_are_the_integers():
    for seed in range(10):
        costs = drawn(seed, 40)
        whole = stowage.verl.get_seqlen_balanced_partitions(costs.tolist(), 4, True)
        assert whole == stowage.verl.get_seqlen_balanced_partitions(costs.astype(float), 4, True)
        scaled = stowage.verl.get_seqlen_balanced_partitions((costs / 8).tolist(), 4, True)
        ours, others = (extremes(costs.tolist(), bins) for bins in (whole, scaled))
        assert ours[0] == pytest.approx(others[0], rel=1e-3)


@pytest.mark.parametrize(
    "costs",
    [
        [2**60, 2**60, 2**59, 2**59 + 1],
        [1e300, 2e300, 3e300, 1e308],
        [5e-324, 1e-310, 0.0, 1e-320],
        [0.0, 0.0, 0.0],
        [1e-30, 1e30, 1.0, 3.5],
        [False, True, True],
        [10**40, 1, 2],
    ],
    ids=str,
)
def test_costs_of_any_size(costs):
    own = stowage.verl.get_seqlen_balanced_partitions(costs, 2, False)
    assert sorted(own[0] + own[1]) == list(range(len(costs))) and all(own)
    most = max(sum(float(costs[i]) for i in part) for part in own)
    best = min(
        max(sum(float(costs[i]) for i in half), sum(map(float, costs)) - sum(float(costs[i]) for i in half))
        for count in range(1, len(costs))
        for half in itertools.combinations(range(len(costs)), count)
    )
    assert most == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    "costs, kind, said",
    [
        ([1.0, math.nan], stowage.InputError, "E205 /seqlen_list/1: must be finite, is nan"),
        ([math.inf, 2.5], stowage.InputError, "E205 /seqlen_list/0: must be finite"),
        (["a", 1], stowage.InputTypeError, r"seqlen_list\[0\]: must be a number, is 'a'"),
        ([[1.5], [2.5]], stowage.InputTypeError, r"seqlen_list\[0\]: must be a number"),
        (5.5, stowage.InputTypeError, "seqlen_list: must be a list"),
        (torch.tensor(5.5), stowage.InputTypeError, "seqlen_list: must be a list"),
        ("abc", stowage.InputTypeError, "seqlen_list: must be a list"),
    ],
    ids=str,
)
def test_what_are_no_costs(costs, kind, said):
    with pytest.raises(kind, match=said):
        stowage.verl.get_seqlen_balanced_partitions(costs, 2, False)
    with pytest.raises(stowage.InputTypeError, match="k_partitions: must be an integer"):
        stowage.verl.get_seqlen_balanced_partitions([1, 2], "2", False)


CHECKOUT = os.environ.get("STOWAGE_VERL")


@pytest.mark.skipif(not CHECKOUT, reason="STOWAGE_VERL names no checkout of verl")
def test_verls_own_tests_pass():
    here = Path(__file__).parent
    paths = [CHECKOUT, here, Path(stowage.__file__).parents[1]]
    done = subprocess.run(
        [
            *(sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-p", "verl_swapped", "tests/utils/test_seqlen_balancing.py"),
        ],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"stowage made [1-9]\d* partitions", done.stdout)
    assert re.search(r"^[1-9]\d* passed", done.stdout, re.M)
    assert "failed" not in done.stdout and "skipped" not in done.stdout


def data_of(lengths):
    """Returns left-aligned rows as in rollouts; the tokens of each row are its number."""
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
