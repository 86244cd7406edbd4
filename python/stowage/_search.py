"""The arguments of a search and its call."""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple, Optional

from . import _core
from ._arguments import number as number
from ._arguments import text
from ._arguments import whole as whole
from ._errors import InputError
from ._parameters import as_names, as_params, check_settings


class Search(NamedTuple):
    """The method, limits and settings of a search, as solve() and Planner take them."""

    method: str
    time_limit: Optional[float]
    node_limit: Optional[int]
    gap: float
    seed: int
    solver: str
    params: dict[str, float] = {}
    without: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        method: str,
        time_limit: Optional[float],
        node_limit: Optional[int],
        gap: float,
        seed: int,
        solver: str,
        params: Any = None,
        without: Any = None,
    ) -> Search:
        """Builds a search from a caller's arguments. Raises InputTypeError."""
        return cls(
            text(method, "method"),
            None if time_limit is None else number(time_limit, "time_limit"),
            None if node_limit is None else whole(node_limit, "node_limit"),
            number(gap, "gap"),
            whole(seed, "seed"),
            text(solver, "solver"),
            as_params(params),
            as_names(without, "without"),
        )

    def check(self, instance: _core.Instance) -> None:
        """Raises InputError or ValueError for values that no search accepts."""
        known = [name for name, *_ in _core.methods(instance)]
        if self.method not in known:
            raise InputError(
                [("E701", "method", f"must be one of {', '.join(known)}, is {self.method!r}")]
            )
        if self.time_limit is not None and not self.time_limit >= 0:
            raise ValueError(f"time_limit: must be at least 0 seconds, is {self.time_limit}")
        if self.node_limit is not None and self.node_limit < 0:
            raise ValueError(f"node_limit: must be at least 0, is {self.node_limit}")
        if not (self.gap >= 0 and math.isfinite(self.gap)):
            raise ValueError(f"gap: must be at least 0, is {self.gap}")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed: must be from 0 to 2^63 - 1, is {self.seed}")
        solvers = ["auto", *_core.backend_names()]
        if self.solver not in solvers:
            raise ValueError(f"solver: must be one of {solvers}, is {self.solver!r}")
        check_settings(instance, self.params, self.without)

    def arguments(self) -> _core.SolveArguments:
        return _core.SolveArguments(
            method=self.method,
            solver=self.solver,
            time_limit=self.time_limit,
            node_limit=self.node_limit,
            gap=self.gap,
            seed=self.seed,
            params=self.params,
            without=list(self.without),
        )

    def run(
        self,
        instance: _core.Instance,
        start: Optional[_core.Plan],
        interrupt: Optional[_core.Interrupt] = None,
    ) -> _core.Outcome:
        """Runs the search. Raises KeyboardInterrupt for a Ctrl-C that did not end a search, or for
        a second one."""
        interrupt = interrupt or _core.Interrupt()
        outcome = _core.solve(instance, self.arguments(), start, interrupt, in_main_thread())
        return self._finished(outcome, interrupt)

    def run_window(
        self, steps: list[_core.Instance], rule: tuple[int, float], interrupt: _core.Interrupt
    ) -> list[tuple[_core.Instance, _core.Outcome, Any, Any]]:
        """Plans the steps of a window under a rule: delay and token spread. Raises
        KeyboardInterrupt as run() does."""
        planned = _core.plan_window(steps, *rule, self.arguments(), interrupt, in_main_thread())
        outcomes = [outcome for _, outcome, _, _ in planned]
        cut_short = any(each.stopped_by == "interrupted" for each in outcomes)
        whole = all(each.plan is not None for each in outcomes)
        if interrupt.signals > (1 if cut_short and whole else 0):
            raise KeyboardInterrupt
        return planned

    def run_with_layout(
        self, instance: _core.Instance, start: Optional[_core.Plan]
    ) -> tuple[_core.Outcome, Optional[_core.Arrangement]]:
        """Runs the search and lays out the order's tensors. Raises KeyboardInterrupt as run() does."""
        interrupt = _core.Interrupt()
        outcome, arrangement = _core.solve_with_layout(
            instance, self.arguments(), start, interrupt, in_main_thread()
        )
        return self._finished(outcome, interrupt), arrangement

    def _finished(self, outcome: _core.Outcome, interrupt: _core.Interrupt) -> _core.Outcome:
        cut_short = outcome.stopped_by == "interrupted" and outcome.plan is not None
        if interrupt.signals > (1 if cut_short else 0):
            raise KeyboardInterrupt
        return outcome


def in_main_thread() -> bool:
    """Returns whether this thread receives Python's signals."""
    return threading.current_thread() is threading.main_thread()
