"""Run by torchrun: the loop of python/README.md, unchanged but for the backend and the device.

Its data set and model are here: attention across the ranks of a group, on zigzag slices. Then rank 0
trains the same model sequence by sequence, without plans; the weights must be the same.
"""

import re
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

from stowage.torch import target_counts

ROWS, BATCH, VOCABULARY, WIDTH = 96, 24, 61, 16
PAGE = Path(__file__).resolve().parents[3] / "python" / "README.md"
ON_THE_CPU = [
    ('init_process_group("nccl")', 'init_process_group("gloo")'),
    ('torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))', ""),
    ('batch.to("cuda", non_blocking=True)', 'batch.to("cpu", non_blocking=True)'),
    # As many rows as the test has time for, and a rate at which weights move.
    ("global_batch_size=512", f"global_batch_size={BATCH}"),
    ("model.parameters(), 1e-5)", "model.parameters(), 1e-3)"),
]


class Gathered(torch.autograd.Function):
    """The parts of all ranks of a group, one behind the other."""

    @staticmethod
    def forward(ctx, part, group):
        ctx.group, ctx.size = group, len(part)
        parts = [torch.empty_like(part) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, part.contiguous(), group=group)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.contiguous()
        dist.all_reduce(gradient, group=ctx.group)
        first = dist.get_rank(ctx.group) * ctx.size
        return gradient[first : first + ctx.size], None


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(1024, WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids, places, cu_seqlens, max_seqlen, cp_group):
        """A rank holds 1 / degree of each sequence, in whatever order `places` says."""
        assert max_seqlen == int(cu_seqlens.diff().max())
        degree = 1 if cp_group is None else dist.get_world_size(cp_group)
        whose = torch.repeat_interleave(
            torch.arange(len(cu_seqlens) - 1), cu_seqlens.diff() // degree
        )
        x = self.tokens(ids[0]) + self.places(places[0])
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        theirs, at = whose, places[0]
        if cp_group is not None:
            key, value = Gathered.apply(key, cp_group), Gathered.apply(value, cp_group)
            theirs, at = Gathered.apply(theirs, cp_group), Gathered.apply(at, cp_group)
        seen = (whose[:, None] == theirs) & (places[0][:, None] >= at)
        scores = (query @ key.T / WIDTH**0.5).masked_fill(~seen, -torch.inf)
        return self.out(x + scores.softmax(-1) @ value)[None]


class Tokenised(torch.utils.data.Dataset):
    lengths = np.random.default_rng(5).integers(4, 380, ROWS)

    def __len__(self):
        return ROWS

    def __getitem__(self, row):
        ids = (7 * row + 3 * np.arange(self.lengths[row]) ** 2) % VOCABULARY
        labels = np.where(np.arange(len(ids)) < len(ids) // 4, -100, ids)
        return {"input_ids": ids, "labels": labels}

    @property
    def target_counts(self):
        return target_counts(self[row]["labels"] for row in range(ROWS))


def build_model():
    torch.manual_seed(1)
    return Model().double()


def trained_alone(sampler):
    model, rows = build_model(), Tokenised()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    sampler.set_epoch(0)
    for step in range(sampler.steps):
        own = sampler.rows_of(step)
        targets = sampler.loss_tokens[own].sum()
        for row in own.tolist():
            ids, labels = map(torch.from_numpy, rows[row].values())
            whole = torch.tensor([0, len(ids)], dtype=torch.int32)
            logits = model(ids[None], torch.arange(len(ids))[None], whole, len(ids), None)
            loss = nn.functional.cross_entropy(logits[0, :-1], labels[1:], reduction="sum")
            (loss / targets).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return model


if __name__ == "__main__":
    torch.set_num_threads(1)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    (program,) = [block for block in blocks if "init_process_group" in block]
    for there, here in ON_THE_CPU:
        assert program.count(there) == 1, there
        program = program.replace(there, here)
    names = {"load_tokenised": Tokenised, "build_model": build_model}
    exec(compile(program, str(PAGE), "exec"), names)
    if dist.get_rank() == 0:
        assert Path("sampler.json").exists() and names["sampler"].epoch == 1
        pairs = zip(names["model"].parameters(), trained_alone(names["sampler"]).parameters())
        off = max(float((a - b).abs().max()) for a, b in pairs)
        assert off < 1e-8, off
        print(f"{names['number'] + 1} steps, weights differ by {off:.0e} from training alone")
    dist.barrier()
    dist.destroy_process_group()
