"""Functions for instances of any problem as documents: solve, verify, explain, compare."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import each_of, number, path_of, require, text
from ._arrangement import Arrangement, documents_of
from ._documents import Document, instance_of, plan_of
from ._errors import InputError, VerificationError
from ._parameters import StageReport, differing
from ._search import Search, in_main_thread
from ._trainer_step import TrainerStep


class Method(NamedTuple):
    """A value of `method`. kind: "ours" or "baseline"; source: the paper, or empty."""

    name: str
    kind: str
    summary: str
    source: str


class Improvement(NamedTuple):
    """The state of a search at an improvement of the plan or the bound."""

    seconds: float
    bound: float
    objective: Optional[float]
    nodes: int
    source: str
    by: str


class Outcome:
    """The result of a solve (instances/outcomes.md). It is immutable, and threads may share it.

    It can be pickled; unpickling verifies its plan again.

    Attributes:
        status: "optimal", "feasible", "infeasible", "unknown" or "error".
        stopped_by: "proof", "gap", "time_limit", "node_limit", "interrupted", "heuristic_end", "error".
        family, unit: "scatter" and "ms", for instance.
        objective: value of the plan, in that unit; None without a plan. bound: no plan is better.
        bound_by: the name of the bound. bounds: all computed bounds, (name, value). gap, method,
        found_by, seconds, nodes, detail; method_bound: a baseline's bound on its own plans.
        remedy: for "infeasible", a change that makes a plan possible; explain() lists more.
        unplaceable: int64 ids of sequences that fit in no group or row. improvements: list of
            Improvement.
        stages: list of StageReport, in the order in which the stages first ran.
        simulated_ms, simulated_bound_ms: with pipeline stages, the end of the plan's 1F1B schedule, by
            which plans are chosen, and a bound on the end of any plan; else None.
        arrangement: offsets of an order's tensors, for solve(layout=True) with a plan; else None.
    """

    def __init__(self, instance: _core.Instance, outcome: _core.Outcome, search: Search) -> None:
        self._instance = instance
        self._plan = outcome.plan
        self._infeasibility = outcome.infeasibility
        self._certificate = outcome.certificate_json
        self._search = search
        self.family: str = instance.family
        self.unit: str = instance.unit
        self.status: str = outcome.status
        self.stopped_by: str = outcome.stopped_by
        self.objective: Optional[float] = outcome.objective
        self.bound: float = outcome.bound
        self.bound_by: str = outcome.bound_by
        self.gap: Optional[float] = outcome.gap
        self.method: str = outcome.method
        self.method_bound: Optional[float] = outcome.method_bound
        end, end_bound = outcome.simulated or (None, None)
        self.simulated_ms: Optional[float] = end
        self.simulated_bound_ms: Optional[float] = end_bound
        self.found_by: str = outcome.found_by
        self.seconds: float = outcome.seconds
        self.nodes: int = outcome.nodes
        self.detail: str = outcome.detail
        self.remedy: str = outcome.remedy
        self.bounds: list[tuple[str, float]] = outcome.bounds
        self.unplaceable: NDArray[np.int64] = outcome.unplaceable
        self.improvements = [Improvement(*step) for step in outcome.improvements]
        self.stages = [StageReport(*stage) for stage in outcome.stages]
        self.arrangement: Optional[Arrangement] = None

    @property
    def plan(self) -> Optional[dict[str, Any]]:
        """The stowage/plan document, verified; None without a plan."""
        return None if self._plan is None else json.loads(self._plan.to_json())

    def trainer(self) -> TrainerStep:
        """Returns the step for the ranks of a trainer, for scatter and assign. Raises ValueError
        without a plan."""
        return TrainerStep(_core.trainer_step(self._instance, self._some_plan()))

    def save_plan(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the stowage/plan. Raises ValueError without a plan."""
        path_of(path, "path").write_text(self._some_plan().to_json(), encoding="utf-8")

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the stowage/outcome. `stowage verify` checks it with the proof of its bound."""
        document = json.dumps(self.to_dict(), indent=1) + "\n"
        path_of(path, "path").write_text(document, encoding="utf-8")

    def render(self, path: Union[str, os.PathLike[str]]) -> None:
        """Draws the plan as an SVG picture. Raises ValueError without a plan."""
        picture = _core.svg(self._instance, self._some_plan(), True)
        path_of(path, "path").write_text(picture, encoding="utf-8")

    def _repr_svg_(self) -> Optional[str]:
        return None if self._plan is None else _core.svg(self._instance, self._plan, True)

    def _some_plan(self) -> _core.Plan:
        if self._plan is None:
            raise ValueError(f"there is no plan: {self.status}, stopped by {self.stopped_by}")
        return self._plan

    def _amount(self, value: Optional[float]) -> Union[int, float, None]:
        return int(value) if value is not None and self.unit == "bytes" else value

    def to_dict(self) -> dict[str, Any]:
        """Returns the stowage/outcome document."""
        unit = "_" + self.unit
        proof = self._infeasibility
        certificate = self._certificate
        solver = (
            (_core.backend_names() or [""])[0]
            if self._search.solver == "auto"
            else self._search.solver
        )
        codes = {"optimal": 0, "feasible": 0, "infeasible": 1, "unknown": 3, "error": 70}
        document: dict[str, Any] = {
            "format": "stowage/outcome",
            "version": 1,
            "problem": self.family,
            "name": self._instance.name,
            "status": self.status,
            "stopped_by": self.stopped_by,
            "exit_code": codes[self.status],
            "objective" + unit: self._amount(self.objective),
            "bound" + unit: self._amount(self.bound),
            "bound_by": self.bound_by,
            "gap": self.gap,
            "method": self.method,
            "found_by": self.found_by,
            "solver": solver,
            "seed": self._search.seed,
            "seconds": self.seconds,
            "nodes": self.nodes,
            "detail": self.detail,
            "bounds": [{"name": n, "value" + unit: self._amount(v)} for n, v in self.bounds],
            "unplaceable": self.unplaceable.tolist(),
            "violations": [],
            "improvements": [
                {
                    "seconds": step.seconds,
                    "bound" + unit: self._amount(step.bound),
                    "objective" + unit: self._amount(step.objective),
                    "nodes": step.nodes,
                    "source": step.source,
                    "by": step.by,
                }
                for step in self.improvements
            ],
        }
        if params := differing(self.family, self._search.params):
            document["parameters"] = params
        if self._search.without:
            document["without"] = list(self._search.without)
        if self.remedy:
            document["remedy"] = self.remedy
        if proof is not None:
            by, witnesses, at = proof
            document["infeasibility"] = {"by": by, "witnesses": witnesses.tolist()}
            if at is not None:
                document["infeasibility"]["step"] = at
        if self.simulated_ms is not None and self.simulated_bound_ms is not None:
            end, bound = self.simulated_ms, self.simulated_bound_ms
            document["simulated_1f1b_ms"] = end
            document["simulated_bound_ms"] = bound
            document["simulated_gap"] = (end - bound) / end if end else 0.0
        if certificate is not None:
            document["certificate"] = json.loads(certificate)
        document["plan"] = self.plan
        return document

    def __repr__(self) -> str:
        objective = "no plan" if self.objective is None else f"{self.objective:g} {self.unit}"
        return f"<Outcome {self.status}: {objective}, bound {self.bound:g} ({self.bound_by})>"

    def __reduce__(self) -> tuple[Any, ...]:
        told = {
            name: value for name, value in vars(self).items() if name not in ("_instance", "_plan")
        }
        plan = None if self._plan is None else self._plan.to_json()
        return _outcome_of_text, (self._instance.to_json(), plan, told)


def _outcome_of_text(instance: str, plan: Optional[str], told: dict[str, Any]) -> Outcome:
    """Builds an outcome from its document. Raises VerificationError if the plan is not a plan of
    the instance."""
    outcome = Outcome.__new__(Outcome)
    vars(outcome).update(told)
    outcome._instance = _core.read_instance(instance, "")
    outcome._plan = None if plan is None else _core.read_plan(plan, None)
    if outcome._plan is not None and (violations := _core.verify(outcome._instance, outcome._plan)):
        raise VerificationError(violations)
    return outcome


class Compared(NamedTuple):
    """A row of a comparison. `best` is True if no method of the comparison found a better plan."""

    method: Method
    outcome: Outcome
    best: bool


def methods(instance: Document) -> list[Method]:
    """Returns the methods of this build for an instance: "auto" first, then baselines, then
    stowage's own."""
    return [Method(*method) for method in _core.methods(instance_of(instance))]


def solve(
    instance: Document,
    *,
    method: str = "auto",
    time_limit: Optional[float] = 10.0,
    node_limit: Optional[int] = None,
    gap: float = 0.0,
    seed: int = 0,
    solver: str = "auto",
    params: Optional[Mapping[str, float]] = None,
    without: Sequence[str] = (),
    start: Optional[Document] = None,
    layout: bool = False,
) -> Outcome:
    """Plans an instance of any problem: a dictionary or the path of its file.

    Args:
        time_limit: wall-clock seconds; None for no limit.
        layout: of an order: lays its tensors out too, in at least half of the time, and stores the
            offsets in Outcome.arrangement. The plan is the order of the best layout.
        start: a plan, or an outcome with a plan, from which the search starts; the result is never
            worse.

    The other arguments are those of Planner.

    Raises InputError for an invalid document or method, and ValueError for a layout of another
    problem. An infeasible instance gives an outcome, not an exception. The first Ctrl-C ends the
    search with the best plan, the second raises KeyboardInterrupt.
    """
    given = instance_of(instance)
    search = Search.of(method, time_limit, node_limit, gap, seed, solver, params, without)
    search.check(given)
    begin = None if start is None else plan_of(start, given, "start")
    require(layout, bool, "layout")
    if not layout:
        return Outcome(given, search.run(given, begin), search)
    if given.family != "order":
        raise ValueError(f"layout: must be False for the problem {given.family}, is True")
    found, arrangement = search.run_with_layout(given, begin)
    outcome = Outcome(given, found, search)
    if arrangement is not None:
        outcome.arrangement = documents_of(arrangement)
    return outcome


def verify(instance: Document, plan: Document) -> None:
    """Checks a plan, or the plan of an outcome, with the independent verifier.

    A scatter plan of another program may be partial (docs/reference/scatter.md): degree,
    first_rank and sequences of each group.

    Raises VerificationError with every violation, and InputError for an invalid document.
    """
    given = instance_of(instance)
    violations = _core.verify(given, plan_of(plan, given))
    if violations:
        raise VerificationError(violations)


def explain(
    instance: Document,
    plan: Optional[Document] = None,
    *,
    method: str = "auto",
    time_limit: float = 2.0,
    node_limit: Optional[int] = None,
    seed: int = 0,
    solver: str = "auto",
    params: Optional[Mapping[str, float]] = None,
    without: Sequence[str] = (),
) -> dict[str, Any]:
    """Returns the bottlenecks of a plan and the gains of changes, or the causes of infeasibility
    and remedies.

    The limits apply to each solve that the explanation needs. The keys are those of `stowage explain`
    (docs/reference/commands.md), without units. Raises VerificationError for an invalid plan.
    """
    given = instance_of(instance)
    search = Search.of(method, time_limit, node_limit, 0.0, seed, solver, params, without)
    search.check(given)
    its = None if plan is None else plan_of(plan, given)
    if its is not None and (violations := _core.verify(given, its)):
        raise VerificationError(violations)
    interrupt = _core.Interrupt()
    answer = _core.explain(given, its, search.arguments(), interrupt, in_main_thread())
    if interrupt.signals > 1:
        raise KeyboardInterrupt
    return answer


def compare(
    instance: Document,
    *,
    methods: Optional[Sequence[str]] = None,
    time_limit: Optional[float] = 10.0,
    node_limit: Optional[int] = None,
    seed: int = 0,
    solver: str = "auto",
    params: Optional[Mapping[str, float]] = None,
    without: Sequence[str] = (),
    baseline_limit: Optional[float] = 600.0,
) -> list[Compared]:
    """Runs several methods on one instance, by default all methods.

    Args:
        time_limit: wall-clock seconds of each of stowage's own methods.
        baseline_limit: wall-clock seconds of each baseline with all its MILPs; None for no limit.
    """
    given = instance_of(instance)
    known = [Method(*method) for method in _core.methods(given)]
    wanted = (
        None if methods is None else {text(own, "methods") for own in each_of(methods, "methods")}
    )
    limits = {
        "ours": None if time_limit is None else number(time_limit, "time_limit"),
        "baseline": None if baseline_limit is None else number(baseline_limit, "baseline_limit"),
    }
    unknown = sorted((wanted or set()) - {method.name for method in known})
    if unknown:
        raise InputError(
            [("E701", "methods", f"must be names of methods, has {', '.join(unknown)}")]
        )
    outcomes = []
    for method in known:
        if wanted is not None and method.name not in wanted:
            continue
        search = Search.of(
            method.name, limits[method.kind], node_limit, 0.0, seed, solver, params, without
        )
        search.check(given)
        outcomes.append((method, Outcome(given, search.run(given, None), search)))
    best = min((o.objective for _, o in outcomes if o.objective is not None), default=None)
    return [
        Compared(method, outcome, best is not None and outcome.objective == best)
        for method, outcome in outcomes
    ]
