"""Run by torchrun: compares the Trainer of transformers on planned steps with one process, sequence by
sequence.

Then training is interrupted after each of several steps, resumed from the checkpoint, and must end with
the same weights.
"""

import tempfile

import torch
import torch.distributed as dist
from task import RATE, VOCABULARY, Tokenised, cluster_of, largest_difference, sampler_of
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

from stowage.hf import StowageTrainer
from stowage.torch import PackedCollator, loader

EPOCHS = 2


class PlannedTrainer(StowageTrainer, Trainer):
    pass


def build_model(heads=2):
    torch.manual_seed(2)
    shape = {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": heads}
    own = LlamaConfig(vocab_size=VOCABULARY, num_hidden_layers=2, head_dim=8, **shape)
    return LlamaForCausalLM(own).double()


def trained_alone(rows, sampler):
    model = build_model()
    optimizer = torch.optim.SGD(model.parameters(), RATE)
    for epoch in range(EPOCHS):
        for step in range(sampler.steps):
            own = sampler.rows_of(step, epoch)
            targets = torch.tensor(int(rows.target_counts[own].sum()))
            for row in own.tolist():
                ids, labels = (torch.from_numpy(part)[None] for part in rows[row].values())
                model(input_ids=ids, labels=labels, num_items_in_batch=targets).loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return model


def trainer_of(folder, rows, stop_after=-1):
    sampler = sampler_of(rows, cluster_of(dist.get_world_size(), [1]), dist.get_rank())
    collator = PackedCollator(sampler, pad_token_id=0, slice=None)
    model = build_model()
    arguments = TrainingArguments(
        output_dir=folder,
        num_train_epochs=EPOCHS,
        max_steps=stop_after,
        use_cpu=True,
        learning_rate=RATE,
        lr_scheduler_type="constant",
        optim="sgd",
        max_grad_norm=0,
        save_steps=1 if stop_after > 0 else 1000,
        save_total_limit=1,
        report_to=[],
        disable_tqdm=True,
        logging_steps=1,
    )
    steps = loader(rows, sampler, collator, by_step=True)
    return PlannedTrainer(model=model, args=arguments, step_loader=steps), sampler


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rows = Tokenised()
    folders = [None]
    if dist.get_rank() == 0:
        folders = [tempfile.mkdtemp()]
    dist.broadcast_object_list(folders)
    trainer, sampler = trainer_of(folders[0], rows)
    trainer.train()
    right = trained_alone(rows, sampler)
    off = largest_difference(trainer.model.parameters(), right)
    assert off < 1e-7, off
    assert trainer.state.global_step == EPOCHS * sampler.steps
    for stop in (1, sampler.steps - 1, sampler.steps, sampler.steps + 4):
        first, _ = trainer_of(f"{folders[0]}/{stop}", rows, stop)
        first.train()
        again, _ = trainer_of(f"{folders[0]}/{stop}", rows)
        again.train(resume_from_checkpoint=True)
        resumed = largest_difference(again.model.parameters(), right)
        assert again.state.global_step == EPOCHS * sampler.steps
        assert resumed < 1e-7, (stop, resumed)
    if dist.get_rank() == 0:
        print(f"Trainer: weights differ by {off:.0e}, resumed after 4 steps: by {resumed:.0e}")
    dist.barrier()
    dist.destroy_process_group()
