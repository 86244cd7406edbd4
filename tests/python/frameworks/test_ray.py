"""Tests of the example with Ray actors, on a local Ray of this machine."""

import re
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("ray")

from planned_loader import FRAMEWORKS, HERE


def test_actors_plan_ahead():
    example = HERE.parents[2] / "examples" / "ray_planner.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "step 5:" in done.stdout


def test_ray_train_leaves_the_rows_as_planned(tmp_path):
    shutil.copy(HERE / "task.py", tmp_path)
    done = subprocess.run(
        [sys.executable, FRAMEWORKS / "ray_loop.py", tmp_path, tmp_path / "results"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"2 workers got \d\d rows each", done.stdout)
