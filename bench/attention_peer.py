"""Compares the kernels with torch on packs of short sequences, forward and backward, on one core.

    python3 -m venv build/peer && build/peer/bin/pip install torch==2.13.0
    build/peer/bin/python bench/attention_peer.py build/release/bench/kernels/stowage_bench_kernels

A pack has 4096 tokens of one head, D 64, in sequences of equal length. Torch gets them as a batch,
which is its best case. The variants of torch are scaled_dot_product_attention with is_causal, by
default and with each of its CPU backends alone, and products with a mask and softmax; the fastest
variant counts. Both sides run alternately, --rounds times, with one thread each, pinned to the last
core. Times are CPU times: for torch of both passes together after a warm-up, for stowage the sum of
both passes. The table compares the fastest and the median times, as Markdown. The exit code is 1 if
the widest instruction set is less than --at-least times as fast.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

TOKENS = 4096
DIM = 64
LENGTHS = [32, 64]
RUNS = 20  # runs of each of torch's variants in a round


def explicit(q, k, v, mask):
    return torch.softmax(q @ k.transpose(-1, -2) * DIM**-0.5 + mask, -1) @ v


def added(q, k, v, mask):
    """Attention with scale and mask inside the product."""
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    logits = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=DIM**-0.5)
    return torch.bmm(torch.softmax(logits, -1), v)


def library(backend=None):
    def run(q, k, v, mask):
        if backend is None:
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, is_causal=True)

    return run


FORMS = {
    "scaled_dot_product_attention": library(),
    "its flash backend": library(SDPBackend.FLASH_ATTENTION),
    "its math backend": library(SDPBackend.MATH),
    "matmul, softmax": explicit,
    "baddbmm, softmax": added,
}


class Batch:
    def __init__(self, length):
        torch.manual_seed(1)
        shape = (TOKENS // length, 1, length, DIM)
        self.inputs = [torch.randn(shape, requires_grad=True) for _ in range(3)]
        self.upstream = torch.randn(shape)
        self.mask = torch.full((length, length), float("-inf")).triu(1)

    def step(self, form):
        """Runs forward and backward and returns the output."""
        out = FORMS[form](*self.inputs, self.mask).view_as(self.upstream)
        torch.autograd.grad(out, self.inputs, self.upstream)
        return out.detach()

    def seconds(self, form):
        times = []
        for _ in range(RUNS):
            start = time.process_time()
            self.step(form)
            times.append(time.process_time() - start)
        return times


def ours(program):
    """Returns the seconds of both passes for each length, of the fastest and of the median
    repetitions."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "kernels.json")
        only = rf"/(forward|backward)/{DIM}/({'|'.join(map(str, LENGTHS))})/"
        command = [program, "--only", only, "--json", out, "--repetitions", "5", "--seconds", "0.02"]
        done = subprocess.run([str(a) for a in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        timings = {t["name"]: t["seconds"] for t in json.loads(out.read_text())["timings"]}
    levels = sorted({name.split("/")[0] for name in timings})
    return {
        (level, length): [timings[f"{level}/{name}/{DIM}/{length}"] for name in ("forward", "backward")]
        for level in levels
        for length in LENGTHS
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--at-least", type=float, default=1.6)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    batches = {length: Batch(length) for length in LENGTHS}
    # warm-up, and a check that all variants give the same result
    for batch in batches.values():
        outputs = [batch.step(form) for form in FORMS for _ in range(3)]
        for output in outputs[1:]:
            torch.testing.assert_close(output, outputs[0], rtol=1e-4, atol=1e-5)
    peers = {(length, form): [] for length in LENGTHS for form in FORMS}
    own = {}
    for _ in range(options.rounds):
        for length, form in peers:
            peers[length, form] += batches[length].seconds(form)
        for key, passes in ours(options.program).items():
            kept = own.setdefault(key, [[], []])
            for all_times, times in zip(kept, passes):
                all_times += times
    flop = {length: 14 * DIM * (length + 1) / 2 * TOKENS for length in LENGTHS}
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}\n")
    print("| sequences of | who | GFLOP/s | median | ours: times as fast as torch's best | median |")
    print("|---:|---|---:|---:|---:|---:|")
    short = False
    for length in LENGTHS:
        figures = {}
        for form in FORMS:
            times = peers[length, form]
            figures[form] = (min(times), statistics.median(times))
        best = [min(figures[form][i] for form in FORMS) for i in range(2)]
        for form, times in figures.items():
            rates = [flop[length] / t * 1e-9 for t in times]
            print(f"| {length} | torch, {form} | {rates[0]:.1f} | {rates[1]:.1f} | | |")
        for (level, own_length), passes in own.items():
            if own_length != length:
                continue
            times = [sum(map(how, passes)) for how in (min, statistics.median)]
            rates = [flop[length] / t * 1e-9 for t in times]
            ratios = [b / t for b, t in zip(best, times)]
            print(f"| {length} | {level} | {rates[0]:.1f} | {rates[1]:.1f} | {ratios[0]:.2f} | "
                  f"{ratios[1]:.2f} |")
        widest = max(level for level, n in own if n == length)  # v2, v3, v4
        fastest = sum(map(min, own[widest, length]))
        short = short or best[0] / fastest < options.at_least
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
