"""The parameters and the stages of a solve, with their documentation."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, NamedTuple

from . import _core
from ._arguments import each_of, number, text
from ._errors import InputError, InputTypeError


class Parameter(NamedTuple):
    """A number that a search goes by.

    `default` lies from `least` to `most`, ends included. `integral`: whole numbers only. `effect`
    is a sentence on what more of it does, `evidence` names where the default comes from.
    """

    name: str
    default: float
    least: float
    most: float
    integral: bool
    unit: str
    effect: str
    evidence: str


class Stage(NamedTuple):
    """A named part of a solve, which `without` leaves out."""

    name: str
    summary: str


class StageReport(NamedTuple):
    """What a stage did in all its runs.

    `plan_gained`: the objective fell by so much; `first_plan`: there was no plan before;
    `bound_gained`: the bound rose by so much; both in the unit of the objective.
    """

    name: str
    runs: int
    seconds: float
    nodes: int
    plan_gained: float
    first_plan: bool
    bound_gained: float


def params(family: str) -> list[Parameter]:
    """The parameters that `params=` of solve(), Planner and others take, of "scatter" for instance.

    Raises ValueError for an unknown family.
    """
    return [Parameter(*row) for row in _core.parameters(text(family, "family"))]


def stages(family: str) -> list[Stage]:
    """The stages that `without=` of solve(), Planner and others take, in the order of a solve.

    Raises ValueError for an unknown family.
    """
    return [Stage(*row) for row in _core.stages(text(family, "family"))]


def as_params(value: Any) -> dict[str, float]:
    """The numbers of the argument `params` by name; None has none. Raises InputTypeError."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputTypeError(
            f"params: must be a mapping of names to numbers, is of the type {type(value).__name__}"
        )
    return {
        text(name, "params"): number(given, f"params[{name!r}]") for name, given in value.items()
    }


def as_names(value: Any, name: str) -> tuple[str, ...]:
    """The texts that the argument lists; None has none. Raises InputTypeError."""
    return () if value is None else tuple(text(each, name) for each in each_of(value, name))


def check_settings(
    instance: _core.Instance, values: Mapping[str, float], without: Iterable[str]
) -> None:
    """Raises InputError for parameters and stages that the instance's family does not have."""
    known = [row[0] for row in _core.parameters(instance.family)]
    errors = []
    for code, pointer, message in _core.parameter_errors(instance, values):
        name = pointer.partition("/")[2]
        if name not in known:
            message = f"is no parameter of {instance.family}{_nearest(name, known)}"
            message += f"; stowage.params({instance.family!r}) lists them"
        errors.append((code, pointer, message))
    names = [row[0] for row in _core.stages(instance.family)]
    for stage in without:
        if stage not in names:
            message = f"{stage!r} is no stage of {instance.family}{_nearest(stage, names)}"
            message += f"; stowage.stages({instance.family!r}) lists them"
            errors.append(("E702", "without", message))
    if errors:
        raise InputError(errors)


def differing(family: str, values: Mapping[str, float]) -> dict[str, float]:
    """Those values that are not the defaults of the family."""
    defaults = {row[0]: row[1] for row in _core.parameters(family)}
    return {name: value for name, value in values.items() if value != defaults.get(name)}


def _nearest(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
