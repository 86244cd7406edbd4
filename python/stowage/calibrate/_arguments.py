"""The arguments of the command."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Optional, Sequence

from .._documents import file_text
from ._rows import KINDS


def parsed(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
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


def exchanges_of(given: argparse.Namespace, cuda: bool) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(given.exchange.split(",")))
    wrong = [own for own in named if own not in KINDS]
    if wrong:
        raise ValueError(f"--exchange: must be some of {', '.join(KINDS)}, has {wrong[0]!r}")
    if named != ("all_to_all",):
        if given.model and not given.volumes:
            raise ValueError("--volumes: is needed with --model and this --exchange, is not given")
        if cuda and not given.model:
            raise ValueError(
                "--exchange: must be all_to_all for the built-in transformer on a GPU; measure others "
                "with a model of your own, --model"
            )
    return named


def lengths_of(path: str) -> list[int]:
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


def degrees_of(given: argparse.Namespace, world: int) -> tuple[int, ...]:
    if not given.degrees:
        return tuple(2**k for k in range(world.bit_length()) if 2**k <= world)
    degrees = tuple(sorted({int(text) for text in given.degrees.split(",")}))
    if degrees[0] < 1 or degrees[-1] > world:
        raise ValueError(f"--degrees: must be from 1 to the {world} ranks, is {given.degrees}")
    return degrees
