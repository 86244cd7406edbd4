#!/usr/bin/env python3
"""Runs the cases of repaired faults again: replay.py STOWAGE CASE...

Exit code: 0 no case shows a fault, 1 some cases do.
"""

import pathlib
import sys

from trial import Trial, judge


def main():
    stowage = pathlib.Path(sys.argv[1]).resolve()
    failed = 0
    for path in map(pathlib.Path, sys.argv[2:]):
        for fault in judge(stowage, Trial.from_json(path.read_text())):
            print(f"{path.name}: {fault.kind}\n{fault.text}", flush=True)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
