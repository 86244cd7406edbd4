"""Measures packed rows of a model over torch.distributed: torchrun -m stowage.calibrate."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

import torch
import torch.distributed as dist
from torch import nn

from .. import _core
from .._cluster import Cluster
from .._errors import Error
from .._shared_block import Transformer
from ._arguments import degrees_of, exchanges_of, lengths_of, parsed
from ._comparison import compared_plans
from ._fit import Fit, fit
from ._measuring import Measuring, built, measure
from ._rows import MIB, Settings


def _bare_cluster(given: argparse.Namespace, settings: Settings, model: nn.Module) -> Cluster:
    """Returns the cluster of the ranks, and the volumes of exchanges, which samples do not contain."""
    cuda = settings.device.startswith("cuda")
    total = torch.cuda.get_device_properties(0).total_memory / MIB if cuda else _host_mib()
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


def _host_mib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / MIB


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


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command. Returns the exit code: 0, or 2 for bad usage and for samples that cannot be
    fitted."""
    given = parsed(arguments)
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
            degrees_of(given, dist.get_world_size()),
            given.rows,
            given.least_tokens,
            given.max_tokens,
            given.repeats,
            given.seed,
            device.type,
            dist.get_world_size(),
            exchanges_of(given, cuda),
        )
        lengths = lengths_of(given.compare) if given.compare else []
        path = Path(given.samples or Path(given.output).with_suffix(".samples.csv"))
        model = built(given, device)
        measuring = Measuring(model, settings, device)
        measure(measuring, settings, path)
        exchanges = list(measuring.exchanges())
        found = cluster = compared = None
        if dist.get_rank() == 0:
            bare = _bare_cluster(given, settings, model)
            found = fit(path, cluster=bare)
            weights = sum(p.numel() for p in model.parameters())
            # States of mixed-precision Adam without sharding: 16 bytes per weight.
            cluster = found.cluster(bare).replace(states_mib=16 * weights / MIB)
        if lengths:
            compared = compared_plans(measuring, found, cluster, lengths)
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


if __name__ == "__main__":
    sys.exit(main())
