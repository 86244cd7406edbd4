"""The table of offload in bench/results/0.1.0/README.md: gpt-7b on 16 and 64 A100s, six length lists.

usage: python3 bench/terms/offload.py STOWAGE [MIB_PER_MS]

STOWAGE is the command. Each case is the first step of 512 sequences of a list whose name is in the
report part (bench/part.h). `fast` plans it first with all activations on the devices, then with
activations that leave for the host at MIB_PER_MS each way, default 24: PCIe 4 of one GPU. A step
whose plan has one micro-batch is not bound by memory and counts apart. The exit code is 1 if a step
is slower with offload, or if the median of the steps that memory binds is no faster.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

LISTS = pathlib.Path(__file__).resolve().parents[2] / "instances" / "data" / "lengths"
DEVICES = (16, 64)
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


def first_step(lengths, devices):
    """Returns the first step of the list in the report part, or the first step if none is."""
    steps = len(lengths.read_text().split()) // SEQUENCES
    own = [step for step in range(steps) if in_report_part(f"{devices}gpu-{lengths.stem}-{step}")]
    return own[0] if own else 0


def generated(stowage, lengths, devices, *offload):
    return json.loads(
        run(stowage, "generate", "scatter", "--devices", str(devices), "--lengths", str(lengths),
            "--count", str(SEQUENCES), "--step", str(first_step(lengths, devices)), *offload))


def planned(stowage, folder, instance):
    path = pathlib.Path(folder) / "step.json"
    path.write_text(json.dumps(instance))
    return json.loads(run(stowage, "solve", str(path), "--method", "fast"))


def largest_share(outcome):
    groups = [group for batch in outcome["plan"]["micro_batches"] for group in batch["groups"]]
    return max(group.get("offload", 0) for group in groups)


def main():
    stowage = sys.argv[1]
    rate = sys.argv[2] if len(sys.argv) > 2 else "24"
    ratios = []
    print("| step | GPUs | micro-batches | ms | with offload | ms | ratio | most that leaves | gap |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    slower = False
    with tempfile.TemporaryDirectory() as folder:
        for devices in DEVICES:
            for lengths in sorted(LISTS.glob("*.txt")):
                step = generated(stowage, lengths, devices)
                before = planned(stowage, folder, step)
                # The same sequences: with offload the generator keeps longer ones.
                other = generated(stowage, lengths, devices, "--offload", rate)
                step["model"]["offload"] = other["model"]["offload"]
                after = planned(stowage, folder, step)
                ratio = after["objective_ms"] / before["objective_ms"]
                count = len(before["plan"]["micro_batches"])
                slower = slower or ratio > 1 + 1e-12
                if count > 1:
                    ratios.append(ratio)
                print(f"| {lengths.stem}-{first_step(lengths, devices)} | {devices} | {count} | "
                      f"{before['objective_ms']:,.1f} | {len(after['plan']['micro_batches'])} | "
                      f"{after['objective_ms']:,.1f} | {ratio:.3f} | {largest_share(after):.2f} | "
                      f"{1 - after['bound_ms'] / after['objective_ms']:.2%} |", flush=True)
    median = statistics.median(ratios)
    print(f"\n{len(ratios)} steps of several micro-batches: {median:.3f} in the median, "
          f"{min(ratios):.3f} at best, {max(ratios):.3f} at most.")
    sys.exit(slower or median >= 1)


if __name__ == "__main__":
    main()
