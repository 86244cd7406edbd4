"""The table of padding by degree in bench/results/0.1.0/README.md: llama3-8b on 64 and 256 H100s, six length lists.

usage: python3 bench/terms/padding.py STOWAGE [SECONDS]

STOWAGE is the command. Each case is the first step of 512 sequences of a list whose name is in the
report part (bench/part.h). The step is planned by `auto` within SECONDS, default 3, and by `fast`:
first with every sequence padded for the largest group (`--pad-multiple`), then by the degree of its
group. The last column compares the seconds of `fast`, each the least of three. The exit code is 1
if padding by degree is slower in a case, gains less than 2 % in the median, or if `fast` takes more
than 1.2 times as long in the median.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

LISTS = pathlib.Path(__file__).resolve().parents[2] / "instances" / "data" / "lengths"
DEVICES = (64, 256)
SEQUENCES = 512


def in_report_part(name):
    """Returns bit 32 of the FNV-1a hash of the name, as bench/part.h does."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value >> 32 & 1 == 1


def run(stowage, *arguments):
    done = subprocess.run([stowage, *arguments], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{' '.join(arguments)}: {done.stderr or done.stdout}")
    return done.stdout


def solve(stowage, path, *how):
    return json.loads(run(stowage, "solve", str(path), *how))


def first_step(lengths, devices):
    """Returns the first step of the list in the report part, or the first step if none is."""
    steps = len(lengths.read_text().split()) // SEQUENCES
    own = [step for step in range(steps) if in_report_part(f"{devices}gpu-{lengths.stem}-{step}")]
    return own[0] if own else 0


def gap(outcome):
    return 1 - outcome["bound_ms"] / outcome["objective_ms"]


def planned(stowage, folder, lengths, devices, seconds, *padding):
    path = pathlib.Path(folder) / "step.json"
    path.write_text(
        run(stowage, "generate", "scatter", "--preset", "llama3-8b", "--machine", "h100",
            "--devices", str(devices), "--lengths", str(lengths), "--count", str(SEQUENCES),
            "--step", str(first_step(lengths, devices)), *padding))
    best = solve(stowage, path, "-t", str(seconds))
    fast = [solve(stowage, path, "--method", "fast") for _ in range(3)]
    return best, fast[0], min(outcome["seconds"] for outcome in fast)


def main():
    stowage = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3
    gains, slower = [], []
    print("| step | GPUs | largest ms | by degree ms | gain | gap | `fast` gain | `fast` s | times |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for devices in DEVICES:
            for lengths in sorted(LISTS.glob("*.txt")):
                before = planned(stowage, folder, lengths, devices, seconds, "--pad-multiple",
                                 str(2 * devices))
                after = planned(stowage, folder, lengths, devices, seconds)
                gain, of_fast = (1 - b["objective_ms"] / a["objective_ms"]
                                 for a, b in zip(before[:2], after[:2]))
                gains.append(gain)
                slower.append(after[2] / before[2])
                print(f"| {lengths.stem}-{first_step(lengths, devices)} | {devices} | "
                      f"{before[0]['objective_ms']:,.1f} | {after[0]['objective_ms']:,.1f} | "
                      f"{gain:.2%} | {gap(after[0]):.2%} | {of_fast:.2%} | {after[2]:.2f} | "
                      f"{slower[-1]:.2f} |", flush=True)
    median, times = statistics.median(gains), statistics.median(slower)
    print(f"\nGain {median:.2%} in the median, {min(gains):.2%} at least; `fast` takes {times:.2f} "
          f"times as long in the median, {max(slower):.2f} at most.")
    sys.exit(min(gains) < 0 or median < 0.02 or times > 1.2)


if __name__ == "__main__":
    main()
