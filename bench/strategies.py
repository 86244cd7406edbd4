"""The table of strategies in bench/results/0.1.0/README.md: 36 cases of 64 devices, all methods.

usage: python3 bench/strategies.py STOWAGE [SECONDS [PP...]]

STOWAGE is the command. The cases are models of 32 equal layers (7B, 8B, 27B) on 8 nodes of 8 devices
with 34 or 72 GiB and 25 or 6 GB/s between nodes, and 256 sequences of 8K, 64 of 32K or 32 of 128K
tokens. SECONDS limits each solve, default 10. PP are the allowed numbers of stages, default 1 2 4 8.
`verify` checks each plan of `auto` with its certificate, and the gap is relative to the bound that
`verify` proved. For other methods the table has the relative excess of their step.
"""
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

MODELS = {"7B": {"preset": "llama-7b"},
          "8B": {"preset": "llama3-8b"},
          "27B": {"preset": "llama-7b", "hidden": 8192, "heads": 64, "ffn": 22528}}
GIB = (34, 72)
ACROSS = (25, 6)  # bandwidth between nodes, GB/s
LENGTHS = ((256, 8), (64, 32), (32, 128))  # (number of sequences, thousands of tokens of each)
BASELINES = ("rule", "homogeneous", "galvatron", "alpa", "uniap")


def cases(stowage, folder, stages):
    """Yields the name and the file of each case."""
    for model, its in MODELS.items():
        for gib in GIB:
            for across in ACROSS:
                for count, tokens in LENGTHS:
                    name = f"{model}, {gib} GiB, {across} GB/s, {count} x {tokens}K"
                    made = run(stowage, "generate", "strategy", "--preset", its["preset"],
                               "--formulas", "1", "--nodes", "8", "--memory-mib", str(1024 * gib), "--sequences",
                               str(count), "--tokens", f"{tokens}K", "--name", name)
                    instance = json.loads(made)
                    model_of = instance["model"]
                    model_of.update({key: its[key] for key in ("hidden", "heads") if key in its})
                    for block in model_of["blocks"]:
                        block["ffn"] = its.get("ffn", block["ffn"])
                    instance["cluster"]["mib_per_ms"]["across"] = across * 1e6 / 2**20
                    instance["options"]["pp"] = stages
                    path = pathlib.Path(folder) / (re.sub(r"[^0-9A-Za-z]+", "-", name) + ".json")
                    path.write_text(json.dumps(instance))
                    yield name, path


def run(stowage, *arguments):
    done = subprocess.run([stowage, *arguments], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{' '.join(arguments)}: {done.stderr or done.stdout}")
    return done.stdout


def solve(stowage, path, method, seconds):
    return json.loads(run(stowage, "solve", str(path), "--method", method, "-t", str(seconds)))


def proven(stowage, path, outcome):
    """Returns the bound of an outcome that `verify` recomputes, and its name."""
    file = path.with_suffix(".outcome.json")
    file.write_text(json.dumps(outcome))
    judged = json.loads(run(stowage, "verify", str(path), str(file)))
    assert judged["valid"], judged
    return judged["bound_ms"], judged["bound_by"]


def text_of(plan):
    stages = [f"{s['layers']} z{s['zero']} {s['recompute']}" for s in plan["stages"]]
    return (f"p{plan['pp']} v{plan['v']} m{plan['micro_batches']} t{plan['tp']} c{plan['cp']} "
            f"d{plan['dp']}: {', '.join(stages)}")


def main():
    stowage = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    stages = [int(value) for value in sys.argv[3:]] or [1, 2, 4, 8]
    rows = []
    print("| case | `auto` ms | bound | gap | " + " | ".join(f"`{b}`" for b in BASELINES) +
          " | configuration | s |")
    print("|---|---:|---|---:|" + "---:|" * len(BASELINES) + "---|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in cases(stowage, folder, stages):
            outcome = solve(stowage, path, "auto", seconds)
            best = outcome["objective_ms"]
            if best is None:
                print(f"| {name} | {outcome['status']} |")
                continue
            bound, by = proven(stowage, path, outcome)
            over = []
            for method in BASELINES:
                other = solve(stowage, path, method, seconds)["objective_ms"]
                over.append(other / best - 1 if other else float("inf"))
            rows.append([1 - bound / best, *over])
            percents = " | ".join(f"{100 * each:.2f} %" for each in over)
            print(f"| {name} | {best:.1f} | {by} | {100 * (1 - bound / best):.2f} % | {percents} | "
                  f"{text_of(outcome['plan'])} | {outcome['seconds']:.2f} |", flush=True)
    for title, middle in (("median", statistics.median), ("most", max)):
        print(f"| {title} | | | " + " | ".join(f"{100 * middle(column):.2f} %"
                                               for column in zip(*rows)) + " | | |")


if __name__ == "__main__":
    main()
