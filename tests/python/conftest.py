"""What the tests of the Python package share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stowage

DATA = Path(__file__).resolve().parents[2] / "instances" / "data"


@pytest.fixture
def data() -> Path:
    """The bundled instances."""
    return DATA


@pytest.fixture
def cluster() -> stowage.Cluster:
    """Eight devices of a published model."""
    return stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000)


def drawn(count: int, seed: int = 0) -> NDArray[np.int64]:
    """Lengths with a long tail, from 1 to 30,000 tokens."""
    draw = np.random.default_rng(seed)
    return np.minimum(draw.lognormal(7.0, 1.3, count).astype(np.int64) + 1, 30_000)


def two() -> dict[str, Any]:
    """The first instance of instances/README.md: its optimum is 39 ms, both on a group of two."""
    return {
        "format": "stowage/instance",
        "version": 1,
        "problem": "scatter",
        "name": "two",
        "cluster": {"devices": 2, "memory_mib": 100},
        "model": {"states_mib": 20, "activation_mib_per_token": 1},
        "cost": {"quadratic_ms": 0, "linear_ms": 0.5, "fixed_ms": 3},
        "lengths": [64, 80],
    }
