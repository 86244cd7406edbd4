"""Measures packed rows of a model over torch.distributed: torchrun -m stowage.calibrate."""

from __future__ import annotations

import argparse
import csv
import datetime
import hashlib
import importlib
import io
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
from ._documents import file_text
from ._errors import Error
from ._planner import Planner
from ._shared_block import Transformer
from .calibrate import Fit, fit

_COLUMNS = ("degree", "lengths_tokens", "time_ms", "peak_mib", "exchange", "x-row", "x-settings")
_KINDS = ("all_to_all", "ring", "all_gather")
_MIB = 2**20


class Row(NamedTuple):
    """A row to measure: its degree, the tokens of its sequences, and the kind of exchange, "" on
    one rank."""

    degree: int
    lengths: list[int]
    exchange: str


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
    exchanges: tuple[str, ...]

    def name(self) -> str:
        """A name that is equal for runs whose samples may stand in one table."""
        return hashlib.sha256(json.dumps(self).encode()).hexdigest()[:12]

    def multiple(self) -> int:
        """The number of which the tokens of every sequence are a multiple: without all-to-all,
        ranks hold two parts of each sequence."""
        return math.lcm(*self.degrees) * (1 if self.exchanges == ("all_to_all",) else 2)

    def drawn(self) -> list[Row]:
        """Returns the rows. Degrees and exchanges alternate, so that a disturbance of some duration affects
        all of them.

        Tokens on a device and tokens of a sequence have uniform logarithms. So there are rows of one
        long sequence and rows of many short sequences; otherwise a fit could not separate the sum of
        squares from the sum.
        """
        random = np.random.default_rng(self.seed)
        multiple = self.multiple()
        ways = [
            (degree, exchange)
            for degree in self.degrees
            for exchange in (self.exchanges if degree > 1 else ("",))
        ]
        rows = []
        for _ in range(self.rows):
            for degree, exchange in ways:
                tokens = degree * _log_uniform(random, self.least_tokens, self.most_tokens)
                typical = _log_uniform(random, min(64, tokens), tokens)
                lengths: list[int] = []
                while (left := tokens - sum(lengths)) > 0:
                    length = min(left, _log_uniform(random, max(typical // 2, 1), 2 * typical))
                    lengths.append(multiple * -(-length // multiple))
                rows.append(Row(degree, lengths, exchange))
        return rows


def _log_uniform(random: np.random.Generator, least: int, most: int) -> int:
    return int(round(least * (most / least) ** random.random()))


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
        # whether the rows name an exchange
        self.told = isinstance(model, Transformer) or len(settings.exchanges) > 1
        self.groups = {
            degree: dist.new_group(list(range(degree))) for degree in settings.degrees if degree > 1
        }
        self.parameters_mib = sum(p.numel() * p.element_size() for p in model.parameters()) / _MIB

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
            return seconds, torch.cuda.max_memory_allocated(self.device) / _MIB
        return seconds, 2 * self.parameters_mib + kept.mib()  # parameters and gradients

    def exchanges(self) -> Iterator[dict[str, Any]]:
        """Returns the latency and bandwidth of a device, by degree and kind, from transfers of two
        sizes. An all-to-all and an all-gather also have `overlap`, the share hidden by computing."""
        sizes = (2**10, 2**20)  # numbers of 32-bit values sent to each other rank
        for degree, group in self.groups.items():
            for kind in ("all_to_all", "all_gather", "send_receive"):
                small, large = (self._transfer(kind, degree, group, size) for size in sizes)
                per_ms = (sizes[1] - sizes[0]) * 4 / _MIB / max(large - small, 1e-9)
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
        return sum(self._bytes.values()) / _MIB


def _done_rows(path: Path, settings: Settings) -> int:
    """Returns the rows that the table already has. Raises ValueError for a table of other settings."""
    if not path.exists():
        return 0
    rows = list(csv.DictReader(io.StringIO(file_text(path), newline="")))
    if any(row["x-settings"] != settings.name() for row in rows):
        raise ValueError(
            f"{path}: must hold samples of these settings, holds others; remove it, or name another "
            "with --samples"
        )
    return len(rows)


def _measure(measuring: _Measuring, settings: Settings, path: Path) -> None:
    """Measures the rows and appends each to the table at once."""
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
        path.write_text(",".join(_COLUMNS) + "\n", encoding="utf-8")
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


def _bare_cluster(given: argparse.Namespace, settings: Settings, model: nn.Module) -> Cluster:
    """Returns the cluster of the ranks, and the volumes of exchanges, which samples do not contain."""
    cuda = settings.device.startswith("cuda")
    total = torch.cuda.get_device_properties(0).total_memory / _MIB if cuda else _host_mib()
    per_node = int(os.environ.get("LOCAL_WORLD_SIZE", settings.world))
    if settings.exchanges == ("all_to_all",):
        cost: dict[str, Any] = {
            "all_to_all_mib_per_token": 1.0,
            "mib_per_ms": {degree: 1.0 for degree in settings.degrees if degree > 1},
        }
    else:
        to_all, keys_values = model.volumes() if isinstance(model, Transformer) else given.volumes
        exchange = {
            "kinds": list(settings.exchanges),
            "all_to_all_mib_per_token": to_all,
            "keys_values_mib_per_token": keys_values,
            "inside_mib_per_ms": 1.0,
        }
        if per_node < settings.world:
            exchange["across_mib_per_ms"] = 1.0
        cost = {"exchange": exchange}
    return Cluster(
        devices=settings.world,
        devices_per_node=per_node,
        memory_mib=given.memory_mib or total / (1 if cuda else settings.world),
        states_mib=0.0,
        activation_mib_per_token=1.0,
        quadratic_ms=0.0,
        linear_ms=0.0,
        degrees=list(settings.degrees),
        pad_multiple=settings.multiple(),
        name=given.name,
        **cost,
    )


def _compared(
    measuring: _Measuring, found: Optional[Fit], cluster: Optional[Cluster], lengths: list[int]
) -> dict[str, Any]:
    """Compares the predicted and the measured times of several methods' plans for a step. All ranks
    must call it; only rank 0 needs `found` and `cluster`."""
    plans: list[Any] = []
    if found and cluster:
        for method, ms in found.separation(cluster, lengths).plans:
            step = Planner(cluster, method=method).plan(lengths)
            padded = [-(-own // cluster.pad_multiple) * cluster.pad_multiple for own in lengths]
            batches = [
                [
                    Row(
                        group["degree"],
                        [padded[own] for own in group["sequences"]],
                        group.get("exchange", "") if group["degree"] > 1 else "",
                    )
                    for group in batch["groups"]
                ]
                for batch in step.plan["micro_batches"]
            ]
            plans.append((method, ms, batches))
    told = [plans]
    dist.broadcast_object_list(told)
    one = measuring.settings.exchanges[0]
    compared = []
    for method, predicted, batches in told[0]:
        measured = 0.0
        for rows in batches:
            times = [
                measuring.row(
                    row if row.exchange or row.degree == 1 else row._replace(exchange=one)
                )[0]
                for row in rows
            ]
            measured += max(times)
        compared.append({"method": method, "predicted_ms": predicted, "measured_ms": measured})
    predicted_ranks, measured_ranks = (
        _ranks([own[key] for own in compared]) for key in ("predicted_ms", "measured_ms")
    )
    spread = [own - own.mean() for own in (predicted_ranks, measured_ranks)]
    scale = math.sqrt(float((spread[0] ** 2).sum() * (spread[1] ** 2).sum()))
    return {
        "plans": compared,
        "rank_correlation": float((spread[0] * spread[1]).sum()) / scale if scale > 0 else None,
        **_pairs(compared, found.held_out.mean if found else 0.0),
    }


def _pairs(plans: list[Any], error: float) -> dict[str, int]:
    """Returns the number of pairs of plans, the number of pairs whose predictions differ by no more
    than `error`, and the number of other pairs that were measured in the predicted order."""
    undecided = agreed = 0
    pairs = [(a, b) for i, a in enumerate(plans) for b in plans[:i]]
    for a, b in pairs:
        first, second = sorted((a, b), key=lambda own: own["predicted_ms"])
        if second["predicted_ms"] / first["predicted_ms"] - 1 <= error:
            undecided += 1
        elif first["measured_ms"] <= second["measured_ms"]:
            agreed += 1
    return {"pairs": len(pairs), "undecided_pairs": undecided, "agreed_pairs": agreed}


def _ranks(times: list[float]) -> Any:
    """Returns the rank of each value, 1 for the least; equal values share the mean of their ranks."""
    all_times = np.array(times, np.float64)
    return np.array(
        [(all_times < own).sum() + ((all_times == own).sum() + 1) / 2 for own in all_times]
    )


def _host_mib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _MIB


def _written(
    cluster: Cluster, settings: Settings, found: Fit, exchanges: list[Any], compared: Any
) -> str:
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
    if compared:
        document["x-measured"]["compared"] = compared
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
        "(tokens, multiples of all degrees), the process group that shares it, or None, and of several "
        "--exchange the one to use, and returns this rank's loss, whose backward() is measured too; "
        "default a transformer",
    )
    parser.add_argument("-o", "--output", required=True, metavar="CLUSTER.json")
    parser.add_argument(
        "--samples",
        help="the table of samples, which a run goes on with; default beside the output",
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
    parser.add_argument(
        "--exchange",
        default="all_to_all",
        metavar="KIND,...",
        help="how ranks of a group exchange: all_to_all, ring, all_gather; of several each is measured, "
        "and plans choose; default all_to_all",
    )
    parser.add_argument(
        "--volumes",
        type=_volumes,
        metavar="A,K",
        help="with --model and --exchange: MiB that a token sends forward and backward in an all-to-all, "
        "and those of its keys and values; their ratio counts",
    )
    parser.add_argument(
        "--compare",
        metavar="LENGTHS",
        help="a file with one length a line: plan this step in several ways, run each plan's rows too, and "
        "say whether they rank as predicted",
    )
    parser.add_argument("--memory-mib", type=float, help="usable memory of a device; default all")
    parser.add_argument("--name", default="measured", help="of the cluster")
    return parser.parse_args(arguments)


def _volumes(text: str) -> tuple[float, float]:
    to_all, keys_values = (float(own) for own in text.split(","))
    if not (0 <= to_all < math.inf and 0 <= keys_values < math.inf):
        raise ValueError
    return to_all, keys_values


def _exchanges(given: argparse.Namespace, cuda: bool) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(given.exchange.split(",")))
    wrong = [own for own in named if own not in _KINDS]
    if wrong:
        raise ValueError(f"--exchange: must be some of {', '.join(_KINDS)}, has {wrong[0]!r}")
    if named != ("all_to_all",):
        if given.model and not given.volumes:
            raise ValueError("--volumes: is needed with --model and this --exchange, is not given")
        if cuda and not given.model:
            raise ValueError(
                "--exchange: must be all_to_all for the built-in transformer on a GPU; measure others "
                "with a model of your own, --model"
            )
    return named


def _lengths_of(path: str) -> list[int]:
    """Reads a file of lengths. Raises ValueError with all invalid lines."""
    lengths, wrong = [], []
    for number, line in enumerate(file_text(Path(path)).split("\n"), 1):
        if line.strip():
            if line.strip().isdecimal() and int(line) >= 1:
                lengths.append(int(line))
            else:
                wrong.append(
                    f"{path}:{number}: must be a whole number of tokens, is {line.strip()[:40]!r}"
                )
    if wrong or not lengths:
        raise ValueError("\n".join(wrong) or f"{path}: must have a length, has none")
    return lengths


def _degrees(given: argparse.Namespace, world: int) -> tuple[int, ...]:
    if not given.degrees:
        return tuple(2**k for k in range(world.bit_length()) if 2**k <= world)
    degrees = tuple(sorted({int(text) for text in given.degrees.split(",")}))
    if degrees[0] < 1 or degrees[-1] > world:
        raise ValueError(f"--degrees: must be from 1 to the {world} ranks, is {given.degrees}")
    return degrees


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command. Returns the exit code: 0, or 2 for bad usage and for samples that cannot be
    fitted."""
    given = _parsed(arguments)
    cuda = torch.cuda.is_available()
    device = (
        torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if cuda else torch.device("cpu")
    )
    if cuda:
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    if "RANK" not in os.environ:  # not started by torchrun
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
            _exchanges(given, cuda),
        )
        lengths = _lengths_of(given.compare) if given.compare else []
        path = Path(given.samples or Path(given.output).with_suffix(".samples.csv"))
        model = _built(given, device)
        measuring = _Measuring(model, settings, device)
        _measure(measuring, settings, path)
        exchanges = list(measuring.exchanges())
        found = cluster = compared = None
        if dist.get_rank() == 0:
            bare = _bare_cluster(given, settings, model)
            found = fit(path, cluster=bare)
            weights = sum(p.numel() for p in model.parameters())
            # States of mixed-precision Adam without sharding: 16 bytes per weight.
            cluster = found.cluster(bare).replace(states_mib=16 * weights / _MIB)
        if lengths:
            compared = _compared(measuring, found, cluster, lengths)
        if found and cluster:
            Path(given.output).write_text(_written(cluster, settings, found, exchanges, compared))
            _tell(found, compared)
        dist.barrier()
    except (Error, ValueError) as error:
        if dist.get_rank() == 0:
            print(f"stowage.calibrate: {error}", file=sys.stderr)
        return 2
    finally:
        dist.destroy_process_group()
    return 0


def _tell(found: Fit, compared: Any) -> None:
    for name, own in found.coefficients.items():
        print(f"{name:<28}{own.value:>12.4g}   {own.low:.4g} to {own.high:.4g}", file=sys.stderr)
    print(
        f"rows held out are off by {found.held_out.mean:.2%} on average, 95 % within "
        f"{found.held_out.p95:.2%}",
        file=sys.stderr,
    )
    if not compared:
        return
    for own in compared["plans"]:
        print(
            f"{own['method']:<20} predicted {own['predicted_ms']:.4g} ms, measured "
            f"{own['measured_ms']:.4g} ms",
            file=sys.stderr,
        )
    times = [own["predicted_ms"] for own in compared["plans"]]
    if len(times) < 2 or max(times) / min(times) - 1 < found.held_out.mean:
        print("the plans differ by less than rows are off: they cannot be ranked", file=sys.stderr)
    elif compared["rank_correlation"] is not None:
        decided = compared["pairs"] - compared["undecided_pairs"]
        print(
            f"rank correlation {compared['rank_correlation']:.2f}; {decided} of "
            f"{compared['pairs']} pairs of plans differ by more than rows are off, and "
            f"{compared['agreed_pairs']} of these were measured in the predicted order",
            file=sys.stderr,
        )
