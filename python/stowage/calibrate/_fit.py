"""Fits costs of a cluster to samples."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arguments import each_of, number, path_of, require
from .._cluster import Cluster
from .._documents import file_text, text_of
from .._lengths import Integers, as_integers
from ._samples import Samples, arrays, sample_of


class Coefficient(NamedTuple):
    """A coefficient between `low` and `high` with a confidence of 95 %.

    determined: False if the samples cannot separate it from other coefficients; one end is then
    infinite.
    """

    value: float
    low: float
    high: float
    determined: bool


class Errors(NamedTuple):
    """Statistics of |predicted / measured - 1| over rows; a fit of the other rows predicts each
    row."""

    rows: int
    median: float
    mean: float
    p95: float


class Next(NamedTuple):
    """The row to measure next: `sequences` of `tokens` each, on `degree` devices.

    The row shortens the interval of the coefficient `narrows` by the share `by`.
    """

    degree: int
    exchange: str
    sequences: int
    tokens: int
    narrows: str
    by: float


class Separation(NamedTuple):
    """The differences between the plans of a step under a cost.

    plans: (method, ms), the fastest first. best_to_next, best_to_last: relative excess of the
    second and of the last plan's time. decided: False if the errors of rows exceed best_to_next.
    """

    plans: list[tuple[str, float]]
    best_to_next: float
    best_to_last: float
    decided: bool


class TimeTable(NamedTuple):
    """A table of times, which replaces coefficients (instances/cluster.md).

    cost: an object with `table`, for Cluster.with_cost and Planner.use_cost. held_out: errors
    |predicted / measured - 1| of rows; a table of the other rows predicts each row.
    """

    cost: dict[str, Any]
    held_out: Errors


class Fit:
    """A fitted cost and estimates of its errors.

    Attributes:
        cost: the object `cost` of an instance.
        coefficients: by their names in `cost`; coefficients of memory by their names in `model`.
        noise: standard deviation of the relative error of a row.
        held_out: errors of all rows.
        without_outliers, by_degree, by_length: errors of the rows that count; by_length by the ends
            of classes of the longest sequence, in tokens.
        outliers: int64, rows with errors too large to count.
        missing_degrees: degrees of the cluster without a sample.
        next: the rows to measure next.
        model: states_mib, activation_mib_per_token and others; empty if too few samples have a
            peak.
        memory_held_out: errors of `model`.
        predicted_ms, held_out_ms: float64 by row, from the fit and from a fit without the row.
    """

    def __init__(self, box: _core.Fit) -> None:
        self._box = box
        document = json.loads(box.to_json())
        memory = document["memory"] or {"coefficients": [], "held_out": None}
        self.cost: dict[str, Any] = document["cost"]
        self.coefficients: dict[str, Coefficient] = {
            own["name"]: _coefficient(own)
            for own in document["coefficients"] + memory["coefficients"]
        }
        self.noise: float = document["noise"]
        self.held_out = Errors(**document["held_out"])
        self.without_outliers = Errors(**document["without_outliers"])
        self.by_degree: dict[int, Errors] = {
            own.pop("degree"): Errors(**own) for own in document["by_degree"]
        }
        self.by_length: dict[tuple[int, int], Errors] = {
            (own.pop("shortest"), own.pop("longest")): Errors(**own)
            for own in document["by_length"]
        }
        self.outliers: NDArray[np.int64] = np.array(document["outliers"], np.int64)
        self.missing_degrees: tuple[int, ...] = tuple(document["missing_degrees"])
        self.next: Optional[Next] = Next(**document["next"]) if document["next"] else None
        self.model: dict[str, float] = {own["name"]: own["value"] for own in memory["coefficients"]}
        held_out = memory["held_out"]
        self.memory_held_out: Optional[Errors] = Errors(**held_out) if held_out else None
        self.predicted_ms: NDArray[np.float64] = np.array(
            [own["predicted_ms"] for own in document["samples"]], np.float64
        )
        self.held_out_ms: NDArray[np.float64] = np.array(
            [own["held_out_ms"] for own in document["samples"]], np.float64
        )

    def save(self, path: Union[str, os.PathLike[str]], **notes: Any) -> None:
        """Writes the cost to a file, which an instance can name with {"file": ...}. `notes` are
        written under x- keys."""
        document = dict(self.cost, **{f"x-{name}": value for name, value in notes.items()})
        path_of(path, "path").write_text(text_of(document) + "\n", encoding="utf-8")

    def table(self) -> TimeTable:
        """Returns a table of times by tokens and squares for the same rows, for rows that no
        formula fits.

        The table covers all groups of the cluster given to fit(). Without a cluster, no group may
        hold more tokens than were measured. Times beyond the measured rows are extrapolated.

        Raises InputError for rows of one degree with several kinds of exchange, for fewer than four
        rows of a degree, and for times above 2^53 ms.
        """
        document = json.loads(self._box.table_json())["table"]
        return TimeTable(document["cost"], Errors(**document["held_out"]))

    def cluster(self, cluster: Cluster) -> Cluster:
        """Returns the cluster with this cost, and with this memory of a device if it was fitted."""
        require(cluster, Cluster, "cluster")
        document = json.loads(cluster.with_cost(self.cost)._instance.to_json())
        document["model"].update(self.model)
        return Cluster._of(_core.read_instance(text_of(document), ""))

    def separation(self, cluster: Cluster, lengths: Integers) -> Separation:
        """Returns the differences between plans of a step of these lengths, under this cost."""
        tokens = as_integers(lengths, "lengths")
        instance = self.cluster(cluster)._instance.with_lengths(tokens, None, cluster.name)
        plans, best_to_next, best_to_last = _core.separation(instance)
        decided = self.without_outliers.mean <= best_to_next
        return Separation(plans, best_to_next, best_to_last, decided)

    def svg(self) -> str:
        """Returns a picture of predicted against measured times, and of the errors of all rows by
        degree."""
        return self._box.svg()

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"Fit(cost={self.cost!r}, noise={self.noise!r}, held_out={self.held_out!r})"


def _coefficient(own: dict[str, Any]) -> Coefficient:
    low = -np.inf if own["low"] is None else own["low"]
    high = np.inf if own["high"] is None else own["high"]
    return Coefficient(own["value"], low, high, own["determined"])


def fit(samples: Samples, *, cluster: Optional[Cluster] = None, mib_per_token: float = 1.0) -> Fit:
    """Fits a cost to measured rows (instances/cluster.md).

    Args:
        samples: Samples or tuples in their order; or a CSV file with the columns degree,
            lengths_tokens, time_ms and optionally peak_mib and exchange.
        cluster: provides values that samples do not contain: nodes, padding, tiles, window, kinds
            and volumes of exchanges. Its cost is not used.
        mib_per_token: MiB that a token sends in an all-to-all, used without a cluster. Only its
            ratio to the bandwidth matters.

    The method is non-negative least squares of relative errors without outliers. Equal samples give
    equal costs. Raises InputError with all errors of the samples; pointers are /samples/ROW/MEMBER,
    or FILE:LINE:COLUMN of a file.
    """
    if cluster is not None:
        require(cluster, Cluster, "cluster")
    like = None if cluster is None else cluster._instance
    volume = number(mib_per_token, "mib_per_token")
    if isinstance(samples, (str, os.PathLike)):
        path = path_of(samples, "samples")
        return Fit(_core.fit_table(file_text(path), str(path), like, volume))
    rows = [sample_of(row, f"samples/{at}") for at, row in enumerate(each_of(samples, "samples"))]
    return Fit(_core.fit_rows(*arrays(rows), like, volume))
