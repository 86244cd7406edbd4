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
from records import (Fault, best_known, by_suite, load, load_all, median, part_of, read_results,
                     relative_gap, summarise, title)

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "bench/results/0.1.0/README.md")
TABLE, END, PROFILE = "<!-- table ", "<!-- end of table -->", "<!-- profile "
SITE = "<!-- site table "
UNITS = {"layout": "bytes", "order": "bytes"}  # units of objectives by problem; others are in ms
LEAST_TIME = ("reruns",)  # suites whose objective is the time


def unit(r):
    return "ms" if r["suite"] in LEAST_TIME else UNITS.get(r["problem"], "ms")


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |\n"


def header(names, left):
    """Returns the two lines above the rows; `left` are the columns of text, the others contain
    numbers."""
    return row(*names) + "|" + "".join("---|" if name in left else "---:|" for name in names) + "\n"


def percent(share):
    return f"{share * 100:.2f} %"


def amount(value, r):
    """Formats an amount: bytes without decimals, times with one decimal below 10 s."""
    if value is None:
        return "-"
    return f"{value:.{0 if unit(r) == 'bytes' or value >= 1e4 else 1}f}"


def seconds_text(value):
    return "-" if value is None else f"{value:.{3 if value < 10 else 1}f}"


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


RULES = "-rules"
# Planners of trainers with a column each in the table of gains, after the best homogeneous planner.
TRAINERS = ("megatron-dynamic", "megatron-hybrid", "bytescale", "verl", "dp-balanced")


def by_list(steps):
    """Returns [(length list or "all", its steps)]."""
    lists = {}
    for step in steps:
        lists.setdefault(length_list(step), []).append(step)
    return [*lists.items(), ("all", steps)]


def spread(values, decimals):
    """Returns the median and range as text; "-" without values."""
    if not values:
        return "-"
    least, most = min(values), max(values)
    return f"{median(values):.{decimals}f} ({least:.{decimals}f} to {most:.{decimals}f})"


def length_list(instance):
    """Returns the length list of a step: "docs_md" for "gpt-7b-64gpu-192k-docs_md-0"."""
    parts = instance.removesuffix(RULES).rsplit("-", 2)
    return parts[1] if len(parts) == 3 else instance


def gains_row(name, steps, of):
    """Returns a row of gains. `of` maps (instance, method) to a result; ratios are relative to the
    default method's step time."""
    def middle(values, in_unit):
        return f"{median(values):.0f} {in_unit}" if values else "-"

    ours = {step: of[step, "auto"] for step in steps
            if of.get((step, "auto"), {}).get("objective") is not None}

    def of_method(method, key="objective"):
        found = [(step, of.get((step, method), {})) for step in ours]
        return [(step, r) for step, r in found if r.get(key) is not None]

    def ratios(method, key="objective"):
        return [r[key] / ours[step]["objective"] for step, r in of_method(method, key)]

    return row(name, len(steps), spread(ratios("batch-ada"), 2),
               *(spread(ratios(method), 2) for method in TRAINERS), spread(ratios("flexsp"), 2),
               spread(ratios("flexsp-chunks", "method_bound"), 2), spread(ratios("fast"), 3),
               spread([100 * relative_gap(r["objective"], r["bound"]) for r in ours.values()], 2),
               middle([r["cpu_s"] for _, r in of_method("flexsp")], "s"),
               middle([r["cpu_s"] * 1000 for _, r in of_method("fast")], "ms"))


def gains_table(results):
    """Returns a row for each length list: medians and ranges of step times relative to the default
    method's."""
    of = {}
    for r in results:
        of.setdefault((r["instance"], r["method"]), r)
    steps = list(dict.fromkeys(r["instance"] for r in results))
    text = header(["lengths", "steps", "best homogeneous", *(f"`{method}`" for method in TRAINERS),
                   "`flexsp`", "its chunks, any solver: at least", "`fast`", "gap in %",
                   "`flexsp` plans in", "`fast` in"], {"lengths"})
    return text + "".join(gains_row(name, own, of) for name, own in by_list(steps))


def headline_table(results):
    """Returns five figures over all steps: medians, and ranges in brackets."""
    of = {}
    for r in results:
        of.setdefault((r["instance"], r["method"]), r)
    ours = {step: r for (step, method), r in of.items()
            if method == "auto" and r["objective"] is not None}

    def ratios(method):
        runs = [(of.get((step, method), {}).get("objective"), r) for step, r in ours.items()]
        return spread([objective / r["objective"] for objective, r in runs if objective is not None], 2)

    gaps = [100 * relative_gap(r["objective"], r["bound"]) for r in ours.values()]
    cpu = [1000 * r["cpu_s"] for (step, method), r in of.items() if method == "fast" and step in ours]
    return (header([f"over {len(ours)} real steps", "median (range)"], {f"over {len(ours)} real steps"}) +
            row("step time with the best single degree for all groups, over ours", ratios("batch-ada")) +
            row("step time of Megatron Core's dynamic planner, over ours", ratios("megatron-dynamic")) +
            row("step time of FlexSP's published planner, over ours", ratios("flexsp")) +
            row("proven gap of our plan after 10 s", f"{spread(gaps, 2)} %") +
            row("CPU time of our planner for training loops", f"{spread(cpu, 0)} ms"))


def rules_table(results):
    """Compares steps with and without rules, by length list, for `fast` and megatron-dynamic."""
    of = {(r["instance"], r["method"]): r for r in results}
    steps = [name for name, method in of if method == "fast" and not name.endswith(RULES)]
    text = header(["lengths", "steps", "`fast`: time with rules over without", "its bound likewise",
                   "its gap with rules in %", "`megatron-dynamic` over `fast`, with rules",
                   "without", "CPU of `fast`, with over without"], {"lengths"})
    for name, own in by_list(steps):
        pairs = [(of[step + RULES, "fast"], of[step, "fast"]) for step in own]
        ratios = {key: [ruled[key] / plain[key] for ruled, plain in pairs]
                  for key in ("objective", "bound", "cpu_s")}
        times = [[[of[step + end, method]["objective"] for step in own]
                  for method in ("megatron-dynamic", "fast")] for end in (RULES, "")]
        peers = [[peer / ours for peer, ours in zip(*both)] for both in times]
        text += row(name, len(own), spread(ratios["objective"], 3), spread(ratios["bound"], 3),
                    spread([100 * relative_gap(r["objective"], r["bound"]) for r, _ in pairs], 2),
                    *(spread(ratio, 4) for ratio in peers), spread(ratios["cpu_s"], 2))
    return text


def options_table(results):
    """Compares the CPU time of `fast` for steps with every option, with equal numbers in groups,
    and without options."""
    of = {r["instance"]: r for r in results}
    text = header(["step", "CPU ms without", "gap", "CPU ms with all", "gap", "times as long",
                   "CPU ms with equal numbers", "gap", "times as long"], {"step"})
    ratios = []
    for name in of:
        if not name.endswith(OPTIONS):
            continue
        step = name.removesuffix(OPTIONS)
        runs = [of[step], of[name], of[step + RULES]]
        ratios.append([run["cpu_s"] / runs[0]["cpu_s"] for run in runs])
        cells = [(f"{1000 * r['cpu_s']:.0f}", percent(relative_gap(r["objective"], r["bound"])))
                 for r in runs]
        text += row(step, *cells[0], *cells[1], f"{ratios[-1][1]:.2f}", *cells[2],
                    f"{ratios[-1][2]:.2f}")
    return text + row("median", *[""] * 4, f"{median(r[1] for r in ratios):.2f}", "", "",
                      f"{median(r[2] for r in ratios):.2f}")


EXCHANGES = ("all-to-all", "ring", "all-gather", "two-level")  # files of bench/exchange
CHOICE = "-choice"
OPTIONS = "-options" + RULES


def exchange_table(results):
    """Compares steps with one kind of exchange for all groups with steps with a choice for each
    group."""
    of = {r["instance"]: r for r in results}
    text = header(["step", *(f"{kind} ms" for kind in EXCHANGES), "choice ms", "gap",
                   "best single kind over choice"], ["step"])
    ratios = []
    for name, choice in of.items():
        if not name.endswith(CHOICE):
            continue
        step = name.removesuffix(CHOICE)
        singles = [of[f"{step}-{kind}"] for kind in EXCHANGES]
        ratios.append(min(r["objective"] for r in singles) / choice["objective"])
        text += row(step, *(amount(r["objective"], r) for r in [*singles, choice]),
                    percent(relative_gap(choice["objective"], choice["bound"])),
                    f"{ratios[-1]:.3f}")
    return text + row("median", *[""] * (len(EXCHANGES) + 2), f"{median(ratios):.3f}")


FLAT = "-flat"  # planned with one stage


def pipeline_table(results):
    """Compares steps in pipelines that were planned for pipelines with steps planned without, and
    lists the methods for pipelines."""
    of = {(r["instance"], title(r)): r for r in results}
    steps = [r["instance"] for r in results
             if title(r) == "fast" and not r["instance"].endswith(FLAT)]
    longer = next((title(r) for r in results if title(r) != "fast"), None)
    text = header(["step", "without ms", "`fast` ms", "without over `fast`", "gap",
                   *([f"{longer} ms", "its gap"] if longer else [])], ["step"])
    ratios, gaps, longer_gaps = [], [], []
    for step in dict.fromkeys(steps):
        flat, own = of[step + FLAT, "fast"], of[step, "fast"]
        ratios.append(flat["objective"] / own["objective"])
        gaps.append(relative_gap(own["objective"], own["bound"]))
        cells = [amount(flat["objective"], flat), amount(own["objective"], own),
                 f"{ratios[-1]:.3f}", percent(gaps[-1])]
        if longer:
            best = of.get((step, longer))
            if best:
                longer_gaps.append(relative_gap(best["objective"], best["bound"]))
            cells += [amount(best["objective"], best), percent(longer_gaps[-1])] if best else ["", ""]
        text += row(step, *cells)
    return text + row("median", "", "", f"{median(ratios):.3f}", percent(median(gaps)),
                      *(["", percent(median(longer_gaps))] if longer else []))


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
