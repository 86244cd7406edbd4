"""A verified plan of one global batch, for a training loop."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import path_of
from ._documents import PlanDocument
from ._errors import VerificationError
from ._ragged import Ragged
from ._trainer_step import TrainerStep


class Report(NamedTuple):
    """The record of a planned step: status, values and search."""

    status: str  # "optimal" or "feasible"
    objective_ms: float
    bound_ms: float
    bound_by: str
    gap: float
    stopped_by: str
    found_by: str
    seconds: float


class Sequences(NamedTuple):
    """The caller's ids of the planned sequences, in the order in which they were planned."""

    ids: NDArray[np.int64]
    dropped: NDArray[np.int64]
    clipped: NDArray[np.int64]


class Step(TrainerStep):
    """A verified plan of one global batch: a TrainerStep with the data of the plan.

    Attributes in addition to those of TrainerStep:
        status: "optimal" or "feasible". objective_ms: modelled time of the step. bound_ms: no plan
            takes less. bound_by: the name of the bound. gap: relative difference of objective and
            bound. stopped_by: the reason why the search ended. found_by: the method that found the
            plan. seconds: duration of the search.
        predicted_ms: float64 [B], modelled time of each batch.
        ids: int64, the caller's ids: id i of a trainer file is ids[i].
        dropped, clipped: int64 ids of omitted and of cut sequences (on_oversize).

    `sequences` contains the caller's ids; in a trainer file ids count from 0. Steps are equal if their
    plans and ids are: the search that found a plan does not matter.
    """

    predicted_ms: NDArray[np.float64]

    def __init__(
        self, instance: _core.Instance, plan: _core.Plan, report: Report, sequences: Sequences
    ) -> None:
        super().__init__(_core.trainer_step(instance, plan))
        self._instance = instance
        self._plan = plan
        self._report = report
        self._given = sequences
        self.predicted_ms = _core.predicted_ms(plan)
        self.ids = sequences.ids
        self.dropped = sequences.dropped
        self.clipped = sequences.clipped
        own = sequences.ids[self.sequences.values]
        for array in (own, *sequences):
            array.flags.writeable = False
        self.sequences = Ragged(own, self.sequences.offsets)

    @property
    def status(self) -> str:
        return self._report.status

    @property
    def objective_ms(self) -> float:
        return self._report.objective_ms

    @property
    def bound_ms(self) -> float:
        return self._report.bound_ms

    @property
    def bound_by(self) -> str:
        return self._report.bound_by

    @property
    def gap(self) -> float:
        return self._report.gap

    @property
    def stopped_by(self) -> str:
        return self._report.stopped_by

    @property
    def found_by(self) -> str:
        return self._report.found_by

    @property
    def seconds(self) -> float:
        return self._report.seconds

    @property
    def plan(self) -> PlanDocument:
        """The stowage/plan document."""
        document: PlanDocument = json.loads(self._plan.to_json())
        return document

    @property
    def instance(self) -> dict[str, Any]:
        """The stowage/instance document of the plan."""
        document: dict[str, Any] = json.loads(self._instance.to_json())
        return document

    def verify(self) -> None:
        """Checks the plan again with the independent verifier. Raises VerificationError."""
        violations = _core.verify(self._instance, self._plan)
        if violations:
            raise VerificationError(violations)

    def _compared(self) -> tuple[Any, ...]:
        own = self._given
        return (*super()._compared(), own.dropped.tobytes(), own.clipped.tobytes())

    def render(self, path: Union[str, os.PathLike[str]]) -> None:
        """Draws the plan as an SVG picture: ranks downwards, time to the right."""
        path_of(path, "path").write_text(self._repr_svg_(), encoding="utf-8")

    def _repr_svg_(self) -> str:
        return _core.svg(self._instance, self._plan, True)

    def __reduce__(self) -> tuple[Any, ...]:
        return _step_of_text, (
            self._instance.to_json(),
            self._plan.to_json(),
            self._report,
            self._given,
        )


def _step_of_text(instance: str, plan: str, report: Report, sequences: Sequences) -> Step:
    step = Step(_core.read_instance(instance, ""), _core.read_plan(plan, None), report, sequences)
    step.verify()
    return step
