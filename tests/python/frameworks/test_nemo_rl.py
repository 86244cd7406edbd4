"""NeMo-RL's packer with the packing of stowage, in a checkout that STOWAGE_NEMO_RL names."""

import os
import sys

import numpy as np
import pytest

from pages import program_with

CHECKOUT = os.environ.get("STOWAGE_NEMO_RL")

pytestmark = pytest.mark.skipif(not CHECKOUT, reason="STOWAGE_NEMO_RL names no checkout of NeMo-RL")


@pytest.fixture
def packing(monkeypatch):
    monkeypatch.setattr(sys, "path", [CHECKOUT, *sys.path])
    return pytest.importorskip("nemo_rl.data.packing.algorithms")


def costs(lengths, bins, ranks):
    """Returns the cost of each rank, which gets every `ranks`-th bin."""
    cost = lengths.astype(np.int64) ** 2 + 24576 * lengths
    return [sum(int(cost[ids].sum()) for ids in bins[rank::ranks]) for rank in range(ranks)]


def packed(packing, lengths, ranks):
    packer = packing.get_packer(
        "modified_first_fit_decreasing", 8192, min_bin_count=ranks, bin_count_multiple=ranks
    )
    return packer.pack(lengths.tolist())


def test_the_drop_in_of_the_page(packing, monkeypatch):
    fewer, ratios = 0, []
    for seed in range(40):
        draw = np.random.default_rng(seed)
        ranks = int(draw.integers(1, 9))
        lengths = draw.integers(500, 8000, 96)
        theirs = packed(packing, lengths, ranks)
        with monkeypatch.context() as patch:
            kind = packing.ModifiedFirstFitDecreasingPacker
            patch.setattr(
                kind, "_pack_implementation", None
            )  # undone after the program of the page
            exec(program_with("nemo_rl", "frameworks.md"), {})
            ours = packed(packing, lengths, ranks)
        assert sorted(i for ids in ours for i in ids) == list(range(96))
        assert all(0 < lengths[ids].sum() <= 8192 for ids in ours)
        assert len(ours) % ranks == 0 and len(ours) <= len(theirs)
        fewer += len(ours) < len(theirs)
        ratios.append(max(costs(lengths, theirs, ranks)) / max(costs(lengths, ours, ranks)))
    assert fewer > 0 and np.median(ratios) > 1
    print(f"fewer bins in {fewer} of 40, slowest rank {min(ratios):.3f} to {max(ratios):.3f} times")
