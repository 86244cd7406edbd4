"""Tests of stowage.context_parallel: costs and bounds against brute force and torch's own balancers, and
FlexAttention on several ranks."""

import itertools
import pathlib
import random
import subprocess
import sys

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
from torch.distributed.tensor.experimental._attention import _HeadTailLoadBalancer, _PTRRLoadBalancer
from torch.nn.attention.flex_attention import create_block_mask

import stowage
from packed_masks import packed
from stowage.context_parallel import LoadBalancer

HERE = pathlib.Path(__file__).parent


def mask_of(documents, window=None, block=128):
    tokens = sum(documents[0])
    return create_block_mask(
        packed(documents, window), len(documents), None, tokens, tokens, device="cpu", BLOCK_SIZE=block
    )


def reads(mask):
    return (mask.kv_num_blocks + mask.full_kv_num_blocks)[:, 0].numpy().astype(int)


def cost_of(indices, masks, layers, ranks, block):
    """Returns the cost of each row, counted anew from the places of the tokens."""
    blocks = indices[:, ::block].numpy() // block
    costs = np.zeros(max(reads(mask).shape[0] for mask in masks), dtype=int)
    for mask, count in zip(masks, layers):
        for row in range(len(costs)):
            read = reads(mask)[min(row, reads(mask).shape[0] - 1)]
            order = blocks[min(row, len(blocks) - 1)]
            costs[row] += count * read[order].reshape(ranks, -1).sum(1).max()
    return costs


def drawn(seed, tokens=4096):
    chooser = random.Random(seed)
    cuts = sorted(chooser.sample(range(1, tokens), chooser.randint(0, 6)))
    return [b - a for a, b in zip([0, *cuts], [*cuts, tokens])]


def test_places_are_a_permutation_that_restore_undoes():
    balancer = LoadBalancer(mask_of([drawn(1), drawn(2)]), 4)
    places = balancer._generate_indices()
    assert places.shape == (2, 4096)
    assert places.dtype == torch.int64
    tokens = torch.arange(4096).expand(2, -1)
    again = torch.gather(torch.gather(tokens, 1, places), 1, balancer._generate_indices(restore=True))
    assert torch.equal(again, tokens)
    # Blocks stay whole, so that the mask stays as sparse as it was.
    whole = places.view(2, -1, 128)
    assert torch.equal(whole, whole[:, :, :1] + torch.arange(128))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("ranks", [2, 8])
def test_it_is_never_behind_the_balancers_of_torch(seed, ranks):
    mask = mask_of([drawn(seed)])
    ours = LoadBalancer(mask, ranks)
    assert ours.costs == list(cost_of(ours._generate_indices(), [mask], [1], ranks, 128))
    ptrr = cost_of(_PTRRLoadBalancer(mask, ranks)._generate_indices(), [mask], [1], ranks, 128)
    assert ours.lower_bounds[0] <= ours.costs[0] <= min(ptrr[0], ours.lower_bounds[0] + 1)
    assert ours.gap == ours.costs[0] / ours.lower_bounds[0] - 1


def test_packed_documents_gain_over_head_and_tail():
    mask = mask_of([[1024, 3072]])
    theirs = _HeadTailLoadBalancer(4096, 8, "cpu")._generate_indices()
    assert LoadBalancer(mask, 8).costs[0] < cost_of(theirs, [mask], [1], 8, 128)[0]


@pytest.mark.parametrize("seed", range(12))
def test_two_kinds_of_layers_against_brute_force(seed):
    """Eight blocks over two ranks: all 35 distributions."""
    masks = [mask_of([drawn(seed, 256)], window, block=32) for window in (None, 48)]
    layers = [1 + seed % 3, 1 + seed % 2]
    balancer = LoadBalancer(masks, 2, layers=layers)
    best = min(
        sum(
            count * max(reads(mask)[0][list(part)].sum(), reads(mask)[0].sum() - reads(mask)[0][list(part)].sum())
            for mask, count in zip(masks, layers)
        )
        for part in itertools.combinations(range(8), 4)
    )
    assert balancer.lower_bounds[0] <= best <= balancer.costs[0] <= 1.05 * best
    assert balancer.costs == list(cost_of(balancer._generate_indices(), masks, layers, 2, 32))


@pytest.mark.parametrize("seed", range(8))
def test_two_kinds_of_layers_are_balanced_at_once(seed):
    masks = [mask_of([drawn(seed, 8192)], window) for window in (None, 512)]
    both = LoadBalancer(masks, 8, layers=[1, 3])
    alone = LoadBalancer(masks[0], 8)
    of_one = cost_of(alone._generate_indices(), masks, [1, 3], 8, 128)[0]
    assert both.costs[0] <= of_one
    assert both.gap <= 0.05


def test_rows_of_one_mask_are_shared_by_masks_of_several_rows():
    both = LoadBalancer([mask_of([[4096]], 512), mask_of([drawn(1), drawn(2)])], 4)
    assert both._generate_indices().shape == (2, 4096)
    assert len(both.costs) == len(both.lower_bounds) == 2


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: LoadBalancer([], 2), "at least one"),
        (lambda: LoadBalancer(mask_of([[1024]]), 3), "must divide the 8 blocks of queries, is 3; pad"),
        (lambda: LoadBalancer(mask_of([[1024]]), 0), "at least 1"),
        (lambda: LoadBalancer(mask_of([[1024]]), 2, layers=[1, 2]), "one number for each of the 1 masks"),
        (lambda: LoadBalancer(mask_of([[1024]]), 2, layers=[0]), "at least 1"),
        (lambda: LoadBalancer([mask_of([[1024]]), mask_of([[2048]])], 2), "must agree in rows and blocks"),
        (lambda: LoadBalancer(mask_of([[1024]], block=(64, 128)), 2), "square blocks"),
        (
            lambda: LoadBalancer(
                create_block_mask(packed([[256]]), 1, 4, 256, 256, device="cpu"), 2
            ),
            "the same for all heads, has 4",
        ),
    ],
)
def test_what_cannot_be_balanced_is_an_error(make, message):
    with pytest.raises(ValueError, match=message):
        make()
    with pytest.raises(stowage.InputTypeError, match="world_size"):
        LoadBalancer(mask_of([[1024]]), 2.0)


@pytest.mark.parametrize("ranks", [2, 4])
def test_attention_on_several_ranks_is_that_of_one(ranks):
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}",
         str(HERE / "context_parallel_ranks.py")],
        capture_output=True, text=True, timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"equal on {ranks} ranks" in done.stdout
