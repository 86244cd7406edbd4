"""The cells of tables of results: rows of Markdown, and amounts with their units."""
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
