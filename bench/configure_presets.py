"""Runs `configure` for every preset of a model on 8, 64 and 256 GPUs of every machine.

usage: python3 bench/configure_presets.py STOWAGE [SECONDS [EVERY]]

STOWAGE is the command. A step has 256 sequences of 8192 tokens; SECONDS limits each search, default
5. Every EVERY-th case runs, default 1. A cell is the step in seconds, or the memory in GiB that a
GPU would need if the model does not fit. The exit code is 1 if a case has neither; stderr then has
its name and the answer.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

GPUS = (8, 64, 256)


def choices(stowage, flag):
    """Returns the values of a flag that the help lists."""
    text = subprocess.run([stowage, "configure", "--help"], capture_output=True, text=True,
                          check=True).stdout
    if flag == "--machine":
        return re.search(r"--machine (\S+)", text).group(1).split("|")
    names = re.search(r"--preset NAME .*?one of (.*?)--", text, re.DOTALL).group(1)
    return re.sub(r"\s+", "", names).split(",")


def answer(stowage, preset, machine, gpus, seconds):
    """Returns the cell of a case, or None if the answer has neither a plan nor the missing memory."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [stowage, "configure", "--preset", preset, "--machine", machine, "--nodes",
             str(gpus // 8), "--sequences", "256", "--tokens", "8k", "-t", str(seconds), "-o",
             str(pathlib.Path(folder) / "run")], capture_output=True, text=True, check=False)
    try:
        told = json.loads(done.stdout)
    except json.JSONDecodeError:
        return None, done.stdout + done.stderr
    if done.returncode == 0 and told.get("configurations"):
        return f"{told['configurations'][0]['step_ms'] / 1000:.1f} s", ""
    needed = re.search(r"needs (\d+) MiB", told.get("detail") or "")
    if done.returncode == 1 and needed:
        return f"{int(needed.group(1)) / 1024:.0f} GiB", ""
    return None, done.stdout + done.stderr


def main():
    stowage = sys.argv[1]
    seconds = sys.argv[2] if len(sys.argv) > 2 else "5"
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    machines = choices(stowage, "--machine")
    print("| model | GPUs | " + " | ".join(machines) + " |")
    print("|---|---:|" + "---:|" * len(machines))
    number = failed = 0
    for preset in choices(stowage, "--preset"):
        for gpus in GPUS:
            cells = []
            for machine in machines:
                number += 1
                if number % every:
                    cells.append("")
                    continue
                cell, why = answer(stowage, preset, machine, gpus, seconds)
                cells.append(cell or "none")
                if cell is None:
                    failed += 1
                    print(f"{preset}, {machine}, {gpus} GPUs: {why}", file=sys.stderr)
            print(f"| {preset} | {gpus} | " + " | ".join(cells) + " |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
