"""Run by torchrun: compares a planned Trainer whose weights are sharded with one process.

    hf_sharded.py fsdp2|zero2|zero3

accelerate shards on accelerators only, so its state is told what it shards with on this CPU.
"""

import sys
from functools import partial

import torch
import torch.distributed as dist
from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import DistributedType
from hf_trainer import PlannedTrainer, arguments_of, build_model, compare, steps_of
from transformers import TrainingArguments

begin = AcceleratorState.__init__


def begin_sharded(self, *arguments, fsdp_plugin=None, deepspeed_plugin=None, **named):
    begin(self, *arguments, fsdp_plugin=fsdp_plugin, deepspeed_plugin=deepspeed_plugin, **named)
    if fsdp_plugin is not None:
        self.distributed_type, self.fsdp_plugin = DistributedType.FSDP, fsdp_plugin
    elif deepspeed_plugin is not None:
        deepspeed_plugin.set_mixed_precision("no")
        deepspeed_plugin.select(_from_accelerator_state=True)
        self.distributed_type, self.deepspeed_plugins = DistributedType.DEEPSPEED, deepspeed_plugin
    PartialState._shared_state["distributed_type"] = self.distributed_type


AcceleratorState.__init__ = begin_sharded

FSDP = {
    "fsdp": True,
    "fsdp_config": {
        "version": 2,
        "transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"],
        "state_dict_type": "SHARDED_STATE_DICT",
    },
}


def zero(stage):
    return {
        "deepspeed": {
            "train_micro_batch_size_per_gpu": "auto",
            "gradient_accumulation_steps": "auto",
            "zero_optimization": {"stage": stage, "stage3_param_persistence_threshold": 0},
            "zero_allow_untested_optimizer": True,
            "zero_force_ds_cpu_optimizer": False,
        },
    }


WAYS = {"fsdp2": FSDP, "zero2": zero(2), "zero3": zero(3)}


def trainer_of(way, folder, rows, stop_after=-1, accumulated=1):
    arguments = arguments_of(TrainingArguments, folder, stop_after, accumulated, **WAYS[way])
    model = build_model()
    if way != "fsdp2":
        model = model.float()  # DeepSpeed takes no float64
    return PlannedTrainer(model=model, args=arguments, step_loader=steps_of(rows))


def weights_of(way, trainer):
    parameters = list(trainer.model.parameters())
    if way == "fsdp2":
        return [parameter.full_tensor() for parameter in parameters]
    import deepspeed

    with deepspeed.zero.GatheredParameters(parameters):
        return [parameter.detach().clone() for parameter in parameters]


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    (way,) = sys.argv[1:]
    most = 1e-7 if way == "fsdp2" else 1e-5
    compare(partial(trainer_of, way), way, (4,), partial(weights_of, way), most)
    dist.barrier()
    dist.destroy_process_group()
