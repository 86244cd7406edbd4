"""Tests of micro_batches: accepted inputs, and the stated properties of its micro-batches."""

import itertools

import numpy as np
import pytest

import stowage
from conftest import drawn


def check(found, lengths, ranks, limit, labels=None):
    """Recomputes all that a plan states, but the bounds."""
    costs = lengths * lengths + 24576 * lengths
    assert sorted(found.sequences.values.tolist()) == list(range(len(lengths)))
    assert found.tokens.shape == found.costs.shape == (ranks, found.per_rank)
    for rank in range(ranks):
        own = found.of_rank(rank)
        assert len(own) == found.per_rank and all(own)
        assert found.tokens[rank].tolist() == [lengths[ids].sum() for ids in own]
        assert found.costs[rank].tolist() == [costs[ids].sum() for ids in own]
        assert found.costs[rank].tolist() == sorted(found.costs[rank], reverse=True)
    assert found.tokens.max() <= limit
    of_ranks = found.costs.sum(axis=1)
    assert (found.largest, found.smallest) == (of_ranks.max(), of_ranks.min())
    assert found.lower_bound <= found.largest
    assert found.gap == pytest.approx(1 - found.lower_bound / found.largest)
    assert -(-int(lengths.sum()) // limit) <= ranks * found.per_rank
    if labels is not None:
        for ids, others in itertools.combinations(found.sequences.tolist(), 2):
            assert not set(labels[ids]) & set(labels[others])


@pytest.mark.parametrize("ranks, multiple", [(1, 1), (4, 1), (8, 2), (3, 4)])
def test_micro_batches_are_what_is_said(ranks, multiple):
    lengths = drawn(160)
    limit = int(1.3 * lengths.max())
    found = stowage.micro_batches(lengths, ranks, limit, multiple_of=multiple)
    check(found, lengths, ranks, limit)
    assert found.per_rank % multiple == 0 and found.per_rank_bound <= found.per_rank
    more = stowage.micro_batches(lengths, ranks, limit, at_least=found.per_rank + 1)
    assert more.per_rank == more.per_rank_bound == found.per_rank + 1
    again = stowage.micro_batches(torch_like(lengths), ranks, limit, multiple_of=multiple)
    assert again.sequences.tolist() == found.sequences.tolist()


def torch_like(lengths):
    return lengths.astype(np.int32).tolist()


@pytest.mark.parametrize("labels", [4, "labels"])
def test_sequences_stay_together(labels):
    lengths = drawn(96)
    names = np.arange(96) // 4 if labels == 4 else np.arange(96) % 31
    limit = int(max(lengths[names == name].sum() for name in names))
    given = labels if labels == 4 else names
    check(stowage.micro_batches(lengths, 2, limit, keep_together=given), lengths, 2, limit, names)


def test_the_limit_is_strict():
    found = stowage.micro_batches([7] * 8, 1, 8)
    assert found.per_rank == found.per_rank_bound == 8 and found.per_rank_bound_by == "large"


@pytest.mark.parametrize(
    "lengths, ranks, limit, more, code, place",
    [
        ([5, 9], 1, 8, {}, "E354", "/lengths/1"),
        ([5, 5], 1, 8, {"keep_together": 2}, "E354", "/lengths/0"),
        ([5, 6], 3, 8, {}, "E355", "/ranks"),
        ([5, 6], 2, 8, {"multiple_of": 2}, "E355", "/ranks"),
        ([], 1, 8, {}, "E355", "/ranks"),
        ([5, 6, 7], 1, 8, {"keep_together": 2}, "E356", "/keep_together"),
        ([5, 6, 7], 1, 8, {"keep_together": 0}, "E356", "/keep_together"),
        ([5, 6, 7], 1, 8, {"keep_together": [1, 2]}, "E356", "/keep_together"),
        ([5, 0], 1, 8, {}, "E205", "/lengths/1"),
        ([5], 0, 8, {}, "E205", "/ranks"),
        ([5], 1, 0, {}, "E205", "/max_tokens"),
        ([5], 1, 8, {"multiple_of": 0}, "E205", "/multiple_of"),
        ([5], 1, 8, {"at_least": 2**70}, "E205", "/at_least"),
        ([5], 1, 8, {"quadratic": -1}, "E205", "/quadratic"),
    ],
    ids=str,
)
def test_refuses_what_breaks_rules(lengths, ranks, limit, more, code, place):
    with pytest.raises(stowage.InputError) as raised:
        stowage.micro_batches(lengths, ranks, limit, **more)
    assert (raised.value.errors[0].code, raised.value.errors[0].pointer) == (code, place)


def test_refuses_other_types():
    with pytest.raises(stowage.InputTypeError, match="lengths: must be integers, are float64"):
        stowage.micro_batches([1.5], 1, 8)
    with pytest.raises(stowage.InputTypeError, match="keep_together: must be an integer"):
        stowage.micro_batches([1], 1, 8, keep_together=1.5)
    with pytest.raises(IndexError, match="rank 1 of 1 ranks"):
        stowage.micro_batches([1], 1, 8).of_rank(1)
