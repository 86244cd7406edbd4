"""Runs a plan's packed rows through a transformer block of torch, on one device.

python -m stowage.torch.run instance.json plan.json

The module does with torch what `stowage run` does with its own kernels, with the same report
(docs/reference/commands.md). It packs every group's row by the plan and computes it forward and backward, with
attention per sequence. It compares outputs and gradients with every sequence computed alone in double precision,
and the times of rows with those that packs like them predict on this device.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Sequence

import numpy as np
import torch
from torch import Tensor

from .. import _core
from .._documents import Document, groups_at_once, instance_of, plan_of
from .._errors import Error, InputError, VerificationError
from ._run_block import Block, Shape
from ._run_report import tell
from ._run_timing import Timing, prediction, timed_rows

_OUTPUT_TOLERANCE = 1e-5
_GRADIENT_TOLERANCE = 2e-5
_SMALL = Shape()


class _Group(NamedTuple):
    micro_batch: int
    number: int
    degree: int
    sequences: list[int]
    lengths: list[int]  # scaled lengths
    predicted_ms: float


@dataclass
class _Check:
    """The worst relative L2 error of one kind of tensor."""

    tolerance: float
    error: float = 0.0
    compared: int = 0
    where: dict[str, Any] = field(default_factory=dict)

    def add(self, have: Tensor, want: Tensor, **where: Any) -> None:
        size = want.norm().item()
        error = (have.double() - want).norm().item() / (size if size > 0 else 1.0)
        if not self.compared or not error <= self.error:
            self.error, self.where = error, where
        self.compared += 1

    @property
    def passed(self) -> Optional[bool]:
        return self.error <= self.tolerance if self.compared else None

    def document(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "error": self.error if self.compared else None,
            "tolerance": self.tolerance,
            "compared": self.compared,
            **self.where,
        }


def execute(
    instance: Document,
    plan: Document,
    *,
    device: str = "cpu",
    scale: int = 0,
    work_gflop: float = 10.0,
    repeats: int = 7,
    seed: int = 0,
    shape: Shape = _SMALL,
) -> dict[str, Any]:
    """Executes a scatter plan on one device, and returns the stowage/execution document.

    Args:
        instance, plan: documents or paths; the plan may be partial, or an outcome with a plan.
        device: a device of torch, such as "cpu" or "cuda".
        scale: divisor of the lengths, rounded up; 0 selects the smallest scale that keeps the work
            of the sequences within `work_gflop`.
        repeats: timed rounds over the rows and packs like them, whose medians count.
        seed: seed of tokens, gradients and weights. shape: shape of the block.

    On a CPU, times are the CPU time of the process with one thread. `measured_ms` is the time of
    the step if every group had a device of its own: the sum over micro-batches of the slowest row.
    `predicted_here_ms` is what it should be, by the times of packs like the rows on this device,
    and `prediction` says how far predictions were off. Raises InputError for an invalid document,
    and VerificationError for an invalid plan.
    """
    for name, value, least in (("scale", scale, 0), ("repeats", repeats, 1)):
        if value < least:
            raise ValueError(f"{name}: must be at least {least}, is {value}")
    read = instance_of(instance)
    if read.family != "scatter":
        raise InputError([("E209", "/problem", f'must be "scatter", is "{read.family}"')])
    made = plan_of(plan, read)
    if violations := _core.verify(read, made):
        raise VerificationError(violations)
    own = json.loads(made.to_json())
    scale = scale or _scale_of(own, shape, work_gflop * 1e9)
    run = _Run(list(_groups(own, scale)), device, repeats, seed, shape)
    run.run()
    head = {"name": own["name"], "scale": scale, "predicted_ms": own["objective_ms"]}
    return run.document(head)


def _padded(group: Mapping[str, Any]) -> list[int]:
    starts = group["cu_seqlens"]
    return [int(end - start) for start, end in zip(starts, starts[1:])]


def _groups(plan: Mapping[str, Any], scale: int) -> Iterator[_Group]:
    """Yields the groups that have sequences."""
    for number, groups in enumerate(groups_at_once(plan)):
        for index, group in enumerate(groups):
            if not group["sequences"]:
                continue
            lengths = [-(-length // scale) for length in _padded(group)]
            yield _Group(
                number, index, group["degree"], group["sequences"], lengths, group["time_ms"]
            )


def _scale_of(plan: Mapping[str, Any], shape: Shape, flop: float) -> int:
    """Returns the smallest scale at which the work of all sequences is at most `flop`."""
    lengths = np.array(
        [
            length
            for batch in plan["micro_batches"]
            for group in batch["groups"]
            for length in _padded(group)
        ],
        np.int64,
    )
    low, high = 1, int(lengths.max(initial=1))
    while low < high:
        middle = (low + high) // 2
        if sum(shape.flop(float(tokens)) for tokens in -(-lengths // middle)) <= flop:
            high = middle
        else:
            low = middle + 1
    return low


class _Run:
    def __init__(
        self, groups: list[_Group], device: str, repeats: int, seed: int, shape: Shape
    ) -> None:
        self.groups, self.device, self.repeats = groups, torch.device(device), repeats
        self.seed, self.shape = seed, shape
        self.block = Block(shape, seed).to(self.device)
        self.reference = copy.deepcopy(self.block).double()
        self.output = _Check(_OUTPUT_TOLERANCE)
        self.input_gradient = _Check(_GRADIENT_TOLERANCE)
        self.weight_gradient = _Check(_GRADIENT_TOLERANCE)
        self.loss = self.reference_loss = 0.0
        self.timing: Optional[Timing] = None

    def run(self) -> None:
        """Runs the plan. On a CPU it uses one thread and CPU time, so that other processes do not
        increase times."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            self._run_all()
        finally:
            torch.set_num_threads(threads)

    def _run_all(self) -> None:
        for group in self.groups:
            inputs = [self._tokens(own, n, 0) for own, n in zip(group.sequences, group.lengths)]
            wanted = [self._tokens(own, n, 1) for own, n in zip(group.sequences, group.lengths)]
            x = torch.cat(inputs).to(self.device).requires_grad_()
            upstream = torch.cat(wanted).to(self.device)
            y = self.block(x, group.lengths)
            y.backward(upstream)
            self._compare(group, x, y.detach(), upstream)
        for (name, have), want in zip(self.block.named_parameters(), self.reference.parameters()):
            if have.grad is not None and want.grad is not None:
                self.weight_gradient.add(have.grad, want.grad, weight=name)
        lengths = [group.lengths for group in self.groups]
        self.timing = timed_rows(lengths, self._seconds, self.repeats, self.seed)

    def _tokens(self, sequence: int, length: int, stream: int) -> Tensor:
        random = torch.Generator().manual_seed((self.seed * 2 + stream) * 2**32 + sequence)
        return torch.randn(length, self.shape.hidden, generator=random)

    def _seconds(self, lengths: Sequence[int]) -> float:
        """Returns the seconds of a row's forward and backward pass."""
        random = torch.Generator().manual_seed(self.seed)
        values = [torch.randn(sum(lengths), self.shape.hidden, generator=random) for _ in range(2)]
        x, upstream = (value.to(self.device) for value in values)
        x.requires_grad_()
        begin = self._now()
        self.block(x, list(lengths)).backward(upstream)
        return self._now() - begin

    def _now(self) -> float:
        """Returns seconds: on a CPU the CPU time of this process, on a GPU the clock after all
        queued work."""
        if self.device.type != "cuda":
            return time.process_time()
        torch.cuda.synchronize(self.device)
        return time.perf_counter()

    def _compare(self, group: _Group, x: Tensor, y: Tensor, upstream: Tensor) -> None:
        assert x.grad is not None
        self.loss += float((y.double() * upstream.double()).sum())
        begin = 0
        for sequence, length in zip(group.sequences, group.lengths):
            part = slice(begin, begin + length)
            begin += length
            alone = x[part].detach().double().requires_grad_()
            truth = self.reference(alone, [length])
            truth.backward(upstream[part].double())
            assert alone.grad is not None
            self.reference_loss += float((truth.detach() * upstream[part].double()).sum())
            self.output.add(y[part], truth.detach(), sequence=sequence)
            self.input_gradient.add(x.grad[part], alone.grad, sequence=sequence)

    def document(self, head: Mapping[str, Any]) -> dict[str, Any]:
        checks = {
            "output": self.output,
            "input_gradient": self.input_gradient,
            "weight_gradient": self.weight_gradient,
        }
        passed = all(check.passed is not False for check in checks.values())
        rows = [
            {
                "micro_batch": group.micro_batch,
                "group": group.number,
                "degree": group.degree,
                "ranks": 1,
                "sequences": len(group.sequences),
                "tokens": sum(group.lengths),
                "predicted_ms": group.predicted_ms,
            }
            for group in self.groups
        ]
        times: dict[str, Any] = {"measured_ms": 0.0}
        if self.timing is not None:
            for row, seconds, here in zip(rows, self.timing.measured, self.timing.predicted):
                row["measured_ms"] = 1000 * float(seconds)
                row["predicted_here_ms"] = 1000 * float(here)
            times = {key: _step(rows, key) for key in ("measured_ms", "predicted_here_ms")}
            times["prediction"] = prediction(
                self.timing, times["measured_ms"], times["predicted_here_ms"]
            )
        notes = [f"rows were computed by one device, {self._device_name()}, whatever their degree"]
        return {
            "format": "stowage/execution",
            "version": 1,
            "problem": "scatter",
            "name": head["name"],
            "passed": passed,
            "exit_code": 0 if passed else 1,
            "complete": True,
            "scale": head["scale"],
            "work_flop": sum(self.shape.flop(n) for group in self.groups for n in group.lengths),
            "exchange": "none",
            "loss": self.loss,
            "reference_loss": self.reference_loss,
            **{name: check.document() for name, check in checks.items()},
            "predicted_ms": head["predicted_ms"],
            **times,
            "groups": rows,
            "problems": [],
            "more_problems": 0,
            "notes": notes,
        }

    def _device_name(self) -> str:
        if self.device.type == "cuda":
            return str(torch.cuda.get_device_name(self.device))
        return f"one thread of the {self.device.type}"


def _step(rows: list[dict[str, Any]], key: str) -> float:
    """Returns the sum over micro-batches of the slowest row, in ms."""
    slowest: dict[int, float] = {}
    for row in rows:
        number = int(row["micro_batch"])
        slowest[number] = max(slowest.get(number, 0.0), float(row[key]))
    return sum(slowest.values())


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command. It writes the document to stdout and all text for people to stderr, and
    returns the exit code.

    0: all checks passed; 1: an invalid plan or a wrong result; 2: bad usage or input; 130: Ctrl-C.
    """
    parser = argparse.ArgumentParser(
        "python -m stowage.torch.run",
        description="Run a scatter plan's rows through a transformer block of torch, on one device.",
    )
    parser.add_argument("instance", metavar="INSTANCE", help="the instance")
    parser.add_argument("plan", metavar="PLAN", help="the plan, or an outcome that holds one")
    parser.add_argument(
        "--device",
        default="cuda" if torch.cuda.is_available() else "cpu",
        help="of torch; default cuda where it is available, else cpu",
    )
    parser.add_argument("--scale", type=int, default=0, help="divides lengths; default by --work")
    parser.add_argument(
        "--work", type=float, default=10.0, metavar="GFLOP", help="to stay within; default 10"
    )
    parser.add_argument(
        "--repeats", type=int, default=7, help="timed rounds over rows and packs; default 7"
    )
    parser.add_argument("--seed", type=int, default=0, help="of tokens and weights; default 0")
    given = parser.parse_args(arguments)
    try:
        document = execute(
            given.instance,
            given.plan,
            device=given.device,
            scale=given.scale,
            work_gflop=given.work,
            repeats=given.repeats,
            seed=given.seed,
        )
    except VerificationError as error:
        print(f"{error}\nthe plan is invalid and was not executed", file=sys.stderr)
        return 1
    except (Error, ValueError) as error:
        print(f"stowage.torch.run: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    tell(document)
    print(json.dumps(document, indent=2))
    return int(document["exit_code"])


if __name__ == "__main__":
    sys.exit(main())
