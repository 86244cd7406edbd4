#!/usr/bin/env python3
"""Tests that the checks of the fuzzer detect faults: oracle_test.py DIR, with commands that answer
wrongly."""

import os
import pathlib
import sys
import tempfile

import documents
import hostile
from shrink import Shrinker
from trial import Trial, judge

# Faults of a command, and a part of the expected report.
WRONG = {
    "kill -SEGV $$": "signal SIGSEGV",
    "exit 70": "exit code 70",
    "exit 130": "exit code 130",
    "exit 2": "exit code 2 without a word",
    "echo 'runtime error: division by zero' >&2; exit 1": "runtime error",
    "echo 'ERROR: AddressSanitizer: heap-buffer-overflow' >&2; exit 99": "AddressSanitizer",
    "printf 'a\\033[1m' >&2": "a control character on stderr",
    "printf '\\342\\200\\256' >&2": "a control character on stderr",
    "printf 'n\\noptimal  1 B  verified\\n' >&2": "a control character on stderr",
    "printf '\\377' >&2": "a control character on stderr",
    "printf '{\"a\": \"\\302\\233\"}'": "a control character on stdout",
    "printf '{'": "stdout is no JSON",
    "printf '{\"bound_ms\": 1e999}'": "not finite",
    "printf '{\"exit_code\": 1}'": "another exit code",
    "printf '{\"format\": \"stowage/outcome\", \"bound_ms\": 3, \"objective_ms\": 2}'": "a bound above its plan",
    "printf '{\"format\": \"stowage/outcome\", \"violations\": [1]}'": "a candidate was rejected",
    "printf 'a\\033' >p.svg": "a control character in a file .svg",
    "echo >plan.json.77.tmp": "an unfinished file is left",
    "echo >plan.json; echo bad >&2; exit 2": "a file in spite of exit code 2",
    "exit 3": "ends with 3, not [0]",
}


def check(holds, what):
    if not holds:
        print(f"failed: {what}")
        sys.exit(1)


def kinds(stowage, body, trial):
    stowage.write_text(f"#!/bin/sh\n{body}\n")
    stowage.chmod(0o755)
    return [fault.kind for fault in judge(stowage, trial)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        stowage = pathlib.Path(folder) / "stowage"
        trial = Trial({"in.json": b"{}"}, [{"arguments": ["solve", "in.json", "-o", "plan.json"], "codes": [0]}])
        for body, part in WRONG.items():
            check(any(part in kind for kind in kinds(stowage, body, trial)), f"{body}: {part}")
        check(kinds(stowage, "printf '{\"exit_code\": 0}'; echo fine >&2", trial) == [], "a right answer has no fault")
        # A command that crashes for one member of one file together with one flag.
        stowage.write_text("#!/bin/sh\ngrep -q odd in.json && [ \"$3\" = --seed ] && kill -SEGV $$\nexit 0\n")
        large = Trial({"in.json": b'{"a": [1, 2, 3], "b": {"odd": 4, "c": 5}}', "other.json": b"{}"},
                      [{"arguments": ["verify", "x"]},
                       {"arguments": ["solve", "in.json", "--seed", "--timeless", "--strict"]}])
        small = Shrinker(stowage, "solve: signal SIGSEGV", 30).shrunk(large)
        check(list(small.files) == ["in.json"] and len(small.commands) == 1, "the shrunk trial is small")
        check(small.commands[0]["arguments"] == ["solve", "in.json", "--seed"], small.commands)
        check(b"odd" in small.files["in.json"] and len(small.files["in.json"]) < 20, small.files)
    # Numbers keep their text, and invalid texts are passed on.
    text = b'{"a": [1e400, 18446744073709551617, 5e-324], "b": "\\ud800"}'
    check(documents.dump(documents.parse(text)) == text, documents.dump(documents.parse(text)))
    check(all(hostile.steering_at(chr(first)) == 0 for first, _ in hostile.STEERING), "what steers is seen")
    check(hostile.steering_at("caf\u00e9\nline") == -1, "letters do not steer")
    print("all oracles see what they are for", os.path.basename(sys.argv[0]))


main()
