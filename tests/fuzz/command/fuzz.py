#!/usr/bin/env python3
"""Runs the command on unusual documents and flags, and checks its answers.

  fuzz.py STOWAGE SECONDS [--seed N] [--jobs N] [--work DIR] [--only KIND]

Every trial is drawn from the seed and its number: equal seeds give equal trials. A fault is a
signal, a report of a sanitizer, an exit code that is not documented, an answer that verify refuses,
a document that its readers refuse, a control character in an output, or a search that does not end.
A fault is reduced and written to DIR/findings as a case that replay.py runs; once the fault is
repaired, the case belongs in tests/fuzz/cases.

Exit code: 0 no fault was found, 1 a fault was found, 2 the run itself failed.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import shutil
import sys
import threading
import time

from pool import Pool
from shrink import Shrinker
from trial import Runs, judge
from trials import Trials

SHRINK_S = 60  # seconds to shrink one fault
MOST_FAULTS = 40


def arguments():
    parser = argparse.ArgumentParser(add_help=False, usage=__doc__)
    parser.add_argument("stowage", type=pathlib.Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/fuzz"))
    parser.add_argument("--only")
    given = parser.parse_args()
    given.stowage = given.stowage.resolve()
    if given.seed is None:
        given.seed = random.SystemRandom().randrange(10 ** 9)
    return given


class Fuzzing:
    def __init__(self, given):
        self.given = given
        self.runs, self.lock = Runs(), threading.Lock()
        self.faults = {}  # the first trial and fault of each kind
        self.seen = collections.Counter()
        self.trials = 0

    def one(self, number_and_trial):
        _, trial = number_and_trial
        runs = Runs()
        faults = judge(self.given.stowage, trial, runs)
        with self.lock:
            self.trials += 1
            self.runs.add(runs)
            for fault in faults:
                self.seen[fault.kind] += 1
                if fault.kind not in self.faults:
                    self.faults[fault.kind] = (trial, fault)
                    print(f"fuzz: {fault.kind}: {' '.join(trial.commands[fault.number]['arguments'])[:200]}\n"
                          f"{fault.text[-400:]}", flush=True)

    def run(self, trials):
        """Draws trials until the time is over."""
        end = time.monotonic() + self.given.seconds
        with concurrent.futures.ThreadPoolExecutor(self.given.jobs) as workers:
            waiting = set()
            number = 0
            while time.monotonic() < end and len(self.faults) < MOST_FAULTS:
                while len(waiting) < 2 * self.given.jobs:
                    waiting.add(workers.submit(self.one, (number, trials.next())))
                    number += 1
                done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                for each in done:
                    each.result()

    def write_findings(self):
        folder = self.given.work / "findings"
        folder.mkdir(parents=True, exist_ok=True)
        for kind, (trial, _) in self.faults.items():
            small = Shrinker(self.given.stowage, kind, SHRINK_S).shrunk(trial)
            name = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")[:60]
            (folder / f"{name}.json").write_text(small.to_json(kind))
            print(f"fuzz: {self.seen[kind]} times: {kind}; the smallest is {folder / name}.json", flush=True)


def main():
    given = arguments()
    print(f"fuzz: the command, seed {given.seed}", flush=True)
    pool_directory = given.work / "pool"
    shutil.rmtree(pool_directory, ignore_errors=True)
    trials = Trials(given.stowage, Pool(given.stowage, pool_directory.resolve()), random.Random(given.seed))
    if given.only:
        trials.kinds = (getattr(trials, given.only),)
    fuzzing = Fuzzing(given)
    fuzzing.run(trials)
    codes = ", ".join(f"{count} ended with {code}" for code, count in sorted(
        fuzzing.runs.codes.items(), key=lambda item: str(item[0])) if code is not None)
    print(f"fuzz: {fuzzing.trials} trials, {fuzzing.runs.commands} commands: {codes}; {len(fuzzing.runs.slow)} were "
          f"ended after a while, {fuzzing.runs.memory} had no memory; {len(trials.seen)} of {len(trials.places)} "
          "places of instances", flush=True)
    for words in fuzzing.runs.slow[:10]:
        print(f"fuzz: ended after a while: {words[:300]}", flush=True)
    print(f"fuzz: verify --strict judged {fuzzing.runs.strict} answers; valid, but the bound is not proven: "
          f"{fuzzing.runs.unproven or 'none'}", flush=True)
    fuzzing.write_findings()
    print(f"fuzz: {len(fuzzing.faults)} kinds of faults", flush=True)
    return 1 if fuzzing.faults else 0


if __name__ == "__main__":
    sys.exit(main())
