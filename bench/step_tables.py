"""Tables of planned steps: over published planners, rules, options, kinds of exchange, and pipelines."""
from records import median, relative_gap, title
from table_cells import amount, header, percent, row

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
