"""Performance profiles as SVG: the share of instances on which each method is within a gap.

For each method a curve shows, for every gap, the share of all instances on which its plan is within
that gap of the bound. A higher curve is better; its left end is the share of plans that were
(nearly) proven optimal. Instances without a plan are within no gap. After Dolan and More
(Mathematical Programming 91, 2002), with the gap to a proven bound instead of the ratio to the best
method.

  Path("profile.svg").write_text(profile_svg(results))

The style (seven hues of Okabe and Ito, 800 px wide, dark mode) is that of the pictures of plans
(instances/pictures). Equal results give equal bytes.
"""
import math
from html import escape

from records import best_known, by_suite, relative_gap, title

WIDTH, MARGIN, PLOT_HEIGHT = 800, 16, 180  # px
LEFT, TOP, BOTTOM = 72, 58, 58 + PLOT_HEIGHT  # of the plot
RIGHT = WIDTH - MARGIN
LEAST_GAP = 1e-4  # left end of the axis; smaller gaps are drawn there
HUES = ("56b4e9", "0072b2", "009e73", "f0e442", "e69f00", "d55e00", "cc79a7")
# The order of the hues: those with most contrast to the paper first. Methods beyond the seventh
# reuse hues and are dashed.
ORDER = (1, 5, 2, 6, 4, 0, 3)
STYLE = ("""text{font-family:"DejaVu Sans",Verdana,Helvetica,Arial,sans-serif;font-size:12px}
.p{fill:#ffffff}.i,.h{fill:#1b1b1b}
text.h{font-size:15px;font-weight:bold}
""" + "".join(f".l{i}{{stroke:#{hue}}}" for i, hue in enumerate(HUES)) + """
.l0,.l1,.l2,.l3,.l4,.l5,.l6{fill:none;stroke-width:2}.d{stroke-dasharray:6 3}
.g{fill:none;stroke:#1b1b1b;stroke-opacity:.3}
@media (prefers-color-scheme:dark){
.p{fill:#15181c}.i,.h{fill:#e8e8e8}.g{stroke:#e8e8e8}}
""")


def number(value):
    """Formats a number with at most two decimals, halves rounded up."""
    return f"{math.floor(value * 100 + 0.5) / 100:.2f}".rstrip("0").rstrip(".")


def text_width(text):
    """Returns an upper bound on the width of an ASCII text in usual fonts, in px: the width in
    DejaVu Sans, rounded up."""
    def ems(c):
        if c in " .,:;'|!()[]/\\-iljtfrI":
            return 0.42
        if c in "mwMWOQGDHNU@%+=<>~#&":
            return 1.0
        return 0.74 if "A" <= c <= "Z" else 0.64 if c < "\x80" else 1.4
    return sum(map(ems, text)) * 12


def line(x1, y1, x2, y2, classes):
    return (f'<line class="{classes}" x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" '
            f'y2="{number(y2)}"/>\n')


def label(x, y, text, anchor="", classes="i"):
    anchor = f' text-anchor="{anchor}"' if anchor else ""
    place = f'x="{number(x)}" y="{number(y)}"{anchor}'
    return f'<text class="{classes}" {place}>{escape(text)}</text>\n'


def line_class(style):
    return f"l{ORDER[style % len(HUES)]}" + (" d" if style // len(HUES) % 2 else "")


def profile(heading, instances, methods):
    """Returns (elements, height) of one profile; `methods` are (name, style, gaps)."""
    most = max([10 * LEAST_GAP, *(gap for _, _, gaps in methods for gap in gaps)])
    low, high = math.log(LEAST_GAP), math.log(most)

    def x(gap):
        return LEFT + (RIGHT - LEFT) * (math.log(max(gap, LEAST_GAP)) - low) / (high - low)

    def y(share):
        return BOTTOM - PLOT_HEIGHT * share

    svg = label(MARGIN, 28, heading, classes="h")
    for tick in range(0, 101, 20):
        svg += line(LEFT - 4, y(tick / 100), RIGHT, y(tick / 100), "g")
        svg += label(LEFT - 7, y(tick / 100) + 4, f"{tick}%", "end")
    svg += label(MARGIN, TOP - 12, "instances within the gap")
    for power in range(-4, math.floor(math.log10(most) + 1e-9) + 1):
        svg += line(x(10**power), TOP, x(10**power), BOTTOM + 4, "g")
        svg += label(x(10**power), BOTTOM + 19, f"{10**power * 100:g}%", "middle")
    svg += label(RIGHT, BOTTOM + 36, "gap to the best proven bound", "end")

    for name, style, gaps in methods:
        points = [(LEFT, BOTTOM)]
        for i, gap in enumerate(sorted(gaps), 1):
            points += [(x(gap), points[-1][1]), (x(gap), y(i / instances))]
        points.append((RIGHT, points[-1][1]))
        places = " ".join(f"{number(px)},{number(py)}" for px, py in points)
        svg += (f'<polyline class="{line_class(style)}" points="{places}"><title>{escape(name)}: '
                f"{len(gaps)} of {instances} instances planned</title></polyline>\n")

    left, bottom = MARGIN, BOTTOM + 59
    for name, style, _ in methods:
        width = 26 + text_width(name)
        if left > MARGIN and left + width > RIGHT:
            left, bottom = MARGIN, bottom + 18
        svg += line(left, bottom - 8, left + 20, bottom - 8, line_class(style))
        svg += label(left + 26, bottom - 4, name)
        left += width + 18
    return svg, bottom + MARGIN // 2


def profiles(pictures):
    """Returns an SVG file with the profiles one below the other; each is (heading, instances,
    methods)."""
    drawn = [profile(*picture) for picture in pictures]
    height = sum(h for _, h in drawn)
    svg = ('<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" '
           f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
           f'aria-label="performance profiles">\n<style>\n{STYLE}</style>\n'
           f'<rect class="p" x="0" y="0" width="{WIDTH}" height="{height}"/>\n')
    top = 0
    for elements, own in drawn:
        svg += f'<g transform="translate(0,{top})">\n{elements}</g>\n'
        top += own
    return svg + "</svg>\n"


def profile_svg(results):
    """Returns an SVG file with a profile for each suite. Gaps are relative to the best bound that
    any of the results proved for the instance."""
    pictures, styles = [], []  # a method has the same style in all suites

    def style_of(name):
        if name not in styles:
            styles.append(name)
        return styles.index(name)

    for suite, own in by_suite(results).items():
        best = best_known(own)
        methods = {}  # by title: (style, gaps)
        for r in own:
            if title(r) not in methods:
                style = style_of(r["method"])
                if any(style == other for other, _ in methods.values()):
                    style = style_of(title(r))  # the same method with another limit
                methods[title(r)] = (style, [])
            if r["objective"] is not None:
                gap = relative_gap(r["objective"], best[r["instance"]]["bound"])
                methods[title(r)][1].append(gap)
        pictures.append((f"{suite}, {len(best)} instances", len(best),
                         [(name, *drawn) for name, drawn in methods.items()]))
    return profiles(pictures)
