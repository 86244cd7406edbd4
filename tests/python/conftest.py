"""Fixtures that the tests of the Python package share."""

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
    """Returns the folder of the bundled instances."""
    return DATA


@pytest.fixture
def cluster() -> stowage.Cluster:
    """Returns a cluster of eight devices with a published model."""
    return stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000)


def small(**more: Any) -> stowage.Cluster:
    """Returns a small cluster with these arguments in place of its own."""
    arguments: dict[str, Any] = dict(
        devices=4,
        memory_mib=100,
        states_mib=20,
        activation_mib_per_token=1,
        quadratic_ms=0.5,
        linear_ms=2,
        fixed_ms=3,
        all_to_all_mib_per_token=6,
        mib_per_ms={2: 3, 4: 1.5},
        latency_ms={4: 7},
        pad_multiple=8,
        name="small",
    )
    return stowage.Cluster(**{**arguments, **more})


def drawn(count: int, seed: int = 0) -> NDArray[np.int64]:
    """Returns random lengths from 1 to 30,000 tokens with a long tail."""
    draw = np.random.default_rng(seed)
    return np.minimum(draw.lognormal(7.0, 1.3, count).astype(np.int64) + 1, 30_000)


def two() -> dict[str, Any]:
    """Returns the first instance of docs/reference/documents.md: its optimum is 39 ms, with both
    sequences on one group of two."""
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
