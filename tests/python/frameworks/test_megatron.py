"""stowage.megatron with megatron-core from PyPI."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("megatron.core")

import stowage
from stowage.megatron import HybridCPScheduler, packed_seq_params
from planned_loader import CLUSTER, FRAMEWORKS, torchrun

PER_RANK = 128


def group_of(size):
    return SimpleNamespace(size=lambda: size)


def scheduler(cluster=CLUSTER, per_rank=PER_RANK, ranks=4):
    return HybridCPScheduler(stowage.Planner(cluster), per_rank, group_of(ranks))


def test_plans_hold_megatrons_rules():
    draw = np.random.default_rng(1)
    for count in [1, 2, 3, 5, 8, *draw.integers(1, 60, 25)]:
        lengths = draw.integers(1, 512 + 1, count)
        pairs = [(100 + i, int(length)) for i, length in enumerate(lengths)]
        groups, samples = scheduler().get_groups_and_subsamples(pairs, None)
        seen = []
        for m, (of_lengths, ranks) in enumerate(zip(groups, samples)):
            assert len(ranks) == len(of_lengths) == 4
            assert [[dict(pairs)[i] for i in own] for own in ranks] == of_lengths
            first = 0
            while first < 4 and ranks[first]:
                width = ranks.count(ranks[first])
                assert width in (1, 2, 4) and first % width == 0
                assert all(own == ranks[first] for own in ranks[first : first + width])
                assert max(of_lengths[first]) <= PER_RANK * width
                seen += ranks[first]
                first += width
            assert not any(ranks[first:])
            if m == len(samples) - 1:
                assert first == 4, "a rank has nothing in the last micro-batch"
        assert sorted(seen) == [i for i, _ in pairs]


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"ranks": 8}, "must be of 8 devices"),
        ({"per_rank": 127}, "lower memory_mib"),
        ({"cluster": CLUSTER.replace(degrees=[1, 4])}, "of all degrees"),
    ],
    ids=str,
)
def test_refuses_clusters_that_are_not_megatrons(arguments, said):
    with pytest.raises(ValueError, match=said):
        scheduler(**arguments)


@pytest.mark.parametrize(
    "more, said",
    [
        ({"method": "auto", "time_limit": 1.0}, "set node_limit"),
        ({"on_oversize": "clip"}, 'on_oversize must be "raise", is "clip"'),
    ],
    ids=str,
)
def test_refuses_planners_of_other_plans(more, said):
    with pytest.raises(ValueError, match=said):
        HybridCPScheduler(stowage.Planner(CLUSTER, **more), PER_RANK, group_of(4))


def test_a_packed_row_in_megatrons_words():
    step = stowage.Planner(CLUSTER).plan([30, 5, 100, 400])
    for b in range(len(step.sequences)):
        params = packed_seq_params(step.batch(b), None)
        assert params.qkv_format == "thd" and params.local_cp_size == step.degree[b]
        assert params.cu_seqlens_q.tolist() == step.cu_seqlens[b].tolist()
        assert params.cu_seqlens_kv_padded.tolist() == step.cu_seqlens_padded[b].tolist()
        assert params.max_seqlen_q == step.max_seqlen[b]


def test_the_wrapper_of_megatron_delivers_the_plan():
    assert "4 ranks got 8 global batches" in torchrun(FRAMEWORKS / "megatron_wrapper.py")


def test_memory_is_megatrons():
    """With `packed: false` a group holds the same sequences as under BalancedCPScheduler."""
    cluster = CLUSTER.replace(packed=False)
    own = scheduler(cluster, PER_RANK)
    assert cluster.tokens_per_device == PER_RANK
    draw = np.random.default_rng(2)
    broken = 0
    for _ in range(1000):
        degree = int(draw.choice([1, 2, 4]))
        # Padded lengths, often near the capacity of the group.
        lengths = 8 * draw.integers(
            1, max(2, int(draw.choice([3, 24])) * degree), draw.integers(1, 6)
        )
        group = {"degree": degree, "first_rank": 0, "sequences": list(range(len(lengths)))}
        plan = {
            "format": "stowage/plan",
            "version": 1,
            "problem": "scatter",
            "micro_batches": [{"groups": [group]}],
        }
        document = stowage.Planner(cluster).plan([8]).instance
        document["lengths"] = lengths.tolist()
        try:
            stowage.verify(document, plan)
            fits = True
        except stowage.VerificationError as wrong:
            assert {violation.rule for violation in wrong.violations} == {"capacity"}
            fits = False
            broken += 1
        assert fits == all(own.gpus_needed(int(length)) <= degree for length in lengths)
    assert 200 < broken < 800


def test_rules_of_a_cluster_are_megatrons():
    """With packed=False costs and memory are those of sequences that run one by one."""
    cluster = CLUSTER.replace(packed=False, no_idle_ranks=True)
    draw = np.random.default_rng(7)
    for count in (4, 9, 40):
        lengths = draw.integers(1, 512 + 1, count)
        groups, samples = scheduler(cluster).get_groups_and_subsamples(
            list(enumerate(lengths)), None
        )
        assert all(own for ranks in samples for own in ranks)
        assert sorted({i for ranks in samples for own in ranks for i in own}) == list(range(count))
