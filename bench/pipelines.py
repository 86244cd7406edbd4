"""The table of pipelines in bench/results/0.1.0/README.md: the end of the 1F1B schedule of scatter plans.

usage: python3 bench/pipelines.py STOWAGE [SECONDS]

STOWAGE is the command. Each case is the first step of 256 sequences of a bundled length list, with 4
or 8 pipeline stages of gpt-7b on 64 GPUs each, planned by `auto` within SECONDS, default 1. The
columns are the objective (the formula), the stated end of the 1F1B schedule in the order of the
plan, and what the same micro-batches take in other orders: longest first, shortest first,
and the mean of twenty random orders. `chosen` is the end of the plan that is chosen by its schedule,
divided by the end of the plan of the least objective (pipeline.tolerance = 0), both after NODES nodes. The
exit code is 1 if another order ends earlier, the stated end is not that of the simulation in this
script, or the chosen plan ends later.
"""
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

LISTS = pathlib.Path(__file__).resolve().parent.parent / "instances" / "data" / "lengths"
STAGES = (4, 8)
SEQUENCES = 256
NODES = "60"


def run(stowage, *arguments):
    done = subprocess.run([stowage, *arguments], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{' '.join(arguments)}: {done.stderr or done.stdout}")
    return done.stdout


def end_of_1f1b(times, stages):
    """Returns the end of the schedule, by the passes of each stage in their order."""
    count = len(times)
    ends = {}
    programs = []
    for stage in range(stages):
        warm = min(count, stages - stage)
        passes = [("F", k) for k in range(warm)]
        for k in range(count):
            passes.append(("B", k))
            if warm + k < count:
                passes.append(("F", warm + k))
        programs.append(passes)
    free, done = [0.0] * stages, [0] * stages
    while any(done[s] < 2 * count for s in range(stages)):
        for s in range(stages):
            while done[s] < 2 * count:
                kind, k = programs[s][done[s]]
                before = ("F", k, s - 1) if kind == "F" else ("B", k, s + 1)
                if kind == "F" and s == 0 or kind == "B" and s == stages - 1:
                    ready = 0.0
                elif before in ends:
                    ready = ends[before]
                else:
                    break
                length = times[k] / 3 * (1 if kind == "F" else 2)
                free[s] = ends[kind, k, s] = max(free[s], ready) + length
                done[s] += 1
    return max(free)


def main():
    stowage = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 1
    shares, choices, wrong = [], [], 0
    print("| step | stages | micro-batches | formula ms | 1F1B ms | longest first | shortest first | random | chosen |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "step.json"
        for lengths in sorted(LISTS.glob("*.txt")):
            for stages in STAGES:
                step = json.loads(run(stowage, "generate", "scatter", "--preset", "gpt-7b",
                                      "--devices", "64", "--lengths", str(lengths), "--count",
                                      str(SEQUENCES)))
                step["pipeline_stages"] = stages
                path.write_text(json.dumps(step))
                plan = json.loads(run(stowage, "solve", str(path), "-t", str(seconds)))["plan"]
                times = [batch["makespan_ms"] for batch in plan["micro_batches"]]
                stated = plan["simulated_1f1b_ms"]
                shuffled = random.Random(1)
                others = [end_of_1f1b(sorted(times, reverse=True), stages),
                          end_of_1f1b(sorted(times), stages)]
                ends = [end_of_1f1b(shuffled.sample(times, len(times)), stages) for _ in range(20)]
                mean = statistics.fmean(ends)
                wrong += abs(end_of_1f1b(times, stages) / stated - 1) > 1e-9
                wrong += stated > min(*others, *ends) * (1 + 1e-9)
                shares.append(stated / mean)
                least, best = (json.loads(run(stowage, "solve", str(path), "--node-limit", NODES, "--set",
                                              f"pipeline.tolerance={tolerance}"))["plan"]["simulated_1f1b_ms"]
                               for tolerance in (0, 0.03))
                choices.append(best / least)
                wrong += best > least * (1 + 1e-9)
                print(f"| {lengths.stem} | {stages} | {len(times)} | {plan['objective_ms']:,.1f} | "
                      f"{stated:,.1f} | {others[0] / stated:.3f} | {others[1] / stated:.3f} | "
                      f"{mean / stated:.3f} | {choices[-1]:.4f} |", flush=True)
    print(f"\nThe planned order takes {statistics.median(shares):.3f} of the time of a random order in "
          f"the median, {min(shares):.3f} at best, {max(shares):.3f} at worst. The chosen plan ends at "
          f"{statistics.median(choices):.4f} of the plan of the least objective in the median, "
          f"{min(choices):.4f} at best, {max(choices):.4f} at worst.")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
