"""Creates the bundled models: MILPs of the suite for other solvers, with their best known
objectives.

usage: python bench/peers/bundle.py STOWAGE RESULTS

RESULTS is the output of run.py with --results. The script rebuilds instances/data/models: each model of
the suite of at most 140 kB as .mps.gz, and README.md with its best known objective and lower bound.
Bounds of CP-SAT are omitted, because it rounds the coefficients.
"""
import gzip
import json
import pathlib
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from run import FLAGS, HERE, SUITE, Runner

FOLDER = HERE / "instances" / "data" / "models"
MOST_BYTES = 140_000
HEAD = """# Models for other solvers

MILPs of this project's problems in free MPS format, as `stowage export` writes them, for those who test MILP
solvers. Comments at the top of each file say what the names of its columns and rows mean; the rows are those of
[formulations](../../../formulations/README.md). `ours` is the strengthened model, `published` that of the paper, `exact`
the one of an assign step and one strategy. Scatter and assign are in ms of a step, layout and order in bytes. All are
minimised.

The best known objective is that of a plan which the independent verifier has passed, or of a solver's solution that
`stowage import` has made one of. The bound is the best of the solvers' and of ours. Sources of the lengths:
[lists](../lengths/SOURCES.md). `python bench/peers/bundle.py` makes this folder; the instance behind each model comes from
the command beside it. Licence: that of this project.

"""


def number(value, unit):
    return "-" if value is None else f"{value:.0f}" if unit == "bytes" else f"{value:.6f}".rstrip("0").rstrip(".")


def best_of(rows, family, name, model, written):
    """Returns the least objective of a solution of this model, and the largest bound of the model."""
    objectives, bounds = [], []
    for row in rows:
        if (row["family"], row["instance"]) != (family, name):
            continue
        ours = row["peer"] == "stowage auto"
        fits = ours and row["micro_batches"] <= written.get("micro_batches_at_most", row["micro_batches"]) and \
            row["strategy"] == written.get("strategy", row["strategy"])
        if row["objective"] is not None and (row["model"] == model or fits):
            objectives.append(row["objective"])
        if row["bound"] is not None and (ours or row["model"] == model) and row["peer"] != "CP-SAT":
            bounds.append(row["bound"])
    objective = min(objectives, default=None)
    bound = max(bounds, default=0)
    return objective, bound if objective is None else min(bound, objective)


def main():
    stowage, results = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    lines = ["| model | rows | columns | best known | bound | the instance |", "|---|---:|---:|---:|---:|---|"]
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(stowage, pathlib.Path(scratch), 0)
        for family, all_given in SUITE.items():
            unit = "bytes" if family in ("layout", "order") else "ms"
            for index, given in enumerate(all_given):
                path = runner.instance(family, index, given)
                name = json.loads(path.read_text(encoding="utf-8"))["name"]
                source = f"[bundled](../{path.relative_to(HERE / 'instances/data')})" if path == given else \
                    f"`{shlex.join(('stowage', *given))}`"
                for model, flags in FLAGS[family].items():
                    file = pathlib.Path(scratch) / "model.mps"
                    written = runner.call("export", path, "-o", file, *flags)
                    packed = gzip.compress(file.read_bytes(), mtime=0)
                    if len(packed) > MOST_BYTES:
                        continue
                    target = FOLDER / f"{family}-{name}-{model}.mps.gz"
                    target.write_bytes(packed)
                    objective, bound = best_of(rows, family, name, model, written)
                    lines.append(f"| [{target.name}]({target.name}) | {written['rows']} | {written['columns']} | "
                                 f"{number(objective, unit)} | {number(bound, unit)} | {source} |")
    (FOLDER / "README.md").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 2} models in {FOLDER.relative_to(HERE)}")


if __name__ == "__main__":
    main()
