"""Run by torchrun: trains the task in one way of this table, on all ranks, and compares with one process.

    torchrun --nproc-per-node N matrix.py WAY...

Each way runs twice: on groups of one rank, some of which are idle, and on groups of varying degree.
"""

import sys
import tempfile
from contextlib import nullcontext

import torch
import torch.distributed as dist
from task import (
    BATCH,
    Tokenised,
    build_model,
    cluster_of,
    largest_difference,
    loss_of,
    optimizer_of,
    sampler_of,
    trained_alone,
)
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from stowage.torch import Groups, PackedCollator, loader


class Job:
    """The inputs of a way of training, and the record of its run."""

    def __init__(self, degrees):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.rows = Tokenised()
        cluster = cluster_of(self.world, degrees)
        self.sampler = sampler_of(self.rows, cluster, self.rank)
        self.collator = PackedCollator(self.sampler, pad_token_id=0)
        self.groups = Groups(cluster)
        self.model = build_model()
        self.fillers, self.degrees, self.losses = 0, set(), []

    def plain_loader(self, kind=DataLoader, **more):
        return kind(self.rows, batch_sampler=self.sampler, collate_fn=self.collator, **more)

    def loss(self, model, batch):
        self.fillers += batch.filler
        self.degrees.add(batch.degree)
        return loss_of(model, batch, self.groups[batch])

    def log(self, total):
        """Records the mean loss of a step, summed over the parts of all ranks."""
        dist.all_reduce(total)
        self.losses.append(float(total))

    def train(self, model, steps, optimizer=None, backward=torch.Tensor.backward, sync=None):
        """Trains a model whose gradients are averaged over the ranks. Returns its parameters."""
        optimizer = optimizer or optimizer_of(model)
        for _, batches in steps:
            total = torch.zeros((), dtype=torch.float64)
            for batch in batches:
                with nullcontext() if batch.last or sync is None else sync():
                    loss = self.loss(model, batch) * batch.mean_loss_scale
                    backward(loss)
                total += loss.detach() / self.world
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            self.log(total)
        return model.parameters()


def plain(job):
    """Trains without a wrapper: the loop itself sums gradients over ranks."""
    optimizer = optimizer_of(job.model)
    for _, batches in job.sampler.steps_with(job.plain_loader()):
        total = torch.zeros((), dtype=torch.float64)
        for batch in batches:
            loss = job.loss(job.model, batch) * batch.loss_scale
            loss.backward()
            total += loss.detach()
        for parameter in job.model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        job.log(total)
    return job.model.parameters()


def ddp(job):
    return job.train(
        DistributedDataParallel(job.model), job.sampler.steps_with(job.plain_loader())
    )


def ddp_no_sync(job):
    """Averages gradients only after the last micro-batch of a step."""
    model = DistributedDataParallel(job.model)
    steps = job.sampler.steps_with(loader(job.rows, job.sampler, job.collator))
    return job.train(model, steps, sync=model.no_sync)


def fsdp2(job):
    from torch.distributed.fsdp import fully_shard

    model = job.model
    for part in (model.qkv, model.out, model):
        fully_shard(part)
    job.train(model, job.sampler.steps_with(job.plain_loader()))
    return [parameter.full_tensor() for parameter in model.parameters()]


def stateful(job):
    """Trains with torchdata's loader and workers."""
    from torchdata.stateful_dataloader import StatefulDataLoader

    steps = job.sampler.steps_with(job.plain_loader(StatefulDataLoader, num_workers=2))
    return job.train(DistributedDataParallel(job.model), steps)


def titan(job):
    from torchtitan.components.dataloader import ParallelAwareDataloader

    titans = ParallelAwareDataloader(
        job.rows, job.rank, job.world, batch_sampler=job.sampler, collate_fn=job.collator
    )
    return job.train(DistributedDataParallel(job.model), job.sampler.steps_with(titans))


def accelerate(job):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model, optimizer, own = accelerator.prepare(
        job.model, optimizer_of(job.model), loader(job.rows, job.sampler, job.collator, by_step=True)
    )
    steps = ((batches[0].plan, batches) for batches in own)
    return job.train(
        model, steps, optimizer, accelerator.backward, lambda: accelerator.no_sync(model)
    )


def lightning(job):
    steps = loader(job.rows, job.sampler, job.collator, by_step=True)
    return fitted(job, train_dataloaders=steps)


def datamodule(job):
    """Trains with the sampler that a LightningDataModule makes."""
    from stowage.lightning import StepDataModule

    module = StepDataModule(
        job.rows,
        job.sampler.planner,
        lengths=job.rows.lengths,
        global_batch_size=BATCH,
        loss_tokens=job.rows.target_counts,
        seed=1,
    )
    parameters = fitted(job, datamodule=module)
    job.sampler = module.sampler
    return parameters


def fitted(job, **data):
    """Fits a module of Lightning."""
    import lightning

    class Planned(lightning.LightningModule):
        """A module whose training step gets a planned step and runs its micro-batches itself."""

        automatic_optimization = False

        def __init__(self):
            super().__init__()
            self.model = job.model

        def configure_optimizers(self):
            return optimizer_of(self.model)

        def forward(self, batch):
            return job.loss(self.model, batch) * batch.mean_loss_scale

        def training_step(self, batches, _):
            total = torch.zeros((), dtype=torch.float64)
            for batch in batches:
                loss = self(batch)
                with nullcontext() if batch.last else self.trainer.model.no_sync():
                    self.manual_backward(loss)
                total += loss.detach() / job.world
            self.optimizers().step()
            self.optimizers().zero_grad(set_to_none=True)
            job.log(total)

    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            max_epochs=1,
            accelerator="cpu",
            strategy="ddp",
            devices=job.world,
            logger=False,
            default_root_dir=folder,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
        )
        trainer.fit(Planned(), **data)
    return job.model.parameters()


def zero3(job):
    """DeepSpeed, which averages gradients and counts micro-batches by itself."""
    import deepspeed

    deepspeed.comm.init_distributed("gloo", auto_mpi_discovery=False)
    engine, *_ = deepspeed.initialize(
        model=job.model.float(),  # it takes no float64
        optimizer=optimizer_of(job.model),
        config={
            "train_micro_batch_size_per_gpu": 1,
            "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
            "zero_allow_untested_optimizer": True,
            "zero_force_ds_cpu_optimizer": False,
        },
    )
    for _, batches in job.sampler.steps_with(loader(job.rows, job.sampler, job.collator)):
        total = torch.zeros((), dtype=torch.float64)
        for batch in batches:
            engine.set_gradient_accumulation_boundary(batch.last)
            loss = job.loss(engine, batch) * batch.mean_loss_scale
            engine.backward(loss, scale_wrt_gas=False)
            engine.step()
            total += loss.detach() / job.world
        job.log(total)
    with deepspeed.zero.GatheredParameters(list(job.model.parameters())):
        return [parameter.detach().clone() for parameter in job.model.parameters()]


WAYS = {
    each.__name__: each
    for each in (
        *(plain, ddp, ddp_no_sync, fsdp2, stateful),
        *(titan, accelerate, lightning, datamodule, zero3),
    )
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    for name in sys.argv[1:]:
        for degrees in ([1], None):
            job = Job(degrees)
            parameters = list(WAYS[name](job))
            right, losses = trained_alone(job.rows, job.sampler)
            off = largest_difference(parameters, right)
            fillers = torch.tensor(job.fillers)
            dist.all_reduce(fillers)
            loss_off = max(abs(a - b) for a, b in zip(job.losses, losses, strict=True))
            most = 1e-5 if name == "zero3" else 1e-8
            assert off < most and loss_off < most, (name, degrees, off, loss_off)
            state = job.sampler.state_dict()  # Lightning counts items, and does not ask for the end
            assert (state["epoch"], state["step"]) in ((1, 0), (0, job.sampler.steps)), state
            seen = [None] * job.world
            dist.all_gather_object(seen, sorted(job.degrees))
            if job.rank == 0:
                print(
                    f"{name} {'groups of 1' if degrees else 'varying'}: {len(losses)} steps, weights "
                    f"differ by {off:.0e}, losses by {loss_off:.0e}, {int(fillers)} filler rows, "
                    f"degrees {sorted(set(sum(seen, [])))}",
                    flush=True,
                )
    dist.barrier()
    dist.destroy_process_group()
