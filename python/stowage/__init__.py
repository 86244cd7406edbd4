"""Plans of long-context training, from Python.

>>> import stowage
>>> planner = stowage.Planner(stowage.Cluster.preset("gpt-7b", devices=64))
>>> step = planner.plan([9000, 4000, 120000, 512])
>>> step.batch(0).sequences

Needs NumPy only; stowage.torch, .megatron, .verl, .hf, .deepspeed and .onnx need their framework.
"""

from __future__ import annotations

from . import _core
from ._arrangement import Arrangement, arrange
from ._cluster import Cluster
from ._errors import (
    BackendError,
    Error,
    ErrorEntry,
    Infeasible,
    InputError,
    InputTypeError,
    NoPlan,
    VerificationError,
    Violation,
)
from ._families import (
    Compared,
    Improvement,
    Method,
    Outcome,
    compare,
    explain,
    methods,
    solve,
    verify,
)
from ._order_rows import OrderRow, OrderRows
from ._partition import Partition, balanced_partitions
from ._planner import Planner
from ._ragged import Ragged
from ._step import Step
from ._trainer_step import Batch, Row, TrainerStep, read_trainer

__version__: str = _core.version


def build_info() -> dict[str, object]:
    """Version, MILP backends with their licences, and libraries that this build contains."""
    licences = {"cbc": "EPL-2.0", "glpk": "GPL-3.0-or-later"}
    return {
        "version": __version__,
        "backends": {name: licences[name] for name in _core.backend_names()},
        "libraries": {"Eigen": "MPL-2.0", "nanobind": "BSD-3-Clause", "nlohmann-json": "MIT"},
    }


__all__ = [
    "Arrangement",
    "BackendError",
    "Batch",
    "Cluster",
    "Compared",
    "Error",
    "ErrorEntry",
    "Improvement",
    "Infeasible",
    "InputError",
    "InputTypeError",
    "Method",
    "NoPlan",
    "OrderRow",
    "OrderRows",
    "Outcome",
    "Partition",
    "Planner",
    "Ragged",
    "Row",
    "Step",
    "TrainerStep",
    "VerificationError",
    "Violation",
    "arrange",
    "balanced_partitions",
    "build_info",
    "compare",
    "explain",
    "methods",
    "read_trainer",
    "solve",
    "verify",
]
