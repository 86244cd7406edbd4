"""Compares planners under the rules of Megatron-LM's packing scheduler, from Python.

usage: PYTHONPATH=... python3 megatron_steps.py [STEPS]

Needs an installed stowage package and the bundled lists, with one list per step. "megatron-dynamic" is
stowage's baseline of the scheduler `default_dynamic_cp`, which no release of megatron-core has. Both plan
under the same rules (no idle ranks, sorted groups, a cap of tokens on a rank) and are timed by the same
cost, that of the preset gpt-7b. Prints the table of bench/results/0.1.0/README.md; CPU milliseconds of the
process.
"""

import pathlib
import statistics
import sys
import time

import numpy as np

import stowage

LISTS = pathlib.Path(__file__).resolve().parents[1] / "instances" / "data" / "lengths"
SIZES = [(16, 256, 8192), (64, 512, 4096)]  # ranks, sequences, tokens on a rank


def batches(steps, sequences, most):
    draw = np.random.default_rng(11)
    lists = [np.loadtxt(path, np.int64) for path in sorted(LISTS.glob("*.txt"))]
    for step in range(steps):
        yield np.minimum(draw.choice(lists[step % len(lists)], sequences), most)


def planned(planner, lengths):
    begin = time.process_time()
    step = planner.plan(lengths)
    return step, 1000 * (time.process_time() - begin)


def row(steps, ranks, sequences, cap):
    cluster = stowage.Cluster.preset("gpt-7b", devices=ranks).replace(
        no_idle_ranks=True, sorted_groups=True, max_tokens_per_rank=cap
    )
    most = min(cap * ranks, cluster.largest_sequence)
    theirs, ours = stowage.Planner(cluster, method="megatron-dynamic"), stowage.Planner(cluster)
    ratios, gaps, times, own_times = [], [], [], []
    for lengths in batches(steps, sequences, most):
        other, took = planned(theirs, lengths)
        own, own_took = planned(ours, lengths)
        assert (own.schedule >= 0).all()
        ratios.append(other.objective_ms / own.objective_ms)
        gaps.append(100 * own.gap)
        times.append(took)
        own_times.append(own_took)
    median = statistics.median
    return (
        f"| {ranks} | {sequences} | {cap} | {median(ratios):.3f} | {min(ratios):.3f} to "
        f"{max(ratios):.3f} | {median(gaps):.2f} % | {max(gaps):.2f} % | {median(times):.0f} | "
        f"{median(own_times):.0f} |"
    )


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 32
    print(
        "| ranks | sequences | tokens on a rank | theirs over ours: median | range | our gap: median "
        "| worst | CPU ms theirs | ours |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for size in SIZES:
        print(row(steps, *size), flush=True)


if __name__ == "__main__":
    main()
