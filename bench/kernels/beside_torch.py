"""Times the kernels beside torch's best form of the same work, on one core, and prints a table.

    ./dev bench torch [--level v3] [--rounds 7] [--part PATTERN] [--json FILE]

All forms of all works of a part of the table run in every round, in a new random order, on the
last core and with one thread. Each round also measures multiply-adds in registers, the limit of
every kernel. The results of all forms are compared first. Times are CPU times of the process; of
each form the median of the rounds counts, and the form of torch with the least median is torch's
best. The exit code is 1 if results differ, 0 otherwise: what the table asks for is not a condition.
"""

import argparse
import itertools
import json
import os
import platform
import random
import re
import statistics
import time

import torch
import torch._functorch.config

from own_works import LEVELS, OwnKernels
from torch_works import OWN, parts

RUN_SECONDS = 0.02  # a form is repeated until its runs in a round take this long


def results(value):
    return [value] if torch.is_tensor(value) else list(value)


def differences(work):
    """Returns what is wrong with the results of a work's forms, a sentence each."""
    wanted = None
    for form, run in work.forms.items():
        found = [x.detach().clone() for x in results(run())]
        wanted = wanted or found
        for place, (have, want) in enumerate(zip(found, wanted)):
            apart = ((have - want).abs().max() / want.abs().max()).item()
            if not apart <= work.tolerance:
                yield f"{work.name}: result {place} of '{form}' is off by {apart:.1e}"


def seconds(run):
    """Returns the CPU seconds of a run, as the mean of several."""
    count, start = 0, time.process_time()
    while True:
        run()
        count += 1
        took = time.process_time() - start
        if took >= RUN_SECONDS:
            return took / count


def timed(own, part, rounds, generator):
    """Returns the seconds of each form of each work, a list by round, and the limit in FLOP/s."""
    times = {(i, form): [] for i, work in enumerate(part) for form in work.forms}
    peaks = []
    for _ in range(rounds):
        order = [*times, None, None]  # None: the limit
        generator.shuffle(order)
        for piece in order:
            if piece is None:
                peaks.append(own.multiply_add() / seconds(own.multiply_add))
            else:
                i, form = piece
                times[piece].append(seconds(part[i].forms[form]))
    return times, statistics.median(peaks)


def rows(part, times, peak):
    for i, work in enumerate(part):
        median = {form: statistics.median(times[i, form]) for form in work.forms}
        fastest = {form: min(times[i, form]) for form in work.forms}
        theirs = [form for form in work.forms if form != OWN]
        best = min(theirs, key=median.get)
        yield {
            "work": work.name,
            "ours_ms": 1e3 * median[OWN],
            "torch_ms": 1e3 * median[best],
            "form": best,
            "ratio": median[best] / median[OWN],
            "ratio_of_fastest": min(fastest[form] for form in theirs) / fastest[OWN],
            "at_least": work.at_least,
            "share": work.flop / median[OWN] / peak if work.flop else None,
            "share_at_least": work.share,
        }


def percent(share):
    return "" if share is None else f"{100 * share:.0f} %"


def print_table(name, found, peak):
    print(f"\n**{name}** (limit: {1e-9 * peak:.1f} GFLOP/s)\n")
    print("| work | ours, ms | torch, ms | torch's best | times as fast | fastest runs | asked "
          "| share of the limit | asked | |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---:|---|")
    for row in found:
        met = row["ratio"] >= row["at_least"] and (row["share"] or 0) >= (row["share_at_least"] or 0)
        print(f"| {row['work']} | {row['ours_ms']:.3f} | {row['torch_ms']:.3f} | {row['form']} "
              f"| {row['ratio']:.2f} | {row['ratio_of_fastest']:.2f} | {row['at_least']:.2f} "
              f"| {percent(row['share'])} | {percent(row['share_at_least'])} "
              f"| {'' if met else '**no**'} |", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", help="libstowage_bench_works.so")
    parser.add_argument("--level", choices=LEVELS, help="instruction set; default: the widest")
    parser.add_argument("--rounds", type=int, default=7, help="default 7")
    parser.add_argument("--part", default="", help="regular expression: parts with this name")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the runs; default 1")
    parser.add_argument("--json", help="write the rows and all times to this file")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: must be at least 1")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    torch._functorch.config.donated_buffer = False  # backward passes run again on one graph
    own = OwnKernels(options.library, options.level)
    generator = random.Random(options.seed)
    print(f"torch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()}) beside level "
          f"{own.level}, rounds: {options.rounds}, one core, {platform.machine()}")
    written, wrong = [], []
    for name, works in parts(own).items():
        if not re.search(options.part, name):
            continue
        torch.manual_seed(1)
        part = works()
        wrong += itertools.chain.from_iterable(map(differences, part))
        times, peak = timed(own, part, options.rounds, generator)
        found = list(rows(part, times, peak))
        print_table(name, found, peak)
        for i, row in enumerate(found):
            forms = {form: times[i, form] for form in part[i].forms}
            written.append({"part": name, **row, "limit_flop_per_s": peak, "seconds": forms})
    for sentence in wrong:
        print(sentence)
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"torch": torch.__version__, "level": own.level, "rows": written}, out)
            out.write("\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
