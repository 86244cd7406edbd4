"""Run by torchrun: compares the Trainer of transformers on planned steps with one process, sequence by
sequence. Once more, most activations leave for the host and come back.

Then training is interrupted after each of several steps, resumed from the checkpoint, and must end with
the same losses and weights, also where planned steps are accumulated.
"""

import tempfile

import torch
import torch.distributed as dist
from task import RATE, VOCABULARY, Tokenised, cluster_of, largest_difference, sampler_of
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

from stowage.hf import StowageTrainer
from stowage.torch import PackedCollator, loader, offloaded

EPOCHS = 2
ACCUMULATED = 2  # planned steps of a step of the optimizer; the 11 of an epoch are no multiple


class PlannedTrainer(StowageTrainer, Trainer):
    pass


class AwayTrainer(PlannedTrainer):
    """Counts what leaves; its tensors are smaller than those that leave by default."""

    moved_mib = 0.0

    def offload_context(self, batch):
        own = super().offload_context(batch)
        assert own.share == batch.offload and own.model is not None
        self.last = getattr(self, "last", own)
        AwayTrainer.moved_mib += self.last.moved_mib
        self.last = offloaded(own.share, model=own.model, device="cpu", min_bytes=64)
        return self.last


def build_model(heads=2):
    torch.manual_seed(2)
    shape = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": heads}
    own = LlamaConfig(vocab_size=VOCABULARY, num_hidden_layers=2, head_dim=8, **shape)
    return LlamaForCausalLM(own).double()


def updates_of(sampler, accumulated):
    """Yields the rows of each step of the optimizer."""
    for epoch in range(EPOCHS):
        for first in range(0, sampler.steps, accumulated):
            last = min(first + accumulated, sampler.steps)
            yield [row for step in range(first, last) for row in sampler.rows_of(step, epoch).tolist()]


def trained_alone(rows, sampler, accumulated=1):
    """Returns the model of one process, and the loss of each step of the optimizer."""
    model, losses = build_model(), []
    optimizer = torch.optim.SGD(model.parameters(), RATE, momentum=0.9)
    for own in updates_of(sampler, accumulated):
        targets = torch.tensor(int(rows.target_counts[own].sum()))
        losses.append(0.0)
        for row in own:
            ids, labels = (torch.from_numpy(part)[None] for part in rows[row].values())
            loss = model(input_ids=ids, labels=labels, num_items_in_batch=targets).loss
            loss.backward()
            losses[-1] += float(loss.detach())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return model, losses


def arguments_of(kind, folder, stop_after, accumulated, **more):
    return kind(
        output_dir=folder,
        num_train_epochs=EPOCHS,
        max_steps=stop_after,
        gradient_accumulation_steps=accumulated,
        bf16=False,
        learning_rate=RATE,
        lr_scheduler_type="constant",
        optim="sgd",
        optim_args="momentum=0.9",
        max_grad_norm=0,
        save_steps=1 if stop_after > 0 else 1000,
        save_total_limit=1,
        report_to=[],
        disable_tqdm=True,
        logging_steps=1,
        **{"use_cpu": True, **more},
    )


def steps_of(rows, **changes):
    """Returns a loader of planned steps for this process, on a cluster with these changes."""
    cluster = cluster_of(dist.get_world_size(), [1]).replace(**changes)
    sampler = sampler_of(rows, cluster, dist.get_rank())
    collator = PackedCollator(sampler, pad_token_id=0, slice=None)
    return loader(rows, sampler, collator, by_step=True)


def trainer_of(folder, rows, stop_after=-1, accumulated=1):
    return PlannedTrainer(
        model=build_model(),
        args=arguments_of(TrainingArguments, folder, stop_after, accumulated),
        step_loader=steps_of(rows),
    )


def away_trainer_of(folder, rows, stop_after=-1, accumulated=1):
    away = {"mib_per_token": 0.8, "out_mib_per_ms": 50, "in_mib_per_ms": 50}
    return AwayTrainer(
        model=build_model(),
        args=arguments_of(TrainingArguments, folder, stop_after, accumulated),
        step_loader=steps_of(rows, memory_mib=100, offload=away),
    )


def compare(make, name, stops, weights_of=lambda trainer: trainer.model.parameters(), most=1e-7):
    """Trains with the trainers of `make`, uninterrupted and interrupted after each of `stops`."""
    rows = Tokenised()
    folders = [tempfile.mkdtemp()] if dist.get_rank() == 0 else [None]
    dist.broadcast_object_list(folders)
    for accumulated in (1, ACCUMULATED):
        sampler = steps_of(rows).planned
        right, losses = trained_alone(rows, sampler, accumulated)
        for stop in (0, *stops):
            folder = f"{folders[0]}/{accumulated}-{stop}"
            if stop:
                make(folder, rows, stop, accumulated).train()
            trainer = make(folder, rows, accumulated=accumulated)
            trainer.train(resume_from_checkpoint=stop > 0)
            off = largest_difference(weights_of(trainer), right)
            logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
            away = max(abs(a - b) for a, b in zip(logged, losses, strict=True))
            assert trainer.state.global_step == len(losses)
            assert off < most and away < 1e-4, (accumulated, stop, off, away)
            if dist.get_rank() == 0:
                print(
                    f"{name}, {accumulated} accumulated, resumed after {stop}: {len(losses)} steps, weights "
                    f"differ by {off:.0e}, losses by {away:.0e}",
                    flush=True,
                )


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    compare(trainer_of, "Trainer", (1, 4, 11))
    compare(away_trainer_of, "Trainer with offload", ())
    assert AwayTrainer.moved_mib > 0
    dist.barrier()
    dist.destroy_process_group()
