"""Registers a packing scheduler in Megatron-LM; stowage.megatron has the names."""

from __future__ import annotations

import argparse
import enum
from typing import Any

from megatron.core.datasets import data_schedule

from .._arguments import text
from .._errors import Error
from .scheduler import PackingScheduler, require_same_plans
from .._planner import Planner


def register(planner: Planner, name: str = "stowage") -> type:
    """Makes `--sequence-packing-scheduler NAME` plan with `planner` in this process.

    The function adds a class to Megatron's `scheduler_map`, and a member to `PackingSchedulerEnum` if
    that is the key type of the map. It returns the class. Call it in every process before training
    begins. Branch dev of Megatron-LM accepts only its own names. There register "default_dynamic_cp"
    for groups of varying size or "dp_balanced" for groups of one size; the plans replace that
    scheduler.

    Raises ValueError for planners whose plans depend on the machine or omit samples, and
    stowage.Error for a release of megatron-core without packing schedulers.
    """
    require_same_plans(planner)
    name = text(name, "name")
    base = getattr(data_schedule, "DpBalancedScheduler", None)
    schedulers = getattr(data_schedule, "scheduler_map", None)
    if base is None or schedulers is None:
        raise Error(
            "megatron-core: this release has no packing schedulers (scheduler_map of "
            "megatron.core.datasets.data_schedule); use stowage.megatron.use() with its hybrid "
            "context parallelism, or a later release"
        )
    made = type("StowagePackingScheduler", (PackingScheduler, base), {"planner": planner})
    names: Any = getattr(data_schedule, "PackingSchedulerEnum", None)
    if names is None:
        schedulers[name] = made
        return made
    key = name.upper()
    if key not in names.__members__:
        # An enumeration cannot be extended. A new enumeration replaces it, and its old members
        # remain valid keys.
        values = {member.name: member.value for member in names}
        grown = enum.Enum("PackingSchedulerEnum", {**values, key: name})  # type: ignore[misc]
        schedulers.update({grown[old.name]: each for old, each in list(schedulers.items())})
        data_schedule.PackingSchedulerEnum = names = grown
    schedulers[names[key]] = made
    return made


def scheduler_names() -> list[str]:
    """Returns the names of the schedulers in this Megatron-LM; empty for a release without packing
    schedulers."""
    schedulers = getattr(data_schedule, "scheduler_map", {})
    return [own.value if isinstance(own, enum.Enum) else str(own) for own in schedulers]


def add_choice(parser: argparse.ArgumentParser, name: str = "stowage") -> argparse.ArgumentParser:
    """Makes Megatron's parser accept `--sequence-packing-scheduler NAME`. Use it as
    extra_args_provider.

    The function does not change a parser without that option, or whose option takes any name. The
    configuration of branch dev checks the name again: see register().
    """
    for action in parser._actions:
        if "--sequence-packing-scheduler" in action.option_strings and action.choices is not None:
            action.choices = [*action.choices, *({name} - set(action.choices))]
    return parser
