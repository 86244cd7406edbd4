"""Fits costs of your own cluster to rows that were measured there.

>>> from stowage.calibrate import fit
>>> found = fit("samples.csv")
>>> found.save("cost.json")

The module needs only NumPy. instances/cluster.md describes the measurements and the table of
samples. `torchrun -m stowage.calibrate -o cluster.json` measures, and needs torch.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, Iterable, NamedTuple, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import each_of, number, path_of, require, text, whole
from ._cluster import Cluster
from ._documents import file_text, instance_of, text_of
from ._errors import InputError, InputTypeError
from ._lengths import Integers, as_integers
from ._step import Step

_KINDS = ("none", "all_to_all", "ring", "all_gather", "two_level")


class Sample(NamedTuple):
    """A measured row.

    Attributes:
        degree: devices of the group.
        lengths: tokens of its sequences, integers, before padding.
        ms: time of forward and backward of all layers on the slowest rank.
        mib: peak memory of a device, or None.
        exchange: a kind of cost.exchange of an instance; "" if groups of the degree have only one
            kind.
    """

    degree: int
    lengths: Integers
    ms: float
    mib: Optional[float] = None
    exchange: str = ""


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


#: Measured rows, each a Sample or its members in that order; or the path of a table of them.
Samples = Union[str, "os.PathLike[str]", Iterable[Union[Sample, Sequence[Any]]]]


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
    rows = [_sample(row, f"samples/{at}") for at, row in enumerate(each_of(samples, "samples"))]
    return Fit(_core.fit_rows(*_arrays(rows), like, volume))


class Rate(NamedTuple):
    """A rate of a strategy between `low` and `high` with a confidence of 95 %.

    determined: False if the runs do not determine the rate. It then keeps its value, `low` and
    `high` are None, and source names its software stack or is "assumed".
    """

    name: str
    value: float
    determined: bool
    low: Optional[float]
    high: Optional[float]
    source: str


class StrategyFit:
    """Rates of a strategy instance, fitted to logged training steps.

    instance: the instance with these rates and a label that says so, a dictionary. rates: by name.
    error: statistics of |predicted / measured - 1| for held-out runs, with the members steps,
    median, p90 and worst; None for fewer than four runs. activation_factor: fitted to the peaks, or
    None. measured_ms, predicted_ms: float64 by run. common: factor, low and high of one factor on
    all times if the runs determine it and no single rate; otherwise None.
    """

    def __init__(self, found: str, instance: str) -> None:
        document = json.loads(found)
        self.instance: dict[str, Any] = json.loads(instance)
        self.rates: dict[str, Rate] = {own["name"]: Rate(**own) for own in document["coefficients"]}
        error = document["rates"]["error"]
        self.error: Optional[dict[str, Any]] = error
        self.common: Optional[dict[str, float]] = document["common"]
        self.activation_factor: Optional[float] = document["activation_factor"]
        runs = document["runs"]
        self.measured_ms: NDArray[np.float64] = np.array([run["measured_ms"] for run in runs])
        self.predicted_ms: NDArray[np.float64] = np.array([run["predicted_ms"] for run in runs])
        self._text = instance

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the instance with the fitted rates."""
        with open(path_of(path, "path"), "w", encoding="utf-8") as file:
            file.write(self._text)

    def __repr__(self) -> str:
        fitted = [rate.name for rate in self.rates.values() if rate.determined]
        if self.common:
            fitted = ["all times"]
        return f"StrategyFit({len(self.measured_ms)} runs, {', '.join(fitted)} fitted)"


def fit_strategy(
    runs: Union[str, os.PathLike[str], Iterable[dict[str, Any]]],
    instance: Union[str, os.PathLike[str], dict[str, Any]],
    *,
    configuration: Optional[dict[str, Any]] = None,
) -> StrategyFit:
    """Fits rates of a strategy instance to logged steps (instances/cluster.md).

    Args:
        runs: a table of runs, a log of Megatron-LM or torchtitan, or a CSV export of Weights &
            Biases; or a dictionary for each run, with the table's columns as keys.
        instance: a strategy instance with version 2 of the formulas, or its file: the model, the
            cluster and the initial rates.
        configuration: keys and values of all runs, for keys that the runs do not state.

    Raises InputError with all errors of the runs.
    """
    stated = ",".join(f"{key}={_word(value)}" for key, value in (configuration or {}).items())
    like = instance_of(instance)
    if isinstance(runs, (str, os.PathLike)):
        path = path_of(runs, "runs")
        text, file, directory = file_text(path), str(path), str(path.parent)
    else:
        rows = list(each_of(runs, "runs"))
        columns = list(dict.fromkeys(key for row in rows for key in row))
        lines = [",".join(_word(row.get(key, "")) for key in columns) for row in rows]
        text, file, directory = "\n".join([",".join(columns), *lines]), "runs", ""
    return StrategyFit(*_core.fit_strategy(text, file, directory, stated, like))


def _word(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    return "" if value is None else str(value)


class Refit(NamedTuple):
    """A cost adapted to new measurements.

    cost: the object `cost` of an instance, for Cluster.with_cost and Planner.use_cost. factor:
    median of measured over predicted time by the old cost. drifted: True if the noise of the times
    does not explain the factor's distance from 1. noise: standard deviation of relative errors.
    mean_error, old_mean_error: mean of |measured / predicted - 1| by the new and by the old cost,
    on these steps.
    """

    cost: dict[str, Any]
    factor: float
    drifted: bool
    noise: float
    mean_error: float
    old_mean_error: float


def refit(old: Cluster, measured: Iterable[Union[Sample, tuple[Step, float]]]) -> Refit:
    """Adapts the cost of a cluster to times that a training loop measured.

    Args:
        old: the cluster with the old cost.
        measured: pairs (step, ms) of steps of a planner and their measured times, without the
            optimizer and waiting for data; or Samples of single groups.

    All coefficients change by a common factor, and each changes further if the times determine it. So
    few steps change only the factor, and many different steps determine all coefficients
    (instances/scatter/fit/refit.h). Raises InputError; pointers are /measured/ENTRY/MEMBER.
    """
    groups: list[Sample] = []
    steps: list[int] = []
    batches: list[int] = []
    times: list[float] = []
    require(old, Cluster, "old")
    for at, entry in enumerate(each_of(measured, "measured")):
        if isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], Step):
            own = _groups_of(entry[0])
            times.append(number(entry[1], f"measured/{at}/ms"))
        else:
            sample = _sample(entry, f"measured/{at}")
            own = [(0, sample)]
            times.append(sample.ms)
        batches += [batch for batch, _ in own]
        groups += [group for _, group in own]
        steps += [at] * len(own)
    degrees, lengths, offsets, _, _, exchanges = _arrays(groups)
    cost, factor, drifted, noise, error, old_error = _core.refit(
        old._instance,
        degrees,
        lengths,
        offsets,
        exchanges,
        np.array(steps, np.int64),
        np.array(batches, np.int64),
        np.array(times, np.float64),
    )
    return Refit(json.loads(cost), factor, drifted, noise, error, old_error)


def _sample(row: Any, name: str) -> Sample:
    """Converts a row to a Sample. Raises InputTypeError with the place of the error if that is
    impossible."""
    if not isinstance(row, (tuple, list)) or not 3 <= len(row) <= 5:
        raise InputTypeError(
            f"{name}: must be a Sample, or degree, lengths, ms and perhaps mib and exchange, is {row!r}"
        )
    own = Sample(*row)
    return Sample(
        whole(own.degree, f"{name}/degree"),
        own.lengths,
        number(own.ms, f"{name}/ms"),
        None if own.mib is None else number(own.mib, f"{name}/mib"),
        text(own.exchange, f"{name}/exchange"),
    )


def _groups_of(step: Step) -> list[tuple[int, Sample]]:
    """Returns the groups of a plan, with their micro-batches."""
    lengths = step.instance["lengths"]
    return [
        (
            number,
            Sample(
                group["degree"],
                [lengths[own] for own in group["sequences"]],
                1.0,
                None,
                group.get("exchange", ""),
            ),
        )
        for number, batch in enumerate(step.plan["micro_batches"])
        for group in batch["groups"]
    ]


_Arrays = tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    "list[str]",
]


def _arrays(rows: Sequence[Sample]) -> _Arrays:
    lengths = [
        as_integers(row.lengths, f"samples/{number}/lengths") for number, row in enumerate(rows)
    ]
    wrong = [
        ("E361", f"/samples/{number}/exchange", f"must be one of {_KINDS}, is {row.exchange!r}")
        for number, row in enumerate(rows)
        if row.exchange not in ("", *_KINDS)
    ]
    if wrong:
        raise InputError(wrong)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([own.size for own in lengths], out=offsets[1:])
    return (
        as_integers([row.degree for row in rows], "degrees"),
        np.concatenate([np.zeros(0, np.int64), *lengths]),
        offsets,
        np.array([row.ms for row in rows], np.float64),
        np.array([np.nan if row.mib is None else row.mib for row in rows], np.float64),
        [row.exchange for row in rows],
    )


if __name__ == "__main__":
    sys.exit(importlib.import_module("stowage._measure").main())  # _measure needs torch
