"""The table of all options together in bench/results/0.1.0/README.md: the steps of the suite's report part.

usage: python3 bench/terms/together.py STOWAGE STEPS [SECONDS]

STOWAGE is the command, STEPS a folder of instances: `stowage_bench bench/suite.json scatter --part
report --write STEPS`. Each step is planned within SECONDS, default 10, by `auto` and by `joint` as it
is: degrees that are powers of two, every sequence padded for the largest group, activations on the
devices. `auto` plans it again with sequences padded by the degree of their group, any degree, and
activations that may leave for the host at 24 MiB per ms each way, all layers but two. Costs are the
same: a degree between two powers of two exchanges at the rate of the upper one. The last columns leave
out one of the three. Two steps run at a time. The exit code is 1 if the median of the ratios is above
0.88 or a step is slower.
"""
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

LAYERS = {"gpt-7b": 32, "gpt-13b": 40, "gpt-30b": 60}
RATE = 24.0


def solve(stowage, instance, method, seconds):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(instance, file)
        file.flush()
        done = subprocess.run([stowage, "solve", file.name, "--method", method, "-t", str(seconds)],
                              capture_output=True, text=True, check=False)
    if done.returncode > 1:
        sys.exit(f"{instance['name']}: {done.stderr}")
    return json.loads(done.stdout)


def padded_by_degree(instance):
    own = {key: value for key, value in instance.items() if key != "pad_multiple"}
    return own | {"padding": {"device_multiple": 2}}


def of_any_degree(instance):
    cluster, exchange = instance["cluster"], instance["cost"]["all_to_all"]
    powers = sorted(map(int, exchange["mib_per_ms"]))
    degrees = list(range(1, cluster["degrees"][-1] + 1))
    rates = {str(d): exchange["mib_per_ms"][str(min(p for p in powers if p >= d))] for d in degrees[1:]}
    return instance | {
        "cluster": cluster | {"degrees": degrees, "aligned": False},
        "cost": instance["cost"] | {"all_to_all": exchange | {"mib_per_ms": rates}},
    }


def offloaded(instance):
    model = instance["model"]
    layers = LAYERS["-".join(instance["name"].split("-")[:2])]
    offload = {"mib_per_token": model["activation_mib_per_token"] * (layers - 2) / layers,
               "out_mib_per_ms": RATE, "in_mib_per_ms": RATE}
    return instance | {"model": model | {"offload": offload}}


OPTIONS = {"padding": padded_by_degree, "any degree": of_any_degree, "offload": offloaded}


def row(stowage, path, seconds):
    plain = json.loads(path.read_text())
    before = min((solve(stowage, plain, method, seconds) for method in ("auto", "joint")),
                 key=lambda outcome: outcome["objective_ms"])
    outcomes = []
    for left_out in (None, *OPTIONS):
        instance = plain
        for name, option in OPTIONS.items():
            if name != left_out:
                instance = option(instance)
        outcomes.append(solve(stowage, instance, "auto", seconds))
    return plain["name"], before, outcomes


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    stowage, steps = sys.argv[1], sorted(pathlib.Path(sys.argv[2]).glob("*.json"))
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10
    print("| step | before, ms | gap | together, ms | gap | ratio | " +
          " | ".join(f"without {name}" for name in OPTIONS) + " |")
    print("|---|---:|---:|---:|---:|---:|" + "---:|" * len(OPTIONS))
    ratios = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, before, outcomes in pool.map(lambda path: row(stowage, path, seconds), steps):
            ratios.append([own["objective_ms"] / before["objective_ms"] for own in outcomes])
            print(f"| {name} | {before['objective_ms']:.0f} | {before['gap']:.1%} | {outcomes[0]['objective_ms']:.0f} | "
                  f"{outcomes[0]['gap']:.1%} | " + " | ".join(f"{own:.3f}" for own in ratios[-1]) + " |", flush=True)
    columns = list(zip(*ratios))
    print("\nMedians: " + ", ".join(f"{name} {statistics.median(column):.3f}" for name, column in
                                    zip(("together", *(f"without {name}" for name in OPTIONS)), columns)) +
          f". Together {min(columns[0]):.3f} at best, {max(columns[0]):.3f} at worst.")
    return statistics.median(columns[0]) > 0.88 or max(columns[0]) > 1


if __name__ == "__main__":
    sys.exit(main())
