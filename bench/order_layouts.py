"""Whether the tensors of a planned order fit into the memory that the order needs.

    python3 bench/order_layouts.py build/release/cli/stowage --seconds 2

Each generated graph is ordered (`stowage solve`, 2 seconds), its tensors become a layout
(`stowage convert --plan`), and that is solved for --seconds. The peak is the load wherever the
tensors can lie without a gap. Prints one line a graph and the share that has peak = load.
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
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--order-seconds", type=float, default=2)
    parser.add_argument("--only", help="a kind")
    options = parser.parse_args()
    met = []
    print("| kind | operators | seed | order's peak bytes | proven | tensors | load | layout's peak | over load |")
    print("|---|---:|---:|---:|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        graph, plan, layout = (pathlib.Path(folder, name) for name in ("g.json", "p.json", "l.json"))
        for kind, size, seed in graphs():
            if options.only not in (None, kind):
                continue
            run(options.stowage, "generate", "order", "--kind", kind, "--operators", size,
                *(["--seed", seed] if seed is not None else []), "-o", graph)
            operators = len(json.loads(graph.read_text())["operators"])
            ordered = run(options.stowage, "solve", graph, "-t", options.order_seconds, "-o", plan)
            run(options.stowage, "convert", graph, layout, "--plan", plan)
            tensors = len(json.loads(layout.read_text())["buffers"])
            placed = run(options.stowage, "solve", layout, "-t", options.seconds)
            load = next(b["value_bytes"] for b in placed["bounds"] if b["name"] == "load")
            peak = placed["objective_bytes"]
            met.append(peak == load)
            needed = ordered.get("objective_bytes") or ordered["plan"]["peak_bytes"]
            print(f"| {kind} | {operators} | {'' if seed is None else seed} | {needed:,} "
                  f"| {'yes' if ordered['status'] == 'optimal' else 'no'} | {tensors} | {load:,} "
                  f"| {peak:,} | {100 * (peak / load - 1):.2f} % |", flush=True)
    print(f"\npeak = load on {sum(met)} of {len(met)}")


if __name__ == "__main__":
    main()
