"""A user's own model for stowage.calibrate: a linear layer over this rank's tokens, summed over the
group."""

import torch
import torch.distributed as dist
from torch import nn


class Sum(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, lengths: list[int], group) -> torch.Tensor:
        ranks = 1 if group is None else dist.get_world_size(group)
        assert all(length % ranks == 0 for length in lengths)
        loss = self.layer(torch.ones(sum(lengths) // ranks, 16)).sum()
        if group is not None:
            dist.all_reduce(loss.detach().clone(), group=group)
        return loss


def build(device: torch.device) -> nn.Module:
    return Sum().to(device)
