"""The parts of the site that are made of the sources: the help, the schemas, the public headers."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Iterator, Optional

Schema = dict[str, Any]

# Pages of the formats, whose tables say what each key means; by the start of a schema's name.
MEANINGS = {
    "scatter": ["docs/reference/scatter.md"],
    "assign": ["docs/reference/assign.md", "docs/reference/scatter.md"],
    "layout": ["docs/reference/layout.md"],
    "order": ["docs/reference/order.md"],
    "strategy": ["docs/reference/strategy.md", "docs/reference/scatter.md"],
    "outcome": ["instances/outcomes.md"],
    "partition": ["docs/reference/answers.md#partition"],
    "audit": ["docs/reference/answers.md#audit"],
    "audited": ["docs/tasks/balance-a-batch.md"],
    "trainer": ["docs/reference/trainer.md"],
}


class Missing(Exception):
    """A key without a row in the page of its format, or a header without a comment."""


def command_page(root: Path) -> str:
    """The help of every command, the commands in the order of `stowage --help`."""
    golden = (root / "tests/cli/golden/help.txt").read_text(encoding="utf-8")
    overview = golden.split("==== stdout\n", 1)[1].split("==== stderr", 1)[0]
    helps = {path.stem: path for path in (root / "docs/reference/help").glob("*.txt")}
    listed = [
        "-".join(found.split())
        for found in re.findall(r"^  ([a-z-]+(?: [a-z]+)?) {2,}\S", overview, re.M)
        if "-".join(found.split()) in helps
    ]
    if set(listed) != set(helps):
        raise Missing(f"`stowage --help` lists {listed}, docs/reference/help has {sorted(helps)}")
    text = f"\n## stowage\n\n```text\n{overview}```\n"
    for name in listed:
        shown = name.replace("generate-", "generate ")
        text += f"\n## stowage {shown}\n\n```text\n{helps[name].read_text(encoding='utf-8')}```\n"
    return text


# --- keys ---------------------------------------------------------------------------------------


def resolved(schema: Schema, top: Schema) -> Schema:
    """The schema behind a `$ref`, with what stands beside it."""
    while "$ref" in schema:
        found: Any = top
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = {**found, **{k: v for k, v in schema.items() if k != "$ref"}}
    return schema


def alternatives(schema: Schema, top: Schema) -> list[Schema]:
    """The schemas of oneOf and anyOf, after what stands beside them."""
    schema = resolved(schema, top)
    for word in ("oneOf", "anyOf"):
        if word in schema:
            beside = {key: value for key, value in schema.items() if key != word}
            return [beside, *(each for part in schema[word] for each in alternatives(part, top))]
    return [schema]


def type_of(schema: Schema, top: Schema) -> str:
    names = []
    for each in alternatives(schema, top):
        given = each.get("type", "")
        for name in given if isinstance(given, list) else [given]:
            if name == "array" and isinstance(each.get("items"), dict):
                name = f"array of {type_of(each['items'], top).replace(' or ', ', ')}"
            elif not name and "enum" in each:
                name = "string" if all(isinstance(v, str) for v in each["enum"]) else "integer"
            if name and name not in names:
                names.append(name)
    return " or ".join(names) or "any"


def range_of(schema: Schema, top: Schema) -> str:
    said = []
    for each in alternatives(schema, top):
        if "enum" in each:
            said.append(", ".join(f"`{value}`" for value in each["enum"]))
        if "const" in each:
            said.append(f"`{each['const']}`")
        if "exclusiveMinimum" in each:
            said.append(f"above {each['exclusiveMinimum']}")
        if "minimum" in each and "maximum" in each:
            said.append(f"{each['minimum']} to {each['maximum']}")
        elif "minimum" in each:
            said.append(f"from {each['minimum']}")
        elif "maximum" in each:
            said.append(f"to {each['maximum']}")
        if "minItems" in each or "maxItems" in each:
            least, most = each.get("minItems", 0), each.get("maxItems")
            said.append(f"{least} to {most} elements" if most else f"at least {least} elements")
    return "; ".join(dict.fromkeys(said))


Row = tuple[str, str, str, str, bool]  # path, key, type, range, required


def rows_of(schema: Schema, top: Schema, path: str = "", depth: int = 0) -> Iterator[Row]:
    for each in alternatives(schema, top):
        required = set(each.get("required", []))
        for key, inner in each.get("properties", {}).items():
            at = f"{path}.{key}" if path else key
            yield at, key, type_of(inner, top), range_of(inner, top), key in required
            if depth < 12:
                yield from rows_of(inner, top, at, depth + 1)
        for pattern, inner in each.get("patternProperties", {}).items():
            if pattern != "^x-" and isinstance(inner, dict):
                yield from rows_of(inner, top, path + "{}", depth + 1)
        if isinstance(each.get("additionalProperties"), dict):
            yield from rows_of(each["additionalProperties"], top, path + "{}", depth + 1)
        if isinstance(each.get("items"), dict):
            yield from rows_of(each["items"], top, path + "[]", depth + 1)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


# Unit, default, meaning, the page, the object that the table describes ("" for the document itself),
# whether the table stands in a section on plans, and the names in its range.
Meaning = tuple[str, str, str, str, str, bool, frozenset[str]]


def meanings(root: Path, page: str) -> dict[str, list[Meaning]]:
    """By key: the rows of the page's tables of keys. The text above a table begins with its object.

    A page may end in #SECTION: then the tables of the first section and of that one count.
    """
    found = defaultdict(list)
    page, _, wanted = page.partition("#")
    header: list[str] = []
    about, of_plan, sections, counts = "", False, 0, True
    for line in (root / page).read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            header = []
            if line.startswith("## "):
                of_plan = line.endswith(" plan")
                sections += 1
                counts = not wanted or sections == 1 or line == f"## {wanted}"
            named = re.match(r"(?:An? element of |Each of )?`([a-z0-9_.]+)`", line)
            if named or line.startswith(("#", "The document")):
                about = named.group(1) if named else ""
        elif not header:
            header = cells(line)
        elif counts and header[0] == "key" and not line.startswith("|---"):
            row = dict(zip(header, cells(line)))
            for path in re.findall(r"`([a-z0-9_.\[\]]+)`", row["key"]):
                key = path.rpartition(".")[2]
                unit, default = row.get("unit", ""), row.get("default", "")
                names = frozenset(re.findall(r"`(\w+)`", row.get("range", "")))
                found[key].append((unit, default, row["meaning"], page, about, of_plan, names))
    return found


def chosen(
    known: dict[str, list[Meaning]], of_plan: bool, path: str, nth: int
) -> Optional[Meaning]:
    """The row about the object that holds the key; else the row of an object around it that names the
    key; else the n-th, as both go from outside in.

    Rows of the first page that has the key come before those of other pages, and rows on plans before
    those on instances where the document is a plan.
    """
    *parents, key = re.sub(r"[\[\]{}]", "", path).split(".")
    rows = known.get(key, [])
    if parents[-1:] in (["lengths"], ["loss_tokens"]):  # lists are described once, for all families
        rows = [row for row in rows if row[4] == "lengths"] or rows
    own = [row for row in dict.fromkeys(rows) if row[3] == rows[0][3]]
    own = [row for row in own if row[5] == of_plan] or own
    for row in own:
        about = row[4].split(".") if row[4] else []
        if about == parents or (parents and about[-1:] == parents[-1:]):
            return row
    # A table of several nested objects names one before a colon: "part: of a row or of all work".
    near = [row for row in own if row[4].split(".")[-1] in parents] or own
    for row in near:
        label, colon, _ = row[2].partition(":")
        if colon and parents and label in (parents[-1], parents[-1].removesuffix("s")):
            return row
    near = [row for row in near if not re.match("(part|packing|pattern): ", row[2])]
    if (row := implied(known, key, parents, not near)) is not None:
        return row
    return near[min(nth, len(near) - 1)] if near else None


def implied(
    known: dict[str, list[Meaning]], key: str, parents: list[str], by_meaning: bool
) -> Optional[Meaning]:
    """The row of an object around a key, if its range names the key, or its meaning does.

    What is said of a value in milliseconds holds of the same in bytes.
    """
    in_ms = re.sub("_bytes$", "_ms", key)
    unit = next((unit for unit in ("ms", "bytes") if key.endswith(f"_{unit}")), "")
    for parent in reversed(parents):
        for row in known.get(parent, []):
            if row[6] & {key, in_ms} or (by_meaning and f"`{key}`" in row[2]):
                return (unit, "", f"see `{parent}`", *row[3:])
    if key not in known and in_ms in known:
        return ("bytes", *known[in_ms][0][1:])
    return None


def plain(text: str, page: str) -> str:
    """Links of a cell lead from docs/reference, not from the page of the format."""

    def moved(link: re.Match[str]) -> str:
        target = link.group(1)
        path, hash_, anchor = target.partition("#")
        there = (Path(page).parent / path) if path else Path(page)
        parts: list[str] = []
        for part in there.parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        return f"](../../{'/'.join(parts)}{hash_}{anchor})"

    return re.sub(r"\]\(([^):]+)\)", moved, text)


def keys_page(root: Path) -> str:
    """A table for each schema, a row for each key."""
    text, missing = "", []
    for path in sorted((root / "instances/schema").glob("*.schema.json")):
        name = path.name.removesuffix(".schema.json")
        top = json.loads(path.read_text(encoding="utf-8"))
        pages = MEANINGS[name.split("-")[0]]
        known: dict[str, list[Meaning]] = defaultdict(list)
        for page in pages:
            for key, rows in meanings(root, page).items():
                known[key] += rows
        text += f"\n## {name}\n\n{top.get('description', '')}\n\n"
        text += "| key | type | unit | range | default | meaning |\n|---|---|---|---|---|---|\n"
        seen: dict[str, int] = defaultdict(int)
        for at, key, kind, span, required in dict.fromkeys(rows_of(top, top)):
            row = chosen(known, name.endswith("-plan"), at, seen[key])
            if row is None:
                missing.append(f"{name}: {at}")
                continue
            unit, default, meaning, page = row[:4]
            seen[key] += 1
            default = "required" if required else default if default != "required" else ""
            text += f"| `{at}` | {kind} | {unit} | {span} | {default} | {plain(meaning, page)} |\n"
    if missing:
        raise Missing("keys without a row in the pages of their formats: " + "; ".join(missing))
    return text


# --- C++ ----------------------------------------------------------------------------------------


def public_headers(root: Path) -> list[str]:
    listing = (root / "solvers/cmake/public_headers.cmake").read_text(encoding="utf-8")
    return re.findall(r"^ +(\S+\.h)\)?$", listing, re.M)


def header_page(root: Path, header: str) -> str:
    """The opening comment of a header as text, its examples as code, then its declarations."""
    lines = (root / header).read_text(encoding="utf-8").splitlines()
    end = next((at for at, line in enumerate(lines) if not line.startswith("//")), 0)
    if end == 0:
        raise Missing(f"{header} does not open with a comment")
    text, code = "", False
    for line in (line[2:].removeprefix(" ") for line in lines[:end]):
        if line.startswith("  ") != code and line:
            text += "\n```\n\n" if code else "\n```cpp\n"
            code = not code
        text += (line[2:] if code else line) + "\n"
    text += "```\n" if code else ""
    body = "\n".join(lines[end:]).replace("#pragma once\n", "").strip()
    return f"# stowage/{header}\n\n{text}\n## Declarations\n\n```cpp\n{body}\n```\n"


def summary(page: str) -> str:
    """The first sentence of a header's page, for a table."""
    opening = page.split("\n\n", 2)[1].replace("\n", " ")
    return re.split(r"(?<=\.) ", opening + " ")[0].rstrip(":. ").replace("|", "\\|")


def cpp_pages(root: Path) -> tuple[str, dict[str, str]]:
    """The table of all headers for docs/reference/cpp.md, and a page for each header by its path."""
    pages: dict[str, str] = {}
    table = "\n| header | what it declares |\n|---|---|\n"
    for header in public_headers(root):
        page = header_page(root, header)
        path = f"docs/reference/cpp/{header.removesuffix('.h').replace('/', '-')}.md"
        pages[path] = page
        table += f"| [`{header}`](cpp/{Path(path).name}) | {summary(page)} |\n"
    return table, pages


def results_page(root: Path, page: str) -> str:
    """A page of results with the tables that the site alone shows."""
    sys.path.insert(0, str(root / "bench"))
    import tables

    return str(tables.for_site((root / page).read_text(encoding="utf-8"), root))


RESULTS = "bench/results/0.1.0/README.md"


def made(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Pages of the tree that the site shows with more, and pages that are new; both by path."""
    table, headers = cpp_pages(root)
    added = {
        "docs/reference/flags.md": command_page(root),
        "docs/reference/keys.md": keys_page(root),
        "docs/reference/cpp.md": table,
    }
    pages = {path: (root / path).read_text(encoding="utf-8") + text for path, text in added.items()}
    return {**pages, RESULTS: results_page(root, RESULTS)}, headers
