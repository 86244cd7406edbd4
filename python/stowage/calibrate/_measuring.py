"""Times rows of a model and transfers on the ranks of a job."""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import torch
import torch.distributed as dist
from torch import Tensor, nn

from .._shared_block import Transformer
from ._rows import COLUMNS, MIB, Row, Settings, done_rows


def built(given: argparse.Namespace, device: torch.device) -> nn.Module:
    if given.model:
        module, _, function = given.model.partition(":")
        sys.path.insert(0, "")
        build: Callable[[torch.device], nn.Module] = getattr(
            importlib.import_module(module), function or "build"
        )
        return build(device)
    return Transformer(given.hidden, given.heads, given.layers).to(device)


class Measuring:
    def __init__(self, model: nn.Module, settings: Settings, device: torch.device) -> None:
        self.model, self.settings, self.device = model, settings, device
        # whether the rows name an exchange
        self.told = isinstance(model, Transformer) or len(settings.exchanges) > 1
        self.groups = {
            degree: dist.new_group(list(range(degree))) for degree in settings.degrees if degree > 1
        }
        self.parameters_mib = sum(p.numel() * p.element_size() for p in model.parameters()) / MIB

    def row(self, row: Row) -> tuple[float, float]:
        """Returns (ms of the slowest rank in the fastest run, MiB of the fullest device), on all
        ranks."""
        told = torch.full((self.settings.repeats + 1, 2), 0.0, dtype=torch.float64)
        group = self.groups.get(row.degree)
        for number in range(self.settings.repeats + 1):  # the first run is a warm-up
            dist.barrier()
            if dist.get_rank() < row.degree:
                told[number] = torch.tensor(self._run(row, group, memory=number == 0))
        told = told.to(self.device)
        dist.all_reduce(told, op=dist.ReduceOp.MAX)
        return 1000 * float(told[1:, 0].min()), float(told[0, 1])

    def _run(
        self, row: Row, group: Optional[dist.ProcessGroup], memory: bool
    ) -> tuple[float, float]:
        self.model.zero_grad(set_to_none=True)
        given = (row.lengths, group, row.exchange) if self.told else (row.lengths, group)
        cuda = self.device.type == "cuda"
        if cuda:
            torch.cuda.reset_peak_memory_stats(self.device)
        kept = _Kept(self.model)
        begin = _now(self.device)
        if memory and not cuda:
            with torch.autograd.graph.saved_tensors_hooks(kept.keep, lambda tensor: tensor):
                self.model(*given).backward()
        else:
            self.model(*given).backward()
        seconds = _now(self.device) - begin
        if cuda:
            return seconds, torch.cuda.max_memory_allocated(self.device) / MIB
        return seconds, 2 * self.parameters_mib + kept.mib()  # parameters and gradients

    def exchanges(self) -> Iterator[dict[str, Any]]:
        """Returns the latency and bandwidth of a device, by degree and kind, from transfers of two
        sizes. An all-to-all and an all-gather also have `overlap`, the share hidden by computing."""
        sizes = (2**10, 2**20)  # numbers of 32-bit values sent to each other rank
        for degree, group in self.groups.items():
            for kind in ("all_to_all", "all_gather", "send_receive"):
                small, large = (self._transfer(kind, degree, group, size) for size in sizes)
                per_ms = (sizes[1] - sizes[0]) * 4 / MIB / max(large - small, 1e-9)
                if kind != "send_receive":
                    per_ms *= degree - 1
                told: dict[str, Any] = {
                    "kind": kind,
                    "degree": degree,
                    "latency_ms": small,
                    "mib_per_ms": per_ms,
                }
                if kind != "send_receive":
                    told["overlap"] = self._hidden(kind, degree, group, sizes[1])
                yield told

    def _hidden(self, kind: str, degree: int, group: dist.ProcessGroup, size: int) -> float:
        """The share, 0 to 1, of the shorter of a transfer and of products of matrices that is hidden
        where both are started together. By the clock on the wall, medians of the slowest rank."""
        own = torch.ones(degree * size if kind == "all_to_all" else size, device=self.device)
        all_own = torch.empty(degree * size, device=self.device)
        square = torch.ones(512, 512, device=self.device)

        def send() -> Any:
            if kind == "all_to_all":
                return dist.all_to_all_single(all_own, own, group=group, async_op=True)
            return dist.all_gather(list(all_own.chunk(degree)), own, group=group, async_op=True)

        def compute(times: int) -> None:
            for _ in range(times):
                torch.mm(square, square)

        sending = self._wall_ms(degree, lambda: send().wait())
        product = self._wall_ms(degree, lambda: compute(1))
        times = max(1, round(sending / max(product, 1e-6)))
        computing = self._wall_ms(degree, lambda: compute(times))

        def together() -> None:
            sent = send()
            compute(times)
            sent.wait()

        both = self._wall_ms(degree, together)
        hidden = (sending + computing - both) / max(min(sending, computing), 1e-9)
        return min(max(hidden, 0.0), 1.0)

    def _wall_ms(self, degree: int, run: Callable[[], Any]) -> float:
        """The median of several runs, of the slowest of the first `degree` ranks in each."""
        times = torch.zeros(8, dtype=torch.float64)
        for number in range(len(times)):
            dist.barrier()
            if dist.get_rank() >= degree:
                continue
            begin = time.perf_counter()
            run()
            if self.device.type == "cuda":
                torch.cuda.synchronize(self.device)
            times[number] = time.perf_counter() - begin
        times = times.to(self.device)
        dist.all_reduce(times, op=dist.ReduceOp.MAX)
        return 1000 * float(times[1:].median())

    def _transfer(self, kind: str, degree: int, group: dist.ProcessGroup, size: int) -> float:
        """Returns the ms of the fastest of several transfers; a transfer takes the time of its
        slowest rank."""
        rank = dist.get_rank()
        own = torch.ones(degree * size if kind == "all_to_all" else size, device=self.device)
        all_own = torch.empty(degree * size, device=self.device)
        times = torch.zeros(8, dtype=torch.float64)
        for number in range(len(times)):
            dist.barrier()
            if rank >= degree:
                continue
            begin = _now(self.device)
            if kind == "all_to_all":
                dist.all_to_all_single(all_own, own, group=group)
            elif kind == "all_gather":
                dist.all_gather(list(all_own.chunk(degree)), own, group=group)
            else:
                to, whence = (rank + 1) % degree, (rank - 1) % degree
                sent = dist.isend(own, to)
                dist.recv(all_own[:size], whence)
                if sent is not None:
                    sent.wait()
            times[number] = _now(self.device) - begin
        times = times.to(self.device)
        dist.all_reduce(times, op=dist.ReduceOp.MAX)
        return 1000 * float(times[1:].min())


def _now(device: torch.device) -> float:
    """Returns seconds. On a CPU they are the CPU time of this process, because a machine often has
    fewer cores than ranks, and a device of its own would not wait for a core."""
    if device.type != "cuda":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()


class _Kept:
    """The bytes that a forward pass keeps for its backward pass, without parameters."""

    def __init__(self, model: nn.Module) -> None:
        self._parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self._bytes: dict[int, int] = {}

    def keep(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._parameters:
            self._bytes[storage.data_ptr()] = storage.nbytes()
        return tensor

    def mib(self) -> float:
        return sum(self._bytes.values()) / MIB


def measure(measuring: Measuring, settings: Settings, path: Path) -> None:
    """Measures the rows and appends each to the table at once."""
    rank = dist.get_rank()
    rows = settings.drawn()
    told: list[Any] = [None, None]
    if rank == 0:
        try:
            told[0] = done_rows(path, settings)
        except (ValueError, KeyError) as error:
            told[1] = str(error)
    dist.broadcast_object_list(told)
    if told[1]:
        raise ValueError(told[1])
    done = int(told[0])
    if rank == 0 and done == 0:
        path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    begin = time.perf_counter()
    for number in range(done, len(rows)):
        row = rows[number]
        ms, mib = measuring.row(row)
        if rank:
            continue
        with path.open("a", newline="", encoding="utf-8") as file:
            lengths = " ".join(map(str, row.lengths))
            csv.writer(file, lineterminator="\n").writerow(
                (row.degree, lengths, repr(ms), repr(mib), row.exchange, number, settings.name())
            )
        spent = time.perf_counter() - begin
        left = spent / (number + 1 - done) * (len(rows) - number - 1)
        print(f"row {number + 1} of {len(rows)}, {left:.0f} s left", file=sys.stderr)
