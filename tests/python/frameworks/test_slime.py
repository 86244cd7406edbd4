"""slime's schedule of micro-batches with the packing of stowage, in a checkout that STOWAGE_SLIME
names."""

import os
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import stowage
from pages import PAGES

CHECKOUT = os.environ.get("STOWAGE_SLIME")

pytestmark = pytest.mark.skipif(not CHECKOUT, reason="STOWAGE_SLIME names no checkout of slime")


@pytest.fixture
def schedule(monkeypatch):
    monkeypatch.setattr(sys, "path", [CHECKOUT, *sys.path])
    return pytest.importorskip("slime.utils.dp_schedule")


def line_of_the_page():
    page = (PAGES / "frameworks.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"`(slime\.utils\.dp_schedule\.first_fit_pack = [^`]*)`", page)
    return line


def micro_batches_of(schedule, lengths, limit, ranks, group):
    """Returns the samples of each rank and micro-batch."""
    args = SimpleNamespace(
        use_dynamic_batch_size=True,
        max_tokens_per_gpu=limit,
        balance_data=False,
        balance_by_flops=False,
    )
    shape = dict(dp_size=ranks, cp_size=1, vpp_size=2, microbatch_group_size_per_vp_stage=group)
    samples, batches, counts, _ = schedule.build_dp_schedule(
        args,
        shape,
        lengths.tolist(),
        global_batch_size=len(lengths),
        rollout_indices=list(range(len(lengths))),
    )
    own = [[[samples[r][i] for i in ids] for ids in batches[r]] for r in range(ranks)]
    return own, counts[0]


def test_the_drop_in_of_the_page(schedule, monkeypatch):
    fewer = 0
    for seed in range(40):
        lengths = np.random.default_rng(seed).integers(500, 8000, 96)
        limit = 8192
        _, theirs = micro_batches_of(schedule, lengths, limit, 2, 1)
        with monkeypatch.context() as patch:
            patch.setattr(schedule, "first_fit_pack", None)  # undone after the line of the page
            exec(line_of_the_page(), {"slime": sys.modules["slime"], "stowage": stowage})
            ours, count = micro_batches_of(schedule, lengths, limit, 2, 1)
        assert sorted(i for rank in ours for ids in rank for i in ids) == list(range(96))
        assert {len(rank) for rank in ours} == {count}
        assert all(0 < lengths[ids].sum() <= limit for rank in ours for ids in rank)
        assert count <= theirs
        fewer += count < theirs
    assert fewer > 0


def test_micro_batches_are_never_more_than_its_own(schedule):
    draw = np.random.default_rng(7)
    fewer = 0
    for _ in range(10000 if os.environ.get("STOWAGE_LONG") else 200):
        count = int(draw.integers(8, 65))
        lengths = np.minimum(draw.lognormal(7.0, 1.2, count).astype(np.int64) + 1, 32768)
        limit = int(lengths.max() * draw.uniform(1, 3))
        theirs = schedule.first_fit_pack(lengths.tolist(), limit)
        ours = stowage.micro_batches(lengths, 1, limit)
        assert all(0 < lengths[part].sum() <= limit for part in ours.of_rank(0))
        assert -(-lengths.sum() // limit) <= ours.per_rank_bound <= ours.per_rank <= len(theirs)
        fewer += ours.per_rank < len(theirs)
    assert fewer > 0
    print(f"fewer micro-batches in {fewer}")
