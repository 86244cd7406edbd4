"""Instances and plans as callers hand them in: dictionaries or paths."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Mapping, Union

from . import _core

#: A document as a dictionary, or the path of its file.
Document = Union[Mapping[str, Any], str, "os.PathLike[str]"]


def text_of(document: Mapping[str, Any]) -> str:
    """JSON of a dictionary, which may hold numbers of NumPy."""
    return json.dumps(document, default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def instance_of(source: Document) -> _core.Instance:
    """Raises InputError with all errors of the document."""
    if isinstance(source, Mapping):
        return _core.read_instance(text_of(source), "")
    path = Path(source)
    return _core.read_instance(_core.read_file(str(path)), str(path.parent))


def plan_of(source: Document, instance: _core.Instance) -> _core.Plan:
    """Of a plan, bare ones included, or of an outcome that holds one. Raises InputError."""
    if isinstance(source, Mapping):
        return _core.read_plan(text_of(source), instance)
    return _core.read_plan(_core.read_file(os.fspath(source)), instance)
