"""Prints python/reference.md: the public names of the package and of the
modules that need a framework, with signatures and docstrings.

STOWAGE_UPDATE_GOLDEN=1 lets test_readme.py write it.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any, Iterator, Union

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


# Read, not imported, as most need a framework. Files of a module, its own first.
FOLDER = Path(stowage.__file__).parent
TORCH = ("sampler", "packed", "loader", "groups")
MODULES = {
    "calibrate": ["calibrate.py"],
    "torch": ["torch/__init__.py", *(f"torch/_{name}.py" for name in TORCH)],
    "torch.run": ["torch/run.py"],
    "megatron": ["megatron.py", "_megatron_packing.py"],
    "verl": ["verl.py"],
    "hf": ["hf.py", "_hf_attention.py", "_packed_inputs.py", "_packing_check.py", "_hf_trainer.py"],
    "deepspeed": ["deepspeed.py"],
    "onnx": ["onnx.py"],
}
# Names of modules that are private themselves.
PRIVATE = {"require_same_plans", "scheduler_names", "packing_was_checked", "sequence_indices", "Delivery"}
Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


def written(function: Function, name: str) -> str:
    arguments = ast.unparse(function.args)
    returns = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    return f"`{name}({arguments}){returns}`"


def described_class(found: ast.ClassDef) -> Iterator[str]:
    own = [part for part in found.body if isinstance(part, ast.FunctionDef)]
    for part in own:
        if part.name == "__init__":
            yield written(part, found.name) + "\n"
    yield described(ast.get_docstring(found) or "")
    seen = False
    for part in own:
        text = ast.get_docstring(part)
        if part.name.startswith("_") or text is None:
            continue
        seen = True
        plain = any(isinstance(d, ast.Name) and d.id == "property" for d in part.decorator_list)
        name = f"`{part.name}`" if plain else written(part, part.name)
        yield f"- {name}: {' '.join(text.split())}"
    if seen:
        yield ""


def modules() -> Iterator[str]:
    for module, files in MODULES.items():
        trees = [ast.parse((FOLDER / file).read_text(encoding="utf-8")) for file in files]
        yield f"# stowage.{module}\n"
        yield described(ast.get_docstring(trees[0]) or "")
        found = [part for tree in trees for part in tree.body]
        for part in found:
            name = getattr(part, "name", "_")
            if name.startswith("_") or name in PRIVATE:
                continue
            yield f"## stowage.{module}.{name}\n"
            if isinstance(part, ast.ClassDef):
                yield from described_class(part)
            elif isinstance(part, ast.FunctionDef):
                yield written(part, name) + "\n"
                yield described(ast.get_docstring(part) or "")


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
    yield from modules()


if __name__ == "__main__":
    print("\n".join(page()).rstrip())
