"""Plans long-context training, from Python.

Examples:
    >>> import stowage
    >>> planner = stowage.Planner(stowage.Cluster.preset("gpt-7b", devices=64))
    >>> step = planner.plan([9000, 4000, 120000, 512])
    >>> step.batch(0).sequences

The package needs only NumPy. stowage.torch, .functorch, .inductor, .context_parallel, .executorch,
.megatron, .verl, .hf, .lightning, .deepspeed, .torchtitan and .onnx need their framework, and are
imported at their first use.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from . import _core
from ._arrangement import Arrangement, arrange
from ._audit import Audit, audit
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
from ._length_file import read_lengths
from ._order_rows import OrderRow, OrderRows
from ._parameters import Parameter, Stage, StageReport, params, stages
from ._partition import MicroBatches, Partition, balanced_partitions, micro_batches
from ._planner import Planner
from ._ragged import Ragged
from ._snapshot import Snapshot, snapshot
from ._step import Step
from ._trainer_step import Batch, Row, TrainerStep, read_trainer

if TYPE_CHECKING:
    from . import calibrate as calibrate
    from . import context_parallel as context_parallel
    from . import deepspeed as deepspeed
    from . import executorch as executorch
    from . import hf as hf
    from . import inductor as inductor
    from . import lightning as lightning
    from . import megatron as megatron
    from . import functorch as functorch
    from . import onnx as onnx
    from . import torch as torch
    from . import torchtitan as torchtitan
    from . import verl as verl

# Modules that are imported at their first use, and the packages that each module needs.
_LAZY = {
    "calibrate": (),
    "context_parallel": ("torch",),
    "deepspeed": ("deepspeed", "torch"),
    "executorch": ("executorch", "torch"),
    "hf": ("torch",),
    "lightning": ("lightning", "torch"),
    "megatron": ("megatron", "torch"),
    "functorch": ("torch",),
    "inductor": ("torch",),
    "onnx": ("onnx",),
    "torch": ("torch",),
    "torchtitan": ("torchtitan", "torch"),
    "verl": ("verl",),
}

__version__: str = _core.version


def build_info() -> dict[str, object]:
    """Returns the version, the MILP backends with their licences, and the libraries of this build."""
    licences = {"cbc": "EPL-2.0", "glpk": "GPL-3.0-or-later", "highs": "MIT"}
    return {
        "version": __version__,
        "backends": {name: licences[name] for name in _core.backend_names()},
        "libraries": {
            "CLI11": "BSD-3-Clause",
            "Eigen": "MPL-2.0",
            "nanobind": "BSD-3-Clause",
            "nlohmann-json": "MIT",
        },
    }


__all__ = [
    "Arrangement",
    "Audit",
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
    "MicroBatches",
    "NoPlan",
    "OrderRow",
    "OrderRows",
    "Outcome",
    "Parameter",
    "Partition",
    "Planner",
    "Ragged",
    "Row",
    "Snapshot",
    "Stage",
    "StageReport",
    "Step",
    "TrainerStep",
    "VerificationError",
    "Violation",
    "arrange",
    "audit",
    "balanced_partitions",
    "build_info",
    "compare",
    "explain",
    "methods",
    "micro_batches",
    "params",
    "read_lengths",
    "read_trainer",
    "snapshot",
    "solve",
    "stages",
    "verify",
]


if not TYPE_CHECKING:  # at run time __getattr__ imports the modules; type checkers use their types

    def __getattr__(name: str) -> ModuleType:
        """A module of the package that needs a framework. Raises ImportError where that is missing."""
        if name not in _LAZY:
            raise AttributeError(f"module 'stowage' has no attribute {name!r}")
        if missing := _missing(name):
            packages = " and ".join(missing)
            raise ImportError(
                f"stowage.{name} needs {packages}, not found in this Python: install {packages} first",
                name=missing[0],
            )
        return importlib.import_module(f"stowage.{name}")


def _missing(name: str) -> list[str]:
    """Returns the packages that a lazy module needs and that are not installed."""
    return [
        each
        for each in _LAZY[name]
        if each not in sys.modules and importlib.util.find_spec(each) is None
    ]


def __dir__() -> list[str]:
    """Returns the public names, and the lazy modules whose frameworks are installed."""
    return sorted({*globals(), *(name for name in _LAZY if not _missing(name))})
