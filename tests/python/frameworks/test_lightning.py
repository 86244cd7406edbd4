"""Tests of stowage.lightning beyond the matrix of the loops: resumption, and clusters of another size."""

import pytest

lightning = pytest.importorskip("lightning")

import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from task import BATCH, Tokenised, build_model, cluster_of, loss_of, optimizer_of

import stowage
from stowage.lightning import StepDataModule

ROWS = Tokenised()


class Planned(lightning.LightningModule):
    automatic_optimization = False

    def __init__(self):
        super().__init__()
        self.model, self.seen = build_model(), []

    def configure_optimizers(self):
        return optimizer_of(self.model)

    def training_step(self, batches, _):
        for batch in batches:
            self.manual_backward(loss_of(self.model, batch, None) * batch.mean_loss_scale)
        self.seen.append([batch.sequences.tolist() for batch in batches])
        self.optimizers().step()
        self.optimizers().zero_grad()


def module(devices=1):
    return StepDataModule(
        ROWS,
        stowage.Planner(cluster_of(devices, [1])),
        lengths=ROWS.lengths,
        global_batch_size=BATCH,
        loss_tokens=ROWS.target_counts,
    )


def fitted(folder, checkpoint=None, **more):
    planned = Planned()
    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=2,
        logger=False,
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        **more,
    )
    trainer.fit(planned, datamodule=module(), ckpt_path=checkpoint)
    return planned


@pytest.mark.parametrize("stop", [4, 11, 15])  # an epoch has 11 steps
def test_a_checkpoint_holds_the_position(stop, tmp_path):
    whole = fitted(tmp_path, enable_checkpointing=False)
    saving = ModelCheckpoint(dirpath=tmp_path, filename="{step}", every_n_train_steps=1)
    first = fitted(tmp_path, max_steps=stop, callbacks=[saving])
    again = fitted(tmp_path, tmp_path / f"step={stop}.ckpt", enable_checkpointing=False)
    assert first.seen + again.seen == whole.seen and len(first.seen) == stop
    for own, right in zip(again.parameters(), whole.parameters(), strict=True):
        assert torch.equal(own, right)


def test_a_cluster_of_another_size_is_refused():
    trainer = lightning.Trainer(accelerator="cpu", devices=1, logger=False, max_steps=1)
    with pytest.raises(ValueError, match="must have the 1 processes of the Trainer as devices, has 2"):
        trainer.fit(Planned(), datamodule=module(2))
