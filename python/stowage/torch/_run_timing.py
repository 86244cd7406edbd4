"""Times a run's rows in rounds, beside packs like them that predict these times.

A pack is a row in which every length is multiplied by a random factor from 1/1.4 to 1.4. The times
of the packs give, without negative coefficients,

    t = quadratic sum s^2 + linear sum s + sequence n + fixed

over the n sequences of a row. No row takes part in its own prediction. `stowage run` does the same
(docs/project/execution.md, "Times").
"""

from __future__ import annotations

import itertools
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LEAST_PACKS, _MOST_PACKS = 8, 24
_FACTOR = 1.4  # the largest of a length
_NEAR = 8  # runs before and after a run, whose pace is its own


class Timing(NamedTuple):
    """The times of rows in seconds, measured and predicted."""

    measured: Floats  # the median of the rounds
    predicted: Floats
    packs: int

    @property
    def errors(self) -> Floats:
        return np.abs(self.predicted / self.measured - 1)


def timed_rows(
    rows: Sequence[Sequence[int]],
    seconds: Callable[[Sequence[int]], float],
    rounds: int,
    seed: int,
) -> Optional[Timing]:
    """Times rows of sequences of these lengths, in a new random order in every round.

    `seconds` runs a row once and returns its time. Every row has a sequence. Returns None without
    rows.
    """
    if not rows:
        return None
    random = np.random.default_rng(seed)
    packs = []
    for _ in range(min(max(len(rows), _LEAST_PACKS), _MOST_PACKS)):
        lengths = np.array(rows[random.integers(len(rows))])
        factors = _FACTOR ** random.uniform(-1, 1, lengths.size)
        packs.append(np.maximum(1, np.rint(lengths * factors)).astype(int).tolist())
    works = [*rows, *packs]
    order, times = [], []
    for _ in range(rounds):
        for work in random.permutation(len(works)):
            order.append(int(work))
            times.append(seconds(works[work]))
    medians = _medians(np.array(order), np.array(times), len(works))
    predict = _fitted(packs, medians[len(rows) :])
    return Timing(medians[: len(rows)], np.array([predict(own) for own in rows]), len(packs))


def _medians(order: NDArray[np.int64], times: Floats, works: int) -> Floats:
    """Returns the median time of each work, with the pace of the machine taken out: of a run that
    is the median ratio of the runs near it to the medians of their works."""

    def medians(values: Floats) -> Floats:
        return np.array([np.median(values[order == work]) for work in range(works)])

    ratios = times / medians(times)[order]
    paces = np.ones(times.size)
    for run in range(times.size):
        first = max(0, run - _NEAR)
        near = np.delete(ratios[first : run + _NEAR + 1], run - first)
        if near.size:
            paces[run] = np.median(near)
    return medians(times / paces)


def _terms(lengths: Sequence[int]) -> Floats:
    sizes = np.asarray(lengths, float)
    return np.array([(sizes**2).sum(), sizes.sum(), sizes.size, 1.0])


def _fitted(packs: Sequence[Sequence[int]], times: Floats) -> Callable[[Sequence[int]], float]:
    """Returns the cost with the least squares of relative errors of all without negative
    coefficients. Every choice of its terms is tried."""
    design = np.array([_terms(lengths) for lengths in packs]) / times[:, None]
    least, best = np.inf, np.zeros(design.shape[1])
    for count in range(1, best.size + 1):
        for chosen in itertools.combinations(range(best.size), count):
            some = np.linalg.lstsq(design[:, chosen], np.ones(times.size), rcond=None)[0]
            error = ((design[:, chosen] @ some - 1) ** 2).sum()
            if some.min() >= 0 and error < least:
                least, best = error, np.zeros(best.size)
                best[list(chosen)] = some
    return lambda lengths: float(_terms(lengths) @ best)


def prediction(timing: Timing, step: float, step_here: float) -> dict[str, Any]:
    """Returns how far predictions were off; `step` is the measured step, `step_here` the
    predicted one."""
    return {
        "packs": timing.packs,
        "median_error": float(np.median(timing.errors)),
        "worst_error": float(timing.errors.max()),
        "step_error": abs(step_here / step - 1),
    }
