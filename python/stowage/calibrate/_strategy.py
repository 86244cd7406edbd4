"""Fits rates of strategies to logged steps."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arguments import each_of, path_of
from .._documents import file_text, instance_of


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
