"""Tests of solve, verify, explain and compare, with documents of all problems."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import stowage
from conftest import DATA, two

TINY = {
    "scatter": sorted((DATA / "scatter" / "tiny").glob("*.json"))[:6],
    "assign": sorted((DATA / "assign" / "tiny").glob("*.json"))[:6],
    "layout": sorted((DATA / "layout" / "tiny").glob("*.json"))[:6],
    "order": sorted((DATA / "order" / "tiny").glob("*.json"))[:6],
    "strategy": sorted((DATA / "strategy" / "tiny").glob("*.json"))[:6],
}


@pytest.mark.parametrize("family", TINY)
def test_solves_tiny_instances(family, tmp_path):
    assert TINY[family]
    for path in TINY[family]:
        outcome = stowage.solve(path, node_limit=100_000, time_limit=None)
        assert outcome.family == family and outcome.unit == (
            "bytes" if family in ("layout", "order") else "ms"
        )
        again = stowage.solve(json.loads(path.read_text()), node_limit=100_000, time_limit=None)
        assert (again.status, again.plan) == (outcome.status, outcome.plan)
        if outcome.plan is None:
            assert outcome.status == "infeasible" and outcome.objective is None
            assert outcome.remedy and outcome.to_dict()["remedy"] == outcome.remedy
            assert outcome._repr_svg_() is None
            with pytest.raises(ValueError, match="there is no plan: infeasible"):
                outcome.save_plan(tmp_path / "plan.json")
            continue
        assert outcome.remedy == "" and "remedy" not in outcome.to_dict()
        outcome.save_plan(tmp_path / "plan.json")
        stowage.verify(path, tmp_path / "plan.json")
        stowage.verify(path, outcome.to_dict())
        assert outcome.bound <= outcome.objective * (1 + 1e-6)
        assert outcome._repr_svg_().startswith("<?xml")


def test_finds_the_optimum_of_the_first_instance():
    outcome = stowage.solve(two())
    assert outcome.status == "optimal" and outcome.stopped_by == "proof"
    assert outcome.objective == pytest.approx(39) and outcome.gap <= 1e-6
    assert outcome.bounds and outcome.improvements[-1].objective == outcome.objective
    assert outcome.plan["micro_batches"][0]["groups"][0]["degree"] == 2
    assert outcome.trainer().schedule.tolist() == [[0], [0]]
    assert "optimal: 39 ms" in repr(outcome)


def test_a_pipelined_step_states_the_end_of_its_schedule(tmp_path):
    step = two()
    step.update(pipeline_stages=4, lengths=[64, 40, 30, 20, 8, 5])
    outcome = stowage.solve(step)
    assert outcome.simulated_ms == outcome.plan["simulated_1f1b_ms"]
    assert 0 < outcome.simulated_bound_ms <= outcome.simulated_ms
    document = outcome.to_dict()
    (tmp_path / "step.json").write_text(json.dumps(step))
    for factor, code in ((1, 0), (2, 1)):
        document["simulated_bound_ms"] = outcome.simulated_bound_ms * factor
        (tmp_path / "outcome.json").write_text(json.dumps(document))
        command = [sys.executable, "-m", "stowage", "verify", "step.json", "outcome.json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
    assert pickle.loads(pickle.dumps(outcome)).simulated_ms == outcome.simulated_ms
    assert stowage.solve(two()).simulated_ms is None


def test_an_instance_without_a_plan_is_an_outcome():
    instance = two()
    instance["lengths"] = [64, 161]
    outcome = stowage.solve(instance)
    assert outcome.status == "infeasible" and outcome.unplaceable.tolist() == [1]
    document = outcome.to_dict()
    assert document["infeasibility"] == {"by": "sequences", "witnesses": [1]}
    why = stowage.explain(instance)
    assert why["status"] == "infeasible" and why["remedies"] and why["irreducible"]
    assert all("plan" not in cause for cause in why["causes"])


@pytest.mark.parametrize("family", TINY)
def test_outcomes_are_pickled(family):
    for path in TINY[family]:
        outcome = stowage.solve(path, node_limit=1000, time_limit=None)
        again = pickle.loads(pickle.dumps(outcome))
        assert again.to_dict() == outcome.to_dict() and repr(again) == repr(outcome)
        assert again._repr_svg_() == outcome._repr_svg_()
        assert again.bounds == outcome.bounds and again.improvements == outcome.improvements
        if family == "scatter" and outcome.plan is not None:
            assert again.trainer().schedule.tolist() == outcome.trainer().schedule.tolist()


def test_errors_steer_no_terminal():
    forged = "x\x1b[1m\noptimal  1 B  verified\u202e\x9b\u2028\U000e0041"
    layout = {
        "format": "stowage/instance",
        "version": 1,
        "problem": "layout",
        "buffers": [{"id": forged, "lower": 0, "upper": 2, "size_bytes": 4}] * 2,
    }
    raised = []
    for wrong in (layout, {**layout, forged: 1}, {**layout, "problem": forged}):
        with pytest.raises(stowage.InputError) as error:
            stowage.solve(wrong)
        raised.append(error.value)
    step = two()
    plan = stowage.solve(step).plan
    plan["micro_batches"][0]["recomputation"] = forged
    with pytest.raises(stowage.VerificationError) as broken:
        stowage.verify(step, plan)
    raised.append(broken.value)
    with pytest.raises(ValueError) as method:
        stowage.solve(step, method=forged)
    raised.append(method.value)
    for error in raised:
        for line in str(error).split("\n"):
            assert line.isprintable() and not line.startswith("optimal"), line
    assert forged in broken.value.violations[0].have


def test_a_pickle_with_another_plan_is_refused():
    outcome = stowage.solve(two())
    make, (instance, plan, told) = outcome.__reduce__()
    assert make(instance, plan, told).plan == outcome.plan
    wrong = json.loads(plan)
    wrong["micro_batches"][0]["groups"][0]["sequences"] = [0]
    with pytest.raises(stowage.VerificationError):
        make(instance, json.dumps(wrong), told)


def test_starts_with_a_plan():
    plan = stowage.solve(two(), method="fast").plan
    assert stowage.solve(two(), start=plan).objective == pytest.approx(39)
    with pytest.raises(stowage.InputError):
        stowage.solve(two(), start=stowage.solve(TINY["layout"][0]).plan)


def test_takes_bare_plans(tmp_path):
    def bare(degree):
        groups = [{"degree": degree, "first_rank": 0, "sequences": [0, 1]}]
        head = {"format": "stowage/plan", "version": 1, "problem": "scatter"}
        return {**head, "micro_batches": [{"groups": groups}]}

    stowage.verify(two(), bare(2))
    (tmp_path / "plan.json").write_text(json.dumps(bare(2)))
    stowage.verify(two(), tmp_path / "plan.json")
    with pytest.raises(stowage.VerificationError, match="capacity"):
        stowage.verify(two(), bare(1))
    assert stowage.solve(two(), start=bare(2), method="fast").objective == pytest.approx(39)
    with pytest.raises(stowage.InputError):
        stowage.verify(TINY["layout"][0], bare(2))


def test_explains_a_plan():
    plan = stowage.solve(two()).plan
    why = stowage.explain(two(), plan, node_limit=1000)
    assert why["objective"] == pytest.approx(39) and why["binds"] and why["what_if"]
    plan["objective_ms"] = 1
    with pytest.raises(stowage.VerificationError) as raised:
        stowage.explain(two(), plan)
    assert "objective" in {violation.rule for violation in raised.value.violations}


def test_compares_methods():
    rows = stowage.compare(two(), node_limit=1000)
    assert [row.method for row in rows] == stowage.methods(two())
    best = min(row.outcome.objective for row in rows if row.outcome.objective is not None)
    assert [row.best for row in rows] == [row.outcome.objective == best for row in rows]
    assert {row.method.kind for row in rows} == {"ours", "baseline"}
    named = stowage.compare(two(), methods=["fast"])
    assert [row.method.name for row in named] == ["fast"]
    with pytest.raises(stowage.InputError, match="E701"):
        stowage.compare(two(), methods=["fast", "faster"])


def test_a_limit_ends_baselines():
    step = DATA / "scatter" / "real" / "7b-64gpu-192k-code-0.json"
    for row in stowage.compare(step, methods=["flexsp", "dp-balanced"], baseline_limit=0.0):
        assert row.method.kind == "baseline"
        assert row.outcome.plan is not None and row.outcome.stopped_by == "time_limit"


def test_every_error_of_a_document():
    instance = two()
    instance["lengths"] = [64, -4]
    instance["cluster"]["memory_mb"] = 3
    with pytest.raises(stowage.InputError) as raised:
        stowage.solve(instance)
    assert {(e.code, e.pointer) for e in raised.value.errors} == {
        ("E202", "/cluster/memory_mb"),
        ("E205", "/lengths/1"),
    }
    with pytest.raises(stowage.InputError, match="E207 /format"):
        stowage.solve(stowage.solve(two()).plan)
    with pytest.raises(stowage.InputError, match="E701"):
        stowage.solve(two(), method="magic")
    with pytest.raises(stowage.InputError, match="E110"):
        stowage.solve("no-such-file.json")


def test_a_list_is_found_beside_the_instance(tmp_path):
    instance = two()
    instance["lengths"] = {"file": "lengths.txt"}
    (tmp_path / "lengths.txt").write_text("64\n80\n")
    (tmp_path / "two.json").write_text(json.dumps(instance))
    assert stowage.solve(tmp_path / "two.json").objective == pytest.approx(39)


def test_takes_arrays_in_documents():
    instance = two()
    instance["lengths"] = np.array([64, 80])
    assert stowage.solve(instance).objective == pytest.approx(39)


def test_build_info():
    info = stowage.build_info()
    assert info["version"] == stowage.__version__ and "Eigen" in info["libraries"]
