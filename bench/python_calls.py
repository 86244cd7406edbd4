"""Measures the overhead of the Python package over the C++ call: the table of
bench/results/0.1.0/README.md.

usage: PYTHONPATH=... python3 python_calls.py [STEPS]

Needs an installed stowage package and its bundled lists. Times of import are the median of 9 processes.
Plans: 512 sequences of the lists on 64 devices of the preset gpt-7b, method `fast`. "C++" is the
extension's solve() alone, on an existing instance; "plan" is Planner.plan() from the int64 array to the
Step. Times are CPU seconds of the process, measured alternately. The loop gets its steps by
Planner.stream(ahead=2) or by submit() one step ahead, and works 0.3 s on each step: it sleeps like a
loop that waits for a GPU, or computes in Python, which shares the interpreter with the planning thread.
"""
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import numpy as np

import stowage

LISTS = pathlib.Path(__file__).resolve().parents[1] / "instances" / "data" / "lengths"
WORK_S = 0.3


def batches(count):
    draw = np.random.default_rng(7)
    lists = [np.loadtxt(path, np.int64) for path in sorted(LISTS.glob("*.txt"))]
    for step in range(count):
        yield np.minimum(draw.choice(lists[step % len(lists)], 512), 192_000)


def import_ms():
    code = ("import time, numpy; t = time.perf_counter(); import stowage; "
            "print(1000 * (time.perf_counter() - t))")
    return statistics.median(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(9))


def cpu(call):
    begin = time.process_time()
    call()
    return 1000 * (time.process_time() - begin)


def overhead(planner, steps):
    """Returns the medians of C++ and plan in ms, and of their ratio."""
    pairs = []
    for lengths in batches(steps):
        instance = planner.cluster._instance.with_lengths(lengths, None, "")
        inner = lambda instance=instance: stowage._core.solve(
            instance, planner.search.arguments(), None, stowage._core.Interrupt(), True)
        outer = lambda lengths=lengths: planner.plan(lengths)
        outer()  # puts the lists into the cache of the processor for both
        times = {inner: [], outer: []}
        for _ in range(5):
            for call in (inner, outer):
                times[call].append(cpu(call))
        pairs.append((min(times[inner]), min(times[outer])))
    return (statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs),
            sum(b for _, b in pairs) / sum(a for a, _ in pairs) - 1)


def compute(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(1000))


def waits(source, work):
    """Returns the milliseconds that a loop waits for each step except the first."""
    waited = []
    steps = iter(source)
    while True:
        begin = time.perf_counter()
        if next(steps, None) is None:
            return waited[1:]
        waited.append(1000 * (time.perf_counter() - begin))
        work(WORK_S)


def submitted(planner, steps):
    ahead = None
    for lengths in batches(steps):
        future, ahead = ahead, planner.submit(lengths)
        if future is not None:
            yield future.result()
    yield ahead.result()


def counted_meanwhile(planner):
    """Returns the share of its own speed that a second Python thread keeps while the main thread
    plans."""

    def run(seconds, plan):
        counted, going = [0], [True]

        def count():
            while going[0]:
                counted[0] += 1

        thread = threading.Thread(target=count)
        thread.start()
        end = time.perf_counter() + seconds
        source = batches(10**9)
        while time.perf_counter() < end:
            planner.plan(next(source)) if plan else time.sleep(0.01)
        going[0] = False
        thread.join()
        return counted[0]

    alone = run(2, False)
    return run(2, True) / alone


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with stowage.Planner(stowage.Cluster.preset("gpt-7b", devices=64)) as planner:
        inner, outer, share = overhead(planner, steps)
        rows = [("import after NumPy", f"{import_ms():.0f} ms"),
                ("C++ call, 512 sequences on 64 devices, median", f"{inner:.1f} ms CPU"),
                ("Planner.plan(), the same", f"{outer:.1f} ms CPU"),
                ("more, of all steps together", f"{100 * share:.1f} %")]
        for name, source in (("stream()", lambda: planner.stream(batches(steps))),
                             ("submit()", lambda: submitted(planner, steps))):
            for kind, work in (("sleeping", time.sleep), ("computing in Python", compute)):
                own = waits(source(), work)
                rows.append((f"wait for a step of {name}, {kind} 0.3 s: median, worst",
                             f"{statistics.median(own):.2f}, {max(own):.2f} ms"))
        rows.append(("speed of a second Python thread while the first plans",
                     f"{100 * counted_meanwhile(planner):.0f} %"))
    print("| what | measured |\n|---|---:|")
    for row in rows:
        print("| {} | {} |".format(*row))


if __name__ == "__main__":
    main()
