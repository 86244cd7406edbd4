"""Tests of torchrun -m stowage.calibrate on the CPU with gloo: measurement, resumption, fit, and
planning with the result."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import stowage

SMALL = ["--rows", "8", "--max-tokens", "256", "--hidden", "64", "--heads", "4", "--layers", "1"]


def torchrun(folder, processes, *arguments):
    """Returns exit code and output of the command."""
    return launched(folder, processes, "-m", "stowage.calibrate", *arguments)


def launched(folder, processes, *arguments):
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-B", "-m", "torch.distributed.run", "--nproc-per-node", str(processes)]
        + list(arguments),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": here + os.pathsep + os.environ["PYTHONPATH"]},
        capture_output=True,
        text=True,
        timeout=240,
    )
    return done.returncode, done.stdout + done.stderr


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_what_is_measured_plans_a_step(tmp_path, processes):
    code, said = torchrun(tmp_path, processes, "-o", "cluster.json", *SMALL)
    assert code == 0, said
    assert f"row {8 * len(range(processes.bit_length()))} of" in said and "s left" in said
    cluster = stowage.Cluster.load(tmp_path / "cluster.json")
    assert cluster.devices == processes and cluster.degrees[-1] == processes
    # With rows this small, on ranks that share cores, no single coefficient can be relied on.
    assert 0 < cluster.group_ms(1, [64]) < cluster.group_ms(1, [1024])
    assert cluster.activation_mib_per_token > 0
    step = stowage.Planner(cluster).plan([100, 300, 40, 40, 900])
    assert step.objective_ms > 0
    told = json.loads((tmp_path / "cluster.json").read_text())["x-measured"]
    assert told["torch"] == torch.__version__ and told["settings"]["world"] == processes
    kinds = {(own["kind"], own["degree"]) for own in told["exchanges"]}
    assert len(kinds) == 3 * (len(cluster.degrees) - 1)
    assert all(own["mib_per_ms"] > 0 for own in told["exchanges"])
    hidden = {own["kind"] for own in told["exchanges"] if 0 <= own.get("overlap", -1) <= 1}
    assert hidden == ({"all_to_all", "all_gather"} if processes > 1 else set())
    assert all("overlap" not in own for own in told["exchanges"] if own["kind"] == "send_receive")
    rows = rows_of(tmp_path / "cluster.samples.csv")
    assert [int(row["x-row"]) for row in rows] == list(range(len(rows)))
    assert all(float(row["time_ms"]) > 0 and float(row["peak_mib"]) > 0 for row in rows)


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
    given = ["-o", "cluster.json", "--samples", "rows.csv", *SMALL]
    code, said = torchrun(tmp_path, 2, *given)
    assert code == 0, said
    whole = (tmp_path / "rows.csv").read_text().splitlines(keepends=True)
    (tmp_path / "rows.csv").write_text("".join(whole[:11]))
    code, said = torchrun(tmp_path, 2, *given)
    assert code == 0, said
    again = (tmp_path / "rows.csv").read_text().splitlines(keepends=True)
    assert again[:11] == whole[:11] and len(again) == len(whole) == 17
    assert "row 11 of 16" in said and "row 10 of 16" not in said
    for old, new in zip(rows_of(tmp_path / "rows.csv"), csv.DictReader(whole)):
        assert old["lengths_tokens"] == new["lengths_tokens"]  # they depend on the seed alone
    code, said = torchrun(tmp_path, 2, *given, "--seed", "5")
    assert code != 0 and "must hold samples of these settings" in said
    assert (tmp_path / "rows.csv").read_text().splitlines(keepends=True) == again


def test_a_model_of_the_users_is_measured(tmp_path):
    code, said = torchrun(
        tmp_path, 2, "--model", "own_model:build", "-o", "cluster.json", *SMALL, "--degrees", "1,2"
    )
    assert code == 0, said
    told = json.loads((tmp_path / "cluster.json").read_text())
    assert told["x-measured"]["settings"]["model"] == "own_model:build"
    assert told["model"]["states_mib"] == pytest.approx(16 * (16 * 16 + 16) / 2**20)


@pytest.mark.parametrize("exchange", ["all_to_all", "ring", "all_gather"])
@pytest.mark.parametrize("processes", [2, 4])
def test_the_ranks_of_a_row_compute_what_one_does(tmp_path, processes, exchange):
    script = Path(__file__).with_name("shared_rows.py")
    code, said = launched(tmp_path, processes, str(script), exchange)
    assert code == 0 and "the same" in said, said


def test_pairs_of_plans_that_rows_decide():
    from stowage.calibrate._comparison import _pairs

    plans = [
        {"predicted_ms": predicted, "measured_ms": measured}
        for predicted, measured in [(100, 110), (104, 100), (120, 105)]
    ]
    # 100 and 104 differ by less than 5 %; 120 was measured before 110, and behind 100.
    assert _pairs(plans, 0.05) == {"pairs": 3, "undecided_pairs": 1, "agreed_pairs": 1}
    assert _pairs(plans, 0.0) == {"pairs": 3, "undecided_pairs": 0, "agreed_pairs": 1}
    assert _pairs(plans[:1] * 2, 0.0) == {"pairs": 1, "undecided_pairs": 1, "agreed_pairs": 0}


def test_kinds_of_exchange_are_measured_chosen_and_compared(tmp_path):
    (tmp_path / "lengths.txt").write_text("".join(f"{own}\n" for own in [900, 300, 200] + 20 * [40]))
    given = ["-o", "cluster.json", *SMALL, "--exchange", "all_to_all,ring,all_gather"]
    code, said = torchrun(tmp_path, 4, *given, "--compare", "lengths.txt")
    assert code == 0, said
    rows = rows_of(tmp_path / "cluster.samples.csv")
    assert len(rows) == 8 * (1 + 2 * 3)  # degree 1 has nothing to exchange
    assert {row["exchange"] for row in rows if row["degree"] == "1"} == {""}
    for degree in ("2", "4"):
        told = [row["exchange"] for row in rows if row["degree"] == degree]
        assert sorted(told) == sorted(8 * ["all_to_all", "ring", "all_gather"])
    assert all(int(own) % 8 == 0 for row in rows for own in row["lengths_tokens"].split())
    cluster = stowage.Cluster.load(tmp_path / "cluster.json")
    assert cluster.pad_multiple == 8 and cluster.exchange["inside_mib_per_ms"] > 0
    assert stowage.Planner(cluster).plan([900, 300, 40, 40]).objective_ms > 0
    compared = json.loads((tmp_path / "cluster.json").read_text())["x-measured"]["compared"]
    assert len(compared["plans"]) >= 4
    count = len(compared["plans"])
    assert compared["pairs"] == count * (count - 1) // 2
    assert 0 <= compared["agreed_pairs"] <= compared["pairs"] - compared["undecided_pairs"]
    assert all(own["predicted_ms"] > 0 and own["measured_ms"] > 0 for own in compared["plans"])
    assert "rank correlation" in said or "cannot be ranked" in said


@pytest.mark.parametrize(
    "given, error",
    [
        (["--exchange", "ring,both"], "--exchange: must be some of all_to_all, ring, all_gather, has 'both'"),
        (["--exchange", "ring", "--model", "own_model:build"], "--volumes: is needed"),
        (["--compare", "lengths.txt"], "lengths.txt:2: must be a whole number of tokens, is '-3'"),
    ],
)
def test_bad_usage_is_told_before_anything_is_measured(tmp_path, given, error):
    (tmp_path / "lengths.txt").write_text("40\n-3\n")
    code, said = torchrun(tmp_path, 2, "-o", "cluster.json", *SMALL, *given)
    assert code != 0 and error in said
    assert [own.name for own in tmp_path.iterdir()] == ["lengths.txt"]


def test_a_rank_alone_computes_what_a_block_does():
    from stowage import _shared_block
    from stowage.torch import run

    shape = run.Shape(32, 4, 4, 8, 64)
    x = torch.randn(24, 32, generator=torch.Generator().manual_seed(1))
    own = _shared_block.SharedBlock(shape, 3).rows(x, [16, 8], None)
    assert torch.allclose(own, run.Block(shape, 3)(x, [16, 8]), atol=1e-6)
    assert np.isfinite(_shared_block.Transformer(32, 4, 2)([16, 8], None).item())
