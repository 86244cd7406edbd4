"""Balanced partitions beside verl's own: the table of bench/README.md.

usage: partition.py STOWAGE SEQLEN_BALANCING LENGTHS [BATCHES]

STOWAGE is the command, SEQLEN_BALANCING the file verl/utils/seqlen_balancing.py of an unpacked verl
(`pip download verl --no-deps`), LENGTHS the folder of bundled lists. Their function is called as
it is; it gets the costs, as verl's trainer hands them to it. The file imports torch and parts of
verl that partitioning does not use: empty modules stand in for them.

Batches have 512 to 8,192 sequences of the bundled lists, cut at 8K, 32K or 128K tokens, and 8 to 512
bins with four sequences a bin or more; every other one asks for equal counts. Times: the CPU time of
verl's call, and the wall-clock time that the command states for its own call, check included, which
is at least its CPU time.
"""
import importlib.util
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time
import types

SEED = 7
QUADRATIC, LINEAR = 1, 24576


def their_function(path):
    names = ["torch", "torch.distributed", "verl", "verl.protocol", "verl.utils",
             "verl.utils.device", "verl.utils.tensordict_utils"]
    for name in names:
        module = sys.modules[name] = types.ModuleType(name)
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], leaf, module)
    sys.modules["torch"].Tensor = object
    sys.modules["verl.protocol"].DataProto = object
    sys.modules["verl.utils.device"].get_device_name = None
    spec = importlib.util.spec_from_file_location("seqlen_balancing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.get_seqlen_balanced_partitions


def batches(count, folder):
    draw = random.Random(SEED)
    lists = [[int(line) for line in path.read_text().split()]
             for path in sorted(pathlib.Path(folder).glob("*.txt"))]
    for index in range(count):
        equal = index % 2 == 1
        size = round(512 * 16 ** draw.random())
        bins = draw.choice([k for k in (8, 16, 32, 64, 128, 256, 512) if 4 * k <= size])
        if equal:
            size -= size % bins
        source, limit = draw.choice(lists), draw.choice((8192, 32768, 131072))
        yield bins, equal, [min(limit, draw.choice(source)) for _ in range(size)]


def extremes(costs, partition):
    loads = [sum(costs[i] for i in part) for part in partition]
    return max(loads), min(loads)


def compare(stowage, theirs, bins, equal, lengths):
    costs = [QUADRATIC * s * s + LINEAR * s for s in lengths]
    begin = time.process_time()
    partition = theirs(costs, bins, equal)
    seconds = time.process_time() - begin
    run = subprocess.run([stowage, "partition", "-", "--bins", str(bins), "--log-level", "error",
                          "--counts", "equal" if equal else "any"],
                         input="\n".join(map(str, lengths)), capture_output=True, text=True, check=True)
    answer = json.loads(run.stdout)
    ours = [part["sequences"] for part in answer["bins"]]
    assert sorted(i for part in ours for i in part) == list(range(len(lengths)))
    assert not equal or len({len(part) for part in ours}) == 1
    largest, smallest = extremes(costs, ours)
    assert (largest, smallest) == (answer["largest"], answer["smallest"])
    most, least = extremes(costs, partition)
    return {"equal": equal, "worse": (largest, -smallest) > (most, -least),
            "optimal": largest == answer["lower_bound"], "one": largest == max(costs),
            "gap": answer["gap"], "their gap": 1 - answer["lower_bound"] / most,
            "spread": (most - least + 1) / (largest - smallest + 1),
            "their ms": 1000 * seconds, "ms": 1000 * answer["seconds"],
            "faster": seconds / answer["seconds"]}


def row(name, some):
    middle = lambda key: statistics.median(each[key] for each in some)
    count = lambda key: sum(each[key] for each in some)
    total = sum(each["their ms"] for each in some) / sum(each["ms"] for each in some)
    return (f"| {name} | {len(some)} | {count('worse')} | {count('optimal')} | {middle('gap'):.1e} | "
            f"{middle('their gap'):.1e} | {middle('spread'):.3g} | {middle('ms'):.2f} | "
            f"{middle('their ms'):.1f} | {middle('faster'):.0f} | {total:.0f} |")


def main():
    stowage, file, folder = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    theirs = their_function(file)
    all_of = [compare(stowage, theirs, *batch) for batch in batches(count, folder)]
    print("| batches | number | worse than verl | largest bin proven optimal | gap | verl's gap | "
          "spread of verl's, times ours | ms | verl's ms | times faster | of all together |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    print(row("all", all_of))
    print(row("any counts", [each for each in all_of if not each["equal"]]))
    print(row("equal counts", [each for each in all_of if each["equal"]]))
    decided = [each for each in all_of if not each["one"]]
    print(row("no sequence is a largest bin alone", decided))


if __name__ == "__main__":
    main()
