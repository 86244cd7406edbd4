"""Measures the loss of planning a cluster of two levels with a single bandwidth.

    python3 bench/terms/two_levels.py build/release/cli/stowage

The cluster has 8 nodes of 8 devices; the true costs are those of bench/exchange: 96.5 MiB per ms
inside a node, 10.33 across. Each step (two of every bundled list, 512 sequences up to 192,000
tokens) is planned by method fast four times: with the true costs and all kinds of exchange, with
the true costs and all-to-all alone, and with a single bandwidth, once that within a node and once
that across nodes. All four plans are then timed with the true costs, by `stowage verify`.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 192_000
COUNT = 512


def steps():
    for path in sorted((HERE / "instances/data/lengths").glob("*.txt")):
        lengths = [int(line) for line in path.read_text().split()]
        for step in range(2):
            own = [length for length in lengths[step * COUNT :] if length <= LIMIT][:COUNT]
            if len(own) == COUNT:
                yield f"{path.stem}-{step}", own


def costs():
    def read(name):
        return json.loads((HERE / "bench/exchange" / f"{name}.json").read_text())

    both, alone = read("choice"), read("all-to-all")
    yield "two levels, all kinds", both
    yield "two levels, all-to-all", alone
    for name, rate in [("inside", "inside_mib_per_ms"), ("across", "across_mib_per_ms")]:
        exchange = dict(alone["exchange"])
        exchange["inside_mib_per_ms"] = exchange["across_mib_per_ms"] = exchange[rate]
        yield f"one bandwidth, that {name}", dict(alone, exchange=exchange)


def run(*arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def bare(plan):
    """Returns the planner's decisions without times, so that `verify` recomputes them."""
    keys = ("degree", "first_rank", "sequences", "exchange")
    batches = [
        {"groups": [{key: group[key] for key in keys if key in group} for group in batch["groups"]]}
        for batch in plan["micro_batches"]
    ]
    return dict(format="stowage/plan", version=1, problem="scatter", micro_batches=batches)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stowage")
    options = parser.parse_args()
    named = list(costs())
    more = ["inside over two levels", "across over two levels", "all-to-all over all kinds"]
    print("| step | " + " | ".join([f"{name}: ms" for name, _ in named] + more) + " |")
    print("|---|" + "---:|" * (len(named) + len(more)))
    ratios = {name: [] for name, _ in named}
    with tempfile.TemporaryDirectory() as folder:
        truth, own, plan = (pathlib.Path(folder, name) for name in ("t.json", "o.json", "p.json"))
        for name, lengths in steps():
            step = json.loads((HERE / "bench/exchange/step.json").read_text())
            step.update(name=name, lengths=lengths, cost=named[0][1])
            truth.write_text(json.dumps(step))
            times = {}
            for kind, cost in named:
                own.write_text(json.dumps(dict(step, cost=cost)))
                found = run(options.stowage, "solve", own, "--method", "fast")
                plan.write_text(json.dumps(bare(found["plan"])))
                times[kind] = run(options.stowage, "verify", truth, plan)["objective_ms"]
            best = times[named[1][0]]
            for kind in times:
                ratios[kind].append(times[kind] / best)
            cells = [f"{times[kind]:,.0f}" for kind, _ in named]
            cells += [f"{times[kind] / best:.3f}" for kind, _ in named[2:]]
            cells.append(f"{best / times[named[0][0]]:.3f}")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("\nover the plan with the true costs of an all-to-all, median and worst: " + "; ".join(
        f"{kind} {statistics.median(own):.3f}, {max(own):.3f}" for kind, own in ratios.items()))


if __name__ == "__main__":
    main()
