"""Run by torchrun: compares TRL's SFTTrainer on planned steps with one process, sequence by sequence,
uninterrupted, interrupted and resumed."""

import datasets
import torch
import torch.distributed as dist
from hf_trainer import arguments_of, build_model, compare, steps_of
from task import ROWS, VOCABULARY
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

from stowage.hf import StowageTrainer


class PlannedSFTTrainer(StowageTrainer, SFTTrainer):
    pass


def trainer_of(folder, rows, stop_after=-1, accumulated=1):
    words = models.WordLevel({str(at): at for at in range(VOCABULARY)}, unk_token="0")
    return PlannedSFTTrainer(
        model=build_model(),
        args=arguments_of(
            SFTConfig,
            folder,
            stop_after,
            accumulated,
            dataset_kwargs={"skip_prepare_dataset": True},
            max_length=None,
        ),
        train_dataset=datasets.Dataset.from_list(
            [{key: part.tolist() for key, part in rows[at].items()} for at in range(ROWS)]
        ),
        processing_class=PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer(words), pad_token="0", eos_token="1"
        ),
        step_loader=steps_of(rows),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    compare(trainer_of, "SFTTrainer", (4,))
    dist.barrier()
    dist.destroy_process_group()
