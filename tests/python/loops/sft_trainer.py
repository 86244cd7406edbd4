"""Run by torchrun: compares TRL's SFTTrainer on planned steps with one process, sequence by sequence."""

import tempfile

import datasets
import torch
import torch.distributed as dist
from hf_trainer import EPOCHS, build_model, trained_alone
from task import RATE, ROWS, VOCABULARY, Tokenised, cluster_of, largest_difference, sampler_of
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

from stowage.hf import StowageTrainer
from stowage.torch import PackedCollator, loader


class PlannedSFTTrainer(StowageTrainer, SFTTrainer):
    pass


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rows = Tokenised()
    sampler = sampler_of(rows, cluster_of(dist.get_world_size(), [1]), dist.get_rank())
    words = models.WordLevel({str(at): at for at in range(VOCABULARY)}, unk_token="0")
    arguments = SFTConfig(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=EPOCHS,
        use_cpu=True,
        bf16=False,
        learning_rate=RATE,
        lr_scheduler_type="constant",
        optim="sgd",
        max_grad_norm=0,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        dataset_kwargs={"skip_prepare_dataset": True},
        max_length=None,
    )
    trainer = PlannedSFTTrainer(
        model=build_model(),
        args=arguments,
        train_dataset=datasets.Dataset.from_list(
            [{key: part.tolist() for key, part in rows[at].items()} for at in range(ROWS)]
        ),
        processing_class=PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer(words), pad_token="0", eos_token="1"
        ),
        step_loader=loader(
            rows, sampler, PackedCollator(sampler, pad_token_id=0, slice=None), by_step=True
        ),
    )
    trainer.train()
    off = largest_difference(trainer.model.parameters(), trained_alone(rows, sampler))
    assert off < 1e-7, off
    assert trainer.state.global_step == EPOCHS * sampler.steps
    if dist.get_rank() == 0:
        print(f"SFTTrainer: {trainer.state.global_step} steps, weights differ by {off:.0e}")
    dist.barrier()
    dist.destroy_process_group()
