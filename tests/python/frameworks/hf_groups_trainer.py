"""Run by torchrun: compares a planned Trainer, whose groups share rows, with one process."""

import tempfile

import torch
import torch.distributed as dist
import transformers
from hf_groups import build_model, trained_alone
from hf_trainer import PlannedTrainer
from task import RATE, Tokenised, cluster_of, largest_difference, sampler_of

from stowage.hf import attention
from stowage.torch import Groups, PackedCollator, loader


def trainer_of(folder, rows, cluster, stop_after=-1):
    sampler = sampler_of(rows, cluster, dist.get_rank())
    collator = PackedCollator(sampler, pad_token_id=0, slice="zigzag")
    arguments = transformers.TrainingArguments(
        output_dir=folder,
        num_train_epochs=1,
        max_steps=stop_after,
        use_cpu=True,
        learning_rate=RATE,
        lr_scheduler_type="constant",
        optim="sgd",
        max_grad_norm=0,
        save_steps=stop_after if stop_after > 0 else 1000,
        report_to=[],
        disable_tqdm=True,
        logging_steps=1,
    )
    steps = loader(rows, sampler, collator, by_step=True)
    model = build_model("llama", "stowage")
    return PlannedTrainer(model=model, args=arguments, step_loader=steps), sampler


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rows = Tokenised()
    cluster = cluster_of(dist.get_world_size()).replace(memory_mib=1024 // dist.get_world_size())
    attention(Groups(cluster))
    folders = [None]
    if dist.get_rank() == 0:
        folders = [tempfile.mkdtemp()]
    dist.broadcast_object_list(folders)
    first, sampler = trainer_of(folders[0], rows, cluster, 4)
    first.train()
    again, _ = trainer_of(folders[0], rows, cluster)
    again.train(resume_from_checkpoint=True)
    right, losses = trained_alone("llama", rows, sampler)
    off = largest_difference(again.model.parameters(), right)
    reported = [entry["loss"] for entry in again.state.log_history if "loss" in entry]
    away = max(abs(a - b) for a, b in zip(reported, losses))
    planner = sampler.planner
    plans = [planner.plan(rows.lengths[sampler.rows_of(step)]) for step in range(sampler.steps)]
    degrees = {degree for plan in plans for degree in plan.degree.tolist()}
    assert off < 1e-7 and away < 1e-4 and len(reported) == sampler.steps, (off, away, reported)
    if dist.get_rank() == 0:
        print(
            f"resumed: weights differ by {off:.0e}, losses by {away:.0e}, degrees {sorted(degrees)}"
        )
    dist.barrier()
    dist.destroy_process_group()
