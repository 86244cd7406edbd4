"""Tests of balanced_partitions: accepted inputs, and the stated properties of its bins."""

import numpy as np
import pytest

import stowage
from conftest import drawn


@pytest.mark.parametrize("counts", ["any", "equal", "nearly_equal"])
def test_bins_are_what_is_said(counts):
    lengths = drawn(120)
    found = stowage.balanced_partitions(lengths, 8, counts=counts)
    assert sorted(found.sequences.values.tolist()) == list(range(120)) and len(found.sequences) == 8
    costs = lengths * lengths + 24576 * lengths
    for bin, own in enumerate(found.sequences):
        assert own.size and own.tolist() == sorted(own.tolist())
        assert found.tokens[bin] == lengths[own].sum() and found.costs[bin] == costs[own].sum()
    sizes = {len(own) for own in found.sequences}
    if counts == "equal":
        assert sizes == {15}
    elif counts == "nearly_equal":
        assert max(sizes) - min(sizes) <= 1
    assert (found.largest, found.smallest) == (found.costs.max(), found.costs.min())
    assert -(-costs.sum() // 8) <= found.lower_bound <= found.largest
    assert found.gap == pytest.approx(1 - found.lower_bound / found.largest)
    firsts = [own[0] for own in found.sequences]
    assert firsts == sorted(firsts)


def test_costs_are_the_callers():
    lengths = np.array([8, 7, 6, 5, 4])
    plain = stowage.balanced_partitions(lengths, 2, quadratic=0, linear=1)
    assert plain.costs.tolist() == [15, 15] and plain.gap == 0
    square = stowage.balanced_partitions(lengths, 2, quadratic=1, linear=0)
    assert sorted(square.costs.tolist()) == [90, 100]  # 64 + 36: none is evener
    assert stowage.balanced_partitions([5, 6], np.int64(2)).sequences.tolist() == [[0], [1]]


@pytest.mark.parametrize(
    "lengths, bins, more, code, place",
    [
        ([5, 6], 3, {}, "E351", "/bins"),
        ([5, 6, 7], 2, {"counts": "equal"}, "E352", "/bins"),
        ([5, 0], 1, {}, "E205", "/lengths/1"),
        ([], 1, {}, "E351", "/bins"),
        ([5], 0, {}, "E205", "/bins"),
        ([5], 2**80, {}, "E205", "/bins"),
        ([5], 1, {"linear": -1}, "E205", "/linear"),
        ([5], 1, {"quadratic": 0, "linear": 0}, "E205", "/linear"),
        ([2**40, 2**40], 1, {}, "E353", "/lengths/0"),
    ],
    ids=str,
)
def test_refuses_what_breaks_rules(lengths, bins, more, code, place):
    with pytest.raises(stowage.InputError) as raised:
        stowage.balanced_partitions(lengths, bins, **more)
    assert (raised.value.errors[0].code, raised.value.errors[0].pointer) == (code, place)


def test_refuses_other_types():
    with pytest.raises(stowage.InputTypeError, match="lengths: must be integers, are float64"):
        stowage.balanced_partitions([1.5], 1)
    with pytest.raises(TypeError):
        stowage.balanced_partitions([1], 1.5)
    with pytest.raises(ValueError, match="counts: must be one of"):
        stowage.balanced_partitions([1], 1, counts="even")
