"""Prints the measurements of run.py as Markdown: a row for each solver over all instances of a
family."""
import statistics


def over(row, best):
    """Returns the relative excess of the plan over the best plan of all solvers."""
    return None if row["objective"] is None else row["objective"] / best - 1 if best else 0


def gap(row):
    if row["objective"] is None or row["bound"] is None:
        return None
    return max(0.0, 1 - row["bound"] / row["objective"]) if row["objective"] else 0


def percent(values):
    return f"{100 * statistics.median(values):.2f} / {100 * max(values):.2f}" if values else "-"


def table(rows):
    """Returns the table by family, with one line per solver over all instances of the suite."""
    lines = []
    for family in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == family]
        instances = list(dict.fromkeys(row["instance"] for row in own))
        best = {name: min(row["objective"] for row in own
                          if row["instance"] == name and row["objective"] is not None) for name in instances}
        lines += ["", f"| {family}, {len(instances)} instances | model | plans | over the best found % | "
                  "own gap % | closed | CPU s |", "|---|---|---:|---:|---:|---:|---:|"]
        for key in dict.fromkeys((row["peer"], row["model"]) for row in own):
            its = [row for row in own if (row["peer"], row["model"]) == key]
            above = [over(row, best[row["instance"]]) for row in its if row["objective"] is not None]
            gaps = [gap(row) for row in its if gap(row) is not None]
            closed = sum(each <= 1e-6 for each in gaps)
            lines.append(f"| {key[0]} | {key[1]} | {len(above)} | {percent(above)} | {percent(gaps)} | "
                         f"{closed} | {statistics.median(row['cpu_seconds'] for row in its):.2f} |")
    return "\n".join(lines[1:])
