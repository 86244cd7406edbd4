"""Tests that the notebooks of examples/ run from the first cell to the last and print the stated
results."""

import subprocess
import sys

import pytest

from planned_loader import HERE

NOTEBOOKS = HERE.parents[2] / "examples" / "notebooks"
SHOWN = {
    "planned_dataloader": ("torch", "step 2: "),
    "megatron_packing": ("megatron.core", "micro-batch 0: samples on each rank"),
    "verl_balancing": ("verl", "largest of 8 ranks above the mean"),
    "trl_packing": ("trl", "loss of row 0: "),
    "deepspeed_batches": ("deepspeed", "rank 3: tokens of its rows"),
}


def test_all_notebooks_are_run():
    assert {path.stem for path in NOTEBOOKS.glob("*.py")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_runs(name, tmp_path):
    framework, shown = SHOWN[name]
    pytest.importorskip(framework)
    done = subprocess.run(
        [sys.executable, NOTEBOOKS / f"{name}.py"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert shown in done.stdout
    if name == "planned_dataloader":
        assert (tmp_path / "step.svg").read_text().startswith("<?xml")
