"""Instances and plans from callers: dictionaries or paths."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, TypedDict, Union

from . import _core
from ._arguments import path_of
from ._errors import InputError, InputTypeError

if TYPE_CHECKING:
    from pathlib import Path

#: A document as a dictionary, or the path of its file.
Document = Union[Mapping[str, Any], str, "os.PathLike[str]"]


class _Exchange(TypedDict, total=False):
    exchange: str  # where an instance has several kinds


class _Recomputation(TypedDict, total=False):
    recomputation: str  # where an instance has several modes


class GroupDocument(_Exchange):
    """A group of a scatter plan: ranks first_rank to first_rank + degree - 1."""

    degree: int
    first_rank: int
    sequences: list[int]
    tokens: int
    time_ms: float
    cu_seqlens: list[int]


class MicroBatchDocument(_Recomputation):
    """A micro-batch of a scatter plan."""

    makespan_ms: float
    groups: list[GroupDocument]


class _Pipeline(TypedDict, total=False):
    simulated_1f1b_ms: float  # where an instance has several pipeline stages


class PlanDocument(_Pipeline):
    """A stowage/plan of a scatter instance (docs/reference/scatter.md). Optional keys are left out."""

    format: str
    version: int
    problem: str
    name: str
    instance_hash: str
    objective_ms: float
    bound_ms: float
    bound_by: str
    micro_batches: list[MicroBatchDocument]


def text_of(document: Any, name: str = "document") -> str:
    """Returns the JSON text of a dictionary, which may contain numbers of NumPy. Raises
    InputTypeError for other objects."""
    try:
        return json.dumps(document, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputTypeError(f"{name}: must be what JSON can say: {error}") from None


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def file_text(path: Path) -> str:
    """Returns the text of a file. Raises InputError if it cannot be read (E110) or is not UTF-8
    (E102)."""
    try:
        return _core.read_file(str(path))
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        line, column = 1 + before.count("\n"), len(before) - before.rfind("\n")
        message = f"must be UTF-8 text, is byte {error.object[error.start]}: save the file as UTF-8"
        raise InputError([("E102", f"{path}:{line}:{column}", message)]) from None


def instance_of(source: Document, name: str = "instance") -> _core.Instance:
    """Reads an instance. Raises InputError with all errors of the document, and InputTypeError for
    a value that is neither a dictionary nor a path."""
    if isinstance(source, Mapping):
        return _core.read_instance(text_of(source), "")
    path = _path_of(source, name)
    return _core.read_instance(file_text(path), str(path.parent))


def plan_of(source: Document, instance: _core.Instance, name: str = "plan") -> _core.Plan:
    """Reads a plan, which may be partial, or the plan of an outcome. Raises InputError."""
    if isinstance(source, Mapping):
        return _core.read_plan(text_of(source), instance)
    return _core.read_plan(file_text(_path_of(source, name)), instance)


def _path_of(source: Any, name: str) -> Path:
    if not isinstance(source, (str, os.PathLike)):
        raise InputTypeError(
            f"{name}: must be a dictionary or the path of a file, is of the type "
            f"{type(source).__name__}"
        )
    return path_of(source, name)


def groups_at_once(plan: Any) -> list[list[GroupDocument]]:
    """Returns the groups that a trainer runs side by side, in order: those of each micro-batch, and of
    a mixed micro-batch the row of all ranks before the rows of single ranks."""
    parts: list[list[GroupDocument]] = []
    for batch in plan["micro_batches"]:
        groups = batch["groups"]
        shared = max(groups, key=lambda group: group["degree"])
        others = [group for group in groups if group is not shared]
        first, end = shared["first_rank"], shared["first_rank"] + shared["degree"]
        if any(first <= group["first_rank"] < end for group in others):
            parts += [[shared], others]
        else:
            parts.append(groups)
    return parts
