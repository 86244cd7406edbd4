"""Two builds of the command beside each other, such as a wheel's and a release with GLPK and CBC.

usage: python3 bench/peers/two_commands.py ONE OTHER [SECONDS]

ONE and OTHER are commands. Both plan twenty bundled instances of all families with `auto`, in turn and
within SECONDS each, default 2, and each verifies the other's plan with its certificate. A row has the
objectives, how far OTHER's lies above ONE's, the proven gaps and the backends that OTHER names. The exit
code is 1 if a plan is missing or not valid, if two objectives differ by more than 0.05 %, or if ONE
closes an instance and OTHER does not.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parents[2] / "instances/data"
INSTANCES = {
    "scatter": ("tiny/mixed", "tiny/six-devices", "real/7b-16gpu-192k-code-2", "real/13b-16gpu-192k-longalign-1",
                "real/7b-64gpu-192k-code-0", "real/7b-64gpu-192k-docs-0", "real/30b-64gpu-192k-laws-2"),
    "assign": ("tiny/equal-costs", "real/7b-16gpu-100k-code-3", "real/7b-16gpu-100k-chat-1",
               "real/13b-32gpu-100k-laws-1", "real/32b-64gpu-200k-code-0"),
    "layout": ("real/minimalloc-a", "real/minimalloc-e", "real/idealloc-resnet50"),
    "order": ("real/layered-100-seed0", "real/randwire-99-seed0", "real/transformer-108-256-65536tok"),
    "strategy": ("tiny/mixed-blocks", "real/llama-13b-64gpu-256seq"),
}
MOST = 0.0005


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{' '.join(str(word) for word in words)}: {done.stderr or done.stdout}")
    return json.loads(done.stdout) | {"exit": done.returncode}


def of_unit(outcome, name):
    """Returns a value whose key ends with its unit, as objective_ms and objective_bytes do."""
    return next((outcome[f"{name}_{unit}"] for unit in ("ms", "bytes") if f"{name}_{unit}" in outcome), None)


def main():
    one, other = sys.argv[1:3]
    seconds = sys.argv[3] if len(sys.argv) > 3 else "2"
    failures = []
    print("| instance | one | other | other above one | gap of one | gap of other |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for family, names in INSTANCES.items():
            for name in names:
                path = DATA / family / f"{name}.json"
                outcomes = []
                for index, (command, judge) in enumerate(((one, other), (other, one))):
                    outcome = call(command, "solve", path, "-t", seconds, "--log-level", "error")
                    kept = pathlib.Path(folder) / f"{index}.json"
                    kept.write_text(json.dumps({key: value for key, value in outcome.items() if key != "exit"}))
                    if outcome["plan"] is None or call(judge, "verify", path, kept)["exit"] != 0:
                        failures.append(f"{family}/{name}: no valid plan of {command}")
                    outcomes.append(outcome)
                objectives = [of_unit(outcome, "objective") for outcome in outcomes]
                gaps = [outcome["gap"] for outcome in outcomes]
                if None in objectives or None in gaps:
                    failures.append(f"{family}/{name}: no objective or no bound")
                    continue
                above = objectives[1] / objectives[0] - 1 if objectives[0] else float(objectives[1] != 0)
                if abs(above) > MOST:
                    failures.append(f"{family}/{name}: the objectives differ by {100 * above:.3f} %")
                if outcomes[0]["status"] == "optimal" != outcomes[1]["status"]:
                    failures.append(f"{family}/{name}: {other} does not close it")
                print(f"| {family}/{name} | {objectives[0]:.10g} | {objectives[1]:.10g} | {100 * above:.4f} % | "
                      f"{100 * gaps[0]:.4f} % | {100 * gaps[1]:.4f} % |", flush=True)
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
