"""The data set and the model that every loop of these tests trains, and the reference weights.

The model attends across the ranks of a group, on zigzag slices of packed rows. trained_alone() trains it
in one process, sequence by sequence, with the global batches of a sampler but without plans.
"""

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

import stowage
from stowage.torch import StepBatchSampler, target_counts

ROWS, BATCH, VOCABULARY, WIDTH = 33, 3, 61, 16
RATE = 0.05


class Gathered(torch.autograd.Function):
    """The parts of all ranks of a group, concatenated in rank order; differentiable."""

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
        """Computes the logits of this rank's 1 / degree of each sequence, in the order of `places`."""
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
    """A data set whose rows have labels for their last three quarters."""

    def __init__(self, rows=ROWS):
        self.lengths = np.random.default_rng(5).integers(4, 380, rows)

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, row):
        ids = (7 * row + 3 * np.arange(self.lengths[row]) ** 2) % VOCABULARY
        labels = np.where(np.arange(len(ids)) < len(ids) // 4, -100, ids)
        return {"input_ids": ids, "labels": labels}

    @property
    def target_counts(self):
        return target_counts(self[row]["labels"] for row in range(len(self)))


def cluster_of(ranks, degrees=None):
    """Returns a cluster of `ranks` devices. Without degrees a long sequence needs a group of all of
    them."""
    return stowage.Cluster(
        devices=ranks,
        memory_mib=400 if degrees else 512 // ranks,
        states_mib=0,
        activation_mib_per_token=1,
        quadratic_ms=1e-5,
        linear_ms=0.02,
        fixed_ms=0.5,
        all_to_all_mib_per_token=1,
        mib_per_ms={degree: 50 for degree in (2, 4) if degree <= ranks},
        pad_multiple=8,
        degrees=degrees,
    )


def sampler_of(rows, cluster, rank, **more):
    more = {"global_batch_size": BATCH, "seed": 1, "loss_tokens": rows.target_counts, **more}
    return StepBatchSampler(rows.lengths, stowage.Planner(cluster), rank=rank, **more)


def build_model():
    torch.manual_seed(1)
    return Model().double()


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), RATE, momentum=0.9)


def loss_of(model, batch, group):
    """Returns the sum of the losses of this rank's tokens."""
    logits = model(
        batch.input_ids,
        batch.position_ids,
        cu_seqlens=batch.cu_seqlens_padded,
        max_seqlen=batch.max_seqlen,
        cp_group=group,
    )
    return nn.functional.cross_entropy(
        logits.view(-1, logits.size(-1)),
        batch.labels.view(-1),
        ignore_index=-100,
        reduction="sum",
    )


def trained_alone(rows, sampler, steps=None, epoch=0):
    """Returns the model trained in one process, and the mean loss of each step, in float64."""
    model, losses = build_model(), []
    optimizer = optimizer_of(model)
    for step in range(sampler.steps if steps is None else steps):
        own = sampler.rows_of(step, epoch)
        targets = int(rows.target_counts[own].sum())
        total = 0.0
        for row in own.tolist():
            ids, labels = map(torch.from_numpy, rows[row].values())
            whole = torch.tensor([0, len(ids)], dtype=torch.int32)
            logits = model(ids[None], torch.arange(len(ids))[None], whole, len(ids), None)
            loss = nn.functional.cross_entropy(logits[0, :-1], labels[1:], reduction="sum")
            (loss / targets).backward()
            total += float(loss.detach()) / targets
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(total)
    return model, losses


def largest_difference(parameters, model):
    """Returns the largest difference between two models' weights; `parameters` are whole tensors."""
    return max(float((a - b).detach().abs().max()) for a, b in zip(parameters, model.parameters()))
