"""Compares balanced partitions with verl's: the table of bench/results/0.1.0/README.md.

usage: PYTHONPATH=build/release/python python bench/partition.py SEQLEN_BALANCING LENGTHS [BATCHES]

SEQLEN_BALANCING is the file verl/utils/seqlen_balancing.py of an unpacked verl (`pip download verl
--no-deps`), LENGTHS the folder of bundled lists. verl's function is called unchanged; stowage's is
that of stowage.verl, which replaces it. Both take the list of costs from verl's trainer and return
lists of indices. verl's file imports torch and parts of verl that partitioning does not use; empty
modules replace them.

Batches have 512 to 8,192 sequences of the bundled lists, cut at 8K, 32K or 128K tokens, and 8 to 512
bins with four sequences a bin or more; every other one asks for equal counts. Times are CPU times of
this process, of one call each.
"""
import importlib.util
import pathlib
import random
import statistics
import sys
import time
import types

SEED = 7
QUADRATIC, LINEAR = 1, 24576
NAME = "get_seqlen_balanced_partitions"


def functions(path):
    """Returns verl's function and stowage's."""
    names = ["torch", "torch.distributed", "verl", "verl.protocol", "verl.utils",
             "verl.utils.device", "verl.utils.tensordict_utils", "verl.utils.seqlen_balancing"]
    spec = importlib.util.spec_from_file_location(names[-1], path)
    made = {name: types.ModuleType(name) for name in names[:-1]}
    made[names[-1]] = importlib.util.module_from_spec(spec)
    for name, module in made.items():
        sys.modules[name] = module
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], leaf, module)
    sys.modules["torch"].Tensor = object
    sys.modules["verl.protocol"].DataProto = object
    sys.modules["verl.utils.device"].get_device_name = None
    spec.loader.exec_module(made[names[-1]])
    import stowage.verl
    return getattr(made[names[-1]], NAME), getattr(stowage.verl, NAME)


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


def timed(function, *arguments):
    begin = time.process_time()
    made = function(*arguments)
    return made, time.process_time() - begin


def extremes(costs, partition):
    loads = [sum(costs[i] for i in part) for part in partition]
    return max(loads), min(loads)


def compare(theirs, ours, bins, equal, lengths):
    import stowage
    costs = [QUADRATIC * s * s + LINEAR * s for s in lengths]
    partition, seconds = timed(theirs, costs, bins, equal)
    own, own_seconds = timed(ours, costs, bins, equal)
    assert sorted(i for part in own for i in part) == list(range(len(lengths)))
    assert not equal or len({len(part) for part in own}) == 1
    proof = stowage.balanced_partitions(lengths, bins, counts="equal" if equal else "any")
    largest, smallest = extremes(costs, own)
    most, least = extremes(costs, partition)
    assert (largest, smallest) == (proof.largest, proof.smallest)
    return {"equal": equal, "worse": (largest, -smallest) > (most, -least),
            "optimal": largest == proof.lower_bound, "one": largest == max(costs),
            "gap": proof.gap, "their gap": 1 - proof.lower_bound / most,
            "spread": (most - least + 1) / (largest - smallest + 1),
            "their ms": 1000 * seconds, "ms": 1000 * own_seconds, "faster": seconds / own_seconds}


def row(name, some):
    middle = lambda key: statistics.median(each[key] for each in some)
    count = lambda key: sum(each[key] for each in some)
    return (f"| {name} | {len(some)} | {count('worse')} | {count('optimal')} | {middle('gap'):.1e} | "
            f"{middle('their gap'):.1e} | {middle('spread'):.3g} | {middle('ms'):.2f} | "
            f"{middle('their ms'):.1f} | {middle('faster'):.0f} | "
            f"{min(each['faster'] for each in some):.0f} | {count('their ms') / count('ms'):.0f} |")


def main():
    file, folder = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    theirs, ours = functions(file)
    for function in (theirs, ours):
        function([3, 2, 1], 2, False)
    all_of = [compare(theirs, ours, *batch) for batch in batches(count, folder)]
    print("| batches | number | worse than verl | largest bin proven optimal | gap | verl's gap | "
          "spread of verl's, times ours | CPU ms | verl's CPU ms | times faster: median | least | "
          "all together |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    print(row("all", all_of))
    print(row("any counts", [each for each in all_of if not each["equal"]]))
    print(row("equal counts", [each for each in all_of if each["equal"]]))
    decided = [each for each in all_of if not each["one"]]
    print(row("no sequence is a largest bin alone", decided))


if __name__ == "__main__":
    main()
