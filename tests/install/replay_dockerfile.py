#!/usr/bin/env python3
"""Replays the steps of the Dockerfile without Docker: each stage is a root file system that debootstrap
has just made, and each RUN a chroot into it. Needs root, debootstrap and a Debian archive; not part of
./dev test.

usage: replay_dockerfile.py FOLDER [ARCHIVE]

The stages are made in FOLDER, which must not hold any; a FOLDER/debian that debootstrap has made is used.
ARCHIVE is the URL of a Debian archive, default the first of apt's own sources. The context is a clone of
the commit that is checked out. The entry point of the last stage plans and verifies a step at the end.

What this machine needs to reach the archive and PyPI is copied into each stage: resolv.conf, apt's
options, certificates, and pip's settings. It stands in for the network of Docker.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KNOWN = ("FROM", "RUN", "WORKDIR", "COPY", "ENTRYPOINT")
NETWORK = ("etc/resolv.conf", "etc/apt/apt.conf.d", "etc/ssl/certs", "etc/xdg/pip", "usr/share/ca-certificates",
           "usr/local/share/ca-certificates")
STEP = "instances/data/scatter/tiny/mixed.json"


def run(*command, **more):
    words = [str(word) for word in command]
    if subprocess.run(words, **more).returncode != 0:
        sys.exit(f"replay_dockerfile: {' '.join(words)[:300]} failed")


def steps(text):
    """Returns pairs of instruction and arguments; lines that end with a backslash go on."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    found = []
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.strip().partition(" ")
        if word not in KNOWN:
            sys.exit(f"replay_dockerfile: {word} is not replayed")
        found.append((word, rest.strip()))
    return found


class Stage:
    def __init__(self, root, base):
        self.root, self.folder, self.entry = root, "/", []
        run("cp", "-a", base, root)  # devices as devices
        run("mount", "-t", "proc", "proc", root / "proc")
        run("mount", "--bind", "/dev", root / "dev")

    def run(self, *words, folder=None):
        """Runs words in the stage; the folder and the words are arguments of a shell of its own."""
        run("chroot", self.root, "/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder or self.folder, *words)

    def copy(self, rest, stages, context):
        words = rest.split()
        source = context
        if words[0].startswith("--from="):
            source = stages[words.pop(0).removeprefix("--from=")].root
        origin, target = words
        into = pathlib.Path(self.folder, target)
        run("cp", "-a", f"{source / origin.lstrip('/')}/.", self.root / str(into).lstrip("/"))

    def close(self):
        for name in ("dev", "proc"):
            subprocess.run(["umount", self.root / name], check=False)


def base_of(work, archive):
    base = work / "debian"
    if not base.exists():
        print(f"debootstrap of bookworm from {archive}", flush=True)
        with open(work / "debootstrap.log", "w", encoding="utf-8") as log:
            run("debootstrap", "--variant=minbase", "bookworm", base, archive, stdout=log)
    for name in NETWORK:
        if pathlib.Path("/", name).exists():
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            run("cp", "-aT", f"/{name}", base / name)
    return base


def main():
    work = pathlib.Path(sys.argv[1]).resolve()
    work.mkdir(parents=True, exist_ok=True)
    archive = sys.argv[2] if len(sys.argv) > 2 else next(
        line for line in subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"],
                                        capture_output=True, text=True, check=True).stdout.splitlines()
        if not line.startswith("file:"))
    context = work / "context"
    run("git", "clone", "-q", ROOT, context)
    base, stages, stage = base_of(work, archive), {}, None
    os.environ |= {"DEBIAN_FRONTEND": "noninteractive"}
    try:
        for number, (word, rest) in enumerate(steps((ROOT / "Dockerfile").read_text(encoding="utf-8"))):
            print(f"{word} {rest}", flush=True)
            began = time.monotonic()
            if word == "FROM":
                image, _, name = rest.partition(" AS ")
                if not image.startswith("debian:12"):
                    sys.exit(f"replay_dockerfile: {image} is not replayed")
                stage = stages[name or str(number)] = Stage(work / f"stage-{len(stages)}", base)
            elif word == "WORKDIR":
                (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
                stage.folder = rest
            elif word == "COPY":
                stage.copy(rest, stages, context)
            elif word == "RUN":
                stage.run("/bin/sh", "-c", rest)
            else:
                stage.entry = json.loads(rest)
            print(f"  {time.monotonic() - began:.0f} s", flush=True)
        (stage.root / "data").mkdir()
        shutil.copy(ROOT / STEP, stage.root / "data/step.json")
        for words in (["--version"], ["solve", "step.json", "-t", "2", "-o", "plan.json"],
                      ["verify", "step.json", "plan.json"], ["run", "step.json", "plan.json", "--work", "0.1"]):
            print(f"{' '.join(stage.entry + words)}", flush=True)
            stage.run(*stage.entry, *words, folder="/data")
        stage.run("/opt/stowage/bin/stowage", "solve", "/data/step.json", "--log-level", "error")
    finally:
        for made in stages.values():
            made.close()
    print("replay_dockerfile: all steps passed")


if __name__ == "__main__":
    main()
