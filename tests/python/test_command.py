"""Tests of the package's command, and that the package and the command (STOWAGE) read and write the same
files."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import stowage
from conftest import DATA, drawn

COMMAND = os.environ.get("STOWAGE")
needs_command = pytest.mark.skipif(COMMAND is None, reason="no command was built")


def run(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)


@needs_command
@pytest.mark.parametrize("name", ["scatter/tiny", "assign/tiny", "layout/tiny", "order/tiny", "strategy/tiny"])
def test_the_command_verifies_outcomes(name, tmp_path):
    for path in sorted((DATA / name).glob("*.json"))[:4]:
        outcome = stowage.solve(path, node_limit=100_000, time_limit=None)
        outcome.save(tmp_path / "outcome.json")
        judged = run("verify", path, tmp_path / "outcome.json")
        assert judged.returncode == 0, judged.stderr


@needs_command
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


# The command of the package itself: python -m stowage.


def own(*arguments, **options):
    words = [sys.executable, "-m", "stowage", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, **options)


@needs_command
def test_the_package_has_the_command(tmp_path):
    lengths = tmp_path / "lengths.json"
    lengths.write_text("[9000, 4000, 120000, 512]")
    assert own("convert", lengths, tmp_path / "s.json", "--devices", 64).returncode == 0
    flags = ("--method", "fast", "--timeless", "-o")
    mine = own("solve", tmp_path / "s.json", *flags, tmp_path / "own.json")
    theirs = run("solve", tmp_path / "s.json", *flags, tmp_path / "command.json")
    assert mine.returncode == theirs.returncode == 0, mine.stderr
    assert mine.stdout == theirs.stdout
    assert (tmp_path / "own.json").read_bytes() == (tmp_path / "command.json").read_bytes()
    judged = own("verify", tmp_path / "s.json", tmp_path / "own.json")
    assert judged.returncode == 0, judged.stderr
    refused = own("solve", tmp_path / "none.json")
    assert refused.returncode == 2 and "none.json" in refused.stderr
    assert json.loads(refused.stdout)["exit_code"] == 2
    assert own("--version").stdout.startswith(f"stowage {stowage.__version__}")


@pytest.mark.parametrize(
    "words, remedy",
    [
        (("run", "a.json", "b.json"), "python -m stowage.torch.run"),
        (("calibrate",), "python -m stowage.calibrate"),
        (("generate", "layout", "--from-kernels"), "./dev demo"),
        (("generate", "order", "--from-kernels"), "./dev demo"),
        (("compare", DATA / "scatter/tiny/mixed.json", "--measure"), "./dev demo"),
    ],
)
def test_what_needs_kernels_names_its_remedy(words, remedy):
    refused = own(*words)
    assert refused.returncode == 2
    assert remedy in refused.stderr


def test_the_help_lists_no_command_that_is_missing():
    listed = own("--help").stdout
    assert "  solve " in listed and "  run " not in listed and "  calibrate " not in listed


@pytest.mark.skipif(sys.platform != "linux", reason="the name of a file is bytes")
def test_names_of_files_are_bytes(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.json"
    words = [sys.executable.encode(), b"-m", b"stowage", b"solve", path]
    refused = subprocess.run(words, capture_output=True)
    assert refused.returncode == 2 and b"No such file" in refused.stderr
