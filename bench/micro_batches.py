"""Compares micro-batches below a token limit with verl's and slime's.

usage: PYTHONPATH=build/release/python python bench/micro_batches.py [BATCHES]

Needs verl 0.9 (tests/python/frameworks/requirements_alone.txt). verl's number of micro-batches is that of
its own partitions, raised until they keep the limit, as its rearrange_micro_batches does. slime's is that
of first-fit in the order of the samples, rounded up to the ranks. Batches have 8 to 64 sequences of four
distributions, limits of 1 to 3 times the longest, 1 to 4 ranks, and multiples of 1 to 4. Prints the batches
with more micro-batches than a peer, with fewer, and with a proven number.
"""
import sys

import numpy as np
from verl.utils import seqlen_balancing

import stowage

SEED = 7


def batches(count):
    draw = np.random.default_rng(SEED)
    for index in range(count):
        n = int(draw.integers(8, 65))
        lengths = [draw.lognormal(7, 1.2, n), draw.uniform(1, 16384, n), draw.gamma(0.7, 3000, n),
                   draw.choice([200, 2731, 2049, 5462, 4096, 1366], n)][index % 4]
        lengths = np.clip(lengths.astype(np.int64), 1, 16384)
        ranks, multiple = int(draw.choice([1, 1, 1, 2, 4])), int(draw.choice([1, 1, 2, 4]))
        yield lengths, ranks, int(lengths.max() * draw.uniform(1, 3)), multiple


def of_verl(lengths, limit, multiple):
    """Returns verl's number on one rank, or None if there are too few sequences."""
    costs = (24576 * lengths + lengths**2).tolist()
    number = -(-min(len(lengths), -(-int(lengths.sum()) // limit)) // multiple) * multiple
    while number <= len(lengths):
        parts = seqlen_balancing.get_seqlen_balanced_partitions(costs, number, False)
        if all(lengths[part].sum() <= limit for part in parts):
            return number
        number += multiple
    return None


def of_slime(lengths, ranks, limit, multiple):
    """Returns first-fit's number on each rank, or None if there are too few sequences."""
    sums = []
    for length in lengths.tolist():
        fits = next((b for b, own in enumerate(sums) if own + length <= limit), None)
        if fits is None:
            sums.append(length)
        else:
            sums[fits] += length
    number = -(-len(sums) // (ranks * multiple)) * multiple
    return number if number * ranks <= len(lengths) else None


def main(count):
    more, fewer, compared = [0, 0], [0, 0], [0, 0]
    planned = proven = 0
    for lengths, ranks, limit, multiple in batches(count):
        peers = (of_verl(lengths, limit, multiple) if ranks == 1 else None,
                 of_slime(lengths, ranks, limit, multiple))
        try:
            own = stowage.micro_batches(lengths, ranks, limit, multiple_of=multiple)
        except stowage.InputError:  # too few sequences: then the peers have none either
            for k, peer in enumerate(peers):
                more[k] += peer is not None
            continue
        assert own.tokens.max() <= limit
        planned += 1
        proven += own.per_rank == own.per_rank_bound
        for k, peer in enumerate(peers):
            if peer is not None:
                compared[k] += 1
                more[k] += own.per_rank > peer
                fewer[k] += own.per_rank < peer
    print(f"{planned} of {count} batches planned within their limits, {proven} with a proven number")
    for k, name in enumerate(("verl", "slime")):
        print(f"{name}: {compared[k]} compared, more micro-batches in {more[k]}, fewer in {fewer[k]}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
