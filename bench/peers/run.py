"""Runs other solvers on stowage's instances: the tables of bench/results/0.1.0/README.md.

usage: python bench/peers/run.py STOWAGE FOLDER [--seconds S] [--only NAME] [--results FILE] [--beside STOWAGE]

STOWAGE is the command; `auto` of a second one, such as a wheel's with HiGHS, has a row of its own. FOLDER
receives all files: instances, models, solutions, plans. SCIP, HiGHS, CBC and CP-SAT get the MILPs that
`stowage export` writes, the strengthened one and, where there is one, the published one; CP-SAT and
omnimalloc place the buffers of layouts as well. `stowage import` converts the solutions, and every plan
must pass `stowage verify`. The objective in the table is the verifier's, not the solver's. Bounds are the
solvers' own. For an assign step the model is of one strategy, that of the plan of `fast`.

Each solver gets S seconds of wall clock (default 10) and one thread. Times are CPU times.
"""
import argparse
import json
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layouts
import models
from answer import Answer
from table import table

HERE = pathlib.Path(__file__).resolve().parents[2]
DATA = HERE / "instances" / "data"
LISTS = ("chat_sharegpt", "code_files", "arxiv_long", "laws_de", "docs_md", "mix_longalign_style")


def drawn(*words, source=None):
    """Generates instances with `stowage generate`, from a bundled list if `source` names one; seed
    1."""
    lengths = ("--lengths", f"instances/data/lengths/{source}.txt", "--sample") if source else ()
    return ("generate", *words, *lengths, "--seed", "1")


# By family: generated or bundled instances.
SUITE = {
    "scatter": [drawn("scatter", "--devices", devices, "--count", count, source=source)
                for (devices, count), source in zip(
                    [("8", "16"), ("8", "24"), ("16", "24"), ("16", "48"), ("16", "64"), ("32", "96")],
                    LISTS)] + [DATA / "scatter/real/7b-16gpu-192k-code-2.json"],
    "assign": [drawn("assign", "--preset", preset, "--tokens", tokens, source=source)
               for (preset, tokens), source in zip(
                   [("llama-7b", "10k"), ("llama-7b", "20k"), ("llama-13b", "40k"), ("llama-13b", "40k"),
                    ("llama-32b", "40k"), ("llama-32b", "60k")], LISTS)],
    "layout": [drawn("layout", "--kind", kind, "--buffers", buffers) for kind, buffers in
               [("guillotine", "30"), ("guillotine", "60"), ("random", "40"), ("random", "100"),
                ("short-lived", "150")]] +
              [DATA / f"layout/real/minimalloc-{letter}.json" for letter in "abcefhj"],
    "order": [drawn("order", "--kind", kind, "--operators", operators) for kind, operators in
              [("layered", "20"), ("layered", "40"), ("layered", "30"), ("layered", "80"),
               ("randwire", "32")]],
}
FLAGS = {"scatter": {"ours": (), "published": ("--published",)},
         "assign": {"exact": ("--exact",)},
         "layout": {"ours": (), "published": ("--published",)},
         "order": {"ours": ()}}
MOST_COLUMNS = 60_000  # columns; a larger model is omitted, and the table says so
UNITS = {"layout": "bytes", "order": "bytes"}


class Runner:
    def __init__(self, stowage, folder, seconds, beside=None):
        self.stowage, self.folder, self.seconds, self.beside = stowage, folder, seconds, beside
        self.plan = {}  # the last plan of stowage
        folder.mkdir(parents=True, exist_ok=True)

    def call(self, *words, stowage=None):
        """Returns the command's answer, or None if it has none."""
        done = subprocess.run([stowage or self.stowage, *map(str, words)], capture_output=True, text=True, check=False)
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            answer = None
        return answer if done.returncode in (0, 3) else None

    def instance(self, family, index, given):
        if isinstance(given, pathlib.Path):
            return given
        path = self.folder / f"{family}-{index}.json"
        words = [self.stowage, *given, "-o", path]
        subprocess.run(words, check=True, cwd=HERE, stderr=subprocess.DEVNULL)
        return path

    def verified(self, family, path, plan):
        verdict = self.call("verify", path, plan) if plan else None
        if verdict is None or not verdict["valid"]:
            return None
        return verdict["objective_" + UNITS.get(family, "ms")]

    def ours(self, family, path, method, stowage=None):
        plan = self.folder / "plan.json"
        plan.unlink(missing_ok=True)
        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        outcome = self.call("solve", path, "--method", method, "-t", self.seconds, "-o", plan, stowage=stowage)
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began
        unit = UNITS.get(family, "ms")
        found = outcome is not None and outcome["plan"] is not None
        if found:
            self.plan = outcome["plan"]
        return Answer(outcome["status"] if outcome else "none", plan if found else None,
                      outcome["bound_" + unit] if outcome else None, took)

    def by_model(self, path, solve, flags):
        model, solution, plan = (self.folder / name for name in ("model.mps", "model.sol", "plan.json"))
        for file in (model, solution, plan):
            file.unlink(missing_ok=True)
        written = self.call("export", path, "-o", model, *flags)
        if written is None or written["columns"] > MOST_COLUMNS:
            return Answer("no model" if written is None else "too large", None, None, 0)
        answer = solve(model, solution, self.seconds)
        if answer.plan is not None and self.call("import", path, solution, "-o", plan, *flags) is None:
            answer = Answer(answer.status + ", solution refused", None, answer.bound, answer.seconds)
        elif answer.plan is not None:
            answer.plan = plan
        return answer

    def peers(self, family, path):
        yield "stowage auto", "", lambda: self.ours(family, path, "auto")
        if self.beside:
            yield "stowage auto beside", "", lambda: self.ours(family, path, "auto", self.beside)
        yield "stowage fast", "", lambda: self.ours(family, path, "fast")
        for model, flags in FLAGS[family].items():
            for name, solve in models.ALL.items():
                yield name, model, lambda s=solve, f=flags: self.by_model(path, s, f)
        if family == "layout":
            document = json.loads(path.read_text(encoding="utf-8")) | {"hash": self.plan["instance_hash"]}
            for name, place in layouts.ALL.items():
                plan = self.folder / "plan.json"
                plan.unlink(missing_ok=True)
                yield name, "its own", lambda p=place: p(document, self.folder / "plan.json", self.seconds)

    def rows(self, only):
        for family, all_given in SUITE.items():
            for index, given in enumerate(all_given):
                path = self.instance(family, index, given)
                name = json.loads(path.read_text(encoding="utf-8"))["name"]
                if only and only not in name and only != family:
                    continue
                for peer, model, run in self.peers(family, path):
                    answer = run()
                    row = {"family": family, "instance": name, "peer": peer, "model": model,
                           "status": answer.status, "objective": self.verified(family, path, answer.plan),
                           "bound": answer.bound, "cpu_seconds": round(answer.seconds, 3)}
                    if peer == "stowage auto":  # True if this plan solves an exported model
                        row["micro_batches"] = len(self.plan.get("micro_batches", ()))
                        row["strategy"] = self.plan.get("strategy")
                    print(f"{name}  {peer} {model}: {row['status']}, {row['objective']}, "
                          f"bound {row['bound']}, {row['cpu_seconds']} s", file=sys.stderr, flush=True)
                    yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("stowage", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", help="a family, or a part of an instance's name")
    parser.add_argument("--beside", type=pathlib.Path, metavar="STOWAGE", help="a second command")
    parser.add_argument("--results", type=pathlib.Path, help="one JSON line each")
    given = parser.parse_args()
    rows = []
    beside = given.beside and given.beside.absolute()
    for row in Runner(given.stowage.resolve(), given.folder.resolve(), given.seconds, beside).rows(given.only):
        rows.append(row)
        if given.results:
            with given.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    if not rows:
        sys.exit(f"no instance is called like '{given.only}'")
    print(table(rows))


if __name__ == "__main__":
    main()
