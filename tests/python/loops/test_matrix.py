"""Training in each framework, on 1, 2 and 4 processes, is training in one process, row by row."""

import importlib.util

import pytest

from task import cluster_of
from test_torch import HERE, torchrun

#: A way of matrix.py, and the package that it needs.
WAYS = {
    "plain": "torch",
    "ddp": "torch",
    "ddp_no_sync": "torch",
    "fsdp2": "torch",
    "stateful": "torchdata",
    "accelerate": "accelerate",
    "titan": "torchtitan",
    "lightning": "lightning",
    "zero3": "deepspeed",
}
PRESENT = [way for way, package in WAYS.items() if importlib.util.find_spec(package)]


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_the_matrix(processes):
    out = torchrun(HERE / "matrix.py", *PRESENT, processes=processes)
    lines = [line for line in out.splitlines() if "weights differ" in line]
    assert len(lines) == 2 * len(PRESENT)
    for line in lines:  # otherwise the table shows less than it says
        if processes == 4:
            fillers = "0 filler rows" not in line
            assert fillers if "groups of 1" in line else "degrees [1, 2, 4]" in line, line


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_the_loop_of_the_page(processes, tmp_path):
    cluster_of(processes).save(tmp_path / "cluster.json")
    out = torchrun(HERE / "pages.py", "ddp", tmp_path, processes=processes)
    assert "step 0: " in out and "4 steps, weights differ by" in out


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_the_trainer_of_the_page(processes, tmp_path):
    pytest.importorskip("transformers")
    cluster_of(processes, [1]).save(tmp_path / "cluster.json")
    out = torchrun(HERE / "pages.py", "trainer", tmp_path, processes=processes)
    assert "4 steps, weights differ by" in out


def test_a_trainer_that_is_interrupted():
    pytest.importorskip("transformers")
    assert "resumed after 4 steps" in torchrun(HERE / "hf_trainer.py", processes=2)
