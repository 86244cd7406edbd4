"""Tests of stowage.torch.log with writers of both forms."""

import pytest

pytest.importorskip("torch")

import stowage
import stowage.calibrate
import stowage.torch


class Board:
    """As torch.utils.tensorboard.SummaryWriter."""

    def __init__(self):
        self.written = []

    def add_scalar(self, name, value, at):
        self.written.append((name, value, at))


class Run:
    """As a run of wandb."""

    def __init__(self):
        self.written = []

    def log(self, values, step):
        self.written += [(name, value, step) for name, value in values.items()]


@pytest.fixture
def cluster():
    return stowage.Cluster.preset("gpt-7b", devices=8)


@pytest.mark.parametrize("writer", [Board(), Run()], ids=lambda writer: type(writer).__name__)
def test_values(writer, cluster):
    lengths = [900, 4000, 40000, 513]
    step = stowage.Planner(cluster).plan(lengths)
    values = stowage.torch.log(step, writer, at=7)
    assert writer.written == [("stowage/" + name, value, 7) for name, value in values.items()]
    assert values["gap"] == step.gap and values["planned_ms"] == step.objective_ms
    assert values["tokens"] == sum(lengths) and 0 < values["padding"] < 0.02
    busy = sum(step.predicted_ms[batch.index] * len(batch.ranks) for batch in step)
    assert values["idle_share"] == pytest.approx(1 - busy / (8 * step.objective_ms))
    assert "measured_ms" not in values


def test_measured_times_feed_refit(cluster):
    planner, samples = stowage.Planner(cluster), []
    for at in range(4):
        step = planner.plan([900 + 100 * at, 4000, 12000, 513])
        values = stowage.torch.log(
            step, Board(), at=at, measured_ms=1.2 * step.objective_ms, samples=samples, prefix=""
        )
        assert values["ms_ratio"] == pytest.approx(1.2)
    refit = stowage.calibrate.refit(cluster, samples)
    assert refit.factor == pytest.approx(1.2, rel=1e-3)


def test_real_tensorboard(cluster, tmp_path):
    board = pytest.importorskip("torch.utils.tensorboard")
    with board.SummaryWriter(str(tmp_path)) as writer:
        stowage.torch.log(stowage.Planner(cluster).plan([900, 4000]), writer, at=0)
    assert list(tmp_path.iterdir())


def test_real_runs_of_wandb(cluster, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    step = stowage.Planner(cluster).plan([900, 4000])
    with wandb.init(mode="offline", project="own", dir=tmp_path) as run:
        for at, writer in enumerate([run, wandb]):  # the run, and the module with the run of the process
            values = stowage.torch.log(step, writer, at=at, measured_ms=2 * step.objective_ms)
        found = {name: run.summary[name] for name in run.summary.keys() if name.startswith("stowage/")}
    assert found == {"stowage/" + name: value for name, value in values.items()}
    assert found["stowage/ms_ratio"] == pytest.approx(2)
    assert list(tmp_path.rglob("run-*.wandb"))


def test_refuses_other_writers(cluster):
    step = stowage.Planner(cluster).plan([900])
    with pytest.raises(stowage.InputTypeError, match="writer: must have add_scalar"):
        stowage.torch.log(step, object(), at=0)
    with pytest.raises(stowage.InputTypeError, match="step: must be a Step"):
        stowage.torch.log("step", Board(), at=0)
    with pytest.raises(stowage.InputTypeError, match="at: must be an integer"):
        stowage.torch.log(step, Board(), at="0")
