"""python -m stowage.megatron: runs a script of Megatron-LM whose packing scheduler is stowage's
planner."""

from __future__ import annotations

import argparse
import importlib
import os
import runpy
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

from .._cluster import Cluster
from .._errors import Error
from .._planner import Planner

# Branch dev of Megatron-LM accepts these names for --sequence-packing-scheduler.
_DYNAMIC, _STATIC = "default_dynamic_cp", "dp_balanced"


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command. Returns the exit code: 2 for bad usage, otherwise the script's."""
    given = _parsed(arguments)
    script = Path(given.script)
    try:
        if not script.is_file():
            raise ValueError(f"SCRIPT: must be a file, is {given.script}")
        name = _scheduler(given.arguments)
        planner = _planner(given)
        _require_ranks(planner.cluster, given.arguments)
        sys.path.insert(0, str(script.resolve().parent))  # as `python SCRIPT` does
        _register(planner, name)
    except (Error, ValueError, OSError) as error:
        print(f"stowage.megatron: {error}", file=sys.stderr)
        return 2
    sys.argv = [given.script, *given.arguments]
    runpy.run_path(given.script, run_name="__main__")
    return 0


def _parsed(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m stowage.megatron",
        description="Runs a script of Megatron-LM, such as pretrain_gpt.py, whose sequences are packed and "
        "grouped by plans. ARGS ask for a packing scheduler (--sequence-packing-scheduler "
        f"{_DYNAMIC} or {_STATIC}), and plans take its place.",
    )
    parser.add_argument(
        "--cluster",
        default=os.environ.get("STOWAGE_CLUSTER"),
        metavar="FILE",
        help="scatter instance of the ranks that share data and context, with their memory and cost; "
        "default the environment variable STOWAGE_CLUSTER",
    )
    parser.add_argument("--method", default="fast", help="of planning; default fast")
    parser.add_argument("--node-limit", type=int, help="of the search; default none")
    parser.add_argument("--seed", type=int, default=0, help="of methods that draw; default 0")
    parser.add_argument("script", metavar="SCRIPT", help="the script to run")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="its arguments")
    return parser.parse_args(arguments)


def _planner(given: argparse.Namespace) -> Planner:
    if not given.cluster:
        raise ValueError(
            "--cluster: must be the file of a cluster, is not given, and STOWAGE_CLUSTER is not set; "
            "`torchrun -m stowage.calibrate -o cluster.json` writes one"
        )
    cluster = Cluster.load(given.cluster)
    return Planner(cluster, method=given.method, node_limit=given.node_limit, seed=given.seed)


def _scheduler(arguments: Sequence[str]) -> str:
    """Returns the scheduler that the script's arguments select. Raises ValueError if they select
    none."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--sequence-packing-scheduler")
    parser.add_argument("--dynamic-context-parallel", action="store_true")
    asked, _ = parser.parse_known_args(list(arguments))
    name: Optional[str] = asked.sequence_packing_scheduler
    if name is None and asked.dynamic_context_parallel:
        return _DYNAMIC
    if name is None:
        raise ValueError(
            "ARGS: must ask for a packing scheduler, or Megatron packs nothing: add "
            f"--sequence-packing-scheduler {_DYNAMIC} --dynamic-context-parallel, or "
            f"--sequence-packing-scheduler {_STATIC} for groups of one size"
        )
    if asked.dynamic_context_parallel and name != _DYNAMIC:
        raise ValueError(
            f"--sequence-packing-scheduler: must be {_DYNAMIC} with --dynamic-context-parallel, is "
            f"{name}; plans take its place"
        )
    return name


def _require_ranks(cluster: Cluster, arguments: Sequence[str]) -> None:
    """Raises ValueError if the number of torchrun's ranks differs from the cluster's devices."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--tensor-model-parallel-size", type=int, default=1)
    parser.add_argument("--pipeline-model-parallel-size", type=int, default=1)
    asked, others = parser.parse_known_args(list(arguments))
    world = int(os.environ.get("WORLD_SIZE", 0))
    if not world or any(
        each.startswith(("--yaml-cfg", "--use-checkpoint-args")) for each in others
    ):
        return  # the scheduler checks the ranks in the first step
    shared = asked.tensor_model_parallel_size * asked.pipeline_model_parallel_size
    ranks = world // shared if shared > 0 else 0
    if cluster.devices != ranks:
        raise ValueError(
            f"--cluster: must be of {ranks} devices, the {world} ranks over "
            f"{asked.tensor_model_parallel_size} for tensors and {asked.pipeline_model_parallel_size} "
            f"for the pipeline, is of {cluster.devices}"
        )


def _register(planner: Planner, name: str) -> None:
    """Registers the planner. Raises stowage.Error if Megatron is missing or has no scheduler of
    that name."""
    try:
        packing: Any = importlib.import_module("stowage._megatron.packing")
    except ImportError as missing:
        raise Error(
            f"Megatron-LM cannot be imported ({missing}): run a script of its checkout, or install "
            "megatron-core"
        ) from missing
    names = packing.scheduler_names()
    if names and name not in names:
        raise Error(
            f"--sequence-packing-scheduler: must be one of {', '.join(names)}, is {name}; plans take the "
            "place of the one that is asked for"
        )
    packing.register(planner, name)
