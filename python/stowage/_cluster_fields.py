"""The arguments of Cluster, and where they stand in an instance."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ._documents import text_of
from ._errors import InputError

# The keys of each argument in the document of an instance. None means that the document has no such
# key.
PLACES: dict[str, tuple[str, ...]] = {
    "devices": ("cluster", "devices"),
    "memory_mib": ("cluster", "memory_mib"),
    "states_mib": ("model", "states_mib"),
    "activation_mib_per_token": ("model", "activation_mib_per_token"),
    "sequence_mib": ("model", "sequence_mib"),
    "logits_mib_per_token": ("model", "logits_mib_per_token"),
    "logits_chunk_tokens": ("model", "logits_chunk_tokens"),
    "keys_values_mib_per_token": ("model", "keys_values_mib_per_token"),
    "recomputation": ("model", "recomputation"),
    "offload": ("model", "offload"),
    "quadratic_ms": ("cost", "quadratic_ms"),
    "linear_ms": ("cost", "linear_ms"),
    "fixed_ms": ("cost", "fixed_ms"),
    "sequence_fixed_ms": ("cost", "sequence_fixed_ms"),
    "split_ms": ("cost", "split_ms"),
    "tile_tokens": ("cost", "tile_tokens"),
    "window": ("cost", "window"),
    "exchange": ("cost", "exchange"),
    "table": ("cost", "table"),
    "all_to_all_mib_per_token": ("cost", "all_to_all", "mib_per_token"),
    "mib_per_ms": ("cost", "all_to_all", "mib_per_ms"),
    "latency_ms": ("cost", "all_to_all", "latency_ms"),
    "degrees": ("cluster", "degrees"),
    "aligned": ("cluster", "aligned"),
    "devices_per_node": ("cluster", "devices_per_node"),
    "kinds": ("cluster", "kinds"),
    "pad_multiple": ("pad_multiple",),
    "padding": ("padding",),
    "mixed": ("mixed",),
    "pipeline_stages": ("pipeline_stages",),
    "no_idle_ranks": ("rules", "no_idle_ranks"),
    "sorted_groups": ("rules", "sorted_groups"),
    "micro_batches_multiple_of": ("rules", "micro_batches_multiple_of"),
    "min_degree": ("rules", "min_degree"),
    "max_tokens_per_rank": ("rules", "max_tokens_per_rank"),
    "max_sequences_per_group": ("rules", "max_sequences_per_group"),
    "equal_sequences": ("rules", "equal_sequences"),
    "packed": ("rules", "packed"),
    "name": ("name",),
}


# The value of an argument whose key is missing in the document.
_DEFAULTS: dict[str, Any] = {
    "kinds": (),
    "pad_multiple": 1,
    "padding": None,
    "mixed": None,
    "sequence_mib": 0.0,
    "logits_mib_per_token": 0.0,
    "logits_chunk_tokens": None,
    "keys_values_mib_per_token": 0.0,
    "recomputation": (),
    "offload": None,
    "quadratic_ms": None,
    "linear_ms": None,
    "fixed_ms": None,
    "sequence_fixed_ms": 0.0,
    "split_ms": 0.0,
    "tile_tokens": 1,
    "window": None,
    "exchange": None,
    "table": None,
    "all_to_all_mib_per_token": 0.0,
    "mib_per_ms": {},
    "latency_ms": {},
    "pipeline_stages": 1,
    "no_idle_ranks": False,
    "sorted_groups": False,
    "micro_batches_multiple_of": 1,
    "min_degree": 1,
    "max_tokens_per_rank": None,
    "max_sequences_per_group": None,
    "equal_sequences": False,
    "packed": True,
}


def powers_of_two(most: Any) -> list[int]:
    """Returns the powers of two up to `most`; an empty list if `most` is not an integer, which the
    reader refuses later."""
    whole = int(most) if isinstance(most, (int, np.integer)) else 0
    return [1 << bit for bit in range(whole.bit_length())]


def require_finite(value: Any, place: str) -> None:
    """Raises InputError with the place of a number that JSON cannot represent (NaN, infinity)."""
    if isinstance(value, Mapping):
        for key, inside in value.items():
            require_finite(inside, f"{place}/{key}")
    elif isinstance(value, (list, tuple)):
        for index, inside in enumerate(value):
            require_finite(inside, f"{place}/{index}")
    elif isinstance(value, (float, np.floating)) and not np.isfinite(value):
        raise InputError([("E105", place, f"must be a finite number, is {value}")])


def put(document: dict[str, Any], argument: str, value: Any) -> None:
    inner = document
    *outer, last = PLACES[argument]
    for key in outer:
        inner = inner.setdefault(key, {})
    if value is None:
        inner.pop(last, None)
        return
    text_of(value, argument)
    require_finite(value, "/" + "/".join(PLACES[argument]))
    if isinstance(value, Mapping):
        value = {str(key): inside for key, inside in value.items()}
    whole = argument in ("degrees", "kinds", "recomputation") and np.iterable(value)
    inner[last] = list(value) if whole else value
    if outer == ["cost", "all_to_all"]:
        inner.setdefault("mib_per_token", 0.0)


def is_default(argument: str, value: Any) -> bool:
    """Returns whether the value is equal to the default; False for every array."""
    if argument not in _DEFAULTS or isinstance(value, np.ndarray):
        return False
    return bool(value == _DEFAULTS[argument])


def of_document(document: Mapping[str, Any], argument: str) -> Any:
    value: Any = document
    for key in PLACES[argument]:
        if key not in value:
            return _DEFAULTS[argument]
        value = value[key]
    if argument in ("mib_per_ms", "latency_ms"):
        return {int(degree): number for degree, number in value.items()}
    return tuple(value) if argument in ("degrees", "kinds", "recomputation") else value
