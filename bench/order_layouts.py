"""Measures the excess of a layout over the peak of its order.

    python3 bench/order_layouts.py build/release/cli/stowage --seconds 10

Each generated graph is solved with `stowage solve --layout`: half of the seconds at most for the
order, the rest for orders whose tensors lie without gaps. Prints one line per graph: the peak of
the order, the memory of a layout of that order alone (`convert --plan`, then `solve` for the same
seconds), and the memory after other orders were tried. The last line is the share of graphs whose
layout reaches the peak.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

# Operators asked for: 50 to 1,600, up to 2,000 tensors.
SIZES = [50, 100, 200, 400, 800, 1600]
# The convolutional networks are ordered for the least peak.
KINDS = ["transformer", "recompute", "accumulate", "experts", "chunked", "vgg", "unet"]
SEEDED = ["randwire", "layered", "layered-local"]
SEEDS = [11, 12]


def graphs():
    for size in SIZES:
        for kind in KINDS:
            yield kind, size, None
        for kind in SEEDED:
            for seed in SEEDS:
                yield kind, size, seed


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stowage")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", help="a kind")
    options = parser.parse_args()
    alone, met = [], []
    print("| kind | operators | seed | tensors | order's peak bytes | proven | alone | orders | over |")
    print("|---|---:|---:|---:|---:|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        graph, plan, buffers, layout = (
            pathlib.Path(folder, name) for name in ("g.json", "p.json", "b.json", "l.json")
        )
        for kind, size, seed in graphs():
            if options.only not in (None, kind):
                continue
            run(options.stowage, "generate", "order", "--kind", kind, "--operators", size,
                *(["--seed", seed] if seed is not None else []), "-o", graph)
            order = run(options.stowage, "solve", graph, "-t", options.seconds / 2, "-o", plan)
            order_peak = order["plan"]["peak_bytes"]
            run(options.stowage, "convert", graph, buffers, "--plan", plan)
            first = run(options.stowage, "solve", buffers, "-t", options.seconds)
            done = run(options.stowage, "solve", graph, "-t", options.seconds, "--layout", layout)
            peak = done["plan"]["peak_bytes"]
            needed = done["layout"]["needed_bytes"]
            alone.append(first["objective_bytes"] <= order_peak)
            met.append(needed <= peak)
            print(f"| {kind} | {len(json.loads(graph.read_text())['operators'])} "
                  f"| {'' if seed is None else seed} | {len(json.loads(buffers.read_text())['buffers'])} "
                  f"| {peak:,} | {'yes' if done['status'] == 'optimal' else 'no'} "
                  f"| {100 * (first['objective_bytes'] / order_peak - 1):.2f} % | {done['layout']['orders']} "
                  f"| {100 * (needed / peak - 1):.2f} % |", flush=True)
    print(f"\nno more than the order's peak: {sum(met)} of {len(met)}, {sum(alone)} with one order")


if __name__ == "__main__":
    main()
