"""stowage.megatron as a packing scheduler of Megatron-LM, in both forms of its map of schedulers.

Those schedulers are in Megatron-LM's branches, and in no release of megatron-core on PyPI (up to
0.19). If the installed release has them, the tests use them. Otherwise they use a minimal stand-in:
constructor, run(), the map, and the way in which wrap_data_iterator() finds and makes a scheduler. The
assertions of their functions about a plan are checked here, rule by rule.
"""

import argparse
import enum
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("megatron.core")

from megatron.core.datasets import data_schedule

import stowage
import stowage.megatron
from planned_loader import HERE

REAL = hasattr(data_schedule, "scheduler_map")
LISTS = HERE.parents[2] / "instances" / "data" / "lengths"
RANKS, CAP = 16, 8192


class StandIn:
    """A scheduler with the constructor and run() of DpBalancedScheduler, which plans nothing
    itself."""

    def __init__(
        self,
        max_seqlen_per_dp_cp_rank,
        cp_size,
        dp_size,
        microbatch_group_size_per_vp_stage,
    ):
        self.max_seqlen_per_dp_cp_rank = max_seqlen_per_dp_cp_rank
        self.cp_size, self.dp_size = cp_size, dp_size
        self.microbatch_group_size_per_vp_stage = microbatch_group_size_per_vp_stage
        self.is_dynamic_cp = False

    def run(
        self,
        data_iterator,
        num_microbatches,
        dp_group,
        tp_group,
        pp_group,
        dp_cp_group,
        dev,
        config,
    ):
        return self.get_groups_and_subsamples(next(data_iterator))


def looked_up(name):
    """Returns the class that wrap_data_iterator() finds for --sequence-packing-scheduler `name`."""
    names = getattr(data_schedule, "PackingSchedulerEnum", None)
    return data_schedule.scheduler_map[name if names is None else names[name.upper()]]


def planned(lengths, config, cap=CAP, cp=2, vpp=None, name="stowage"):
    """Returns a step planned by the class as wrap_data_iterator() makes it. For a stand-in run() is
    called too."""
    scheduler = looked_up(name)(cap, cp, RANKS // cp, vpp)
    batch = list(enumerate(map(int, lengths)))
    if REAL:
        return scheduler.get_groups_and_subsamples(batch)
    groups = [None] * 4
    return scheduler.run(iter([batch]), 1, *groups, None, config)


DYNAMIC = SimpleNamespace(dynamic_context_parallel=True, min_dynamic_context_parallel_size=1)


@pytest.fixture(params=["dict", "enum"])
def form(request, monkeypatch):
    if REAL:
        has_enum = hasattr(data_schedule, "PackingSchedulerEnum")
        if has_enum != (request.param == "enum"):
            pytest.skip("the release at hand has the other form")
        monkeypatch.setattr(data_schedule, "scheduler_map", dict(data_schedule.scheduler_map))
        return request.param
    monkeypatch.setattr(data_schedule, "DpBalancedScheduler", StandIn, raising=False)
    if request.param == "dict":
        schedulers = {"dp_balanced": StandIn}
    else:
        names = enum.Enum("PackingSchedulerEnum", {"DP_BALANCED": "dp_balanced"})
        monkeypatch.setattr(data_schedule, "PackingSchedulerEnum", names, raising=False)
        schedulers = {names.DP_BALANCED: StandIn}
    monkeypatch.setattr(data_schedule, "scheduler_map", schedulers, raising=False)
    return request.param


def cluster(**more):
    return stowage.Cluster.preset("gpt-7b", devices=RANKS, limit=192_000, **more)


def batches(count, size=256):
    draw = np.random.default_rng(11)
    lists = [np.loadtxt(path, np.int64) for path in sorted(LISTS.glob("*.txt"))]
    for step in range(count):
        yield np.minimum(draw.choice(lists[step % len(lists)], size), CAP * RANKS)


def check(groups, lengths, cap=CAP, ranks=RANKS, multiple=1, degrees=None, most=None):
    """Checks the properties of groups[micro_batch][rank] without which Megatron's data path fails."""
    assert len(groups) % multiple == 0
    seen = []
    for micro_batch in groups:
        assert len(micro_batch) == ranks and all(micro_batch), "a rank without work"
        first, last = 0, ranks
        while first < ranks:
            ids = micro_batch[first]
            degree = sum(ids[0] in other for other in micro_batch)  # as build_packed_microbatches
            assert all(own == ids for own in micro_batch[first : first + degree])
            assert degree <= last and first % degree == 0, "groups must be sorted and aligned"
            assert degree == ranks or ranks % degree == 0 and degree & (degree - 1) == 0
            assert degrees is None or degree in degrees
            assert sum(lengths[i] for i in ids) <= cap * degree
            assert most is None or len(ids) <= most
            seen += ids
            first, last = first + degree, degree
    assert sorted(seen) == list(range(len(lengths)))


def test_the_name_is_found_beside_megatrons_own(form):
    before = dict(data_schedule.scheduler_map)
    old = getattr(data_schedule, "PackingSchedulerEnum", None)
    made = stowage.megatron.register(stowage.Planner(cluster()))
    assert looked_up("stowage") is made and issubclass(made, stowage.megatron.PackingScheduler)
    assert issubclass(made, data_schedule.DpBalancedScheduler)
    assert looked_up("dp_balanced") is data_schedule.DpBalancedScheduler
    assert {key: data_schedule.scheduler_map[key] for key in before} == before
    if form == "enum":
        new = data_schedule.PackingSchedulerEnum
        assert new.STOWAGE.value == "stowage" and new["DP_BALANCED"].value == "dp_balanced"
        assert {member.name for member in old} < {member.name for member in new}
    again = stowage.megatron.register(stowage.Planner(cluster(), seed=3))
    assert looked_up("stowage") is again is not made
    other = stowage.megatron.register(stowage.Planner(cluster()), "stowage_slow")
    assert looked_up("stowage_slow") is other and looked_up("stowage") is again


def test_32_steps_keep_megatrons_rules(form):
    stowage.megatron.register(stowage.Planner(cluster()))
    widths = set()
    for lengths in batches(32):
        groups = planned(lengths, DYNAMIC)
        check(groups, lengths)
        widths |= {ranks.count(ranks[0]) for ranks in groups}
    assert len(widths) > 1, "no group has another size: the test shows less than it says"


@pytest.mark.parametrize(
    "config, cp, vpp, expected",
    [
        (dict(dynamic_context_parallel=True), 2, 4, dict(multiple=4)),
        (
            dict(dynamic_context_parallel=True, min_dynamic_context_parallel_size=4),
            2,
            None,
            dict(degrees=[4, 8, 16]),
        ),
        (dict(dynamic_context_parallel=True, thd_max_packed_sequences=3), 2, None, dict(most=3)),
        (dict(dynamic_context_parallel=False), 8, 2, dict(multiple=2, degrees=[8])),
    ],
    ids=["vpp", "min_size", "max_sequences", "one_size"],
)
@pytest.mark.skipif(REAL, reason="the configuration goes through Megatron's own run()")
def test_what_the_configuration_asks(form, config, cp, vpp, expected):
    stowage.megatron.register(stowage.Planner(cluster()))
    for lengths in batches(6, 96):
        lengths = np.minimum(lengths, CAP * (8 if cp == 8 else RANKS))
        check(planned(lengths, SimpleNamespace(**config), cp=cp, vpp=vpp), lengths, **expected)


def test_all_ranks_plan_alike(form):
    stowage.megatron.register(stowage.Planner(cluster()))
    lengths = next(batches(1))
    first = planned(lengths, DYNAMIC)
    stowage.megatron.register(stowage.Planner(cluster()))
    assert planned(lengths, DYNAMIC) == first


def test_ranks_that_are_no_power_of_two(form):
    own = cluster().replace(devices=12, degrees=[1, 2, 4, 8])
    scheduler = stowage.megatron.register(stowage.Planner(own.replace(aligned=False)))
    lengths = next(batches(1, 64)) % (4 * CAP) + 1
    groups = scheduler(CAP, 2, 6, None).get_groups_and_subsamples(list(enumerate(lengths)))
    check(groups, lengths, ranks=12, degrees=[1, 2, 4])
    with pytest.raises(ValueError, match="a power of two that divides 12, or 12, are"):
        bad = stowage.megatron.register(stowage.Planner(own.replace(degrees=[8])))
        bad(CAP, 2, 6, None).get_groups_and_subsamples([(0, 5)])


def test_too_few_samples_say_so(form):
    stowage.megatron.register(stowage.Planner(cluster()))
    with pytest.raises(stowage.Infeasible) as raised:
        planned([100, 200], DYNAMIC, vpp=4)
    assert "micro_batches_multiple_of" in raised.value.remedy
    with pytest.raises(stowage.Infeasible) as raised:
        planned([100, CAP * RANKS + 1], DYNAMIC)
    assert raised.value.unplaceable.tolist() == [1]
    assert "max_tokens_per_rank" in raised.value.remedy


@pytest.mark.parametrize(
    "more, said",
    [
        ({"method": "auto", "time_limit": 1.0}, "set node_limit"),
        ({"on_oversize": "drop"}, 'on_oversize must be "raise", is "drop"'),
    ],
    ids=str,
)
def test_refuses_planners(form, more, said):
    with pytest.raises(ValueError, match=said):
        stowage.megatron.register(stowage.Planner(cluster(), **more))


def test_refuses_other_ranks(form):
    scheduler = stowage.megatron.register(stowage.Planner(cluster()))
    with pytest.raises(ValueError, match="must be of the 8 ranks .* is of 16 devices"):
        scheduler(CAP, 2, 4, None)


@pytest.mark.skipif(REAL, reason="the release at hand has packing schedulers")
def test_a_release_without_packing_schedulers_is_named():
    with pytest.raises(stowage.Error, match="no packing schedulers .* stowage.megatron.use"):
        stowage.megatron.register(stowage.Planner(cluster()))


def test_the_option_takes_the_name():
    def parser(**more):
        own = argparse.ArgumentParser()
        own.add_argument("--sequence-packing-scheduler", **more)
        return stowage.megatron.add_choice(own)

    given = ["--sequence-packing-scheduler", "stowage"]
    for own in (parser(choices=["dp_balanced"]), parser()):
        assert own.parse_args(given).sequence_packing_scheduler == "stowage"
    again = stowage.megatron.add_choice(parser(choices=("stowage", "dp_balanced")))
    assert again.parse_args(given).sequence_packing_scheduler == "stowage"
    assert stowage.megatron.add_choice(argparse.ArgumentParser()).parse_args([])
