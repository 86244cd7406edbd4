"""A plugin of pytest that runs verl's own tests with stowage's partitions, micro-batches and dynamic
context parallelism instead of verl's.

Without two GPUs the processes that verl's tests start run on the CPU, over gloo.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.multiprocessing as processes
from verl.utils import dynamic_cp_scheduler, seqlen_balancing

import stowage
import stowage.verl

_spawn = processes.spawn
_calls = []


def counted(*arguments, **more):
    _calls.append(arguments)
    return stowage.verl.get_seqlen_balanced_partitions(*arguments, **more)


def pytest_configure(config):
    cluster = stowage.Cluster.preset("gpt-7b", devices=4, limit=64000, pad_multiple=1)
    stowage.verl.use(dynamic_cp=stowage.Planner(cluster))
    for name in (stowage.verl._NAME, stowage.verl._MICRO):
        assert getattr(seqlen_balancing, name).__module__ == "stowage.verl"
    theirs = dynamic_cp_scheduler.get_megatron_dynamic_cp_scheduler_cls()
    assert issubclass(theirs, stowage.verl.PackingScheduler)
    setattr(seqlen_balancing, stowage.verl._NAME, counted)
    if torch.cuda.device_count() < 2:
        processes.spawn = spawned


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"stowage made {len(_calls)} partitions")


def spawned(function, args=(), **more):
    """Starts the processes on the CPU. Empties the file through which the ranks of an earlier call
    met, since a second call may name it again."""
    for each in args:
        if isinstance(each, str) and each.startswith("file://"):
            Path(each.removeprefix("file://")).write_bytes(b"")
    return _spawn(on_cpu, args=(function, *args), **more)


def on_cpu(rank, function, *arguments):
    """Runs a function in a process that a test started, with the CPU as verl's device."""
    stowage.verl.use()
    for module in (sys.modules[function.__module__], seqlen_balancing, stowage.verl):
        for name, value in (
            ("get_device_name", lambda: "cpu"),
            ("get_nccl_backend", lambda: "gloo"),
            ("get_torch_device", lambda: SimpleNamespace(set_device=lambda rank: None)),
        ):
            if hasattr(module, name):
                setattr(module, name, value)
    function(rank, *arguments)
