"""The cluster, the model and the cost of the steps that a Planner plans."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arguments import number, path_of, text, whole
from ._cluster_fields import PLACES, is_default, of_document, powers_of_two, put
from ._documents import instance_of, text_of
from ._errors import InputError
from ._lengths import Integers, as_integers


class Cluster:
    """A scatter instance without sequences: the memory and the times of groups of devices.

    Args:
        devices: ranks over which a step is scattered.
        memory_mib: usable memory of a device, MiB.
        states_mib: parameters, gradients and optimizer states on a device, MiB.
        activation_mib_per_token: activations of a token on one device, MiB.
        quadratic_ms, linear_ms: time of a sequence of s tokens on d devices is
            (quadratic_ms s^2 + linear_ms s) / d, plus its exchange.
        fixed_ms: time added once per group, ms; default 0.
        all_to_all_mib_per_token: MiB that a token exchanges in an all-to-all; on d devices the
            exchange of a token takes all_to_all_mib_per_token / mib_per_ms[d] / d ms.
        mib_per_ms: bandwidth in MiB per ms by degree; required above degree 1 if
            all_to_all_mib_per_token is positive.
        latency_ms: time added once per group, by degree, ms.
        degrees: allowed group degrees; default the powers of two up to `devices`.
        aligned: groups of d begin at multiples of d.
        devices_per_node: devices of a node, used in pictures and by `exchange`.
        kinds: for unequal nodes, the objects of `cluster.kinds` of an instance as mappings, in the
            order of ranks: nodes, speed, memory_mib, name.
        pad_multiple: lengths are rounded up to a multiple of this number of tokens.
        padding: the object of this name of an instance (docs/reference/scatter.md), as a mapping: groups
            pad by their degree, in place of pad_multiple.
        mixed: the object of this name of an instance as a mapping, {"hidden_share": 1.0}: a
            micro-batch may hold a row that all devices share beside rows of single devices.
        sequence_fixed_ms: time added once per sequence, ms. tile_tokens: tokens of a tile;
            attention computes whole tiles.
        split_ms: time added for a token whose sequence d devices share, times 1 - 1/d, ms.
        table: measured times by degree, which replace all other arguments of the time: the object
            `table` of an instance's cost, {degree: {"tokens": [...], "squares": [...], "ms": [[...],
            ...]}}.
        window, exchange: the objects of these names of an instance's cost
            (docs/reference/scatter.md), as mappings; `exchange` replaces the all-to-all.
        sequence_mib: memory of each sequence of a group on every device of the group, MiB.
        logits_mib_per_token: logits of a token on one device, MiB. They are stored for all tokens at
            once, or for logits_chunk_tokens at a time.
        keys_values_mib_per_token: keys and values of a token that a device holds for others, MiB.
        recomputation: recomputation modes that each micro-batch chooses from, the objects of
            `model.recomputation` of an instance as mappings: name, activation_mib_per_token
            (default that of the model), quadratic_factor, linear_factor, exchange_factor (default
            1).
        offload: the object `model.offload` of an instance as a mapping: mib_per_token MiB of the
            activations of a token can leave for the host, at out_mib_per_ms and back at
            in_mib_per_ms MiB per ms of a device; host_mib (default no limit), forward_share (default
            1/3).
        pipeline_stages: number p of stages that each micro-batch passes one after another; all other
            arguments describe one stage. The step takes the sum of the makespans plus p - 1 times the
            longest makespan.
        name: name in reports and pictures.

    Rules of the trainer that runs the plans (`rules` of an instance; each is off by default):
        no_idle_ranks: in every micro-batch the groups cover all devices.
        sorted_groups: degrees do not increase with the rank.
        micro_batches_multiple_of: the number of micro-batches is a multiple of this number.
        min_degree: smaller degrees are not used.
        max_tokens_per_rank: padded tokens of a group are at most this number times its degree, even
            if memory allows more; None for no limit.
        max_sequences_per_group: largest number of sequences of a group; None for no limit.
        equal_sequences: in every micro-batch all groups hold the same number of sequences.
        packed: if False, a group computes its sequences one by one: each sequence takes `fixed_ms`
            and `latency_ms`, and memory holds the longest sequence instead of all.

    Raises InputError with all broken rules. A cluster is immutable, compares by value, can be
    pickled, and may be used by any number of threads.
    """

    devices: int
    memory_mib: float
    states_mib: float
    activation_mib_per_token: float
    quadratic_ms: Optional[float]
    linear_ms: Optional[float]
    fixed_ms: Optional[float]
    all_to_all_mib_per_token: float
    mib_per_ms: dict[int, float]
    latency_ms: dict[int, float]
    degrees: tuple[int, ...]
    aligned: bool
    devices_per_node: int
    kinds: tuple[dict[str, Any], ...]
    pad_multiple: int
    padding: Optional[dict[str, Any]]
    mixed: Optional[dict[str, float]]
    sequence_fixed_ms: float
    split_ms: float
    tile_tokens: int
    window: Optional[dict[str, float]]
    exchange: Optional[dict[str, Any]]
    table: Optional[dict[str, Any]]
    sequence_mib: float
    logits_mib_per_token: float
    logits_chunk_tokens: Optional[int]
    keys_values_mib_per_token: float
    recomputation: tuple[dict[str, Any], ...]
    offload: Optional[dict[str, float]]
    pipeline_stages: int
    no_idle_ranks: bool
    sorted_groups: bool
    micro_batches_multiple_of: int
    min_degree: int
    max_tokens_per_rank: Optional[int]
    max_sequences_per_group: Optional[int]
    equal_sequences: bool
    packed: bool
    name: str
    _instance: _core.Instance

    def __init__(
        self,
        *,
        devices: int,
        memory_mib: float,
        states_mib: float,
        activation_mib_per_token: float,
        quadratic_ms: Optional[float] = None,
        linear_ms: Optional[float] = None,
        fixed_ms: Optional[float] = None,
        all_to_all_mib_per_token: float = 0.0,
        mib_per_ms: Optional[Mapping[int, float]] = None,
        latency_ms: Optional[Mapping[int, float]] = None,
        degrees: Optional[Sequence[int]] = None,
        aligned: bool = True,
        devices_per_node: int = 8,
        kinds: Sequence[Mapping[str, Any]] = (),
        pad_multiple: int = 1,
        padding: Optional[Mapping[str, Any]] = None,
        mixed: Optional[Mapping[str, float]] = None,
        sequence_fixed_ms: float = 0.0,
        split_ms: float = 0.0,
        tile_tokens: int = 1,
        window: Optional[Mapping[str, float]] = None,
        exchange: Optional[Mapping[str, Any]] = None,
        table: Optional[Mapping[int, Any]] = None,
        sequence_mib: float = 0.0,
        logits_mib_per_token: float = 0.0,
        logits_chunk_tokens: Optional[int] = None,
        keys_values_mib_per_token: float = 0.0,
        recomputation: Sequence[Mapping[str, Any]] = (),
        offload: Optional[Mapping[str, float]] = None,
        pipeline_stages: int = 1,
        no_idle_ranks: bool = False,
        sorted_groups: bool = False,
        micro_batches_multiple_of: int = 1,
        min_degree: int = 1,
        max_tokens_per_rank: Optional[int] = None,
        max_sequences_per_group: Optional[int] = None,
        equal_sequences: bool = False,
        packed: bool = True,
        name: str = "",
    ) -> None:
        if fixed_ms is None and table is None:
            fixed_ms = 0.0
        given = {key: value for key, value in locals().items() if key in PLACES}
        document: dict[str, Any] = {
            "format": "stowage/instance",
            "version": 1,
            "problem": "scatter",
            "lengths": [],
        }
        for argument, value in given.items():
            if value is not None and not is_default(argument, value):
                put(document, argument, value)
        self._adopt(_core.read_instance(text_of(document), ""))

    @classmethod
    def preset(
        cls,
        model: str = "gpt-7b",
        *,
        devices: int = 64,
        limit: int = 192_000,
        machine: Optional[str] = None,
        memory_mib: Optional[float] = None,
        **more: Any,
    ) -> Cluster:
        """Returns the cluster of a published model for sequences of `limit` tokens
        (instances/presets.md).

        Without a `machine`, the cost is published coefficients on A100s. With one of "a100-40",
        "a100-80", "h100", "h200", "b200", the cost is computed from the model's shape for that
        machine. `memory_mib` is the usable memory of a device, MiB; the default is the machine's,
        or 30720. `more` are arguments of the constructor that replace those of the preset.
        """
        if memory_mib is not None:
            memory_mib = number(memory_mib, "memory_mib")
        preset = cls._of(
            _core.scatter_preset(
                text(model, "model"),
                "" if machine is None else text(machine, "machine"),
                whole(devices, "devices", 31),
                whole(limit, "limit"),
                memory_mib,
            )
        )
        return preset.replace(**more) if more else preset

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Cluster:
        """Returns the cluster of a scatter instance; its lengths are ignored."""
        return cls._of(instance_of(path, "path"))

    @classmethod
    def _of(cls, instance: _core.Instance) -> Cluster:
        if instance.family != "scatter":
            raise InputError([("E209", "/problem", f'must be "scatter", is "{instance.family}"')])
        cluster = cls.__new__(cls)
        cluster._adopt(instance)
        return cluster

    def _adopt(self, instance: _core.Instance) -> None:
        none = np.zeros(0, np.int64)
        empty = instance.with_lengths(none, none, instance.name)
        document = json.loads(empty.to_json())
        vars(self)["_instance"] = empty
        for argument in PLACES:
            vars(self)[argument] = of_document(document, argument)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Cluster does not change: use replace({name}=...)")

    def replace(self, **changes: Any) -> Cluster:
        """Returns a copy with other arguments of the constructor.

        New `devices` also change the degrees: to all powers of two if they were all powers of two before, and
        otherwise to the previous degrees up to `devices`. A `table` replaces the whole cost, an `exchange`
        replaces the all-to-all, and one of `padding` and `pad_multiple` replaces the other.
        """
        unknown = sorted(set(changes) - set(PLACES))
        if unknown:
            raise TypeError(f"replace() got unknown arguments: {', '.join(unknown)}")
        document = json.loads(self._instance.to_json())
        devices = changes.get("devices", self.devices)
        if "devices" in changes and "degrees" not in changes:
            if list(self.degrees) == powers_of_two(self.devices):
                changes["degrees"] = powers_of_two(devices)
            elif isinstance(devices, (int, np.integer)):
                changes["degrees"] = [degree for degree in self.degrees if degree <= devices]
        if changes.get("exchange") is not None:
            document["cost"].pop("all_to_all", None)
        if changes.get("padding") is not None and "pad_multiple" not in changes:
            document.pop("pad_multiple", None)
        elif changes.get("pad_multiple") is not None and "padding" not in changes:
            document.pop("padding", None)
        if changes.get("table") is not None:
            document["cost"] = {}
        for argument, value in changes.items():
            put(document, argument, value)
        return self._of(_core.read_instance(text_of(document), ""))

    def with_cost(self, cost: Union[str, os.PathLike[str], Mapping[str, Any]]) -> Cluster:
        """Returns a copy with another cost: the object `cost` of an instance, or the path of a file
        with it.

        `stowage fit -o`, `stowage calibrate -o` and stowage.calibrate.Fit.save() write such files.
        """
        document = json.loads(self._instance.to_json())
        if isinstance(cost, Mapping):
            document["cost"] = dict(cost)
            return self._of(_core.read_instance(text_of(document), ""))
        path = path_of(cost, "cost")
        document["cost"] = {"file": path.name}
        return self._of(_core.read_instance(text_of(document), str(path.parent)))

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the scatter instance, without sequences."""
        path_of(path, "path").write_text(self._instance.to_json(), encoding="utf-8")

    @property
    def tokens_per_device(self) -> int:
        """The number of padded tokens that the memory of a device holds."""
        return self._instance.tokens_per_device

    @property
    def largest_sequence(self) -> int:
        """The longest padded sequence that a group can hold, in tokens."""
        most = self._instance.longest_in_group(self.degrees[-1])
        return most // self.pad_multiple * self.pad_multiple

    def group_ms(self, degree: int, lengths: Integers) -> float:
        """Returns the modelled time in ms of a group of `degree` devices with these sequences."""
        if whole(degree, "degree") not in self.degrees:
            raise ValueError(f"degree: must be one of {self.degrees}, is {degree}")
        tokens = as_integers(lengths, "lengths")
        if tokens.size and tokens.min() < 1:
            at = int(tokens.argmin())
            raise InputError([("E205", f"/lengths/{at}", f"must be at least 1, is {tokens[at]}")])
        return self._instance.group_ms(degree, tokens)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cluster):
            return NotImplemented
        return self._instance.to_json() == other._instance.to_json()

    def __hash__(self) -> int:
        return hash(self._instance.to_json())

    def __repr__(self) -> str:
        arguments = ", ".join(f"{argument}={vars(self)[argument]!r}" for argument in PLACES)
        return f"Cluster({arguments})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _cluster_of_text, (self._instance.to_json(),)


def _cluster_of_text(text: str) -> Cluster:
    return Cluster._of(_core.read_instance(text, ""))
