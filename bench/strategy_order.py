"""Compares the order of twenty configurations on four ranks by planned and by measured times.

    python3 bench/strategy_order.py build/release/cli/stowage --repeats 5

One stage is executed (`stowage run`) with each tp, cp and recomputation; the time of a layer becomes
cost.measured (T14). Twenty other configurations, drawn by --seed from all configurations of four
ranks, run alternately with these, and are planned with the measured times. Kendall's tau compares the
plan's objective_ms with measured_ms, which is CPU time, so that there may be fewer cores than ranks;
the fastest of --repeats counts. Prints a Markdown table. The exit code is 1 if a run does not pass.
"""

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

RANKS = 4
LAYERS = 12
SEQUENCES = 32
TOKENS = 256  # tokens of each sequence
RECOMPUTE = ["none", "selective", "full"]
PROBE_MICRO_BATCHES = 8
MIXTURES = 20


def instance(mixture, measured):
    pp, v, tp, cp, micro_batches, recompute = mixture
    return {
        "format": "stowage/instance", "version": 1, "problem": "strategy", "name": "order",
        "model": {"hidden": 64, "heads": 4, "vocabulary": 0,
                  "blocks": [{"count": LAYERS, "ffn": 172}]},
        "cluster": {"nodes": 1, "devices_per_node": RANKS, "memory_mib": 100000,
                    "mib_per_ms": {"inside": 4, "across": 4}},
        "cost": {"linear_tflops": 0.05, "attention_tflops": 0.05, "half_width": 16, "overlap": 0,
                 **({"measured": measured} if measured else {})},
        "options": {"pp": [pp], "v": [v], "tp": [tp], "cp": [cp], "recompute": [recompute],
                    "micro_batches": [micro_batches]},
        "lengths": [TOKENS] * SEQUENCES,
    }


def mixtures():
    """Returns all configurations of four ranks: pp, v, tp, cp, micro-batches, recomputation; dp
    follows from them."""
    for pp, tp, cp in itertools.product([1, 2, 4], repeat=3):
        if RANKS % (pp * tp * cp):
            continue
        # Interleaving needs at least two stages, and the number of micro-batches must be a multiple
        # of pp.
        for v in [1, 2, 3] if pp > 1 else [1]:
            if LAYERS % (pp * v):
                continue
            for micro_batches, recompute in itertools.product([4, 8], RECOMPUTE):
                yield pp, v, tp, cp, micro_batches, recompute


def is_probe(mixture):
    return mixture[0] == 1 and mixture[4] == PROBE_MICRO_BATCHES


class Case:
    """A configuration with its fastest times so far."""

    def __init__(self, stowage, folder, mixture):
        self.mixture = mixture
        self.stowage = stowage
        name = "-".join(map(str, mixture))
        self.instance = pathlib.Path(folder, name + ".json")
        self.plan = pathlib.Path(folder, name + ".plan.json")
        self.report = None
        self.solve(None)

    def solve(self, measured):
        self.instance.write_text(json.dumps(instance(self.mixture, measured)))
        subprocess.run([self.stowage, "solve", self.instance, "-o", self.plan], check=True,
                       capture_output=True)
        plan = json.loads(self.plan.read_text())
        self.predicted_ms = plan["objective_ms"]

    def execute(self):
        run = subprocess.run([self.stowage, "run", self.instance, self.plan, "--scale", "1"],
                             capture_output=True, text=True)
        report = json.loads(run.stdout)
        if not report["passed"]:
            sys.exit(run.stderr)
        if self.report is None or report["measured_ms"] < self.report["measured_ms"]:
            self.report = report

    def layer_ms(self):
        """The ms of a layer for one sequence, forward and backward, on one stage."""
        stage = self.report["stages"][0]
        of_replica = SEQUENCES // self.report["dp"]
        return (stage["forward_ms"] + stage["backward_ms"]) / LAYERS / of_replica


def cost_of(probes):
    return [{"block": 0, "tp": tp, "cp": cp, "recompute": recompute, "tokens": [TOKENS],
             "ms": [probe.layer_ms()]}
            for probe in probes for _, _, tp, cp, _, recompute in [probe.mixture]]


def kendall(pairs):
    agree = [(p - q) * (m - n) for (p, m), (q, n) in itertools.combinations(pairs, 2)]
    return sum((a > 0) - (a < 0) for a in agree) / len(agree)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stowage")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    others = [mixture for mixture in mixtures() if not is_probe(mixture)]
    drawn = random.Random(options.seed).sample(others, MIXTURES)
    with tempfile.TemporaryDirectory() as folder:
        probes = [Case(options.stowage, folder, each) for each in mixtures() if is_probe(each)]
        cases = [Case(options.stowage, folder, each) for each in drawn]
        # The cases run alternately, since the speed of a machine drifts.
        for _ in range(options.repeats):
            for case in probes + cases:
                case.execute()
        measured = cost_of(probes)
        for case in cases:
            case.solve(measured)
    print("| pp | v | tp | cp | dp | micro-batches | recompute | predicted ms | measured ms | by formula ms |")
    print("|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|")
    times = []
    for case in cases:
        pp, v, tp, cp, micro_batches, recompute = case.mixture
        report = case.report
        times.append((case.predicted_ms, report["measured_ms"]))
        print(f"| {pp} | {v} | {tp} | {cp} | {report['dp']} | {micro_batches} | {recompute} "
              f"| {case.predicted_ms:.1f} | {report['measured_ms']:.1f} "
              f"| {report['formula_ms']:.1f} |")
    errors = sorted(abs(p - m) / m for p, m in times)
    print(f"\nKendall's tau {kendall(times):.2f} of {len(times)} configurations; predicted and measured "
          f"differ by {errors[len(errors) // 2]:.1%} in the median, {errors[-1]:.1%} at most")


if __name__ == "__main__":
    main()
