"""Tests of the types that a planner accepts as lengths, and of its errors for all others."""

import numpy as np
import pytest

import stowage


@pytest.fixture
def planner(cluster):
    return stowage.Planner(cluster)


@pytest.mark.parametrize(
    "lengths",
    [
        [100, 200, 300],
        (100, 200, 300),
        np.array([100, 200, 300]),
        np.array([100, 200, 300], np.int32),
        np.array([100, 200, 300], np.uint64),
        np.array([100, 0, 200, 0, 300])[::2],
        np.array([100, 200, 300], ">i8"),
        range(100, 301, 100),
    ],
    ids=str,
)
def test_takes_integers(planner, lengths):
    step = planner.plan(lengths)
    assert sorted(step.sequences.values.tolist()) == [0, 1, 2]
    assert step.loss_denominator == 600


class OnDevice:
    """An object with the attributes that a CUDA tensor has before its memory is accessed."""

    class device:
        type = "cuda"

    def __array__(self, *_):
        raise AssertionError("memory of a device was read")


@pytest.mark.parametrize(
    "lengths, said",
    [
        ([1.5, 2.0], "must be integers, are float64; lengths[0] is np.float64(1.5)"),
        (np.array([1, 2], np.float32), "must be integers, are float32"),
        ([True, False], "must be integers, are bool"),
        (["1", "2"], "must be integers"),
        ([2**70], "must be integers, are object"),
        ([[1, 2], [3, 4]], "must be 1-d, has the shape (2, 2)"),
        ([[1, 2], [3]], "must be 1-d"),
        (7, "must be an array, a list or a CPU tensor of integers, is of the type int"),
        (None, "is of the type NoneType"),
        (iter([1, 2]), "is of the type list_iterator; use numpy.array(list(lengths))"),
        (np.ma.array([1, 2], mask=[0, 1]), "must have no masked entries"),
        (OnDevice(), "must be in the memory of the CPU"),
    ],
    ids=str,
)
def test_refuses_other_types(planner, lengths, said):
    with pytest.raises(stowage.InputTypeError) as raised:
        planner.plan(lengths)
    assert said in str(raised.value)
    assert isinstance(raised.value, TypeError) and isinstance(raised.value, stowage.Error)


@pytest.mark.parametrize(
    "lengths, place, value",
    [
        ([5, 0, 7], "/lengths/1", "is 0"),
        ([5, 6, -4], "/lengths/2", "is -4"),
        ([2**53 + 1], "/lengths/0", "is 9007199254740993"),
        (np.array([1, 2**63], np.uint64), "/lengths/1", "is 9223372036854775808"),
        ([], "/lengths", "is empty"),
    ],
)
def test_names_the_place_and_the_value(planner, lengths, place, value):
    with pytest.raises(stowage.InputError) as raised:
        planner.plan(lengths)
    error = raised.value.errors[0]
    assert error.pointer == place and value in error.message
    assert isinstance(raised.value, ValueError)


def test_ids_are_no_part_of_the_callers_array(planner):
    ids = np.array([7, 8, 9])
    step = planner.plan([100, 200, 300], ids=ids)
    ids[:] = 0
    assert sorted(step.sequences.values.tolist()) == [7, 8, 9] == step.ids.tolist()
    with pytest.raises(ValueError, match="read-only"):
        step.ids[0] = 0


def test_names_what_fits_no_group(planner):
    most = planner.cluster.largest_sequence
    planner.plan([most])
    with pytest.raises(stowage.Infeasible) as raised:
        planner.plan([100, most + 1, 200, 2 * most], ids=[7, 8, 9, 10])
    assert raised.value.unplaceable.tolist() == [8, 10]
    assert "memory_mib" in raised.value.remedy and str(most) in str(raised.value)
    assert f"8 of {most + 1}, 10 of {2 * most};" in str(raised.value)


def test_drops_what_fits_no_group(cluster):
    planner = stowage.Planner(cluster, on_oversize="drop")
    most = cluster.largest_sequence
    step = planner.plan([100, most + 1, 200], ids=[7, 8, 9], loss_tokens=[10, 20, 30])
    assert step.dropped.tolist() == [8] and step.clipped.size == 0
    assert sorted(step.sequences.values.tolist()) == [7, 9] and step.loss_denominator == 40
    with pytest.raises(stowage.Infeasible) as raised:
        planner.plan([most + 1])
    assert raised.value.unplaceable.tolist() == [0]
    with pytest.raises(stowage.InputError, match="E205 /lengths/2: must be at least 1, is -7"):
        planner.plan([most + 1, 5, -7])


def test_clips_what_fits_no_group(cluster):
    planner = stowage.Planner(cluster, on_oversize="clip")
    most = cluster.largest_sequence
    step = planner.plan([100, most + 1], ids=[7, 8])
    assert step.clipped.tolist() == [8] and step.dropped.size == 0
    assert step.loss_denominator == 100 + most
    assert sorted(np.diff(row).max() for row in step.cu_seqlens)[-1] == most
    step = planner.plan([100, most + 1], loss_tokens=[10, 0])  # a sequence without targets has none left
    assert step.clipped.tolist() == [1] and step.loss_denominator == 10


def test_targets_of_a_clipped_sequence_are_unknown(cluster):
    planner = stowage.Planner(cluster, on_oversize="clip")
    most = cluster.largest_sequence
    with pytest.raises(ValueError, match=rf"loss_tokens: 1 sequences are clipped to {most} tokens"):
        planner.plan([100, most + 1, most], loss_tokens=[10, 40, most])


@pytest.mark.parametrize("name", ["ids", "loss_tokens"])
def test_wants_as_many_of_all(planner, name):
    with pytest.raises(ValueError, match=f"{name}: must be as many as lengths, 2, are 1"):
        planner.plan([5, 6], **{name: [1]})


def test_refuses_loss_tokens_that_no_sequence_has(planner):
    planner.plan([5, 6], loss_tokens=[0, 3])
    with pytest.raises(stowage.InputError) as raised:
        planner.plan([5, 6, 7], loss_tokens=[6, -2, 7])
    assert [str(error) for error in raised.value.errors] == [
        "E205 /loss_tokens/0: must be from 0 to the 5 tokens of the sequence, is 6",
        "E205 /loss_tokens/1: must be from 0 to the 6 tokens of the sequence, is -2",
    ]
