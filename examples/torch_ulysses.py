"""Trains a small transformer on packed rows that stowage plans, with attention in the way of Ulysses.

    torchrun --nproc-per-node 4 examples/torch_ulysses.py --steps 20

Each row runs on a group of 1, 2 or 4 ranks, as its plan says. Afterwards rank 0 trains the same model
on the same data sequence by sequence, without any plan, and compares losses and weights: they must
agree to 1e-5. With --offload half of the activations may leave the device for the host, and longer
sequences fit. With --methods the steps of several planners are timed side by side.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.utils.data import DataLoader, Dataset

import stowage
from stowage.torch import (
    Groups,
    PackedBatch,
    PackedCollator,
    StepBatchSampler,
    offloaded,
    target_counts,
)

VOCABULARY = 97
WIDTH, HEADS, LAYERS = 32, 4, 2


class Exchange(torch.autograd.Function):
    """An all-to-all of equal parts, whose gradient is exchanged the same way."""

    @staticmethod
    def forward(ctx, parts, group):
        ctx.group = group
        parts = parts.contiguous()
        out = torch.empty_like(parts)
        dist.all_to_all_single(out, parts, group=group)
        return out

    @staticmethod
    def backward(ctx, gradient):
        return Exchange.apply(gradient, ctx.group), None


def gather_tokens(x: Tensor, group: dist.ProcessGroup) -> Tensor:
    """[T / d, heads, size] of all heads to [T, heads / d, size] of all tokens."""
    d = dist.get_world_size(group)
    tokens, heads, size = x.shape
    parts = x.view(tokens, d, heads // d, size).transpose(0, 1)
    return Exchange.apply(parts, group).reshape(d * tokens, heads // d, size)


def scatter_tokens(x: Tensor, group: dist.ProcessGroup) -> Tensor:
    """The way back."""
    d = dist.get_world_size(group)
    tokens, heads, size = x.shape
    parts = Exchange.apply(x.view(d, tokens // d, heads, size), group)
    return parts.transpose(0, 1).reshape(tokens // d, d * heads, size)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, x: Tensor, starts: list[int], group: dist.ProcessGroup | None) -> Tensor:
        """x: [T / d, WIDTH]; starts: of the row's sequences, T last."""
        parts = self.qkv(self.norms[0](x)).view(len(x), 3, HEADS, WIDTH // HEADS).unbind(1)
        if group is not None:
            parts = [gather_tokens(part, group) for part in parts]
        # [tokens, heads, size]; padding stands behind its sequence, where causal attention sees it not
        answers = [
            scaled_dot_product_attention(*(p[a:b].transpose(0, 1) for p in parts), is_causal=True)
            for a, b in zip(starts, starts[1:])
        ]
        heads = torch.cat(answers, dim=1).transpose(0, 1)
        if group is not None:
            heads = scatter_tokens(heads, group)
        x = x + self.out(heads.reshape(len(x), WIDTH))
        return x + self.mlp(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, longest: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(longest, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids: Tensor, places: Tensor, starts: list[int], group=None) -> Tensor:
        x = self.tokens(ids) + self.places(places)
        for layer in self.layers:
            x = layer(x, starts, group)
        return self.head(x)


class Documents(Dataset):
    """Random tokens in the lengths of bundled documents, cut to a 32nd; half of each is a prompt."""

    def __init__(self, path: Path, count: int, longest: int) -> None:
        tokens = np.loadtxt(path, dtype=np.int64, max_rows=count)
        self.lengths = np.clip(tokens // 32, 4, longest)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> dict[str, np.ndarray]:
        ids = np.random.default_rng(row).integers(0, VOCABULARY, self.lengths[row])
        labels = ids.copy()
        labels[: len(ids) // 2] = -100
        return {"input_ids": ids, "labels": labels}


def loss_of(model: Model, batch: PackedBatch, group: dist.ProcessGroup | None) -> Tensor:
    """The sum of the losses of this rank's tokens, as a share of the step's mean."""
    starts = batch.cu_seqlens_padded.tolist()
    logits = model(batch.input_ids[0], batch.position_ids[0], starts, group)
    losses = cross_entropy(logits, batch.labels[0], ignore_index=-100, reduction="sum")
    return losses * batch.loss_scale


def train(sampler, documents, groups, model, steps: int) -> tuple[list[float], float]:
    """The losses of the steps, and the seconds that a step took in the median."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    collator = PackedCollator(sampler, pad_token_id=0, slice="contiguous")
    loader = DataLoader(documents, batch_sampler=sampler, collate_fn=collator)
    losses, seconds, degrees, shares = [], [], set(), [0.0]
    for step, micro_batches in sampler.steps_with(loader):
        begin = time.perf_counter()
        total = torch.zeros((), dtype=torch.float64)
        for batch in micro_batches:
            # Does nothing where the plan has no offload; its tensors are smaller than most.
            with offloaded(batch.offload, model=model, min_bytes=1024):
                loss = loss_of(model, batch, groups[batch])
            loss.backward()
            total += loss.detach()
        for parameter in model.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            dist.all_reduce(parameter.grad)
        dist.all_reduce(total)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(float(total))
        seconds.append(time.perf_counter() - begin)
        degrees.update(step.degree.tolist())
        shares.extend(step.offload.tolist())
        if dist.get_rank() == 0 and len(losses) % 5 == 1:
            print(
                f"step {len(losses) - 1}: loss {losses[-1]:.6f}, {step.micro_batches} micro-batches, "
                f"gap {step.gap:.1%}",
                flush=True,
            )
        if len(losses) == steps:
            break
    if dist.get_rank() == 0:
        print(
            f"degrees of the groups: {sorted(degrees)}, up to {max(shares):.0%} left for the host"
        )
    return losses, float(np.median(seconds))


def train_alone(sampler, documents, model, steps: int) -> list[float]:
    """The same without plans: every sequence by itself."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    losses = []
    for step in range(steps):
        rows = sampler.rows_of(step)
        targets = sampler.loss_tokens[rows].sum()
        total = 0.0
        for row in rows.tolist():
            document = documents[row]
            ids = torch.from_numpy(document["input_ids"])
            logits = model(ids, torch.arange(len(ids)), [0, len(ids)])
            following = torch.from_numpy(document["labels"])[1:]
            loss = (
                cross_entropy(logits[:-1], following, ignore_index=-100, reduction="sum") / targets
            )
            loss.backward()
            total += float(loss.detach())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(total)
    return losses


def new_model(longest: int) -> Model:
    torch.manual_seed(0)
    return Model(longest).double()


def difference(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max() / other.abs().max().clamp_min(1e-30))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=24, help="sequences of a step")
    parser.add_argument("--methods", default="fast", help="planners to time, the first is compared")
    parser.add_argument(
        "--offload", type=float, metavar="MIB_PER_MS", help="let half of the activations leave"
    )
    data = Path(__file__).resolve().parents[1] / "instances" / "data" / "lengths"
    parser.add_argument("--lengths", type=Path, default=data / "code_files.txt")
    options = parser.parse_args()

    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    ranks = dist.get_world_size()
    # A device holds 128 tokens: longer sequences need groups. Times are invented; the exchange takes
    # half of a group's, so that wide groups do not pay where sequences fit narrow ones.
    cluster = stowage.Cluster(
        devices=ranks,
        memory_mib=128,
        states_mib=0,
        activation_mib_per_token=1,
        quadratic_ms=1e-5,
        linear_ms=0.02,
        fixed_ms=0.5,
        all_to_all_mib_per_token=1,
        mib_per_ms={2**bit: 50 for bit in range(1, ranks.bit_length())},
        pad_multiple=2 * ranks,
        offload=options.offload
        and {
            "mib_per_token": 0.5,
            "out_mib_per_ms": options.offload,
            "in_mib_per_ms": options.offload,
        },
    )
    documents = Documents(options.lengths, options.steps * options.batch, cluster.largest_sequence)
    targets = target_counts(documents[row]["labels"] for row in range(len(documents)))
    groups = Groups(cluster)
    for number, method in enumerate(options.methods.split(",")):
        sampler = StepBatchSampler(
            documents.lengths,
            stowage.Planner(cluster, method=method),
            seed=1,
            global_batch_size=options.batch,
            loss_tokens=targets,
        )
        model = new_model(cluster.largest_sequence)
        losses, seconds = train(sampler, documents, groups, model, options.steps)
        if dist.get_rank() == 0:
            print(f"{method}: {1000 * seconds:.0f} ms a step in the median", flush=True)
        if number == 0 and dist.get_rank() == 0:
            alone = new_model(cluster.largest_sequence)
            apart = torch.tensor(train_alone(sampler, documents, alone, options.steps))
            weights = max(map(difference, model.parameters(), alone.parameters()))
            off = difference(torch.tensor(losses), apart)
            print(f"against training alone: losses differ by {off:.1e}, weights by {weights:.1e}")
            assert off < 1e-5 and weights < 1e-5, "planned training is not the same training"
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
