"""Tests of costs fitted to samples: inputs, results, and their use."""

import json

import numpy as np
import pytest

import stowage
from conftest import drawn
from stowage.calibrate import Sample, fit, fit_strategy, refit

DEGREES = (1, 2, 4)


def truth(**more):
    return stowage.Cluster(
        **{
            "devices": 4,
            "memory_mib": 40_000,
            "states_mib": 2000,
            "activation_mib_per_token": 1.5,
            "quadratic_ms": 5e-6,
            "linear_ms": 0.05,
            "fixed_ms": 12.0,
            "all_to_all_mib_per_token": 2.0,
            "mib_per_ms": {2: 50.0, 4: 40.0},
            "latency_ms": {2: 9.0, 4: 14.0},
            **more,
        }
    )


def samples(cluster, each=40, noise=0.02, seed=1):
    """Returns rows of 64 to 20,000 tokens per device in 1 to 16 sequences, timed by the cluster's
    cost with noise."""
    random = np.random.default_rng(seed)
    rows = []
    for degree in DEGREES:
        for _ in range(each):
            tokens = degree * int(64 * (20_000 / 64) ** random.random())
            count = int(random.integers(1, 17))
            lengths = np.maximum(random.multinomial(tokens, np.ones(count) / count), 1)
            ms = cluster.group_ms(degree, lengths) * (1 + noise * random.standard_normal())
            mib = cluster.states_mib + 1.5 * lengths.sum() / degree
            rows.append(Sample(degree, lengths, ms, mib))
    return rows


def written(path, rows):
    lines = ["degree,lengths_tokens,time_ms,peak_mib"]
    for row in rows:
        lengths = " ".join(str(length) for length in row.lengths)
        lines.append(f"{row.degree},{lengths},{float(row.ms)!r},{float(row.mib)!r}")
    path.write_text("\n".join(lines) + "\n")


def test_the_cost_is_found_from_rows_and_from_their_table(tmp_path):
    cluster = truth()
    rows = samples(cluster)
    found = fit(rows, cluster=cluster)
    assert found.cost["quadratic_ms"] == pytest.approx(5e-6, rel=0.03)
    assert found.cost["all_to_all"]["mib_per_token"] == 2
    assert found.coefficients["all_to_all.latency_ms.4"].value == pytest.approx(14, rel=0.1)
    low, high = found.coefficients["linear_ms"][1:3]
    assert low < 0.05 < high and found.coefficients["linear_ms"].determined
    assert found.model["states_mib"] == pytest.approx(2000)
    assert found.memory_held_out.p95 < 1e-6
    assert 0.01 < found.noise < 0.03 and found.held_out.rows == len(rows)
    assert set(found.by_degree) == set(DEGREES)
    assert sum(error.rows for error in found.by_length.values()) == len(rows) - found.outliers.size
    assert found.predicted_ms.shape == found.held_out_ms.shape == (len(rows),)
    assert found.next.degree in DEGREES and 0 < found.next.by < 1
    assert found.svg().startswith("<?xml") and found._repr_svg_() == found.svg()

    written(tmp_path / "samples.csv", rows)
    again = fit(tmp_path / "samples.csv", cluster=cluster)
    assert again.cost == found.cost
    plain = fit(str(tmp_path / "samples.csv"), mib_per_token=2)
    assert plain.cost == found.cost


def test_rows_become_times_by_tokens_and_squares():
    cluster = truth()
    found = fit(samples(cluster), cluster=cluster)
    table = found.table()
    assert set(table.cost) == {"table"} and set(table.cost["table"]) == {str(d) for d in DEGREES}
    assert found.held_out.mean < table.held_out.mean < 0.1  # a formula made the rows
    planner = stowage.Planner(cluster.with_cost(table.cost), method="fast")
    assert planner.plan(drawn(40)).plan["objective_ms"] > 0


def test_outliers_count_nothing():
    cluster = truth()
    rows = samples(cluster)
    rows[5] = rows[5]._replace(ms=3 * rows[5].ms)
    assert fit(rows, cluster=cluster).outliers.tolist() == [5]


def test_the_cost_goes_where_plans_are_made(tmp_path):
    cluster = truth()
    found = fit(samples(cluster), cluster=cluster)
    mine = found.cluster(cluster.replace(linear_ms=9.0))
    assert mine.linear_ms == found.cost["linear_ms"]
    assert mine.states_mib == found.model["states_mib"]
    found.model["sequence_mib"] = 3.0  # no argument of a Cluster, but of its instance
    assert found.cluster(cluster)._instance.to_json().count('"sequence_mib": 3') == 1
    found.save(tmp_path / "cost.json", device="a device", date="2026-01-01")
    document = json.loads((tmp_path / "cost.json").read_text())
    assert document["x-device"] == "a device"
    assert cluster.with_cost(tmp_path / "cost.json") == cluster.with_cost(found.cost)
    lengths = drawn(40)
    apart = found.separation(cluster, lengths)
    assert apart.plans == sorted(apart.plans, key=lambda plan: plan[1])
    assert 0 <= apart.best_to_next <= apart.best_to_last
    assert apart.decided == (found.without_outliers.mean <= apart.best_to_next)
    step = stowage.Planner(mine).plan(lengths)
    assert step.objective_ms == pytest.approx(apart.plans[0][1])


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(stowage.InputError) as raised:
        fit([(1, [5], -1.0), (0, [5], 1.0), (2, [0], 1.0), (2, [5], 1.0, None, "ring")])
    assert [(entry.code, entry.pointer) for entry in raised.value.errors] == [
        ("E206", "/samples/0/ms"),
        ("E205", "/samples/1/degree"),
        ("E205", "/samples/2/lengths"),
        ("E361", "/samples/3/exchange"),
    ]
    with pytest.raises(stowage.InputError, match="E361 /samples/0/exchange: must be one of"):
        fit([(2, [5], 1.0, None, "rings")])
    with pytest.raises(stowage.InputError, match="E362"):
        fit([(1, [5], 1.0)])
    with pytest.raises(stowage.InputTypeError, match="samples/0/lengths: must be integers"):
        fit([(1, [5.5], 1.0)])
    with pytest.raises(stowage.InputError, match="missing.csv"):
        fit("missing.csv")
    with pytest.raises(stowage.InputError, match="E206 /quadratic_ms|E206 /cost/quadratic_ms"):
        truth().with_cost({"quadratic_ms": -1, "linear_ms": 1, "fixed_ms": 1})


def slower(cluster, factor):
    """Returns the cluster with all times multiplied by a factor."""
    return cluster.replace(
        quadratic_ms=factor * cluster.quadratic_ms,
        linear_ms=factor * cluster.linear_ms,
        fixed_ms=factor * cluster.fixed_ms,
        mib_per_ms={degree: rate / factor for degree, rate in cluster.mib_per_ms.items()},
        latency_ms={degree: ms * factor for degree, ms in cluster.latency_ms.items()},
    )


def test_a_planner_follows_devices_that_drift(tmp_path):
    cluster = truth()
    planner = stowage.Planner(cluster)
    steps = [planner.plan(drawn(40, seed=seed)) for seed in range(8)]
    found = refit(cluster, [(step, 1.25 * step.objective_ms) for step in steps])
    assert found.factor == pytest.approx(1.25) and found.drifted
    assert found.old_mean_error == pytest.approx(0.25) and found.mean_error < 1e-6
    assert found.cost["linear_ms"] == pytest.approx(1.25 * cluster.linear_ms)

    lengths = drawn(40, seed=9)
    before = planner.plan(lengths)
    asked = planner.submit(lengths)
    planner.use_cost(found.cost)
    after = planner.plan(lengths)
    assert asked.result().objective_ms == before.objective_ms  # asked for before
    assert after.objective_ms == stowage.Planner(cluster.with_cost(found.cost)).plan(lengths).objective_ms
    assert after.objective_ms == pytest.approx(1.25 * before.objective_ms, rel=1e-3)  # ties go either way
    assert planner.cluster == cluster.with_cost(found.cost)
    (tmp_path / "cost.json").write_text(json.dumps(found.cost))
    planner.use_cost(tmp_path / "cost.json")
    assert planner.plan(lengths).objective_ms == after.objective_ms
    with pytest.raises(stowage.InputError):
        planner.use_cost({"quadratic_ms": 1})
    assert planner.plan(lengths).objective_ms == after.objective_ms


def test_groups_measured_by_themselves_are_refitted_too():
    cluster = truth()
    rows = samples(slower(cluster, 0.8), each=30)
    found = refit(cluster, rows)
    assert found.factor == pytest.approx(0.8, rel=0.02)
    assert found.cost["all_to_all"]["latency_ms"]["4"] == pytest.approx(0.8 * 14, rel=0.15)
    with pytest.raises(stowage.InputError, match="E206 /measured/1/ms"):
        refit(cluster, [rows[0], rows[1]._replace(ms=0.0)])
    with pytest.raises(stowage.InputError, match="E362 /measured"):
        refit(cluster, [])


_RUNS = [
    {"step_ms": 6000, "tp": 1, "zero": 1, "micro_batch_size": 1, "tokens": 4096},
    {"step_ms": 7000, "tp": 2, "zero": 1, "micro_batch_size": 1, "tokens": 4096},
    {"step_ms": 9000, "tp": 4, "zero": 1, "micro_batch_size": 1, "tokens": 4096},
    {"step_ms": 16000, "tp": 2, "zero": 1, "micro_batch_size": 1, "tokens": 8192},
]


def _strategy():
    return {
        "format": "stowage/instance", "version": 1, "problem": "strategy",
        "model": "llama-7b",
        "cluster": {"nodes": 1, "devices_per_node": 8, "memory_mib": 80000,
                    "mib_per_ms": {"inside": 224, "across": 24}},
        "cost": {"linear_tflops": 250, "attention_tflops": 97, "half_width": 0,
                 "detail": {"memory_mib_per_ms": 1944.5}},
        "options": {}, "lengths": [4096] * 64,
    }


def test_rates_of_a_strategy_fit_logged_steps(tmp_path):
    found = fit_strategy(_RUNS, _strategy())
    label = found.instance["cost"]["rates"]
    assert label["source"] == "fitted" and label["steps"] == 4
    kept = {name for name, rate in found.rates.items() if not rate.determined}
    assert kept == set(label["kept"])
    assert all(found.rates[name].low is None for name in kept)
    assert found.error["steps"] == 4
    assert found.measured_ms.tolist() == [run["step_ms"] for run in _RUNS]
    assert found.predicted_ms.shape == (4,)
    assert found.activation_factor is None
    found.save(tmp_path / "fitted.json")
    assert json.loads((tmp_path / "fitted.json").read_text()) == found.instance
    columns = list(_RUNS[0])
    table = "\n".join([",".join(columns)] + [",".join(str(run[c]) for c in columns) for run in _RUNS])
    (tmp_path / "runs.csv").write_text(table)
    (tmp_path / "strategy.json").write_text(json.dumps(_strategy()))
    again = fit_strategy(tmp_path / "runs.csv", tmp_path / "strategy.json")
    assert again.instance == found.instance


def test_runs_that_state_too_little_are_refused_in_one_pass():
    with pytest.raises(stowage.InputError) as caught:
        fit_strategy([{"tp": 3, "step_ms": 5}, {"tp": 2}], _strategy())
    assert [(error.code, error.pointer) for error in caught.value.errors] == [
        ("E363", "runs:2"),
        ("E363", "runs:3"),
    ]
    first = dict(_strategy(), cost={"linear_tflops": 250, "attention_tflops": 97})
    with pytest.raises(stowage.InputError, match="version 2"):
        fit_strategy(_RUNS, first)
    shared = fit_strategy([{"step_ms": 6000}], _strategy(),
                                    configuration={"tp": 2, "micro_batch_size": 1})
    assert shared.measured_ms.tolist() == [6000]
