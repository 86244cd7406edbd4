"""Tests that training in each framework on 1, 2 and 4 processes equals training in one process, row
by row."""

import importlib.util

import pytest

from task import cluster_of
from planned_loader import HERE, torchrun

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
    "datamodule": "lightning",
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


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("trainer", ["hf", "sft"])
def test_a_trainer_that_is_interrupted(trainer, processes):
    pytest.importorskip({"hf": "transformers", "sft": "trl"}[trainer])
    out = torchrun(HERE / f"{trainer}_trainer.py", processes=processes)
    lines = [line for line in out.splitlines() if "weights differ by" in line]
    assert len(lines) == {"hf": 10, "sft": 4}[trainer]
    for accumulated, steps in [(1, 22), (2, 12)]:
        said = f"{accumulated} accumulated, resumed after 4: {steps} steps"
        assert any(said in line for line in lines), out


def test_torchtitan_with_the_registry_of_the_page(tmp_path):
    needed = ("torchtitan", "spmd_types", "tensorboard", "triton")
    if missing := [package for package in needed if not importlib.util.find_spec(package)]:
        pytest.skip(f"torchtitan's trainer needs {missing}")
    cluster_of(2, [1]).save(tmp_path / "cluster.json")
    out = torchrun(HERE / "titan_trainer.py", tmp_path, "whole", processes=2)
    assert "whole: 13 steps, weights differ by" in out
    assert "resumed after 11 steps: 2 steps, weights differ by" in out
    out = torchrun(HERE / "titan_trainer.py", tmp_path, "resumed", processes=1)
    assert "resumed by another job: 2 steps, weights differ by" in out


def test_what_a_trainer_cannot_keep_is_refused(tmp_path):
    transformers = pytest.importorskip("transformers")
    import stowage.hf
    from hf_trainer import PlannedTrainer, build_model
    from task import Tokenised, sampler_of

    from stowage.torch import PackedCollator, loader

    rows = Tokenised()

    def trainer(degrees=(1,), ranks=1, by_step=True, kind=PlannedTrainer, more=None, **arguments):
        sampler = sampler_of(rows, cluster_of(ranks, list(degrees)), 0, **(more or {}))
        steps = loader(
            rows, sampler, PackedCollator(sampler, pad_token_id=0, slice=None), by_step=by_step
        )
        options = transformers.TrainingArguments(tmp_path, use_cpu=True, report_to=[], **arguments)
        return kind(model=build_model(), args=options, step_loader=steps)

    class Weighted(PlannedTrainer):
        def compute_loss(self, *arguments, **named):
            raise AssertionError

    class Own(transformers.Trainer):
        def training_step(self, *arguments, **named):
            raise AssertionError

    class PlannedOwn(stowage.hf.StowageTrainer, Own):
        pass

    trainer()
    for wrong, said in [
        ({"by_step": False}, "must deliver whole steps"),
        ({"ranks": 2}, "must have the 1 processes of the job as devices, has 2"),
        ({"ranks": 2, "degrees": (1, 2)}, "groups must be of one rank"),
        ({"more": {"loss_tokens": None}}, "must have loss_tokens"),
        ({"label_smoothing_factor": 0.5}, "label_smoothing_factor: must be 0"),
        ({"ignore_data_skip": True}, "ignore_data_skip: must be False"),
        ({"kind": Weighted}, "compute_loss of Weighted: is not called"),
        ({"kind": PlannedOwn}, "training_step of Own: is not called"),
    ]:
        with pytest.raises(ValueError, match=said):
            trainer(**wrong)

    counting = trainer(max_steps=4, include_num_input_tokens_seen="non_padding", save_strategy="no")
    counting.train()
    own = [counting.step_loader.planned.rows_of(step) for step in range(4)]
    assert counting.state.num_input_tokens_seen == sum(rows.lengths[each].sum() for each in own)
