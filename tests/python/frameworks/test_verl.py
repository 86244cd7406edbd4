"""Tests of stowage.verl with verl's own functions, which call it after use()."""

import contextlib
import itertools
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("verl")

import torch
from pages import program_with
from verl.trainer.ppo.ray_trainer import RayPPOTrainer
from verl.protocol import DataProto
from verl.utils import seqlen_balancing

import stowage
import stowage.verl

theirs = stowage.verl._replaced


REPLACED = (stowage.verl._NAME, stowage.verl._MICRO, "get_megatron_dynamic_cp_scheduler_cls")


@pytest.fixture
def used(monkeypatch):
    """Runs the program of docs/start/verl.md, and restores verl after the test. Returns use()."""
    for module in list(sys.modules.values()):
        for name in REPLACED:
            if getattr(module, "__name__", "").startswith("verl") and hasattr(module, name):
                monkeypatch.setattr(module, name, getattr(module, name))
    exec(program_with("stowage.verl", "verl.md"), {})
    return stowage.verl.use


def drawn(seed, count):
    draw = np.random.default_rng(seed)
    return np.minimum(draw.lognormal(7.0, 1.2, count).astype(np.int64) + 1, 32768)


def extremes(costs, bins):
    loads = [sum(costs[i] for i in own) for own in bins]
    return max(loads), -min(loads)


@pytest.mark.parametrize("equal", [False, True])
def test_is_never_worse_than_verls(equal):
    draw = np.random.default_rng(5)
    better = 0
    for seed in range(40):
        bins = int(draw.choice([2, 3, 8, 32]))
        lengths = torch.from_numpy(drawn(seed, bins * int(draw.integers(1, 20))))
        costs = seqlen_balancing.calculate_workload(lengths)
        own = stowage.verl.get_seqlen_balanced_partitions(costs, bins, equal)
        assert own == stowage.verl.get_seqlen_balanced_partitions(costs.tolist(), bins, equal)
        other = theirs(costs.tolist(), bins, equal)
        assert sorted(i for part in own for i in part) == list(range(len(lengths)))
        assert len(own) == bins and all(part == sorted(part) != [] for part in own)
        assert not equal or len({len(part) for part in own}) == 1
        ours, verls = extremes(costs.tolist(), own), extremes(costs.tolist(), other)
        assert ours <= verls
        better += ours < verls
    assert better > 20


def test_refuses_what_verl_asserts():
    for given in [([5, 6], 3, False), ([5, 6, 7], 2, True)]:
        with pytest.raises(AssertionError):
            theirs(*given)
        with pytest.raises(stowage.InputError):
            stowage.verl.get_seqlen_balanced_partitions(*given)
    assert stowage.verl.get_seqlen_balanced_partitions([0, 7, 0], 2, False)


FORMS = {
    "floats": lambda costs: costs.tolist(),
    "array": lambda costs: costs,
    "float32": lambda costs: torch.from_numpy(costs).float(),
    "bfloat16": lambda costs: torch.from_numpy(costs).bfloat16(),
    "tensors": lambda costs: list(torch.from_numpy(costs)),
    "numbers": lambda costs: [np.float64(cost) for cost in costs],
    "mixed": lambda costs: [float(cost) if i % 2 else int(cost) for i, cost in enumerate(costs)],
    "tuple": lambda costs: tuple(costs.tolist()),
}


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_costs_may_be_any_numbers(form, equal):
    draw = np.random.default_rng(8)
    for seed in range(8):
        bins = int(draw.choice([2, 3, 8]))
        lengths = drawn(seed, 6 * bins)
        given = FORMS[form](calculated(lengths) * draw.choice([1.0, 1e-12, 1e9]))
        own = stowage.verl.get_seqlen_balanced_partitions(given, bins, equal)
        assert sorted(i for part in own for i in part) == list(range(len(lengths)))
        assert len(own) == bins and all(part == sorted(part) != [] for part in own)
        assert not equal or len({len(part) for part in own}) == 1
        costs = [float(cost) for cost in given]
        ours, verls = extremes(costs, own), extremes(costs, theirs(costs, bins, equal))
        assert ours[0] <= verls[0] * (1 + 1e-12)


def calculated(lengths):
    """Returns a workload with fractions, as cost models have it."""
    return 0.37 * lengths + 1.1e-5 * lengths.astype(np.float64) ** 2


def test_integers_as_floats_are_the_integers():
    for seed in range(10):
        costs = drawn(seed, 40)
        whole = stowage.verl.get_seqlen_balanced_partitions(costs.tolist(), 4, True)
        assert whole == stowage.verl.get_seqlen_balanced_partitions(costs.astype(float), 4, True)
        scaled = stowage.verl.get_seqlen_balanced_partitions((costs / 8).tolist(), 4, True)
        ours, others = (extremes(costs.tolist(), bins) for bins in (whole, scaled))
        assert ours[0] == pytest.approx(others[0], rel=1e-3)


@pytest.mark.parametrize(
    "costs",
    [
        [2**60, 2**60, 2**59, 2**59 + 1],
        [1e300, 2e300, 3e300, 1e308],
        [5e-324, 1e-310, 0.0, 1e-320],
        [0.0, 0.0, 0.0],
        [1e-30, 1e30, 1.0, 3.5],
        [False, True, True],
        [10**40, 1, 2],
    ],
    ids=str,
)
def test_costs_of_any_size(costs):
    own = stowage.verl.get_seqlen_balanced_partitions(costs, 2, False)
    assert sorted(own[0] + own[1]) == list(range(len(costs))) and all(own)
    most = max(sum(float(costs[i]) for i in part) for part in own)
    best = min(
        max(
            sum(float(costs[i]) for i in half),
            sum(map(float, costs)) - sum(float(costs[i]) for i in half),
        )
        for count in range(1, len(costs))
        for half in itertools.combinations(range(len(costs)), count)
    )
    assert most == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize(
    "costs, kind, said",
    [
        ([1.0, math.nan], stowage.InputError, "E205 /seqlen_list/1: must be finite, is nan"),
        ([math.inf, 2.5], stowage.InputError, "E205 /seqlen_list/0: must be finite"),
        (["a", 1], stowage.InputTypeError, r"seqlen_list\[0\]: must be a number, is 'a'"),
        ([[1.5], [2.5]], stowage.InputTypeError, r"seqlen_list\[0\]: must be a number"),
        (5.5, stowage.InputTypeError, "seqlen_list: must be a list"),
        (torch.tensor(5.5), stowage.InputTypeError, "seqlen_list: must be a list"),
        ("abc", stowage.InputTypeError, "seqlen_list: must be a list"),
    ],
    ids=str,
)
def test_what_are_no_costs(costs, kind, said):
    with pytest.raises(kind, match=said):
        stowage.verl.get_seqlen_balanced_partitions(costs, 2, False)
    with pytest.raises(stowage.InputTypeError, match="k_partitions: must be an integer"):
        stowage.verl.get_seqlen_balanced_partitions([1, 2], "2", False)


CHECKOUT = os.environ.get("STOWAGE_VERL")
DYNAMIC = "tests/utils/test_dynamic_cp_scheduler.py"


@pytest.mark.skipif(not CHECKOUT, reason="STOWAGE_VERL names no checkout of verl")
def test_verls_own_tests_pass():
    here = Path(__file__).parent
    paths = [CHECKOUT, here, Path(stowage.__file__).parents[1]]
    done = subprocess.run(
        [
            *(sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-p", "verl_swapped", "tests/utils/test_seqlen_balancing.py"),
            *(path for path in [DYNAMIC] if (Path(CHECKOUT) / path).is_file()),
        ],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"stowage made [1-9]\d* partitions", done.stdout)
    assert re.search(r"^[1-9]\d* passed", done.stdout, re.M)
    assert "failed" not in done.stdout and "skipped" not in done.stdout


def data_of(lengths):
    """Returns left-aligned rows as in rollouts; the tokens of each row are its number."""
    mask = torch.arange(int(lengths.max())) < torch.from_numpy(lengths)[:, None]
    ids = torch.arange(len(lengths))[:, None].expand(mask.shape) * mask
    return DataProto.from_dict({"input_ids": ids, "attention_mask": mask.long()})


def test_the_trainer_balances_a_batch(used):
    lengths = drawn(3, 64)
    batch, metrics = data_of(lengths), {}
    trainer = SimpleNamespace(_get_dp_size=lambda *_: 8, actor_rollout_wg=None)
    RayPPOTrainer._balance_batch(trainer, batch, metrics)
    seen = batch.batch["attention_mask"].sum(-1).numpy()
    assert sorted(seen) == sorted(lengths)
    workloads = [int(part.sum()) for part in np.split(seen * seen + 24576 * seen, 8)]
    own = stowage.balanced_partitions(lengths, 8, counts="equal")
    assert (max(workloads), min(workloads)) == (own.largest, own.smallest)
    assert metrics["global_seqlen/mean"] == lengths.sum() / 8


@pytest.mark.parametrize("divided_by, group", [(None, 1), (4, 1), (None, 2), (2, 4)])
@pytest.mark.parametrize("balance", [True, False])
def test_micro_batches_hold_the_token_limit(used, divided_by, group, balance):
    lengths = drawn(11, 48)
    limit = int(lengths.reshape(-1, group).sum(1).max() * 1.1)
    arguments = dict(
        num_batches_divided_by=divided_by, force_group_size=group, use_dynamic_bsz_balance=balance
    )
    batch = data_of(lengths).batch
    rows, ids = seqlen_balancing.rearrange_micro_batches(batch, limit, **arguments)
    assert sorted(i for part in ids for i in part) == list(range(48))
    for row, part in zip(rows, ids):
        assert row["attention_mask"].sum() == lengths[part].sum() <= limit
        assert (row["input_ids"].max(-1).values.tolist()) == part
        assert {i // group for i in part} == {i // group for i in part[::group]}
    assert len(rows) % (divided_by or 1) == 0
    workloads = [(lengths[part] ** 2 + 24576 * lengths[part]).sum() for part in ids]
    if balance:  # the cheapest first and last
        top = int(np.argmax(workloads))
        assert workloads[:top] == sorted(workloads[:top])
        assert workloads[top:] == sorted(workloads[top:], reverse=True)
    assert len(rows) <= len(stowage.verl._their_micro(batch, limit, **arguments)[0])
    least = seqlen_balancing.rearrange_micro_batches(
        batch, limit, min_num_micro_batch=len(rows) + 1, **arguments
    )[0]
    assert len(least) > len(rows)


def first_fit(lengths, limit):
    """Returns the number of micro-batches of first-fit in the order of the samples, as in slime."""
    rooms = []
    for length in lengths:
        fits = next((b for b, room in enumerate(rooms) if room >= length), None)
        if fits is None:
            rooms.append(limit - length)
        else:
            rooms[fits] -= length
    return len(rooms)


def test_micro_batches_are_never_more_than_verls_or_first_fits():
    draw = np.random.default_rng(6)
    fewer = [0, 0]
    for seed in range(10000 if os.environ.get("STOWAGE_LONG") else 60):
        lengths = drawn(seed, int(draw.integers(8, 65)))
        limit = int(lengths.max() * draw.uniform(1, 3))
        own = stowage.micro_batches(lengths, 1, limit)
        parts = own.of_rank(0)
        assert sorted(itertools.chain.from_iterable(parts)) == list(range(len(lengths)))
        assert all(0 < lengths[part].sum() <= limit for part in parts)
        assert -(-lengths.sum() // limit) <= own.per_rank_bound <= own.per_rank == len(parts)
        verls = len(stowage.verl._their_micro(data_of(lengths).batch, limit)[0])
        slimes = first_fit(lengths, limit)
        assert own.per_rank <= min(verls, slimes)
        fewer[0] += own.per_rank < verls
        fewer[1] += own.per_rank < slimes
    assert min(fewer) > 0


@pytest.mark.parametrize(
    "lengths, limit, more, code",
    [([5, 90], 64, {}, "E354"), ([60, 60, 60], 64, {"num_batches_divided_by": 2}, "E355")],
)
def test_what_has_no_micro_batches(lengths, limit, more, code):
    with pytest.raises(stowage.InputError, match=code):
        stowage.verl.rearrange_micro_batches(data_of(np.array(lengths)).batch, limit, **more)


def agreeing(rank, folder, lengths, limit, expected):
    """Plans the micro-batches of a rank; all ranks get the same number, or all raise."""
    stowage.verl.get_device_name = lambda: "cpu"
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=len(lengths)
    )
    batch = data_of(np.array(lengths[rank])).batch
    arguments = dict(max_token_len=limit, dp_group=torch.distributed.group.WORLD)
    if expected is None:
        with pytest.raises(stowage.InputError):
            stowage.verl.rearrange_micro_batches(batch, **arguments)
        return
    rows, ids = stowage.verl.rearrange_micro_batches(batch, **arguments)
    assert len(rows) == len(ids) == expected
    assert max(sum(lengths[rank][i] for i in part) for part in ids) <= limit


@pytest.mark.parametrize(
    "lengths, expected",
    [([[60, 60, 60], [9, 9, 9, 9]], 3), ([[9, 9], [60, 60, 60]], None), ([[5], [65]], None)],
    ids=str,
)
def test_ranks_agree_on_a_number(lengths, expected, tmp_path):
    torch.multiprocessing.spawn(
        agreeing, args=(str(tmp_path), lengths, 64, expected), nprocs=len(lengths)
    )


RANKS, CAP = 8, 8192


def planner(**more):
    cluster = stowage.Cluster.preset("gpt-7b", devices=RANKS, limit=64000, pad_multiple=1)
    return stowage.Planner(cluster, **more)


def nested(lengths):
    from tensordict import TensorDict

    parts = [torch.arange(int(length)) for length in lengths]
    ids = torch.nested.as_nested_tensor(parts, layout=torch.jagged)
    return TensorDict({"input_ids": ids}, batch_size=[len(lengths)])


@pytest.mark.parametrize("layout", ["zigzag", "contiguous"])
@pytest.mark.parametrize("cp_size, tp_size", [(1, 1), (2, 1), (4, 2), (8, 1)])
def test_dynamic_context_parallelism_is_planned(used, cp_size, tp_size, layout):
    scheduling = pytest.importorskip("verl.utils.dynamic_cp_scheduler")
    used(dynamic_cp=planner())
    scheduler = scheduling.DynamicCPScheduler(CAP, dp_size=RANKS // cp_size, cp_size=cp_size)
    for seed in range(5):
        lengths = np.minimum(drawn(seed, 40), CAP * 4)
        outputs, tokens, most = [], 0, 0
        for rank in range(RANKS):
            group = SimpleNamespace(size=lambda: RANKS, rank=lambda rank=rank: rank)
            own = scheduler.schedule(nested(lengths), group, tp_size=tp_size, cp_layout=layout)
            outputs.append([])
            for row in own:
                kept = {
                    name: scheduling.tu.get_non_tensor_data(row, name, None)
                    for name in (
                        "local_cp_size",
                        scheduling.DCP_SAMPLE_IDS,
                        scheduling.DCP_LOCAL_NUM_TOKENS,
                        scheduling.DCP_GROUP_LEADER,
                    )
                }
                ids = kept[scheduling.DCP_SAMPLE_IDS]
                assert -(-int(lengths[ids].sum()) // kept["local_cp_size"]) <= CAP
                most = max(most, kept["local_cp_size"])
                tokens += kept[scheduling.DCP_LOCAL_NUM_TOKENS]
                outputs[-1].append({**kept, "model_output": {"first": row["input_ids"]}})
        assert tokens == lengths.sum() and most >= -(-lengths.max() // CAP)
        assert len({len(own) for own in outputs}) == 1
        assert_collected(scheduling, outputs, lengths)


def assert_collected(scheduling, outputs, lengths):
    """Requires that verl's own collection of the outputs of all ranks has each sample once, in order."""
    records = []

    def gathered(into, own, group):
        records.append(own)
        into[:] = records[-RANKS:]

    group = SimpleNamespace(size=lambda: RANKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.distributed, "all_gather_object", gathered)
        for own in outputs[:-1]:
            with contextlib.suppress(RuntimeError):  # the other ranks are missing yet
                scheduling.postprocess_dynamic_cp_batch(own, len(lengths), group)
        found = scheduling.postprocess_dynamic_cp_batch(outputs[-1], len(lengths), group)
    sizes = [len(part) for part in found["model_output"]["first"].unbind()]
    assert sizes == lengths.tolist()


def test_planners_of_dynamic_context_parallelism():
    for wrong, said in [(dict(time_limit=1.0), "time_limit"), (dict(on_oversize="drop"), "raise")]:
        with pytest.raises(ValueError, match=said):
            stowage.verl.dynamic_cp_scheduler(planner(**wrong))
    made = stowage.verl.dynamic_cp_scheduler(planner())
    with pytest.raises(ValueError, match="must be of the 4 ranks"):
        made(CAP, cp_size=2, dp_size=2)
