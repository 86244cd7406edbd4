"""The example with actors of Ray, on a Ray of this machine alone."""

import subprocess
import sys

import pytest

pytest.importorskip("ray")

from test_torch import HERE


def test_actors_plan_ahead():
    example = HERE.parents[2] / "examples" / "ray_planner.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "step 5:" in done.stdout
