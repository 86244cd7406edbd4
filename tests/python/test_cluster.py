import json
import pickle

import numpy as np
import pytest

import stowage
from conftest import small, two


def test_has_the_arguments_it_was_made_with():
    cluster = small(aligned=False, degrees=[1, 3, 4], mib_per_ms={3: 3, 4: 1.5})
    assert (cluster.devices, cluster.degrees, cluster.aligned) == (4, (1, 3, 4), False)
    assert cluster.mib_per_ms == {3: 3, 4: 1.5} and cluster.latency_ms == {4: 7}
    assert cluster.quadratic_ms == 0.5 and cluster.pad_multiple == 8 and cluster.name == "small"
    assert eval(repr(cluster), {"Cluster": stowage.Cluster}) == cluster


def test_knows_what_fits_and_what_it_costs():
    cluster = small()
    assert cluster.tokens_per_device == 80
    assert cluster.largest_sequence == 320
    # 5 tokens are padded to 8: 3 + (0.5 * 64 + 2 * 8) / 2 + 6 * 8 / (2 * 3)
    assert cluster.group_ms(2, [5]) == pytest.approx(3 + 24 + 8)
    assert cluster.group_ms(4, [5, 16]) == pytest.approx(
        3 + 7 + (0.5 * (64 + 256) + 2 * 24) / 4 + 6 * 24 / (4 * 1.5)
    )


@pytest.mark.parametrize("lengths, place", [([5, 0], "/lengths/1"), ([-1], "/lengths/0")])
def test_refuses_lengths_below_one(lengths, place):
    with pytest.raises(stowage.InputError) as raised:
        small().group_ms(2, lengths)
    assert raised.value.errors[0].pointer == place


def test_refuses_a_degree_it_does_not_have():
    with pytest.raises(ValueError, match="degree: must be one of"):
        small().group_ms(3, [5])


def test_lists_every_broken_rule():
    with pytest.raises(stowage.InputError) as raised:
        small(memory_mib=-1, linear_ms=float("nan"), devices=0)
    assert {"E105"} == {
        error.code for error in raised.value.errors
    }  # broken syntax ends the reading
    with pytest.raises(stowage.InputError) as raised:
        small(memory_mib=-1, linear_ms=-2)
    assert [error.pointer for error in raised.value.errors] == [
        "/cluster/memory_mib",
        "/cost/linear_ms",
    ]
    assert "E206 /cluster/memory_mib: must be" in str(raised.value)


def test_is_made_of_numbers_of_numpy():
    cluster = small(devices=np.int64(4), memory_mib=np.float64(100), degrees=np.array([1, 2, 4]))
    assert cluster == small()


def test_does_not_change():
    cluster = small()
    with pytest.raises(AttributeError, match="replace"):
        cluster.devices = 3
    assert {cluster: 1}[small()] == 1
    assert cluster != small(name="other") and cluster != "small"


def test_replaces_arguments():
    assert small().replace(memory_mib=200, name="x") == small(memory_mib=200, name="x")
    assert small().replace(devices=2).degrees == (1, 2)
    assert small(degrees=[1, 4]).replace(devices=3).degrees == (1,)
    wide = stowage.Cluster.preset("gpt-7b", devices=8).replace(devices=4)
    assert wide.degrees == (1, 2, 4)
    with pytest.raises(TypeError, match="unknown arguments: memory"):
        small().replace(memory=3)
    with pytest.raises(stowage.InputError) as raised:
        small().replace(devices=8)
    assert raised.value.errors[0].code == "E303"  # no bandwidth of 8 devices


def test_presets_of_machines():
    cluster = stowage.Cluster.preset("qwen3-32b", devices=16, machine="h100")
    assert cluster.memory_mib == 73728 and cluster.exchange["kinds"]["16"] == ["all_to_all"]
    assert stowage.Cluster.preset("qwen3-32b", machine="h100", memory_mib=70000).memory_mib == 70000
    with pytest.raises(stowage.InputError, match="E501 /machine"):
        stowage.Cluster.preset("qwen3-32b", machine="h300")
    with pytest.raises(stowage.InputError, match="E502 /model"):
        stowage.Cluster.preset("qwen3-32b")


def test_presets():
    cluster = stowage.Cluster.preset("gpt-7b", devices=16, limit=64_000, fixed_ms=1.5)
    assert cluster.devices == 16 and cluster.fixed_ms == 1.5
    with pytest.raises(stowage.InputError) as raised:
        stowage.Cluster.preset("gpt-8b")
    assert raised.value.errors[0].code == "E501"


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"devices": 2**31}, "devices: must be from -2^31 to 2^31 - 1, is 2147483648"),
        ({"devices": 2**70}, "devices: must be from -2^31 to 2^31 - 1"),
        ({"limit": 2**70}, "limit: must be from -2^63 to 2^63 - 1"),
        ({"memory_mib": 10**400}, "memory_mib: must be a number of at most 1.8e308"),
        ({"devices": 1.5}, "devices: must be an integer, is 1.5"),
        ({"memory_mib": "x"}, "memory_mib: must be a number, is 'x'"),
    ],
    ids=str,
)
def test_presets_say_which_number_is_wrong(wrong, said):
    with pytest.raises((ValueError, stowage.InputTypeError)) as raised:
        stowage.Cluster.preset(**wrong)
    assert said in str(raised.value)


def test_is_saved_and_loaded(tmp_path):
    path = tmp_path / "cluster.json"
    small().save(path)
    assert stowage.Cluster.load(path) == small()
    document = json.loads(path.read_text())
    document["lengths"] = [5, 6]
    path.write_text(json.dumps(document))
    assert stowage.Cluster.load(str(path)) == small()
    with pytest.raises(stowage.InputError) as raised:
        stowage.Cluster.load(tmp_path / "none.json")
    assert raised.value.errors[0].code == "E110"


def test_is_of_scatter_only(tmp_path, data):
    with pytest.raises(stowage.InputError) as raised:
        stowage.Cluster.load(data / "assign" / "tiny" / "duplicates.json")
    assert raised.value.errors[0].code == "E209"


def test_is_pickled():
    assert pickle.loads(pickle.dumps(small())) == small()


def test_stands_for_the_instance_without_lengths(tmp_path):
    path = tmp_path / "two.json"
    path.write_text(json.dumps(two()))
    step = stowage.Planner(stowage.Cluster.load(path), method="auto").plan([64, 80])
    assert step.status == "optimal" and step.objective_ms == pytest.approx(39)


def test_costs_of_every_kind(data):
    exchange = {
        "kinds": ["all_to_all", "ring"],
        "all_to_all_mib_per_token": 1.25,
        "keys_values_mib_per_token": 0.375,
        "inside_mib_per_ms": 96.5,
        "across_mib_per_ms": 10.33,
    }
    window = {"tokens": 64, "share": 0.5}
    costs = dict(tile_tokens=16, sequence_fixed_ms=0.5, split_ms=0.01, window=window)
    cluster = small(
        **costs, exchange=exchange, all_to_all_mib_per_token=0.0, mib_per_ms=None, latency_ms=None
    )
    assert cluster.tile_tokens == 16 and cluster.window == {"tokens": 64, "share": 0.5}
    assert cluster.exchange["kinds"]["4"] == ["all_to_all", "ring"]
    assert eval(repr(cluster), {"Cluster": stowage.Cluster}) == cluster
    assert small(**costs).replace(exchange=exchange) == cluster
    assert cluster.replace(exchange=None).group_ms(1, [40]) == cluster.group_ms(1, [40])
    with pytest.raises(stowage.InputError, match="in place of all_to_all"):
        small(exchange=exchange)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"memory_mib": float("nan")}, "E105 /cluster/memory_mib: must be a finite number, is nan"),
        (
            {"mib_per_ms": {2: float("inf"), 4: 1.0}},
            "E105 /cost/all_to_all/mib_per_ms/2: must be a finite number, is inf",
        ),
        ({"devices": 1.5}, "E204 /cluster/devices: must be an integer"),
        ({"devices": "8"}, "E203 /cluster/devices: must be an integer"),
        ({"degrees": 4}, "E203 /cluster/degrees: must be an array of integers, is 4"),
    ],
    ids=str,
)
def test_names_the_argument_and_its_value(wrong, said):
    with pytest.raises(stowage.InputError) as raised:
        small().replace(**wrong)
    assert str(raised.value).startswith(said)


def test_takes_numbers_of_numpy():
    cluster = small().replace(devices=np.int64(2), memory_mib=np.float32(64))
    assert cluster.devices == 2 and cluster.degrees == (1, 2) and cluster.memory_mib == 64


def test_takes_measured_times_in_place_of_a_formula():
    table = {
        1: {"tokens": [0, 40, 80], "squares": [0, 6400], "ms": [[4, 8], [24, 32], [50, 60]]},
        2: {"tokens": [0, 160], "squares": [0, 25600], "ms": [[6, 12], [46, 72]]},
    }
    cluster = stowage.Cluster(
        devices=2, memory_mib=100, states_mib=20, activation_mib_per_token=1, table=table
    )
    assert cluster.quadratic_ms is None and cluster.fixed_ms is None
    assert cluster.table["1"]["tokens"] == [0, 40, 80]
    # 40 tokens in two sequences: an entry, and 800 of 6400 squares above it.
    assert cluster.group_ms(1, [20, 20]) == pytest.approx(24 + 8 * 800 / 6400)
    assert cluster.group_ms(2, [160]) == pytest.approx(72)
    assert eval(repr(cluster), {"Cluster": stowage.Cluster}) == cluster
    assert small(devices=2, mib_per_ms={2: 3}).replace(table=table).table == cluster.table
    assert stowage.Planner(cluster).plan([20, 20, 150]).objective_ms > 0
    with pytest.raises(stowage.InputError) as raised:
        cluster.replace(memory_mib=200)
    assert raised.value.errors[0].code == "E310"


def test_padding_by_degree():
    cluster = stowage.Cluster.preset("llama3-8b", devices=16, machine="h100")
    assert cluster.padding == {"per_degree": True, "device_multiple": 2}
    assert cluster.pad_multiple == 1
    step = stowage.Planner(cluster).plan([1001, 30_001, 77])
    for rows in step.plan["micro_batches"]:
        for group in rows["groups"]:
            lengths = np.diff(group["cu_seqlens"])
            assert (lengths % (2 * group["degree"]) == 0).all()
            assert group["tokens"] == lengths.sum()
    whole = cluster.replace(pad_multiple=32)
    assert whole.padding is None and whole.pad_multiple == 32
    assert whole.replace(padding={}).padding == {"per_degree": True}
    with pytest.raises(stowage.InputError, match="E311 /padding"):
        cluster.replace(padding={}, pad_multiple=8)


def test_offload():
    copies = {"mib_per_token": 0.5, "out_mib_per_ms": 0.8, "in_mib_per_ms": 0.8}
    cluster = stowage.Cluster(
        devices=1,
        memory_mib=120,
        states_mib=20,
        activation_mib_per_token=1,
        quadratic_ms=0,
        linear_ms=1,
        fixed_ms=30,
        offload=copies,
    )
    assert cluster.offload == copies
    assert cluster.tokens_per_device == 200
    step = stowage.Planner(cluster).plan([90, 60])
    assert step.objective_ms == pytest.approx(182.5)
    assert step.plan["micro_batches"][0]["groups"][0]["offload"] == pytest.approx(50 / 75)
    plain = cluster.replace(offload=None)
    assert plain.offload is None and plain.tokens_per_device == 100
    assert stowage.Planner(plain).plan([90, 60]).objective_ms == pytest.approx(210)
    with pytest.raises(stowage.InputError, match="E312 /model/offload"):
        cluster.replace(sequence_mib=1)


def test_mixed():
    cluster = stowage.Cluster(
        devices=2,
        memory_mib=30,
        states_mib=10,
        activation_mib_per_token=1,
        quadratic_ms=0,
        linear_ms=1,
        fixed_ms=5,
        all_to_all_mib_per_token=1,
        mib_per_ms={2: 0.5},
        degrees=[1, 2],
        mixed={"hidden_share": 1},
    )
    assert cluster.mixed == {"hidden_share": 1}
    step = stowage.Planner(cluster).plan([24, 6, 8])
    assert step.objective_ms == pytest.approx(41)
    assert [group["degree"] for group in step.plan["micro_batches"][0]["groups"]] == [2, 1, 1]
    # A rank has one row at a time: the shared row comes first.
    assert [[list(batch.sequences) for batch in step.of_rank(rank)] for rank in range(2)] == [
        [[0], [1]],
        [[0], [2]],
    ]
    plain = cluster.replace(mixed=None)
    assert plain.mixed is None
    assert stowage.Planner(plain).plan([24, 6, 8]).objective_ms == pytest.approx(54)
    with pytest.raises(stowage.InputError, match="E313 /mixed"):
        cluster.replace(degrees=[2])
    from stowage._documents import groups_at_once

    assert [[group["degree"] for group in groups] for groups in groups_at_once(step.plan)] == [
        [2],
        [1, 1],
    ]
