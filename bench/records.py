"""Results of stowage_bench: reads the JSON lines and summarises the results of a suite.

  setups, results = load("results/0.1.0/scatter.jsonl")
  for method in summarise(results): print(method["method"], method["median_gap"])

A setup and a result are dicts with the keys of README.md in this folder.
"""
import json
import math
import statistics


class Fault(Exception):
    """Unusable input; the text states the place and the reason."""


NUMBER, MAYBE = (int, float), (int, float, type(None))
# The keys of a line and their types; keys with a value in ABSENT may be missing.
SETUP = {"record": (str,), "date": (str,), "commit": (str,), "cpu": (str,), "cores": (int,),
         "memory_gib": NUMBER, "system": (str,), "compiler": (str,), "backends": (str,),
         "protocol": (int,)}
RESULT = {"record": (str,), "suite": (str,), "instance": (str,), "problem": (str,),
          "size": (int,), "devices": (int,), "method": (str,), "kind": (str,), "seed": (int,),
          "time_limit_s": MAYBE, "status": (str,), "stopped_by": (str,), "objective": MAYBE,
          "bound": NUMBER, "bound_by": (str,), "method_bound": MAYBE, "found_by": (str,),
          "cpu_s": NUMBER, "wall_s": NUMBER, "first_s": MAYBE, "best_s": MAYBE, "nodes": (int,),
          "memory_mib": NUMBER, "plan": (str,)}
ABSENT = {"record": "result", "protocol": 1, "method_bound": None, "plan": ""}


def parse_line(line, place):
    try:
        record = json.loads(line)
    except ValueError as error:
        raise Fault(f"{place}: {error}") from None
    if not isinstance(record, dict):
        raise Fault(f"{place}: must be an object")
    types = SETUP if record.get("record") == "setup" else RESULT
    record = {**{key: value for key, value in ABSENT.items() if key in types}, **record}
    for key in [*types, *record]:
        if key not in types or key not in record:
            raise Fault(f"{place}: {key} is {'unknown' if key in record else 'missing'}")
        if type(record[key]) not in types[key]:
            raise Fault(f"{place}: {key} has the wrong type")
    return record


def read_results(stream, name):
    """Returns (setups, results) of a stream of lines."""
    records = [parse_line(line, f"{name}:{number}") for number, line in enumerate(stream, 1)]
    return ([r for r in records if r["record"] == "setup"],
            [r for r in records if r["record"] != "setup"])


def load(path):
    try:
        with open(path, encoding="utf-8") as stream:
            return read_results(stream, str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise Fault(f"{path}: {error}") from None


def load_all(paths):
    runs = [load(path) for path in paths]
    return [s for setups, _ in runs for s in setups], [r for _, results in runs for r in results]


def by_suite(results):
    """Returns {suite: its results}, in the order of their first results."""
    suites = {}
    for r in results:
        suites.setdefault(r["suite"], []).append(r)
    return suites


def title(r):
    """Returns a method's name with its limit: "auto 10 s"."""
    return r["method"] if r["time_limit_s"] is None else f"{r['method']} {r['time_limit_s']:g} s"


def part_of(name):
    """Returns "tune" or "report" by the rule of part.h: bit 32 of the name's 64-bit FNV-1a hash."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return "report" if value >> 32 & 1 else "tune"


# --- arithmetic ------------------------------------------------------------------------------

def relative_gap(objective, bound):
    return 0.0 if objective == bound else (objective - bound) / max(abs(objective), abs(bound))


def median(values):
    return statistics.median(values) if values else 0.0


def shifted_geometric_mean(values, shift):
    if not values:
        return 0.0
    return math.exp(sum(math.log(v + shift) for v in values) / len(values)) - shift


def best_known(results):
    """Returns {instance: the best objective and bound of all its results, and their methods}."""
    best = {}
    for r in results:
        known = best.setdefault(r["instance"], {"objective": None, "objective_by": "",
                                                "bound": 0.0, "bound_by": ""})
        if r["objective"] is not None and (known["objective"] is None
                                           or r["objective"] < known["objective"]):
            known.update(objective=r["objective"], objective_by=r["method"])
        if r["bound"] > known["bound"] or not known["bound_by"]:
            known.update(bound=r["bound"], bound_by=r["bound_by"])
    return best


def summarise(results):
    """Returns a dict for each method, in the order of first results. Gaps are relative to the bound
    of the same run; excess is the objective over the best known objective, minus 1."""
    best = best_known(results)
    methods = {}
    for r in results:
        methods.setdefault(title(r), []).append(r)
    summaries = []
    for method, own in methods.items():
        planned = [r for r in own if r["objective"] is not None]
        known = [best[r["instance"]]["objective"] for r in planned]
        gaps = [relative_gap(r["objective"], r["bound"]) for r in planned]
        excess = [r["objective"] / k - 1 if k > 0 else 0.0 for r, k in zip(planned, known)]
        seconds = [r["cpu_s"] for r in own]
        summaries.append({
            "method": method, "kind": own[-1]["kind"], "instances": len(own),
            "planned": len(planned), "proven": sum(r["status"] == "optimal" for r in own),
            "median_gap": median(gaps), "worst_gap": max(gaps, default=0.0),
            "median_excess": median(excess), "worst_excess": max(excess, default=0.0),
            "mean_cpu_s": shifted_geometric_mean(seconds, 0.01), "most_cpu_s": max(seconds)})
    return summaries
