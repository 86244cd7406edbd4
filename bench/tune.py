#!/usr/bin/env python3
"""Searches parameters of a family on the tune part of a folder of instances, and keeps the evidence.

  stowage_bench bench/suite.json assign --part tune --write DIR
  bench/tune.py STOWAGE assign DIR --vary multistart.ruins,search.work -o bench/tuning/assign.json
  bench/tune.py STOWAGE assign DIR --steps -o bench/tuning/assign_steps.json

Without --steps, each trial draws all varied parameters at random, log-uniformly from a quarter of the
default to four times the default. With --steps, each trial halves or doubles one parameter. Every
trial solves every instance with the same limit of nodes as the defaults do, so results are paired:
a change is that of one instance with and without the trial's values. Instances of the report part
(bench/part.h) are never used for the search; --report DIR measures the best trial on them.

The evidence file has the command, the defaults and, for each trial, the values, the mean relative
change of the objective and of the bound, the counts of better and worse plans, and the CPU time as a
multiple of that of the defaults. A trial is the best if its plans are better by the largest mean and
its CPU time is at most --slower times that of the defaults. Exit codes: 0, 2 for bad input.
"""
import argparse
import json
import math
import random
import resource
import statistics
import subprocess
import sys
from pathlib import Path

SAME = 1e-9  # relative changes up to this count as none
BELOW, ABOVE = 0.25, 4.0  # of the default: the range of random trials


class Fault(Exception):
    """A text for people."""


def part_of(name):
    """The rule of bench/part.h: bit 32 of the FNV-1a hash of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return "report" if value >> 32 & 1 else "tune"


def instances_in(folder, part):
    """The instances of the folder that belong to the part, by name."""
    found = {}
    for path in sorted(Path(folder).glob("*.json")):
        document = json.loads(path.read_text())
        if document.get("format") == "stowage/instance" and part_of(document["name"]) == part:
            found[document["name"]] = path
    if not found:
        raise Fault(f"{folder}: has no instance of the {part} part")
    return found


def child_seconds():
    """The CPU seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def solved(stowage, path, values, arguments):
    """Objective, bound and CPU seconds of one solve."""
    command = [stowage, "solve", str(path), "--method", arguments.method, "--log-level", "error",
               "--node-limit", str(arguments.node_limit), "--seed", str(arguments.seed)]
    if values:
        command += ["--set", ",".join(f"{name}={value!r}" for name, value in values.items())]
    before = child_seconds()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = child_seconds() - before
    if done.returncode not in (0, 1, 3):
        raise Fault(f"{' '.join(command)}: {done.stderr.strip()}")
    outcome = json.loads(done.stdout)
    unit = next(key for key in outcome if key.startswith("bound_") and key != "bound_by")[6:]
    return {"objective": outcome["objective_" + unit], "bound": outcome["bound_" + unit],
            "seconds": seconds}


def change(with_, without):
    """The relative difference of two values; 0 if both are equal."""
    return 0.0 if with_ == without else (without - with_) / max(abs(with_), abs(without))


def compared(defaults, trial):
    """The paired changes of a trial: negative changes of objectives are better plans."""
    plans = [change(defaults[name]["objective"], trial[name]["objective"]) for name in defaults
             if None not in (defaults[name]["objective"], trial[name]["objective"])]
    bounds = [change(defaults[name]["bound"], trial[name]["bound"]) for name in defaults]
    spent = [sum(run["seconds"] for run in runs.values()) for runs in (defaults, trial)]
    return {"plan_change": statistics.fmean(plans) if plans else None,
            "plan_median": statistics.median(plans) if plans else None,
            "plans_better": sum(each < -SAME for each in plans),
            "plans_worse": sum(each > SAME for each in plans),
            "bound_change": statistics.fmean(bounds),
            "bounds_higher": sum(each > SAME for each in bounds),
            "bounds_lower": sum(each < -SAME for each in bounds),
            "cpu_ratio": round(spent[1] / spent[0], 3) if spent[0] else None}


def clipped(parameter, value):
    """The value within the parameter's range, whole if the parameter is."""
    value = min(max(value, parameter["least"]), parameter["most"])
    if parameter["integral"]:
        return int(min(max(round(value), math.ceil(parameter["least"])), parameter["most"]))
    return float(f"{value:.3g}")


def trials_of(parameters, arguments):
    """The values of each trial that differ from the defaults."""
    if arguments.steps:
        for parameter in parameters:
            for factor in (0.5, 2):
                value = clipped(parameter, parameter["default"] * factor)
                if value != parameter["default"]:
                    yield {parameter["name"]: value}
        return
    draw = random.Random(arguments.seed)
    for _ in range(arguments.trials):
        yield {each["name"]: clipped(each, each["default"] * BELOW * (ABOVE / BELOW) ** draw.random())
               for each in parameters}


def parameters_to_vary(arguments):
    listed = subprocess.run([arguments.stowage, "params", arguments.family, "--json"],
                            capture_output=True, text=True)
    if listed.returncode != 0:
        raise Fault(listed.stderr.strip())
    known = {each["name"]: each for each in json.loads(listed.stdout)["parameters"]}
    wanted = arguments.vary.split(",") if arguments.vary else list(known)
    for name in wanted:
        if name not in known:
            raise Fault(f"--vary: {name} is no parameter of {arguments.family}; "
                        f"`stowage params {arguments.family}` lists them")
    return [known[name] for name in wanted]


def run_all(arguments, instances, values):
    return {name: solved(arguments.stowage, path, values, arguments)
            for name, path in instances.items()}


def tune(arguments):
    parameters = parameters_to_vary(arguments)
    instances = instances_in(arguments.folder, "tune")
    defaults = run_all(arguments, instances, {})
    trials = []
    for values in trials_of(parameters, arguments):
        row = {"values": values, **compared(defaults, run_all(arguments, instances, values))}
        trials.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    evidence = {
        "format": "stowage/tuning", "version": 1, "problem": arguments.family,
        "method": arguments.method, "node_limit": arguments.node_limit, "seed": arguments.seed,
        "search": "halving and doubling of each parameter" if arguments.steps else "random",
        "part": "tune", "instances": list(instances),
        "defaults": {each["name"]: each["default"] for each in parameters},
        "trials": trials, "best": None, "report": None}
    fast_enough = [row for row in trials if row["plan_change"] is not None
                   and (row["cpu_ratio"] or 0) <= arguments.slower]
    best = min(fast_enough, key=lambda row: row["plan_change"], default=None)
    if best is not None and best["plan_change"] < -SAME:
        evidence["best"] = best["values"]
        if arguments.report:
            others = instances_in(arguments.report, "report")
            evidence["report"] = {
                "instances": list(others),
                **compared(run_all(arguments, others, {}),
                           run_all(arguments, others, best["values"]))}
    return evidence


def as_text(evidence):
    """JSON with a line for each trial."""
    rows = ",\n  ".join(json.dumps(row) for row in evidence["trials"])
    rest = {key: value for key, value in evidence.items() if key != "trials"}
    lines = [f' "{key}": {json.dumps(value)}' for key, value in rest.items()]
    lines.insert(len(lines) - 2, f' "trials": [\n  {rows}]' if rows else ' "trials": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stowage", help="the command")
    parser.add_argument("family")
    parser.add_argument("folder", help="instances; those of the report part are left out")
    parser.add_argument("--vary", help="names of parameters, separated by commas; default all")
    parser.add_argument("--steps", action="store_true", help="halve and double each parameter")
    parser.add_argument("--trials", type=int, default=20, help="random trials; default 20")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--node-limit", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slower", type=float, default=1.05,
                        help="CPU time of the best trial, in times that of the defaults, at most")
    parser.add_argument("--report", help="a folder with instances of the report part")
    parser.add_argument("-o", "--output", help="the evidence file; default stdout")
    arguments = parser.parse_args()
    try:
        text = as_text(tune(arguments))
    except (Fault, OSError, ValueError) as fault:
        print(f"tune.py: {fault}", file=sys.stderr)
        return 2
    if arguments.output:
        Path(arguments.output).write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
