"""The rows that a calibration measures, and the table of the rows that are done."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._documents import file_text

COLUMNS = ("degree", "lengths_tokens", "time_ms", "peak_mib", "exchange", "x-row", "x-settings")

KINDS = ("all_to_all", "ring", "all_gather")

MIB = 2**20


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


def done_rows(path: Path, settings: Settings) -> int:
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
