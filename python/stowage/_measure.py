"""Measures packed rows of a model over torch.distributed: torchrun -m stowage.calibrate."""

from __future__ import annotations

import argparse
import csv
import datetime
import hashlib
import importlib
import json
import math
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from . import _core
from ._cluster import Cluster
from ._errors import Error
from .calibrate import Fit, fit
from .torch.run import Block, Shape, _rms_norm, _rotary

_COLUMNS = ("degree", "lengths_tokens", "time_ms", "peak_mib", "x-row", "x-settings")
_MIB = 2**20


class Row(NamedTuple):
    """What is measured: a degree, and the tokens of the sequences, multiples of all degrees."""

    degree: int
    lengths: list[int]


class Settings(NamedTuple):
    model: str
    degrees: tuple[int, ...]
    rows: int
    least_tokens: int
    most_tokens: int
    repeats: int
    seed: int
    device: str
    world: int

    def name(self) -> str:
        """The same for runs whose samples may stand in one table."""
        return hashlib.sha256(json.dumps(self).encode()).hexdigest()[:12]

    def drawn(self) -> list[Row]:
        """The rows, of all degrees in turn, so that what disturbs a while disturbs all of them.

        Tokens on a device and tokens of a sequence have uniform logarithms: rows of one long sequence
        and rows of many short ones come up, or their squares could not be told from their sum.
        """
        random = np.random.default_rng(self.seed)
        multiple = math.lcm(*self.degrees)
        rows = []
        for _ in range(self.rows):
            for degree in self.degrees:
                tokens = degree * _log_uniform(random, self.least_tokens, self.most_tokens)
                typical = _log_uniform(random, min(64, tokens), tokens)
                lengths: list[int] = []
                while (left := tokens - sum(lengths)) > 0:
                    length = min(left, _log_uniform(random, max(typical // 2, 1), 2 * typical))
                    lengths.append(multiple * -(-length // multiple))
                rows.append(Row(degree, lengths))
        return rows


def _log_uniform(random: np.random.Generator, least: int, most: int) -> int:
    return int(round(least * (most / least) ** random.random()))


class _Exchange(torch.autograd.Function):
    """An all-to-all of equal parts, whose gradient goes the same way."""

    @staticmethod
    def forward(ctx: Any, parts: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        parts = parts.contiguous()
        out = torch.empty_like(parts)
        dist.all_to_all_single(out, parts, group=group)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return _exchanged(gradients[0], ctx.group), None


def _exchanged(parts: Tensor, group: dist.ProcessGroup) -> Tensor:
    made: Tensor = _Exchange.apply(parts, group)  # type: ignore[no-untyped-call]
    return made


class _UlyssesBlock(Block):
    """A block whose tokens are spread over a group, and its heads during attention."""

    def rows(self, x: Tensor, lengths: Sequence[int], group: Optional[dist.ProcessGroup]) -> Tensor:
        """x: [this rank's tokens, hidden], a contiguous part of the row."""
        shape, d = self.shape, 1 if group is None else dist.get_world_size(group)
        heads = self.qkv(_rms_norm(x, self.norms[0])).unflatten(-1, (3 * shape.heads, shape.head_dim))
        if group is not None:  # [T / d, 3 heads, size] to [T, 3 heads / d, size]
            parts = heads.unflatten(1, (3, d, shape.heads // d)).permute(2, 0, 1, 3, 4)
            heads = _exchanged(parts, group).flatten(0, 1).flatten(1, 2)
        seen = torch.cat([self._seen(own, shape.heads // d) for own in torch.split(heads, list(lengths))])
        if group is not None:
            parts = _exchanged(seen.reshape(d, len(x), -1), group)  # [d, T / d, width / d]
            seen = parts.transpose(0, 1).flatten(1)
        x = x + self.out(seen)
        gate, value = self.up(_rms_norm(x, self.norms[1])).chunk(2, -1)
        down: Tensor = self.down(nn.functional.silu(gate) * value)
        return x + down

    def _seen(self, heads: Tensor, own: int) -> Tensor:
        query, key, value = torch.split(heads.transpose(0, 1), own)
        seen = nn.functional.scaled_dot_product_attention(
            _rotary(query)[None], _rotary(key)[None], value[None], is_causal=True
        )
        return seen[0].transpose(0, 1).flatten(1)


class Transformer(nn.Module):
    """What is measured without --model: blocks of a shape, Ulysses over the group."""

    def __init__(self, hidden: int, heads: int, layers: int) -> None:
        super().__init__()
        shape = Shape(hidden, heads, heads, hidden // heads, 2 * hidden)
        self.hidden = hidden
        self._own = [_UlyssesBlock(shape, layer) for layer in range(layers)]
        self.blocks = nn.ModuleList(self._own)

    def forward(self, lengths: list[int], group: Optional[dist.ProcessGroup]) -> Tensor:
        d = 1 if group is None else dist.get_world_size(group)
        x = torch.ones(sum(lengths) // d, self.hidden, device=next(self.parameters()).device)
        for block in self._own:
            x = block.rows(x, lengths, group)
        return x.sum()


def _built(given: argparse.Namespace, device: torch.device) -> nn.Module:
    if given.model:
        module, _, function = given.model.partition(":")
        sys.path.insert(0, "")
        build: Callable[[torch.device], nn.Module] = getattr(
            importlib.import_module(module), function or "build"
        )
        return build(device)
    return Transformer(given.hidden, given.heads, given.layers).to(device)


class _Measuring:
    def __init__(self, model: nn.Module, settings: Settings, device: torch.device) -> None:
        self.model, self.settings, self.device = model, settings, device
        self.groups = {
            degree: dist.new_group(list(range(degree)))
            for degree in settings.degrees
            if degree > 1
        }
        self.parameters_mib = sum(p.numel() * p.element_size() for p in model.parameters()) / _MIB

    def row(self, row: Row) -> tuple[float, float]:
        """(ms of the slowest rank, in the fastest run; MiB of the fullest device). On all ranks."""
        told = torch.full((self.settings.repeats + 1, 2), 0.0, dtype=torch.float64)
        group = self.groups.get(row.degree)
        for number in range(self.settings.repeats + 1):  # the first one warms up
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
        cuda = self.device.type == "cuda"
        if cuda:
            torch.cuda.reset_peak_memory_stats(self.device)
        kept = _Kept(self.model)
        begin = _now(self.device)
        if memory and not cuda:
            with torch.autograd.graph.saved_tensors_hooks(kept.keep, lambda tensor: tensor):
                self.model(row.lengths, group).backward()
        else:
            self.model(row.lengths, group).backward()
        seconds = _now(self.device) - begin
        if cuda:
            return seconds, torch.cuda.max_memory_allocated(self.device) / _MIB
        return seconds, 2 * self.parameters_mib + kept.mib()  # with gradients

    def exchanges(self) -> Iterator[dict[str, Any]]:
        """Latency and bandwidth of a device, by degree and kind, from transfers of two sizes."""
        sizes = (2**10, 2**20)  # of 32 bits, to each other rank
        for degree, group in self.groups.items():
            for kind in ("all_to_all", "all_gather", "send_receive"):
                small, large = (self._transfer(kind, degree, group, size) for size in sizes)
                per_ms = (sizes[1] - sizes[0]) * 4 / _MIB / max(large - small, 1e-9)
                if kind != "send_receive":
                    per_ms *= degree - 1
                yield {"kind": kind, "degree": degree, "latency_ms": small, "mib_per_ms": per_ms}

    def _transfer(self, kind: str, degree: int, group: dist.ProcessGroup, size: int) -> float:
        """ms of the fastest of several, of the slowest rank in each."""
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
    """Seconds. On a CPU those that this process computed and copied: ranks are often more than cores,
    and waiting for one is not what a device of its own would do."""
    if device.type != "cuda":
        return time.process_time()
    torch.cuda.synchronize(device)
    return time.perf_counter()


class _Kept:
    """The bytes that a forward pass keeps for its backward pass, parameters apart."""

    def __init__(self, model: nn.Module) -> None:
        self._parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
        self._bytes: dict[int, int] = {}

    def keep(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._parameters:
            self._bytes[storage.data_ptr()] = storage.nbytes()
        return tensor

    def mib(self) -> float:
        return sum(self._bytes.values()) / _MIB


def _done_rows(path: Path, settings: Settings) -> int:
    """Rows that the table has already. Raises ValueError for a table of other settings."""
    if not path.exists():
        return 0
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    if any(row["x-settings"] != settings.name() for row in rows):
        raise ValueError(
            f"{path}: must hold samples of these settings, holds others; remove it, or name another "
            "with --samples"
        )
    return len(rows)


def _measure(measuring: _Measuring, settings: Settings, path: Path) -> None:
    """Appends each row to the table as soon as it is measured."""
    rank = dist.get_rank()
    rows = settings.drawn()
    told: list[Any] = [None, None]
    if rank == 0:
        try:
            told[0] = _done_rows(path, settings)
        except (ValueError, KeyError) as error:
            told[1] = str(error)
    dist.broadcast_object_list(told)
    if told[1]:
        raise ValueError(told[1])
    done = int(told[0])
    if rank == 0 and done == 0:
        path.write_text(",".join(_COLUMNS) + "\n")
    begin = time.perf_counter()
    for number in range(done, len(rows)):
        ms, mib = measuring.row(rows[number])
        if rank:
            continue
        with path.open("a", newline="") as file:
            lengths = " ".join(map(str, rows[number].lengths))
            csv.writer(file, lineterminator="\n").writerow(
                (rows[number].degree, lengths, repr(ms), repr(mib), number, settings.name())
            )
        spent = time.perf_counter() - begin
        left = spent / (number + 1 - done) * (len(rows) - number - 1)
        print(f"row {number + 1} of {len(rows)}, {left:.0f} s left", file=sys.stderr)


def _cluster(given: argparse.Namespace, settings: Settings, found: Fit, model: nn.Module) -> Cluster:
    """The cluster of the ranks, with what was measured."""
    cuda = settings.device.startswith("cuda")
    total = torch.cuda.get_device_properties(0).total_memory / _MIB if cuda else _host_mib()
    weights = sum(p.numel() for p in model.parameters())
    return found.cluster(
        Cluster(
            devices=settings.world,
            devices_per_node=int(os.environ.get("LOCAL_WORLD_SIZE", settings.world)),
            memory_mib=given.memory_mib or total / (1 if cuda else settings.world),
            states_mib=0.0,
            activation_mib_per_token=1.0,
            quadratic_ms=0.0,
            linear_ms=0.0,
            all_to_all_mib_per_token=1.0,
            mib_per_ms={degree: 1.0 for degree in settings.degrees if degree > 1},
            degrees=list(settings.degrees),
            pad_multiple=math.lcm(*settings.degrees),
            name=given.name,
        )
    ).replace(states_mib=16 * weights / _MIB)  # mixed-precision Adam, nothing spread


def _host_mib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _MIB


def _written(cluster: Cluster, settings: Settings, found: Fit, exchanges: list[Any]) -> str:
    cuda = settings.device.startswith("cuda")
    document = json.loads(cluster._instance.to_json())
    document["x-measured"] = {
        "device": torch.cuda.get_device_name(0) if cuda else platform.processor() or "cpu",
        "machine": platform.platform(),
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "stowage": _core.version,
        "date": datetime.date.today().isoformat(),
        "settings": settings._asdict(),
        "held_out_mean_error": found.held_out.mean,
        "held_out_p95_error": found.held_out.p95,
        "exchanges": exchanges,
    }
    return json.dumps(document, indent=2) + "\n"


def _parsed(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "torchrun -m stowage.calibrate",
        description="Measures packed rows of a model on the ranks of this job, and fits a cluster.",
    )
    parser.add_argument(
        "--model",
        default="",
        metavar="MODULE:FUNCTION",
        help="FUNCTION(device) makes a torch.nn.Module that is called with the lengths of a row "
        "(tokens, multiples of all degrees) and the process group that shares it, or None, and "
        "returns this rank's loss, whose backward() is measured too; default a transformer",
    )
    parser.add_argument("-o", "--output", required=True, metavar="CLUSTER.json")
    parser.add_argument(
        "--samples", help="the table of samples, which a run goes on with; default beside the output"
    )
    parser.add_argument("--degrees", help="such as 1,2,4; default powers of two up to all ranks")
    for name, default, text in (
        ("--rows", 24, "of each degree"),
        ("--least-tokens", 64, "on a device"),
        ("--max-tokens", 2048, "on a device"),
        ("--repeats", 3, "runs of a row, of which the fastest counts"),
        ("--seed", 0, "of the rows"),
        ("--hidden", 256, "of the transformer"),
        ("--heads", 8, "of the transformer"),
        ("--layers", 2, "of the transformer"),
    ):
        parser.add_argument(name, type=int, default=default, help=f"{text}; default {default}")
    parser.add_argument("--memory-mib", type=float, help="usable memory of a device; default all")
    parser.add_argument("--name", default="measured", help="of the cluster")
    return parser.parse_args(arguments)


def _degrees(given: argparse.Namespace, world: int) -> tuple[int, ...]:
    if not given.degrees:
        return tuple(2**k for k in range(world.bit_length()) if 2**k <= world)
    degrees = tuple(sorted({int(text) for text in given.degrees.split(",")}))
    if degrees[0] < 1 or degrees[-1] > world:
        raise ValueError(f"--degrees: must be from 1 to the {world} ranks, is {given.degrees}")
    return degrees


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command; the exit code: 0, or 2 for bad usage and samples that cannot be fitted."""
    given = _parsed(arguments)
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    if "RANK" not in os.environ:  # without torchrun
        os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="localhost", MASTER_PORT="0")
    dist.init_process_group("nccl" if cuda else "gloo")
    try:
        settings = Settings(
            given.model or f"transformer {given.hidden} {given.heads} {given.layers}",
            _degrees(given, dist.get_world_size()),
            given.rows,
            given.least_tokens,
            given.max_tokens,
            given.repeats,
            given.seed,
            device.type,
            dist.get_world_size(),
        )
        path = Path(given.samples or Path(given.output).with_suffix(".samples.csv"))
        model = _built(given, device)
        measuring = _Measuring(model, settings, device)
        _measure(measuring, settings, path)
        exchanges = list(measuring.exchanges())
        if dist.get_rank() == 0:
            found = fit(path, mib_per_token=1.0)
            cluster = _cluster(given, settings, found, model)
            Path(given.output).write_text(_written(cluster, settings, found, exchanges))
            _tell(found)
        dist.barrier()
    except (Error, ValueError) as error:
        if dist.get_rank() == 0:
            print(f"stowage.calibrate: {error}", file=sys.stderr)
        return 2
    finally:
        dist.destroy_process_group()
    return 0


def _tell(found: Fit) -> None:
    for name, own in found.coefficients.items():
        print(f"{name:<28}{own.value:>12.4g}   {own.low:.4g} to {own.high:.4g}", file=sys.stderr)
    print(
        f"rows held out are off by {found.held_out.mean:.2%} on average, 95 % within "
        f"{found.held_out.p95:.2%}",
        file=sys.stderr,
    )
