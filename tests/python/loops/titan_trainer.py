"""Run by torchrun: trains with torchtitan's Trainer on planned steps, and compares with one process,
sequence by sequence.

    torchrun --nproc-per-node N titan_trainer.py FOLDER whole|resumed

`whole`: then training is interrupted after each of several steps, and resumed from torchtitan's checkpoint;
losses and weights must be those of one process again. `resumed`: a checkpoint in FOLDER is resumed by
another number of processes. FOLDER has a cluster.json.
"""

import itertools
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import torch
import torch.distributed as dist

# torchtitan selects an accelerator when it is imported: here the CPU, with what it calls of a GPU.
torch._utils._get_available_device_type = lambda: "cpu"
for name, made in {
    "get_device_name": lambda _: "CPU",
    "get_device_properties": lambda _: SimpleNamespace(total_memory=1 << 30),
    "memory_stats": lambda _: {},
    "reset_peak_memory_stats": lambda: None,
    "empty_cache": lambda: None,
}.items():
    setattr(torch.cpu, name, made)

from task import BATCH, Tokenised, cluster_of, sampler_of
from torch.distributed import distributed_c10d
from torch.distributed.fsdp import FSDPModule
from torch.nn.attention.flex_attention import create_mask
from torchtitan.components.optimizer import default_adamw
from torchtitan.components.tokenizer import BaseTokenizer
from torchtitan.config import ConfigManager
from torchtitan.distributed import utils
from torchtitan.models.common.attention import FlexAttention


def dense(query, key, value, *, block_mask, scale, enable_gqa, **_):
    """Computes flex attention from the full mask, since its kernels have no backward pass on CPUs."""
    mask = create_mask(block_mask.mask_mod, 1, 1, query.shape[2], key.shape[2], device="cpu")
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(query, key, value, mask, scale=scale, enable_gqa=enable_gqa), None


FlexAttention._compiled_flex_attn = dense
torch.compiler.set_stance("force_eager")  # each row has a length of its own, and would be compiled anew
utils.set_pg_timeouts = lambda **_: None  # waits for a device

meet, trainings = distributed_c10d.rendezvous, itertools.count()


def meet_anew(*arguments, **named):
    """Gives each training a part of the store of its own: a rank that came first to a second one would
    find the addresses of the first, and wait for ever."""
    number = next(trainings)
    for store, *more in meet(*arguments, **named):
        yield dist.PrefixStore(f"training {number}", store), *more


distributed_c10d.rendezvous = meet_anew

PAGES = Path(__file__).resolve().parents[3] / "docs" / "start"
STEPS, WARMUP, RATE = 13, 4, 1e-3  # an epoch has 11 steps
EPS = 1e-2  # of Adam; with a small one, rounding of a small gradient changes the weights


class Words(BaseTokenizer):
    """A tokenizer for rows that are tokenised already."""

    @dataclass(kw_only=True, slots=True)
    class Config(BaseTokenizer.Config):
        pass

    def __init__(self, config, *, tokenizer_path):
        super().__init__()

    def encode(self, *arguments, **named):
        raise NotImplementedError

    decode = get_vocab_size = encode


def registry_of_the_page():
    """Makes the config registry of docs/start/torchtitan.md a module, with a data set for it."""
    page = PAGES / "torchtitan.md"
    (program,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    made = ModuleType("my_registry")
    made.load_tokenised = lambda tokenizer: Tokenised()
    sys.modules["my_registry"] = made
    exec(compile(program, str(page), "exec"), vars(made))


def config_of(folder, steps=STEPS):
    """Returns the configuration of the page with flags of torchtitan, for a smaller model."""
    given = {
        "dump_folder": folder,
        "dataloader.cluster": folder.parent / "cluster.json",
        "dataloader.sequences": BATCH,
        "dataloader.seed": 1,
        "training.seq_len": 512,
        "training.steps": steps,
        "training.mixed_precision_param": "float32",
        "parallelism.spmd_backend": "partial_dtensor",
        "lr_scheduler.warmup_steps": WARMUP,
        "lr_scheduler.decay_ratio": 0.0,
        "lr_scheduler.total_steps": STEPS,
        "metrics.log_freq": 1,
        "checkpoint.interval": 1000,
    }
    flags = [word for name, value in given.items() for word in (f"--{name}", str(value))]
    start = ["--module", "my_registry", "--config", "llama3_planned", "--checkpoint.enable"]
    config = ConfigManager().parse_args([*start, *flags])
    config.model_spec.model.layers = config.model_spec.model.layers[:1]
    config.tokenizer = Words.Config()
    config.optimizer = default_adamw(lr=RATE, eps=EPS)
    return config


def train(folder, steps=STEPS):
    """Trains, from the last checkpoint in the folder. Returns the weights before and after, and the loss
    of each step."""
    trainer = config_of(folder, steps).build()
    (model,) = trainer.model_parts
    for each in model.modules():
        if isinstance(each, FSDPModule):
            each.set_force_sum_reduction_for_comms(True)  # gloo cannot scale
    losses = {}
    trainer.metrics_processor.log = lambda step, loss, *_, **__: losses.update({step: loss})
    before = full(model)
    trainer.train()
    after = full(model)
    trainer.close()
    dist.destroy_process_group()
    return before, after, losses


def full(model):
    return [parameter.detach().full_tensor().clone() for parameter in model.parameters()]


def trained_alone(weights):
    """Returns the weights of one process, and the loss of each step."""
    rows = Tokenised()
    sampler = sampler_of(rows, cluster_of(1, [1]), 0)
    model = config_of(Path("alone")).model_spec.model.build()
    model.init_weights(buffer_device=None)
    for own, given in zip(model.parameters(), weights, strict=True):
        own.data.copy_(given)
    optimizer = torch.optim.AdamW(
        model.parameters(), RATE, betas=(0.9, 0.95), eps=EPS, weight_decay=0.1
    )
    losses = {}
    for step in range(STEPS):
        own = sampler.rows_of(step % sampler.steps, step // sampler.steps)
        targets = int(rows.target_counts[own].sum())
        total = 0.0
        for row in own.tolist():
            ids, labels = (torch.from_numpy(part)[None] for part in rows[row].values())
            places = torch.arange(ids.shape[1])[None]
            masks = model.get_attention_masks(positions=places)
            logits = model(ids, places, masks)
            loss = torch.nn.functional.cross_entropy(
                logits[0, :-1].float(), labels[0, 1:], reduction="sum"
            )
            (loss / targets).backward()
            total += float(loss.detach()) / targets
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / WARMUP)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses[step + 1] = total
    return list(model.parameters()), losses


def compare(found, right, said):
    """Requires equal weights and losses up to rounding in float32, and prints the differences."""
    _, weights, losses = found
    off = max(float((a - b).abs().max()) for a, b in zip(weights, right[0], strict=True))
    loss_off = max(abs(losses[step] - right[1][step]) for step in losses)
    print(
        f"{said}: {len(losses)} steps, weights differ by {off:.0e}, losses by {loss_off:.0e}",
        flush=True,
    )
    assert off < 1e-5 and loss_off < 1e-4, (said, off, loss_off)


if __name__ == "__main__":
    folder, what, first = Path(sys.argv[1]), sys.argv[2], int(os.environ["RANK"]) == 0
    torch.set_num_threads(1)
    registry_of_the_page()
    if what == "whole":
        whole = train(folder / "whole")
        train(folder / "11", 11)
        if first:
            shutil.copytree(folder / "11", folder / "copied")
        again = train(folder / "11")
        if first:
            right = trained_alone(whole[0])
            torch.save([[each.detach() for each in right[0]], right[1]], folder / "right.pt")
            compare(whole, right, "whole")
            compare(again, right, "resumed after 11 steps")
    else:
        found = train(folder / "copied")
        if first:
            compare(found, torch.load(folder / "right.pt"), "resumed by another job")
