"""Tests of audit(): accepted work, the stated values, and errors."""

import numpy as np
import pytest

import stowage
from conftest import drawn


def dealt(count, ranks, rows):
    """Deals ids to ranks and rows in turn."""
    ids = np.arange(count)
    return [[ids[r + ranks * i :: ranks * rows].tolist() for i in range(rows)] for r in range(ranks)]


def cost(lengths):
    return int((lengths * lengths + 24576 * lengths).sum())


def test_values_of_rows():
    lengths = drawn(96)
    rows = dealt(96, 4, 6)
    found = stowage.audit(lengths, rows=rows)
    assert found.now == max(sum(cost(lengths[row]) for row in rank) for rank in rows)
    assert found.planned == max(sum(cost(lengths[row]) for row in rank) for rank in found.plan)
    assert found.lower_bound <= found.planned < found.now
    assert found.lost_at_least == pytest.approx(1 - found.planned / found.now)
    assert found.lost_at_most == pytest.approx(1 - found.lower_bound / found.now)
    limit = max(lengths[row].sum() for rank in rows for row in rank)
    assert found.line == f"stowage.micro_batches(lengths, 4, {limit})"
    assert max(lengths[row].sum() for rank in found.plan for row in rank) <= limit
    assert "loses at least" in str(found) and found.line in str(found)
    wider = stowage.audit(lengths, rows=rows, max_tokens=2 * int(limit))
    assert wider.now == found.now and wider.line.endswith(f"{2 * limit})")


def test_values_of_a_partition():
    lengths = drawn(64)
    partition = [part[0] for part in dealt(64, 8, 1)]
    found = stowage.audit(lengths, partition=np.array(partition))
    own = stowage.balanced_partitions(lengths, 8, counts="equal")
    assert found.planned == own.largest and found.line == "stowage.verl.use()"
    assert found.plan == [[ids] for ids in own.sequences.tolist()]
    same = stowage.audit(lengths, partition=own.sequences.tolist())
    assert same.lost_at_least == 0 and str(same).startswith("loses at least 0.0 %")


def test_padding_counts():
    lengths = drawn(48)
    rows = dealt(48, 4, 3)
    packed = stowage.audit(lengths, rows=rows)
    padded = stowage.audit(lengths, batch_rebalance=rows)
    assert padded.now > packed.now and padded.lower_bound == packed.lower_bound
    assert "StowageTrainer" in padded.line


def test_groups_are_timed():
    lengths = np.array([30000, 2000, 2000, 2000])
    groups = [[[0], [0], [1], [1]], [[2], [2], [3], [3]]]
    found = stowage.audit(lengths, sample_id_groups=groups)
    assert 0 < found.lost_at_least <= found.lost_at_most < 1
    assert sorted({i for ranks in found.plan for ids in ranks for i in ids}) == [0, 1, 2, 3]
    cluster = stowage.Cluster.preset("gpt-7b", devices=4, memory_mib=1e9, pad_multiple=1)
    again = stowage.audit(lengths, sample_id_groups=groups, cluster=cluster)
    assert (again.now, again.lower_bound) == (found.now, found.lower_bound)


@pytest.mark.parametrize(
    "work, code, place",
    [
        ({"partition": [[0]]}, "E357", "/lengths/1"),
        ({"partition": [[0, 1], [1]]}, "E357", "/lengths/1"),
        ({"partition": []}, "E357", "/partition"),
        ({"rows": [[[0, 5]], [[1]]]}, "E205", "/rows/0/0"),
        ({"sample_id_groups": [[[0], [1]], [[0]]]}, "E357", "/sample_id_groups/1"),
        ({"rows": [[[0]], [[1]]], "max_tokens": 5}, "E354", "/lengths/1"),
        ({"rows": [[[0]], [[1]]], "quadratic": -1}, "E205", "/quadratic"),
    ],
    ids=str,
)
def test_refuses_what_breaks_rules(work, code, place):
    with pytest.raises(stowage.InputError) as raised:
        stowage.audit([5, 6], **work)
    assert (raised.value.errors[0].code, raised.value.errors[0].pointer) == (code, place)


def test_refuses_other_types():
    with pytest.raises(stowage.InputTypeError, match="audit: must have one of .* has 0"):
        stowage.audit([5])
    with pytest.raises(stowage.InputTypeError, match="has 2"):
        stowage.audit([5], rows=[[[0]]], partition=[[0]])
    with pytest.raises(stowage.InputTypeError, match=r"rows\[0\]: must be a list"):
        stowage.audit([5], rows=[0])
    with pytest.raises(stowage.InputTypeError, match="cluster: has no effect"):
        stowage.audit([5], rows=[[[0]]], cluster=stowage.Cluster.preset(devices=1))
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match="time_limit: must be at least 0 seconds"):
            stowage.audit([5], rows=[[[0]]], time_limit=wrong)
