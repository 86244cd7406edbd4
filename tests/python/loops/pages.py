"""Run by torchrun: runs a program of docs/start unchanged, with a data set and a model for it.

    torchrun --nproc-per-node N pages.py ddp|groups|trainer FOLDER

FOLDER has a cluster.json. Then one process trains the same model sequence by sequence, without plans; the
weights must be the same.
"""

import os
import re
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from task import Tokenised, build_model, largest_difference

PAGES = Path(__file__).resolve().parents[3] / "docs" / "start"
ROWS = 96


def program_with(text, page):
    path = PAGES / page
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.S)
    (program,) = [block for block in blocks if text in block]
    return compile(program, str(path), "exec")


def trained_alone(model, optimizer, rows, steps, loss_of, as_trainer):
    """Trains in one process. `steps` holds the row numbers of each step. A Trainer clips gradients,
    and lowers the rate with each step."""
    for number, own in enumerate(steps):
        targets = int(rows.target_counts[own].sum())
        for row in own.tolist():
            ids, labels = (torch.from_numpy(part)[None] for part in rows[row].values())
            (loss_of(model, ids, labels) / targets).backward()
        if as_trainer:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.param_groups[0]["lr"] = 1e-3 * (1 - number / len(steps))
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return model


def loss_of_own(model, ids, labels):
    count = ids.shape[1]
    whole = torch.tensor([0, count], dtype=torch.int32)
    logits = model(ids, torch.arange(count)[None], whole, count, None)
    return torch.nn.functional.cross_entropy(logits[0, :-1], labels[0, 1:], reduction="sum")


def loss_of_llama(model, ids, labels):
    return model(input_ids=ids, labels=labels, num_items_in_batch=torch.tensor(1)).loss


def build_llama():
    from hf_trainer import build_model as build

    return build(heads=4)  # for four ranks to share


def check(names, model, build, loss_of, as_trainer):
    sampler = names["sampler"]
    steps = [sampler.rows_of(step, 0) for step in range(sampler.steps)]
    right = build()
    optimizer = torch.optim.AdamW(right.parameters(), 1e-3, weight_decay=0 if as_trainer else 0.01)
    trained_alone(right, optimizer, Tokenised(ROWS), steps, loss_of, as_trainer)
    off = largest_difference(model.parameters(), right)
    assert off < 1e-8, off
    return f"{sampler.steps} steps, weights differ by {off:.0e} from training alone"


if __name__ == "__main__":
    which, folder = sys.argv[1:]
    torch.set_num_threads(1)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    os.chdir(folder)
    names = {"load_tokenised": lambda: Tokenised(ROWS), "build_model": build_model}
    if which == "ddp":
        exec(program_with("cp_group=groups[batch]", "torch-loop.md"), names)
        assert Path("sampler.json").exists() and names["sampler"].epoch == 1
        said = check(names, names["model"].module, build_model, loss_of_own, False)
    elif which == "groups":
        if rank == 0:
            build_llama().save_pretrained("model.made")
            os.rename("model.made", "model")
        while not Path("model").exists():
            time.sleep(0.1)
        exec(program_with('attn_implementation="stowage"', "hugging-face-groups.md"), names)
        said = check(names, names["model"].module, build_llama, loss_of_llama, False)
    else:
        names["build_model"] = build_llama
        exec(program_with("PlannedTrainer(", "hugging-face.md"), names)
        said = check(names, names["trainer"].model, build_llama, loss_of_llama, True)
    if rank == 0:
        print(f"{world} processes: {said}")
    dist.barrier()
    dist.destroy_process_group()
