"""The table of `fast` strategies in bench/results/0.1.0/README.md: 36 cases of presets, machines and lengths.

usage: python3 bench/fast_strategies.py STOWAGE [SECONDS [FORMULAS]]

STOWAGE is the command. Each of four models on 64 GPUs of each of three machines trains on 512
sequences of 8K, 256 of 32K or 64 of 128K tokens. The table has the step of `fast` and the relative
excess of all baselines; a minus sign marks a faster baseline. `uniform` is the least step of all
plans whose stages have one ZeRO level and one recomputation mode, as trainers run them: `auto`
solves each such pair alone, within SECONDS, default 10. Its gap is the excess of `fast` over the
least of their bounds, or 0. FORMULAS is the version of the formulas, default 2. The exit code is 1
if `fast` is slower than a baseline or more than 1 % slower than `uniform`.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

MODELS = ("llama3-8b", "qwen3-32b", "llama3-70b", "mixtral-8x7b")
MACHINES = ("a100-80", "h100", "h200")
LENGTHS = ((512, "8k"), (256, "32k"), (64, "128k"))
BASELINES = ("rule", "homogeneous", "galvatron", "alpa")


def run(stowage, *arguments):
    done = subprocess.run([stowage, *arguments], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{' '.join(arguments)}: {done.stderr or done.stdout}")
    return done.stdout


def solve(stowage, path, method, seconds):
    return json.loads(
        run(stowage, "solve", str(path), "--method", method, "-t", str(seconds)))


def uniform(stowage, path, instance, seconds):
    """Returns the least step of the uniform plans that were found, and the least bound; None if no
    plan fits."""
    found = []
    for zero in instance["options"]["zero"]:
        for recompute in instance["options"]["recompute"]:
            options = {**instance["options"], "zero": [zero], "recompute": [recompute]}
            its = path.with_suffix(".uniform.json")
            its.write_text(json.dumps({**instance, "options": options}))
            outcome = solve(stowage, its, "auto", seconds)
            if outcome["objective_ms"] is not None:
                found.append((outcome["objective_ms"], outcome["bound_ms"]))
    return (min(step for step, _ in found), min(bound for _, bound in found)) if found else None


def main():
    stowage = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    formulas = sys.argv[3] if len(sys.argv) > 3 else "2"
    behind = 0
    print("| case | `fast` ms | " + " | ".join(f"`{b}`" for b in BASELINES) +
          " | `uniform` ms | `fast` behind its bound | s |")
    print("|---|---:|" + "---:|" * len(BASELINES) + "---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.json"
        for model in MODELS:
            for machine in MACHINES:
                for count, tokens in LENGTHS:
                    name = f"{model}, {machine}, {count} x {tokens}"
                    path.write_text(
                        run(stowage, "generate", "strategy", "--preset", model, "--machine",
                            machine, "--formulas", formulas, "--nodes", "8", "--sequences",
                            str(count), "--tokens", tokens))
                    instance = json.loads(path.read_text())
                    fast = solve(stowage, path, "fast", seconds)
                    step = fast["objective_ms"]
                    if step is None:
                        print(f"| {name} | {fast['status']} |", flush=True)
                        continue
                    cells = []
                    for method in BASELINES:
                        other = solve(stowage, path, method, seconds)["objective_ms"]
                        cells.append("none" if other is None else f"{100 * (other / step - 1):.2f} %")
                        behind += other is not None and other < step * (1 - 1e-9)
                    best, bound = uniform(stowage, path, instance, seconds)
                    gap = max(0.0, step / bound - 1)
                    behind += gap > 0.01
                    print(f"| {name} | {step:.1f} | " + " | ".join(cells) +
                          f" | {best:.1f} | {100 * gap:.2f} % | {fast['seconds']:.2f} |",
                          flush=True)
    sys.exit(1 if behind else 0)


if __name__ == "__main__":
    main()
