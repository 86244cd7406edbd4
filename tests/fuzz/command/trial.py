"""A trial: files, and commands that run on them one after another. judge() returns the faults.

A command is {"arguments": [...], "stdout": FILE, "codes": [...], "after": N, "ended": CODE}. Its
stdout goes to FILE if given. Its exit code must be one of `codes` if given. With `after` the
command runs only if command number N ended with the exit code CODE, by default 0.
"""

import base64
import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile

import hostile

DOCUMENTED = (0, 1, 2, 3)
TIMEOUT_S = 40  # of a command; those that are given a limit are given a short one
# Commands without a limit of their own, whose input may be as large as the flags allow.
UNLIMITED = ("generate", "calibrate", "convert", "configure", "run", "plan-stream", "propose", "partition", "fit",
             "export", "import")
SANITIZER = re.compile(r"(ERROR: \w+Sanitizer: [\w-]+|runtime error: .*|WARNING: \w+Sanitizer: .*)")
NO_MEMORY = re.compile(r"no memory|out of memory|bad_alloc|hard rss limit|allocation-size-too-big|out-of-memory")
# A build without a backend refuses commands that name it.
NO_BACKEND = re.compile("this build has no '")
# Answers that are no JSON.
NOT_JSON = {"man", "completion", "plan-stream", "export"}
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0:hard_rss_limit_mb=3000:exitcode=99",
               "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99", "TERM": "dumb"}


class Fault:
    """A fault: its `kind`, equal for equal faults, the number of the command that showed it, and
    its text."""

    def __init__(self, kind, number, text):
        self.kind, self.number, self.text = kind, number, text


class Trial:
    def __init__(self, files, commands):
        self.files, self.commands = files, commands

    def to_json(self, found):
        files = {}
        for name, content in self.files.items():
            try:
                files[name] = content.decode()
            except UnicodeDecodeError:
                files[name] = {"base64": base64.b64encode(content).decode()}
        return json.dumps({"found": found, "files": files, "commands": self.commands}, indent=1) + "\n"

    @staticmethod
    def from_json(text):
        case = json.loads(text)
        files = {name: base64.b64decode(content["base64"]) if isinstance(content, dict) else content.encode()
                 for name, content in case["files"].items()}
        return Trial(files, case["commands"])


class Runs:
    """Statistics for the report."""

    def __init__(self):
        self.commands = 0
        self.codes = {}
        self.slow = []  # commands that were ended after TIMEOUT_S
        self.memory = 0
        self.strict = 0  # number of answers that verify --strict checked
        # answers that verify --strict calls valid, by the bound that it does not prove
        self.unproven = {}

    def add(self, other):
        self.commands += other.commands
        self.strict += other.strict
        self.slow += other.slow
        self.memory += other.memory
        for mine, others in ((self.codes, other.codes), (self.unproven, other.unproven)):
            for key, count in others.items():
                mine[key] = mine.get(key, 0) + count


def run(stowage, arguments, directory):
    """Returns exit code (negative for a signal, None after TIMEOUT_S), stdout and stderr."""
    try:
        done = subprocess.run([stowage, *[os.fsencode(word) for word in arguments]], cwd=directory,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
                              env={**os.environ, **ENVIRONMENT})
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        return None, late.stdout or b"", late.stderr or b""


def finite(value):
    """Returns whether all numbers of a document are finite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(finite(member) for member in value.values())
    if isinstance(value, list):
        return all(finite(element) for element in value)
    return True


def output_name(arguments):
    for flag in ("-o", "--output"):
        if flag in arguments[:-1]:
            return arguments[arguments.index(flag) + 1]
    return None


def steered(content):
    return hostile.steering_at(content.decode("utf-8", "surrogateescape"))


def quoted(content, at):
    return repr(content.decode("utf-8", "surrogateescape")[max(0, at - 40):at + 40])


def json_faults(command, arguments, code, out):
    """Yields kind and text of the faults of a document on stdout."""
    if not out or command in NOT_JSON or arguments[0] == "compare" and "--format" in arguments:
        return
    if arguments[0] in ("convert", "generate", "propose", "import") and code == 0:
        return  # an instance or a table, which the commands that read it check
    try:
        answer = json.loads(out)
    except (ValueError, RecursionError):
        yield "stdout is no JSON", out[:300].decode("utf-8", "replace")
        return
    if not finite(answer):
        yield "a number of stdout is not finite", out[:300].decode("utf-8", "replace")
    if not isinstance(answer, dict):
        return
    if answer.get("exit_code", code) != code:
        yield "the answer names another exit code", f"{answer['exit_code']}, not {code}"
    if answer.get("format") == "stowage/outcome":
        if answer.get("violations"):
            yield "a candidate was rejected", str(answer["violations"])[:300]
        if answer.get("status") == "error" and not answer.get("errors"):
            yield "a search ended in an error", str(answer.get("detail"))[:300]
        for unit in ("_ms", "_bytes"):
            bound, objective = answer.get("bound" + unit), answer.get("objective" + unit)
            if bound is not None and objective is not None and bound > objective:
                yield "a bound above its plan", f"{bound} > {objective}"


def where(err):
    """Returns the first function of stowage in a sanitizer's report, or ""."""
    found = re.search(r"#\d+ 0x[0-9a-f]+ in (?:stowage::)([\w:]+)", err)
    return found.group(1) if found else ""


def stream_faults(arguments, code, out, err):
    """Yields kind and text of the faults in a command's exit code, stdout and stderr."""
    command = arguments[0] if arguments else ""
    text = err.decode("utf-8", "surrogateescape")
    report = SANITIZER.search(text)
    if report:
        yield re.sub(r"0x[0-9a-f]+|-?\d[\d.e+-]*", "N", report.group(1)) + " in " + where(text), text[-3000:]
    elif code < 0:
        yield f"signal {signal.Signals(-code).name}", text[-1000:]
    elif code not in DOCUMENTED:
        yield f"exit code {code}", text[-1000:]
    if code == 2 and not err:
        yield "exit code 2 without a word", ""
    for name, content in (("stderr", err), ("stdout", out)):
        if not report and steered(content) >= 0:
            yield f"a control character on {name}", quoted(content, steered(content))
    if code in DOCUMENTED:
        yield from json_faults(command, arguments, code, out)


def file_faults(directory, before, arguments, code):
    """Yields kind and text of the faults of files that a command left: unfinished files, control
    characters."""
    named = output_name(arguments)
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            if re.search(r"\.\d+(\.\d+)?\.tmp$", name) and code >= 0:
                yield "an unfinished file is left", name
            if path in before or name.endswith(".bin"):
                continue
            with open(path, "rb") as file:
                content = file.read()
            if code == 2 and name == named:
                yield "a file in spite of exit code 2", name
            if steered(content) >= 0:
                yield "a control character in a file ." + name.rsplit(".", 1)[-1], quoted(content, steered(content))


def unproven_bound(arguments, code, out):
    """Returns the method of the bound that verify --strict does not prove in a valid answer, or
    None."""
    if arguments[0] != "verify" or "--strict" not in arguments or code != 1:
        return None
    try:
        verdict = json.loads(out)
    except ValueError:
        return None
    return verdict.get("claimed_bound_by") if verdict.get("valid") and not verdict.get("violations") else None


def all_files(directory):
    return {os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names}


def limited(arguments):
    """Returns whether a command must end soon: it has a limit, or no search. `compare --measure`
    runs all plans."""
    return arguments and arguments[0] not in UNLIMITED and "--measure" not in arguments


def judge(stowage, trial, runs=None, only=None):
    """Returns the faults of a trial. With `only` it ends at the first fault of that kind."""
    runs = runs or Runs()
    directory = tempfile.mkdtemp(prefix="stowage-fuzz-")
    faults, codes = [], []
    try:
        for name, content in trial.files.items():
            with open(os.path.join(directory, name), "wb") as file:
                file.write(content)
        for number, command in enumerate(trial.commands):
            after = command.get("after")
            if after is not None and (after >= len(codes) or codes[after] != command.get("ended", 0)):
                codes.append(None)
                continue
            arguments = command["arguments"]
            before = all_files(directory)
            code, out, err = run(stowage, arguments, directory)
            runs.commands += 1
            codes.append(code)
            runs.codes[code] = runs.codes.get(code, 0) + 1
            kinds = []
            runs.strict += arguments[0] == "verify" and "--strict" in arguments
            unproven = unproven_bound(arguments, code, out)
            if unproven:
                runs.unproven[unproven] = runs.unproven.get(unproven, 0) + 1
            if code is None:
                runs.slow.append(" ".join(arguments))
                if limited(arguments):
                    kinds = [("no end", f"still running after {TIMEOUT_S} s")]
            elif code != 0 and NO_MEMORY.search(err.decode("utf-8", "replace")) and not limited(arguments):
                runs.memory += 1
            else:
                kinds = list(stream_faults(arguments, code, out, err))
                kinds += file_faults(directory, before, arguments, code)
                complaint = err.decode("utf-8", "replace")
                refused = "codes" in command and code not in command["codes"] and code in DOCUMENTED
                if refused and not unproven and not NO_BACKEND.search(complaint):
                    kinds.append((f"ends with {code}, not {command['codes']}", complaint[-1500:]))
            if command.get("stdout"):
                with open(os.path.join(directory, command["stdout"]), "wb") as file:
                    file.write(out)
            for kind, text in kinds:
                faults.append(Fault(f"{' '.join(arguments[:1])}: {kind}", number, text))
            if only is not None and any(fault.kind == only for fault in faults):
                break
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return faults
