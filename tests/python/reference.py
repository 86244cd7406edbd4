"""Prints python/reference.md: the public names of the package, with signatures and docstrings.

STOWAGE_UPDATE_GOLDEN=1 lets test_readme.py write it.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, Iterator

import stowage


def docstring(thing: Any) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def signature(name: str, thing: Any) -> str:
    """As in the sources; the annotations of the package are texts."""
    plain = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(thing)))
    return f"{name}{plain}"


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public functions and properties of a class, in the order of the sources, bases last."""
    for base in kind.__mro__:
        if base.__module__.startswith("stowage"):
            for name, member in vars(base).items():
                inner = getattr(member, "__func__", member)
                if not name.startswith("_") and (
                    inspect.isfunction(inner) or isinstance(inner, property)
                ):
                    yield name, inner


def described(text: str) -> str:
    return f"```text\n{text}\n```\n" if text else ""


def page() -> Iterator[str]:
    yield "# Reference of the Python package\n"
    yield "Made by `tests/python/reference.py` from the docstrings; the tests compare.\n"
    for name in sorted(stowage.__all__, key=str.lower):
        thing = getattr(stowage, name)
        yield f"## {name}\n"
        if inspect.isfunction(thing):
            yield f"`{signature(name, thing)}`\n"
            yield described(docstring(thing))
            continue
        if "__init__" in vars(thing) and not issubclass(thing, Exception):
            yield f"`{signature(name, thing)}`\n"
        yield described(docstring(thing))
        seen = set()
        for own, member in members(thing):
            if own in seen or not member.__doc__:
                continue
            seen.add(own)
            if isinstance(member, property):
                yield f"- `{own}`: {' '.join(docstring(member).split())}"
            else:
                yield f"- `{signature(own, member)}`: {' '.join(docstring(member).split())}"
        if seen:
            yield ""


if __name__ == "__main__":
    print("\n".join(page()).rstrip())
