"""Tests of clusters whose devices hold no token: the error states that the states do not fit, and a
remedy."""

import re

import pytest

import stowage


def refused(cluster, lengths=(100, 200), **more):
    with pytest.raises(stowage.Infeasible) as raised:
        stowage.Planner(cluster, **more).plan(lengths)
    return raised.value


@pytest.mark.parametrize("oversize", ["raise", "drop", "clip"])
@pytest.mark.parametrize("devices", [1, 2, 3])
def test_a_preset_on_too_few_devices(devices, oversize):
    cluster = stowage.Cluster.preset("gpt-7b", devices=devices)
    error = refused(cluster, on_oversize=oversize)
    said = str(error)
    assert f"the states of the model take {cluster.states_mib:,.0f} MiB of a device" in said
    assert "30,720 MiB" in said and "longer than the 0" not in said and "on_oversize" not in said
    assert error.unplaceable.tolist() == [0, 1]


@pytest.mark.parametrize(
    "preset",
    [
        dict(model="gpt-7b"),
        dict(model="gpt-13b", limit=384_000),
        dict(model="gpt-30b"),
        dict(model="llama3-70b", machine="a100-40", limit=64_000),
    ],
    ids=lambda preset: preset["model"],
)
def test_the_remedies_fit(preset):
    cluster = stowage.Cluster.preset(devices=2, **preset)
    remedy = refused(cluster).remedy
    least = int(re.search(r"at least ([\d,]+) devices", remedy)[1].replace(",", ""))
    assert stowage.Cluster.preset(devices=least, **preset).largest_sequence > 0
    assert stowage.Cluster.preset(devices=least - 1, **preset).largest_sequence == 0
    memory = int(re.search(r"memory_mib from \d+ to (\d+)", remedy)[1])
    assert stowage.Planner(cluster.replace(memory_mib=memory)).plan([100, 200]).micro_batches
    refused(cluster.replace(memory_mib=cluster.states_mib))


def test_states_that_leave_too_little():
    cluster = stowage.Cluster(
        devices=2,
        memory_mib=100,
        states_mib=99.5,
        activation_mib_per_token=1,
        quadratic_ms=0,
        linear_ms=1,
        pad_multiple=4,
    )
    said = str(refused(cluster))
    assert "MiB that are left hold less than a sequence of 4 tokens" in said
    assert "plan for at least 3 devices: states that all devices share take 66 MiB there" in said


def test_a_token_that_never_fits():
    cluster = stowage.Cluster(
        devices=1,
        memory_mib=100,
        states_mib=10,
        activation_mib_per_token=1000,
        quadratic_ms=0,
        linear_ms=1,
    )
    error = refused(cluster)
    assert "devices:" not in error.remedy and "memory_mib" in error.remedy
    assert "hold less than a sequence" in str(error)


def test_other_sequences_are_too_long_as_before():
    cluster = stowage.Cluster.preset("gpt-7b", devices=4)
    most = cluster.largest_sequence
    said = str(refused(cluster, [10, most + 1]))
    assert f"longer than the {most} tokens that the largest group holds" in said
