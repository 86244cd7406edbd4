"""The table of executed offload in bench/results/0.1.0/README.md: predicted and measured stalls in torch.

usage: PYTHONPATH=... python3 bench/terms/offload_execution.py [REPEATS] [BLOCKS]

A stack of BLOCKS transformer blocks (default 24) computes a packed row forward and backward on one thread,
and stowage.torch.offloaded() moves a share of what the blocks save with a second thread, at rates that make
the copies take 0.5, 1.5 or 3 times the pass that can hide them. The cost model of docs/reference/scatter.md
predicts the stall of such a row from W, the time without copies, and f, the forward part of it:

    max(0, x / out - f W) + max(0, x / in - (1 - f) W),    x the MiB that left

In each of REPEATS rounds (default 9) every case follows a run without copies, which gives W and f. Medians over the
rounds count. `executed` is the time for which the two passes waited. `of the work` is the formula with the time that
the same passes did not wait in the place of W: copies slow computing down where they share its caches and cores.
`slower` is the time of the passes minus W. Every gradient must have the bits that it has without copies:
the exit code is 1 if one has not.
"""
import statistics
import sys
import time

import torch

from stowage.torch import offloaded
from stowage.torch._run_block import Block, Shape

LENGTHS = (128, 64, 48, 16)
SHAPE = Shape(hidden=512, heads=16, kv_heads=4, head_dim=32, ffn=1536)
# Share, and how long the copies out and back take as parts of the passes that can hide them.
CASES = (
    (0.25, 0.5, 0.5), (1.0, 0.5, 0.5),
    (0.5, 1.5, 0.5), (0.5, 0.5, 1.5), (0.25, 1.5, 1.5), (1.0, 1.5, 1.5),
    (0.5, 3.0, 3.0), (1.0, 3.0, 3.0),
)


class Stack(torch.nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(SHAPE, seed) for seed in range(blocks))

    def forward(self, x):
        for block in self.blocks:
            x = block(x, LENGTHS)
        return x


def passes(model, x, upstream, away):
    """Returns ms of the forward and the backward pass."""
    model.zero_grad(set_to_none=True)
    begin = time.perf_counter()
    with away:
        y = model(x)
    middle = time.perf_counter()
    y.backward(upstream)
    return 1000 * (middle - begin), 1000 * (time.perf_counter() - middle)


def gradients(model):
    return [own.grad.clone() for own in model.parameters()]


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    torch.set_num_threads(1)
    model = Stack(int(sys.argv[2]) if len(sys.argv) > 2 else 24)
    x = torch.randn(sum(LENGTHS), SHAPE.hidden, generator=torch.Generator().manual_seed(1))
    upstream = torch.randn(x.shape, generator=torch.Generator().manual_seed(2))
    plain = [passes(model, x, upstream, offloaded(0)) for _ in range(4)][1:]
    want = gradients(model)
    forward, backward = (statistics.median(own) for own in zip(*plain))
    moved = {}
    for share in {case[0] for case in CASES}:
        probe = offloaded(share, device="cpu", model=model)
        passes(model, x, upstream, probe)
        moved[share] = probe.moved_mib
        if not all(map(torch.equal, want, gradients(model))):
            sys.exit(f"share {share}: gradients differ")
    rates = [
        (moved[share] / (out * forward), moved[share] / (back * backward)) for share, out, back in CASES
    ]
    rows = [[] for _ in CASES]
    for _ in range(repeats):
        for number, (share, _, _) in enumerate(CASES):
            before = passes(model, x, upstream, offloaded(0))
            out, back = rates[number]
            away = offloaded(
                share, device="cpu", model=model, out_mib_per_ms=out, in_mib_per_ms=back
            )
            took = passes(model, x, upstream, away)
            if not all(map(torch.equal, want, gradients(model))):
                sys.exit(f"share {share}: gradients differ")
            waits = away.forward_stall_ms, away.backward_stall_ms
            copies = away.moved_mib / out, away.moved_mib / back
            work = [all_of_it - wait for all_of_it, wait in zip(took, waits)]
            stall = lambda passes, copies=copies: sum(max(0, c - p) for c, p in zip(copies, passes))
            rows[number].append((*before, sum(waits), stall(before), stall(work), sum(took) - sum(before)))
    forward, backward = (statistics.median(each[i] for own in rows for each in own) for i in (0, 1))
    step = forward + backward
    print(f"{sum(LENGTHS)} tokens, {len(model.blocks)} blocks: W {step:.0f} ms, f {forward / step:.3f}; "
          f"{moved[1.0]:.0f} MiB can leave; {repeats} rounds\n")
    print("| share | MiB | out, in MiB/ms | executed ms | predicted ms | executed / predicted | of the work ms | "
          "executed / of the work | slower ms | slower / predicted |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    worst = {"W": 0.0, "the work": 0.0}
    for (share, _, _), (out, back), own in zip(CASES, rates, rows):
        _, _, executed, *predicted, slower = (statistics.median(each) for each in zip(*own))
        cells = []
        for name, value in zip(worst, predicted):
            counts = value > 0.05 * step
            cells.append(f"{value:.0f} | {executed / value:.3f}" if counts else f"{value:.0f} | -")
            if counts:
                worst[name] = max(worst[name], abs(executed / value - 1))
        longer = f"{slower / predicted[0]:.3f}" if predicted[0] > 0.05 * step else "-"
        print(f"| {share:g} | {moved[share]:.0f} | {out:.3f}, {back:.3f} | {executed:.0f} | {cells[0]} | "
              f"{cells[1]} | {slower:.0f} | {longer} |", flush=True)
    for name, value in worst.items():
        print(f"\nStalls above 5 % of the step are predicted from {name} {value:.1%} off at most.")


if __name__ == "__main__":
    main()
