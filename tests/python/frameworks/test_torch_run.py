"""Tests of stowage.torch.run: rows through torch give the results of the sequences alone, and are
timed."""

import json

import numpy as np
import pytest
import torch

import stowage
from stowage.torch import _run_block, run
from stowage.torch._run_timing import timed_rows

SMALL = run.Shape(hidden=32, heads=4, kv_heads=2, head_dim=8, ffn=48)


@pytest.fixture(scope="module")
def planned():
    cluster = stowage.Cluster.preset("gpt-7b", devices=8).replace(pad_multiple=16)
    lengths = np.random.default_rng(1).lognormal(7.5, 1.0, 60).astype(np.int64) + 1
    return stowage.Planner(cluster).plan(lengths)


def test_rows_compute_what_sequences_alone_do(planned):
    document = run.execute(planned.instance, planned.plan, scale=64, repeats=1, shape=SMALL)
    assert document["passed"] and document["exit_code"] == 0
    for name, count in (("output", 60), ("input_gradient", 60), ("weight_gradient", 6)):
        assert document[name]["passed"] and document[name]["compared"] == count
    assert document["loss"] == pytest.approx(document["reference_loss"], rel=1e-4)
    assert document["predicted_ms"] == planned.objective_ms
    rows = document["groups"]
    groups = [group for batch in planned.plan["micro_batches"] for group in batch["groups"]]
    assert [row["degree"] for row in rows] == [group["degree"] for group in groups]
    assert [row["sequences"] for row in rows] == [len(group["sequences"]) for group in groups]
    for row, group in zip(rows, groups):
        assert row["tokens"] == sum(-(-n // 64) for n in np.diff(group["cu_seqlens"]).tolist())
    slowest = {}
    for row in rows:
        number = row["micro_batch"]
        slowest[number] = max(slowest.get(number, 0), row["measured_ms"])
    assert document["measured_ms"] == pytest.approx(sum(slowest.values()))


def test_packs_predict_rows_of_one_device(planned):
    document = run.execute(planned.instance, planned.plan, scale=4, repeats=5, shape=SMALL)
    off = document["prediction"]
    assert off["packs"] == min(max(len(document["groups"]), 8), 24)
    assert off["median_error"] < 0.5  # of a machine that others may use
    assert off["median_error"] <= off["worst_error"]
    step = document["predicted_here_ms"] / document["measured_ms"] - 1
    assert off["step_error"] == pytest.approx(abs(step))
    for row in document["groups"]:
        assert row["predicted_here_ms"] > 0 and row["measured_ms"] > 0


def test_predictions_of_a_known_cost_are_exact():
    def seconds(lengths):
        return sum(2e-6 * n * n + 3e-4 * n + 0.01 for n in lengths) + 0.2

    rows = [[500, 20], [30] * 7, [1200], [64, 64, 700]]
    found = timed_rows(rows, seconds, 3, 0)
    assert found.packs == 8
    np.testing.assert_allclose(found.measured, [seconds(own) for own in rows], rtol=1e-12)
    np.testing.assert_allclose(found.predicted, found.measured, rtol=1e-6)
    assert timed_rows([], seconds, 3, 0) is None


def test_phases_of_the_machine_do_not_count():
    runs = iter(range(10**6))

    def seconds(lengths):
        slow = 1.5 if next(runs) // 40 % 2 else 1.0  # slow for 40 runs, then fast for 40
        return slow * sum(1e-4 * n for n in lengths)

    rows = [[100 * n] for n in range(1, 13)]
    found = timed_rows(rows, seconds, 7, 0)
    ratios = found.measured / np.array([sum(own) for own in rows])
    assert ratios.max() / ratios.min() < 1.1


def test_a_row_that_mixes_sequences_up_is_found_out(planned, monkeypatch):
    whole = run.Block._attention
    monkeypatch.setattr(
        run.Block,
        "forward",
        lambda self, x, lengths: _forward_as_one(self, x, lengths, whole),
    )
    document = run.execute(planned.instance, planned.plan, scale=64, repeats=1, shape=SMALL)
    assert document["output"]["passed"] is False and not document["passed"]
    assert document["exit_code"] == 1


def _forward_as_one(block, x, lengths, attention):
    """Computes the row as if it were one sequence."""
    shape = block.shape
    heads = block.qkv(_run_block.rms_norm(x, block.norms[0])).unflatten(
        -1, (shape.heads + 2 * shape.kv_heads, shape.head_dim)
    )
    x = x + block.out(attention(block, heads))
    gate, value = block.up(_run_block.rms_norm(x, block.norms[1])).chunk(2, -1)
    return x + block.down(torch.nn.functional.silu(gate) * value)


def test_the_command_reports_and_refuses(planned, tmp_path, capsys):
    paths = [tmp_path / name for name in ("instance.json", "plan.json", "bad.json")]
    paths[0].write_text(json.dumps(planned.instance))
    paths[1].write_text(json.dumps(planned.plan))
    plan = planned.plan
    plan["micro_batches"][0]["groups"][0]["degree"] = 3
    paths[2].write_text(json.dumps(plan))
    instance, good, bad = map(str, paths)
    given = ["--device", "cpu", "--work", "0.5", "--repeats", "1"]
    threads = torch.get_num_threads()
    assert run.main([instance, good, *given]) == 0
    assert torch.get_num_threads() == threads
    told = capsys.readouterr()
    document = json.loads(told.out)
    assert document["format"] == "stowage/execution" and document["scale"] > 1
    assert document["work_flop"] <= 0.5e9
    assert "here ms  measured ms" in told.err and "here at scale predicted" in told.err
    assert run.main([instance, bad, *given]) == 1
    assert "degree" in capsys.readouterr().err
    assert run.main([instance, str(tmp_path / "missing.json"), *given]) == 2
    assert run.main([instance, good, "--repeats", "0"]) == 2
    assert "repeats: must be at least 1" in capsys.readouterr().err
