"""Tests that a planned Trainer with sharded weights trains, resumes and accumulates as one process."""

import pytest

pytest.importorskip("transformers")

from pathlib import Path

from planned_loader import torchrun


@pytest.mark.parametrize("way", ["fsdp2", "zero2", "zero3"])
def test_a_trainer_with_sharded_weights(way):
    pytest.importorskip("accelerate" if way == "fsdp2" else "deepspeed")
    out = torchrun(Path(__file__).parent / "hf_sharded.py", way, processes=2)
    lines = [line for line in out.splitlines() if "weights differ by" in line]
    assert len(lines) == 4
    assert any(f"{way}, 2 accumulated, resumed after 4: 12 steps" in line for line in lines), out
