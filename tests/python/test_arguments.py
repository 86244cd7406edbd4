"""Tests of arguments of wrong types: each public function names the argument, and no internal
object.

Every parameter of every public function is tried with values of other types. Some values are
accepted, since many arguments have several types; all others must raise stowage's error that names
the argument.
"""

import inspect
import json
import re

import numpy as np
import pytest

import stowage
import stowage.calibrate
from conftest import DATA, two
from stowage.calibrate import Sample

WRONG = [object(), "64k", 5, -1, 1.5, 2**70, float("nan"), [], [object()], (), {}, b"x", None, True]
WRONG += [np.arange(3), {"a": object()}, "\udcff", float("inf")]
RAW = re.compile(
    "incompatible function arguments|_core|not iterable|not supported between|has no attribute|"
    "argument should be|unpack|unhashable|expected str, bytes|truth value|could not convert|"
    "must be real number|not subscriptable|unsupported operand|__index__|takes \\d|required positional"
)


def graph_with_tokens():
    """Returns a bundled graph whose sizes grow with a length."""
    for path in sorted((DATA / "order").rglob("*.json")):
        document = json.loads(path.read_text())
        if document.get("format") == "stowage/instance" and "tokens" in document:
            return document
    raise AssertionError("no bundled instance has tokens")


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Returns name, function and valid arguments of all functions of the package."""
    folder = tmp_path_factory.mktemp("written")
    instance, out = two(), str(folder / "out")
    plan = stowage.solve(instance).plan
    graph = graph_with_tokens()
    order = stowage.solve(graph, method="fast").plan
    plain = json.loads(sorted((DATA / "order" / "tiny").glob("*.json"))[0].read_text())
    cluster = stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000)
    planner = stowage.Planner(cluster)
    step = planner.plan([100, 200, 3000])
    (folder / "step").write_bytes(step.to_bytes())
    (folder / "lengths").write_text("100\n200\n")
    samples = [Sample(1, [n], 3.0 + n / 50) for n in (100, 200, 400, 800, 1600)]
    fit = stowage.calibrate.fit(samples)
    outcome = stowage.solve(instance)
    rows = stowage.OrderRows(graph, order)
    bare = dict(devices=2, memory_mib=100, states_mib=20, activation_mib_per_token=1)
    bare.update(quadratic_ms=0, linear_ms=0.5, fixed_ms=3)
    return {
        "arrange": (
            stowage.arrange,
            dict(instance=plain, plan=stowage.solve(plain, method="fast").plan),
        ),
        "audit": (stowage.audit, dict(lengths=[5, 6, 7], partition=[[0, 1], [2]])),
        "balanced_partitions": (stowage.balanced_partitions, dict(lengths=[5, 6, 7], bins=2)),
        "compare": (stowage.compare, dict(instance=instance, methods=["fast"])),
        "explain": (stowage.explain, dict(instance=instance, plan=plan)),
        "methods": (stowage.methods, dict(instance=instance)),
        "micro_batches": (
            stowage.micro_batches,
            dict(lengths=[5, 6, 7], ranks=2, max_tokens=20, keep_together=1),
        ),
        "params": (stowage.params, dict(family="scatter")),
        "read_lengths": (stowage.read_lengths, dict(file=folder / "lengths")),
        "read_trainer": (stowage.read_trainer, dict(source=step.to_bytes())),
        "snapshot": (
            stowage.snapshot,
            dict(
                source={
                    "segments": [],
                    "device_traces": [[{"action": "alloc", "addr": 1, "size": 512}]],
                },
                device=0,
            ),
        ),
        "solve": (stowage.solve, dict(instance=instance)),
        "stages": (stowage.stages, dict(family="scatter")),
        "verify": (stowage.verify, dict(instance=instance, plan=plan)),
        "Cluster": (stowage.Cluster, bare),
        "Cluster.group_ms": (cluster.group_ms, dict(degree=2, lengths=[5])),
        "Cluster.load": (stowage.Cluster.load, dict(path=str(DATA / "scatter" / "none"))),
        "Cluster.preset": (stowage.Cluster.preset, {}),
        "Cluster.save": (cluster.save, dict(path=out)),
        "Cluster.with_cost": (cluster.with_cost, dict(cost=fit.cost)),
        "OrderRows.row_at": (rows.row_at, dict(tokens=rows[0].from_tokens)),
        "OrderRows": (stowage.OrderRows, dict(instance=graph, plan=order)),
        "Outcome.render": (outcome.render, dict(path=out)),
        "Outcome.save": (outcome.save, dict(path=out)),
        "Outcome.save_plan": (outcome.save_plan, dict(path=out)),
        "Planner": (stowage.Planner, dict(cluster=cluster)),
        "Planner.plan": (planner.plan, dict(lengths=[100, 200])),
        "Planner.plan_window": (planner.plan_window, dict(batches=[[5, 6], [7]])),
        "Planner.stream": (lambda **a: list(planner.stream(**a)), dict(batches=[[5, 6]])),
        "Planner.submit": (lambda **a: planner.submit(**a).result(), dict(lengths=[100, 200])),
        "Planner.submit_window": (
            lambda **a: planner.submit_window(**a).result(),
            dict(batches=[[5, 6], [7]]),
        ),
        "Planner.use_cost": (stowage.Planner(cluster).use_cost, dict(cost=fit.cost)),
        "Step.render": (step.render, dict(path=out)),
        "TrainerStep.batch": (step.batch, dict(index=0)),
        "TrainerStep.from_bytes": (stowage.TrainerStep.from_bytes, dict(data=step.to_bytes())),
        "TrainerStep.load": (stowage.TrainerStep.load, dict(path=str(folder / "step"))),
        "TrainerStep.of_rank": (step.of_rank, dict(rank=0)),
        "TrainerStep.position_ids": (step.position_ids, dict(index=0)),
        "TrainerStep.positions": (step.positions, dict(index=0, rank=0, slice="contiguous")),
        "TrainerStep.rows": (step.rows, dict(rank=0)),
        "calibrate.fit": (stowage.calibrate.fit, dict(samples=samples)),
        "calibrate.refit": (stowage.calibrate.refit, dict(old=cluster, measured=[(step, 3.0)])),
        "Fit.cluster": (fit.cluster, dict(cluster=cluster)),
        "Fit.save": (fit.save, dict(path=out)),
        "Fit.separation": (fit.separation, dict(cluster=cluster, lengths=[100, 200])),
    }


def parameters_of(function, given):
    """Returns the names of all parameters, or those in `given` if the signature has only *args and
    **kwargs."""
    names = inspect.signature(function).parameters
    plain = [n for n, p in names.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return plain or list(given)


NAMES = [
    *("arrange", "balanced_partitions", "compare", "explain", "methods", "params"),
    *("audit", "micro_batches"),
    *("read_lengths", "read_trainer", "snapshot", "solve", "stages", "verify", "Cluster"),
    *("Cluster.group_ms", "Cluster.load", "Cluster.preset", "Cluster.save"),
    *("Cluster.with_cost", "OrderRows", "OrderRows.row_at", "Outcome.render", "Outcome.save"),
    *("Outcome.save_plan", "Planner", "Planner.plan", "Planner.stream", "Planner.submit"),
    *("Planner.plan_window", "Planner.submit_window"),
    *("Planner.use_cost", "Step.render", "TrainerStep.batch", "TrainerStep.from_bytes"),
    *("TrainerStep.load", "TrainerStep.of_rank", "TrainerStep.position_ids"),
    *("TrainerStep.positions", "TrainerStep.rows", "calibrate.fit", "calibrate.refit"),
    *("Fit.cluster", "Fit.save", "Fit.separation"),
]


@pytest.mark.parametrize("name", NAMES)
def test_wrong_types_are_named(calls, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what is written under a strange name
    function, given = calls[name]
    if name == "Cluster.load":
        given = dict(path=str(tmp_path / "cluster.json"))
        stowage.Cluster.preset().save(given["path"])
    function(**given)
    refused = 0
    for parameter in parameters_of(function, given):
        for value in WRONG:
            try:
                function(**{**given, parameter: value})
            except (stowage.Error, ValueError, TypeError, IndexError, OSError) as error:
                said = str(error)
                where = f"{name}({parameter}={value!r}): {type(error).__name__}: {said}"
                assert not RAW.search(said), where
                if not isinstance(error, (stowage.Infeasible, stowage.NoPlan, OSError)):
                    assert type(value) is not object or parameter.split("_")[0] in said, where
                refused += 1
        if parameter not in ("name",):
            with pytest.raises((stowage.Error, ValueError, TypeError)):
                function(**{**given, parameter: object()})
    assert refused


def test_the_list_is_whole(calls):
    assert set(NAMES) == set(calls)
    classes = {name for name in stowage.__all__ if inspect.isclass(getattr(stowage, name))}
    functions = set(stowage.__all__) - classes - {"build_info"}
    assert functions <= set(NAMES)


@pytest.mark.parametrize("value", ["64k", 6.4, None, [64_000], "64000"])
def test_a_limit_that_is_no_number(value):
    with pytest.raises(stowage.InputTypeError, match="limit: must be an integer, is"):
        stowage.Cluster.preset("gpt-7b", limit=value)
