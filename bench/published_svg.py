"""Draws predicted against measured steps: bench/results/0.1.0/published.svg.

usage: python3 bench/published_svg.py ROWS.csv OUT.svg

ROWS.csv is the output of `stowage_bench_published --rows`. The left panel has predictions by a
machine's default rates, the right panel by rates fitted to the other half of a source's steps;
steps of 16 bits only. On the line, predicted equals measured; the band is 10 % on both sides.
"""
import csv
import math
import sys

SIDE = 360  # pixels of a panel
LEFT, TOP, GAP, BELOW = 60, 40, 70, 110
COLOURS = {"foundry-a100-40": "#1f77b4", "foundry-a100-80": "#4fa3d9", "foundry-h100": "#0b3d66",
           "dgxc-h100": "#2ca02c", "dgxc-gb200": "#98df8a", "vtrain-single": "#c7c7c7",
           "vtrain-multi": "#7f7f7f", "bigscience": "#d62728", "internevo": "#ff7f0e"}


def panel(rows, key, title, left, low, high):
    """Returns the SVG of one panel with logarithmic axes from 10^low to 10^high ms."""
    def place(ms):
        return SIDE * (math.log10(ms) - low) / (high - low)

    yield f'<g transform="translate({left},{TOP})">'
    yield f'<text x="{SIDE / 2}" y="-14" text-anchor="middle" font-weight="bold">{title}</text>'
    margin = SIDE * math.log10(1.1) / (high - low)
    yield (f'<path d="M0,{SIDE} L0,{SIDE - margin:.1f} L{SIDE - margin:.1f},0 L{SIDE},0 '
           f'L{SIDE},{margin:.1f} L{margin:.1f},{SIDE} Z" fill="#eeeeee"/>')
    yield f'<path d="M0,{SIDE} L{SIDE},0" stroke="#888888"/>'
    yield f'<rect width="{SIDE}" height="{SIDE}" fill="none" stroke="#333333"/>'
    for power in range(low, high + 1):
        at = place(10 ** power)
        text = {2: "0.1 s", 3: "1 s", 4: "10 s", 5: "100 s", 6: "1000 s"}.get(power, f"1e{power} ms")
        yield f'<text x="{at:.1f}" y="{SIDE + 18}" text-anchor="middle">{text}</text>'
        yield f'<text x="-6" y="{SIDE - at + 4:.1f}" text-anchor="end">{text}</text>'
    for row in rows:
        measured, predicted = float(row["measured_ms"]), float(row[key])
        if measured <= 0 or predicted <= 0:
            continue
        yield (f'<circle cx="{place(measured):.1f}" cy="{SIDE - place(predicted):.1f}" r="2.2" '
               f'fill="{COLOURS[row["source"]]}" fill-opacity="0.7"/>')
    yield f'<text x="{SIDE / 2}" y="{SIDE + 38}" text-anchor="middle">measured</text>'
    yield "</g>"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["source"] in COLOURS]
    rows.sort(key=lambda row: list(COLOURS).index(row["source"]), reverse=True)
    width, height = LEFT + 2 * SIDE + GAP + 20, TOP + SIDE + BELOW
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             '<title>Predicted against measured steps</title>',
             f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    lines += panel(rows, "version_2_ms", "predicted by defaults", LEFT, 1, 6)
    lines += panel(rows, "halves_ms", "predicted by fitted rates", LEFT + SIDE + GAP, 1, 6)
    for k, (source, colour) in enumerate(COLOURS.items()):
        x, y = LEFT + (k % 5) * 150, TOP + SIDE + 66 + 20 * (k // 5)
        lines.append(f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colour}"/>')
        lines.append(f'<text x="{x + 8}" y="{y}">{source}</text>')
    lines.append("</svg>")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
