"""Tests that the package and the command read and write the same files. Needs STOWAGE, the command."""

import json
import os
import subprocess

import numpy as np
import pytest

import stowage
from conftest import DATA, drawn

COMMAND = os.environ.get("STOWAGE")
pytestmark = pytest.mark.skipif(COMMAND is None, reason="no command was built")


def run(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("name", ["scatter/tiny", "assign/tiny", "layout/tiny", "order/tiny", "strategy/tiny"])
def test_the_command_verifies_outcomes(name, tmp_path):
    for path in sorted((DATA / name).glob("*.json"))[:4]:
        outcome = stowage.solve(path, node_limit=100_000, time_limit=None)
        outcome.save(tmp_path / "outcome.json")
        judged = run("verify", path, tmp_path / "outcome.json")
        assert judged.returncode == 0, judged.stderr


def test_plans_and_trainer_files_are_those_of_the_command(cluster, tmp_path):
    lengths = drawn(50)
    step = stowage.Planner(cluster).plan(lengths)
    instance = step.instance
    (tmp_path / "step.json").write_text(json.dumps(instance))
    made = run("solve", tmp_path / "step.json", "--method", "fast", "-o", tmp_path / "plan.json")
    assert made.returncode == 0, made.stderr
    assert json.loads((tmp_path / "plan.json").read_text()) == step.plan
    for ending, own in ((".bin", step.to_bytes()), (".json", step.to_json().encode())):
        out = tmp_path / ("trainer" + ending)
        run("convert", tmp_path / "step.json", out, "--plan", tmp_path / "plan.json")
        assert out.read_bytes() == own
    assert np.array_equal(stowage.read_trainer(tmp_path / "trainer.bin").schedule, step.schedule)
