"""Whether the plan's times order configurations as this machine does: eight on four ranks.

    python3 bench/strategy_order.py build/release/cli/stowage --repeats 5

Each configuration is an instance with one class, a model as small as it is executed, and rates like
those of a core. Its plan is executed (`stowage run`); Kendall's tau compares predicted_ms with
measured_ms, which is CPU time, so that fewer cores than ranks do no harm. Prints a Markdown table.
Exit code 1 if a run does not pass.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

# pp, v, tp, cp, micro-batches, recomputation; dp is what is left of four ranks.
CONFIGURATIONS = [
    (1, 1, 1, 1, 8, "none"),
    (4, 1, 1, 1, 8, "none"),
    (4, 1, 1, 1, 4, "full"),
    (2, 1, 2, 1, 8, "none"),
    (1, 1, 4, 1, 8, "full"),
    (2, 1, 1, 2, 4, "full"),
    (2, 2, 1, 1, 4, "selective"),
    (4, 3, 1, 1, 4, "none"),
]


def instance(pp, v, tp, cp, micro_batches, recompute):
    return {
        "format": "stowage/instance", "version": 1, "problem": "strategy", "name": "order",
        "model": {"hidden": 64, "heads": 4, "vocabulary": 0, "blocks": [{"count": 12, "ffn": 172}]},
        "cluster": {"nodes": 1, "devices_per_node": 4, "memory_mib": 100000,
                    "mib_per_ms": {"inside": 4, "across": 4}},
        "cost": {"linear_tflops": 0.05, "attention_tflops": 0.05, "half_width": 16, "overlap": 0},
        "options": {"pp": [pp], "v": [v], "tp": [tp], "cp": [cp], "recompute": [recompute],
                    "micro_batches": [micro_batches]},
        "lengths": [256] * 32,
    }


def kendall(pairs):
    agree = [(p - q) * (m - n) for (p, m), (q, n) in itertools.combinations(pairs, 2)]
    return sum((a > 0) - (a < 0) for a in agree) / len(agree)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stowage")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    times = []
    print("| pp | v | tp | cp | dp | micro-batches | recompute | predicted ms | measured ms | by formula ms |")
    print("|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        wanted, plan = pathlib.Path(folder, "wanted.json"), pathlib.Path(folder, "plan.json")
        for configuration in CONFIGURATIONS:
            wanted.write_text(json.dumps(instance(*configuration)))
            subprocess.run([options.stowage, "solve", wanted, "-o", plan], check=True,
                           capture_output=True)
            run = subprocess.run([options.stowage, "run", wanted, plan, "--scale", "1", "--repeats",
                                  str(options.repeats)], capture_output=True, text=True)
            report = json.loads(run.stdout)
            if not report["passed"]:
                sys.exit(run.stderr)
            times.append((report["predicted_ms"], report["measured_ms"]))
            pp, v, tp, cp, micro_batches, recompute = configuration
            print(f"| {pp} | {v} | {tp} | {cp} | {report['dp']} | {micro_batches} | {recompute} "
                  f"| {report['predicted_ms']:.1f} | {report['measured_ms']:.1f} "
                  f"| {report['formula_ms']:.1f} |", flush=True)
    print(f"\nKendall's tau {kendall(times):.2f} of {len(times)} configurations")


if __name__ == "__main__":
    main()
