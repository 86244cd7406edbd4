"""Tests of windows: batches that are planned together, whose sequences may change steps."""

import subprocess
import sys

import numpy as np
import pytest

import stowage
from conftest import drawn


@pytest.fixture(scope="module")
def batches():
    """Four batches of 24 sequences, two of them with one that needs a large group."""
    batches = [drawn(24, seed) for seed in range(4)]
    batches[0][3] = batches[2][7] = 20_000
    return batches


def lengths_by_id(batches):
    return dict(enumerate(np.concatenate(batches).tolist()))


def objective(steps):
    return sum(step.objective_ms for step in steps)


def test_batches_have_their_sequences_together(cluster, batches):
    with stowage.Planner(cluster) as planner:
        steps = planner.plan_window(batches)
        apart = [planner.plan(batch) for batch in batches]
        again = planner.submit_window(iter(batches)).result()
    lengths = lengths_by_id(batches)
    assert sorted(np.concatenate([step.ids for step in steps]).tolist()) == list(range(96))
    for step in steps:
        assert len(step.ids) == 24
        assert step.instance["lengths"] == [lengths[own] for own in step.ids.tolist()]
        assert sorted(step.sequences.values.tolist()) == sorted(step.ids.tolist())
        step.verify()
    assert objective(steps) <= objective(apart)
    assert steps == again
    long = [step for step in steps if 20_000 in step.instance["lengths"]]
    assert len(long) == 1  # the two share a step


@pytest.mark.parametrize("delay", [0, 1, 2])
def test_no_sequence_is_later_than_the_delay(cluster, batches, delay):
    steps = stowage.Planner(cluster).plan_window(batches, delay=delay)
    late = [at - own // 24 for at, step in enumerate(steps) for own in step.ids.tolist()]
    assert max(late) <= delay
    assert delay or not any(late)


def test_steps_keep_the_spread_of_tokens(cluster, batches):
    planner = stowage.Planner(cluster)
    tokens = [int(batch.sum()) for batch in batches]
    for spread in (1, 1.25):
        steps = planner.plan_window(batches, token_spread=spread)
        own = [sum(step.instance["lengths"]) for step in steps]
        assert min(tokens) / spread <= min(own) and max(own) <= max(tokens) * spread
    assert objective(planner.plan_window(batches)) <= objective(steps)


def test_targets_and_ids_go_with_their_sequence(cluster, batches):
    ids = [np.arange(24) * 10 + 1000 * at for at in range(4)]
    given = [
        {"lengths": batch, "ids": own, "loss_tokens": batch // 2} for batch, own in zip(batches, ids)
    ]
    steps = stowage.Planner(cluster).plan_window(given)
    lengths = dict(zip(np.concatenate(ids).tolist(), np.concatenate(batches).tolist()))
    for step in steps:
        assert step.instance["lengths"] == [lengths[own] for own in step.ids.tolist()]
        assert step.instance["loss_tokens"] == [lengths[own] // 2 for own in step.ids.tolist()]
        assert step.loss_denominator == sum(lengths[own] // 2 for own in step.ids.tolist())


@pytest.mark.parametrize("what", ["drop", "clip"])
def test_sequences_that_fit_no_group_are_named_by_their_ids(cluster, batches, what):
    longest = cluster.largest_sequence
    wide = [batch.copy() for batch in batches]
    wide[1][5] = wide[3][0] = longest + 1
    steps = stowage.Planner(cluster, on_oversize=what).plan_window(wide)
    named = [step.dropped if what == "drop" else step.clipped for step in steps]
    assert sorted(np.concatenate(named).tolist()) == [29, 72]
    if what == "drop":
        assert [own.tolist() for own in named] == [[], [29], [], [72]]
    else:
        for step in steps:
            at = dict(zip(step.ids.tolist(), step.instance["lengths"]))
            assert all(at[own] == longest for own in step.clipped.tolist())
    with pytest.raises(stowage.Infeasible) as raised:
        stowage.Planner(cluster).plan_window(wide)
    assert raised.value.unplaceable.tolist() == [29]


def test_ctrl_c_ends_a_window_with_its_plans(cluster):
    program = """
import os, signal, sys, threading, numpy as np, stowage
draw = np.random.default_rng(0)
batches = [draw.integers(1, 20_000, 60) for _ in range(8)]
cluster = stowage.Cluster.preset("gpt-7b", devices=64, limit=64_000)
threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
steps = stowage.Planner(cluster).plan_window(batches)
ids = np.concatenate([step.ids for step in steps])
assert sorted(ids.tolist()) == list(range(480))
print([step.stopped_by for step in steps].count("interrupted"))
"""
    done = subprocess.run([sys.executable, "-c", program, "0.2"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def test_a_delay_beyond_the_window_is_none(cluster, batches):
    planner = stowage.Planner(cluster)
    assert planner.plan_window(batches, delay=2**62) == planner.plan_window(batches)


def test_one_batch_or_none_is_no_window(cluster, batches):
    planner = stowage.Planner(cluster)
    assert planner.plan_window([]) == []
    assert planner.plan_window(batches[:1]) == [planner.plan(batches[0])]


@pytest.mark.parametrize(
    "wrong, error, said",
    [
        (dict(batches=3), stowage.InputTypeError, "batches: must be"),
        (dict(batches=[{"length": [3]}]), stowage.InputTypeError, r"batches\[0\].*keys length"),
        (dict(batches=[[3], "x"]), stowage.InputTypeError, r"batches\[1\]"),
        (dict(batches=[[3], [4, 0]]), stowage.InputError, "/batches/1/lengths/1"),
        (dict(batches=[[3], []]), stowage.InputError, "/batches/1/lengths"),
        (
            dict(batches=[{"lengths": [3], "loss_tokens": [4]}]),
            stowage.InputError,
            "/batches/0/loss_tokens/0",
        ),
        (
            dict(batches=[{"lengths": [3, 5], "ids": [1]}]),
            ValueError,
            r"are 1 for the 2 of batches\[0\]",
        ),
        (
            dict(batches=[{"lengths": [3], "ids": [1]}, [4]]),
            ValueError,
            r"1 is of batches\[0\] and of batches\[1\]",
        ),
        (dict(delay=-1), ValueError, "delay: must be at least 0"),
        (dict(token_spread=0.5), ValueError, "token_spread: must be at least 1"),
        (dict(token_spread=float("nan")), ValueError, "token_spread"),
        (
            dict(batches=[{"lengths": [3], "loss_tokens": [1]}, [3]]),
            ValueError,
            r"batches\[1\] has none",
        ),
        (
            dict(batches=[{"lengths": [3], "ids": [1]}, {"lengths": [3], "ids": [1]}]),
            ValueError,
            "ids: must be unique",
        ),
    ],
    ids=str,
)
def test_refuses_arguments(cluster, wrong, error, said):
    with pytest.raises(error, match=said):
        stowage.Planner(cluster).plan_window(**{"batches": [[3], [4]], **wrong})
