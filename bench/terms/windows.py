"""The table of windows in bench/results/0.1.0/README.md: steps that are planned together.

usage: python3 bench/terms/windows.py STOWAGE [SEQUENCES [WINDOWS]]

STOWAGE is the command. Each case is one bundled length list and one cluster of 64 GPUs: WINDOWS
(default 2) windows of four steps of SEQUENCES (default 256) sequences each, planned by `fast`. The columns
are the time of all steps as drawn, the ratio to it with `plan-stream --window 4`, with `--delay 1`
as well, with `--token-spread 1.5`, and of buckets: each window sorted by length and cut into four steps (Dataset Decomposition,
arXiv 2405.13226, has such steps of like lengths, with pieces of documents). The last columns are the
share of sequences that moved and the spread of the tokens of a step, largest by smallest, as drawn and
as planned. The exit code is 1 if a sequence is missing, comes twice or is late, if a step's tokens
exceed the spread, or if a window takes more time than as drawn.
"""
import json
import pathlib
import statistics
import subprocess
import sys

LISTS = pathlib.Path(__file__).resolve().parents[2] / "instances" / "data" / "lengths"
CLUSTERS = (["--preset", "gpt-7b"], ["--preset", "llama3-8b", "--machine", "h100"])
WINDOW = 4
SPREAD = 1.5


def plan(stowage, steps, *arguments):
    """Returns the lines of plan-stream for these steps, which are lists of lengths."""
    text = "".join(json.dumps(step) + "\n" for step in steps)
    done = subprocess.run([stowage, "plan-stream", "-", "--devices", "64", "--timeless", *arguments],
                          input=text, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(done.stderr or done.stdout)
    return [json.loads(line) for line in done.stdout.splitlines()]


def time_of(lines):
    return sum(line["objective_ms"] for line in lines)


def faults_of(lines, steps, delay):
    """Returns the number of sequences that are missing, come twice or are late."""
    seen = set()
    late = 0
    for line in lines:
        for step, index in line["drawn"]:
            seen.add((step, index))
            late += line["step"] - step > delay or line["step"] // WINDOW != step // WINDOW
    return late + len({(s, i) for s, step in enumerate(steps) for i in range(len(step))} ^ seen)


def dealt_steps(lines, steps):
    """Returns the lengths that each step computes."""
    return [[steps[s][i] for s, i in line["drawn"]] for line in lines]


def unlike(dealt, steps):
    """Returns the number of steps whose tokens exceed the spread of their window."""
    count = 0
    for first in range(0, len(steps), WINDOW):
        drawn = [sum(step) for step in steps[first:first + WINDOW]]
        count += sum(not min(drawn) / SPREAD <= sum(step) <= max(drawn) * SPREAD
                     for step in dealt[first:first + WINDOW])
    return count


def spread(steps):
    tokens = [sum(step) for step in steps]
    return max(tokens) / min(tokens)


def main():
    stowage = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    windows = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    wrong, ratios, even = 0, [], []
    print("| list | cluster | as drawn ms | window 4 | delay 1 | spread 1.5 | buckets | moved | spread drawn | planned |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for lengths in sorted(LISTS.glob("*.txt")):
        drawn = [int(line) for line in lengths.read_text().split()[:count * WINDOW * windows]]
        steps = [drawn[k:k + count] for k in range(0, len(drawn), count)]
        for cluster in CLUSTERS:
            alone = plan(stowage, steps, *cluster)
            if any(line["plan"] is None for line in alone):
                print(f"| {lengths.stem} | {cluster[1]} | a step has no plan | | | | | | | |", flush=True)
                continue
            window = plan(stowage, steps, *cluster, "--window", str(WINDOW))
            near = plan(stowage, steps, *cluster, "--window", str(WINDOW), "--delay", "1")
            like = plan(stowage, steps, *cluster, "--window", str(WINDOW), "--token-spread", str(SPREAD))
            buckets = []
            for first in range(0, len(steps), WINDOW):
                own = sorted(length for step in steps[first:first + WINDOW] for length in step)
                buckets += [own[k:k + count] for k in range(0, len(own), count)]
            bucketed = plan(stowage, buckets, *cluster)
            wrong += faults_of(window, steps, WINDOW - 1) + faults_of(near, steps, 1)
            wrong += faults_of(like, steps, WINDOW - 1) + unlike(dealt_steps(like, steps), steps)
            base = time_of(alone)
            wrong += any(time_of(own) > base * (1 + 1e-12) for own in (window, near, like))
            dealt = dealt_steps(window, steps)
            moved = sum(line["step"] != s for line in window for s, _ in line["drawn"])
            ratios.append(time_of(window) / base)
            even.append(time_of(like) / base)
            by_bucket = ("-" if any(line["plan"] is None for line in bucketed)
                         else f"{time_of(bucketed) / base:.3f}")
            print(f"| {lengths.stem} | {cluster[1]} | {base:,.0f} | {ratios[-1]:.3f} | "
                  f"{time_of(near) / base:.3f} | {even[-1]:.3f} | {by_bucket} | {moved / len(drawn):.2f} | "
                  f"{spread(steps):.2f} | {spread(dealt):.2f} |", flush=True)
    print(f"\nSteps planned together take {statistics.median(ratios):.3f} of the time in the median, "
          f"{min(ratios):.3f} at best, {max(ratios):.3f} at worst; with `--token-spread {SPREAD}` "
          f"{statistics.median(even):.3f}, {min(even):.3f} and {max(even):.3f}.")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
