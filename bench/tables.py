#!/usr/bin/env python3
"""Tables and pictures of benchmark results (JSON lines, see README.md in this folder).

  bench/tables.py results.jsonl more.jsonl > tables.md     a summary and all objectives, by suite
  bench/tables.py --profile profile.svg results.jsonl      a performance profile of each suite too
  bench/tables.py --fill                                   rebuild the tables and pictures of the documents
  bench/tables.py --check                                  compare the documents with the results
  bench/tables.py --site PAGE                              a page with the tables that only the site shows

Markers in documents name a table or picture and its results, so that no figure is typed by hand:

  <!-- table KIND SUITE FILE... -->      up to <!-- end of table -->
  <!-- site table KIND SUITE FILE... --> a line that the site replaces by the table
  <!-- profile PICTURE FILE... -->

KIND is summary, parts (a summary of the tuned part and of the reported part), instances,
details, gains, headline, exchanges, rules, options, pipelines, or history, peers and printed (whose SUITE is "-");
printed is a file of tables as a program printed them. Files are relative to the root of the source tree. Exit codes: 0, 1 if --check finds an outdated
table or picture, 2 for bad input.
"""
import argparse
import json
import os
import sys
from pathlib import Path

from peers.table import table as peers_table
from profile_svg import profile_svg
from records import (Fault, best_known, by_suite, load, load_all, part_of, read_results,
                     relative_gap, summarise, title)
from step_tables import (exchange_table, gains_table, headline_table, options_table,
                         pipeline_table, rules_table)
from table_cells import amount, header, percent, row, seconds_text, unit

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "bench/results/0.1.0/README.md")
TABLE, END, PROFILE = "<!-- table ", "<!-- end of table -->", "<!-- profile "
SITE = "<!-- site table "


def setup_line(s):
    return (f"{s['date']}, commit {s['commit'] or 'unknown'}, {s['cpu']} ({s['cores']} cores, "
            f"{s['memory_gib']:.1f} GiB), {s['system']}, {s['compiler']}, "
            f"MILP by {s['backends'] or 'nobody'}\n")


SUMMARY = ["instances", "plans", "proven", "gap median", "gap worst", "over best known: median",
           "worst", "CPU mean s", "CPU most s"]


def summary_cells(m):
    shares = [m["median_gap"], m["worst_gap"], m["median_excess"], m["worst_excess"]]
    return [m["instances"], m["planned"], m["proven"],
            *(percent(s) if m["planned"] else "-" for s in shares),
            f"{m['mean_cpu_s']:.3f}", f"{m['most_cpu_s']:.3f}"]


def summary_table(results):
    text = header(["method", "kind", *SUMMARY], {"method", "kind"})
    for m in summarise(results):
        text += row(m["method"], m["kind"], *summary_cells(m))
    return text


def parts_table(results):
    """Returns the summary by part of the suite, with the rows of a method together."""
    text = header(["method", "part", *SUMMARY], {"method", "part"})
    parts = {part: summarise([r for r in results if part_of(r["instance"]) == part])
             for part in ("tune", "report")}
    for method in dict.fromkeys(title(r) for r in results):
        for part, summaries in parts.items():
            for m in summaries:
                if m["method"] == method:
                    text += row(method, part, *summary_cells(m))
    return text


def instance_table(results):
    """Returns a row for each instance; "*" marks an objective that the method's own run proved
    optimal."""
    methods = list(dict.fromkeys(title(r) for r in results))
    first, of = {}, {}  # the first result of an instance, and the first of an instance and method
    for r in results:
        first.setdefault(r["instance"], r)
        of.setdefault((r["instance"], title(r)), r)
    in_unit = unit(results[0])
    text = header(["instance", "size", "devices", f"bound {in_unit}", "by", f"best {in_unit}",
                   "gap", *methods], {"instance", "by"})
    best = best_known(results)
    for name, r in first.items():
        known = best[name]
        planned = known["objective"] is not None
        found = [of.get((name, method)) for method in methods]
        text += row(name, r["size"], r["devices"], amount(known["bound"], r), known["bound_by"],
                    amount(known["objective"], r),
                    percent(relative_gap(known["objective"], known["bound"])) if planned else "-",
                    *("-" if f is None or f["objective"] is None else
                      amount(f["objective"], r) + "*" * (f["status"] == "optimal") for f in found))
    return text


def detail_table(results):
    in_unit = unit(results[0])
    text = header(["instance", "method", f"objective {in_unit}", f"bound {in_unit}", "by", "gap",
                   "first s", "best s", "proof s", "nodes"], {"instance", "method", "by"})
    for r in results:
        planned = r["objective"] is not None
        proven = r["status"] in ("optimal", "infeasible")
        text += row(r["instance"], title(r), amount(r["objective"], r), amount(r["bound"], r),
                    r["bound_by"],
                    percent(relative_gap(r["objective"], r["bound"])) if planned else "-",
                    seconds_text(r["first_s"]), seconds_text(r["best_s"]),
                    seconds_text(r["cpu_s"]) if proven else "-", r["nodes"])
    return text


def history_table(runs):
    """Returns a row for each run, suite and method; a number in brackets is an older protocol."""
    latest = max((s["protocol"] for setups, _ in runs for s in setups), default=0)
    text = header(["date", "commit", "suite", "method", "instances", "proven", "gap median",
                   "gap worst", "CPU mean s"], {"date", "commit", "suite", "method"})
    for setups, results in runs:
        if not setups:
            continue
        setup = setups[0]
        old = "" if setup["protocol"] == latest else f" [{setup['protocol']}]"
        for suite, own in by_suite(results).items():
            for m in summarise(own):
                text += row(setup["date"] + old, setup["commit"], suite, m["method"],
                            m["instances"], m["proven"],
                            *(percent(g) if m["planned"] else "-"
                              for g in (m["median_gap"], m["worst_gap"])),
                            f"{m['mean_cpu_s']:.3f}")
    return text


# --- documents -------------------------------------------------------------------------------

TABLES = {"summary": summary_table, "parts": parts_table, "instances": instance_table,
          "details": detail_table, "gains": gains_table, "headline": headline_table, "exchanges": exchange_table,
          "rules": rules_table, "options": options_table, "pipelines": pipeline_table}


def printed_table(path):
    """Returns the text of a file: tables of Markdown, with or without lines between them."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    if not tables or any(len(table) < 3 or len({row.count("|") for row in table}) != 1
                         for table in tables):
        raise Fault(f"{path.name}: must be tables of Markdown")
    return text.rstrip() + "\n"


def table_for(marker, root):
    words = marker[len(TABLE):].split()
    files = words[2:words.index("-->")] if "-->" in words[2:] else words[2:]
    kind, suite = (words + ["", ""])[:2]
    if kind == "peers":
        return peers_table([json.loads(line) for file in files
                            for line in (root / file).read_text(encoding="utf-8").splitlines()]) + "\n"
    if kind == "printed":
        return "".join(printed_table(root / file) for file in files[:1])
    runs = [load(root / file) for file in files]
    if kind == "history":
        return history_table(runs)
    results = [r for _, own in runs for r in own if r["suite"] == suite]
    if not results:
        raise Fault(f"{suite}: must be a suite with results in the files")
    if kind not in TABLES:
        raise Fault(f"{kind}: must be history or one of {', '.join(TABLES)}")
    return TABLES[kind](results)


def for_site(document, root):
    """Returns the document with a table in place of each marker for the site and of the line below
    it."""
    out, left_out = [], False
    for number, line in enumerate(document.split("\n"), 1):
        if line.startswith(SITE):
            try:
                out.append(table_for(TABLE + line[len(SITE):], root).rstrip("\n"))
            except Fault as fault:
                raise Fault(f"line {number}: {fault}") from None
        elif not left_out:
            out.append(line)
        left_out = line.startswith(SITE)
    return "\n".join(out)


def filled(document, root):
    """Returns the document with every marked table rebuilt."""
    out, skipping = "", 0  # line of the marker whose old table is being skipped
    lines = document.split("\n")
    for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines, 1):
        if skipping and line != END:
            continue
        out += line + "\n"
        skipping = 0
        if line.startswith(TABLE):
            skipping = number
            try:
                out += table_for(line, root)
            except Fault as fault:
                raise Fault(f"line {number}: {fault}") from None
    if skipping:
        raise Fault(f"line {skipping}: must be closed by {END}")
    return out


def made_anew(root):
    """Returns {path: new content} for the documents and the pictures that they show."""
    made = {}
    for name in DOCUMENTS:
        text = (root / name).read_text(encoding="utf-8")
        try:
            made[root / name] = filled(text, root)
            for_site(text, root)
        except Fault as fault:
            raise Fault(f"{name}: {fault}") from None
        for line in text.splitlines():
            if line.startswith(PROFILE):
                picture, *files = line[len(PROFILE):].split()[:-1]
                results = load_all(root / file for file in files)[1]
                made[root / picture] = profile_svg(results)
    return made


def write_whole(path, text):
    """Writes a file atomically: readers see the old file or the new file."""
    Path(f"{path}.tmp").write_text(text, encoding="utf-8")
    os.replace(f"{path}.tmp", path)


def print_tables(setups, results, details):
    for setup in setups:
        print(setup_line(setup))
    for suite, own in by_suite(results).items():
        print(f"## {suite}\n\n{summary_table(own)}\n{instance_table(own)}\n"
              "`*` proven optimal in that run. Objectives are of verified plans.\n")
        if details:
            print(detail_table(own))


def main():
    parser = argparse.ArgumentParser(description="Benchmark results as Markdown tables.")
    parser.add_argument("results", nargs="*", help="JSON lines of stowage_bench; default stdin")
    parser.add_argument("--details", action="store_true", help="a row for each result as well")
    parser.add_argument("--profile", metavar="SVG", help="draw performance profiles there")
    parser.add_argument("--fill", action="store_true", help="make the documents' tables anew")
    parser.add_argument("--check", action="store_true", help="say which of them are old")
    parser.add_argument("--site", metavar="PAGE", help="print a page with the tables of the site")
    asked = parser.parse_args()
    if asked.site:
        sys.stdout.write(for_site(Path(asked.site).read_text(encoding="utf-8"), ROOT))
        return 0
    if asked.fill or asked.check:
        old = {path: text for path, text in made_anew(ROOT).items()
               if not path.exists() or path.read_text(encoding="utf-8") != text}
        for path, text in old.items():
            if asked.fill:
                write_whole(path, text)
            else:
                print(f"{path.relative_to(ROOT)} is not what the committed results give; "
                      "make it anew: python3 bench/tables.py --fill", file=sys.stderr)
        return 1 if old and asked.check else 0
    setups, results = load_all(asked.results) if asked.results else read_results(sys.stdin, "stdin")
    if asked.profile:
        write_whole(asked.profile, profile_svg(results))
    print_tables(setups, results, asked.details)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        print(f"tables.py: {fault}", file=sys.stderr)
        sys.exit(2)
