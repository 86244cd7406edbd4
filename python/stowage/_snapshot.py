"""Snapshots of torch's caching allocator for CUDA, as layout instances."""

from __future__ import annotations

import io
import os
import pickle
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Union

from ._arguments import path_of, whole
from ._errors import InputError, InputTypeError
from ._families import Outcome, solve

_LARGEST_FILE = 2**29  # bytes, as of other files (instances/limits.md)
_BLOCK = 512  # bytes; torch rounds every allocation up to a multiple of them
_ALLOCATED, _FREED = "alloc", "free_completed"
_GROWTH = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}


@dataclass(frozen=True)
class Snapshot:
    """The memory of one device while torch recorded its history.

    Attributes:
        device: number of the device.
        instance: the stowage/instance document of the problem `layout`. A buffer stands for each
            allocation, and a step for each event that allocates or frees.
        reserved_bytes: the most memory that the allocator held at once.
        live_bytes: the most memory that tensors needed at once. No layout needs less.
        earlier_bytes: the part of `live_bytes` that was allocated before the history began, and never
            freed in it.
        errors_of_memory: number of allocations that failed.
    """

    device: int
    instance: dict[str, Any] = field(repr=False)
    reserved_bytes: int
    live_bytes: int
    earlier_bytes: int
    errors_of_memory: int

    def plan(self, time_limit: float = 10.0) -> Outcome:
        """Returns the outcome of a layout of all tensors in one memory, whose objective is in bytes."""
        return solve(self.instance, time_limit=time_limit)

    def __str__(self) -> str:
        """Returns what the allocator wasted as a sentence."""
        reserved, live = self.reserved_bytes, self.live_bytes
        wasted = 1 - live / reserved if reserved > 0 else 0.0
        return (
            f"device {self.device}: torch reserved {reserved / 2**20:,.1f} MiB for tensors of at most "
            f"{live / 2**20:,.1f} MiB at once; {100 * wasted:.1f} % were never needed"
        )


def snapshot(
    source: Union[str, "os.PathLike[str]", Mapping[str, Any]], device: Optional[int] = None
) -> Snapshot:
    """Reads what torch.cuda.memory recorded.

        torch.cuda.memory._record_memory_history()
        ...                                                   # a training step
        torch.cuda.memory._dump_snapshot("step.pickle")
        found = stowage.snapshot("step.pickle")
        print(found, found.plan().objective)

    Args:
        source: path of a file of `_dump_snapshot()`, at most 2^29 bytes, or the dictionary of
            `_snapshot()`. Nothing in the file is executed: a pickle that names a function or a class
            is an error.
        device: number of the device; by default the only one with a history.

    An allocation of one stream that another stream waits for lives until the wait ends. Tensors of all
    streams and pools share one memory in the plan. Raises InputError (E110 for a file that cannot be
    read, E107 for one that is too large, E207 for what is no snapshot) and InputTypeError.
    """
    name, data = _content(source)
    if not isinstance(data, Mapping) or not {"segments", "device_traces"} <= data.keys():
        raise InputError(
            [
                (
                    "E207",
                    name,
                    'must be a snapshot of torch.cuda.memory, with "segments" and "device_traces"',
                )
            ]
        )
    try:
        traces = {number: list(trace) for number, trace in enumerate(data["device_traces"])}
        segments = list(data["segments"])
    except TypeError:
        raise InputError([("E207", name, "must have lists of segments and of traces")]) from None
    chosen = _device(name, traces, device)
    try:
        return _read(chosen, segments, traces[chosen])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as wrong:
        raise InputError(
            [
                (
                    "E207",
                    name,
                    f"must have the entries of torch's snapshots; reading them failed: {wrong!r}",
                )
            ]
        ) from None


def _content(source: Any) -> tuple[str, Any]:
    """Returns the name of the source, and what it holds."""
    if isinstance(source, Mapping):
        return "source", source
    if not isinstance(source, (str, os.PathLike)):
        raise InputTypeError(
            f"source: must be a path or a dictionary of torch.cuda.memory, is {type(source).__name__}"
        )
    path = path_of(source, "source")
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise InputError(
                [
                    (
                        "E107",
                        str(path),
                        f"must have at most {_LARGEST_FILE} bytes; record fewer entries",
                    )
                ]
            )
        content = path.read_bytes()
    except OSError as missing:
        raise InputError([("E110", str(path), f"cannot be read: {missing.strerror}")]) from None
    try:
        return str(path), _PlainPickle(io.BytesIO(content)).load()
    except Exception as wrong:  # a damaged pickle fails in many ways
        raise InputError(
            [("E207", str(path), f"must be a pickle of plain values: {wrong}")]
        ) from None


# Opcodes that make objects other than numbers, texts, lists, tuples, sets and dictionaries.
_FORBIDDEN = (
    "GLOBAL STACK_GLOBAL REDUCE BUILD INST OBJ NEWOBJ NEWOBJ_EX EXT1 EXT2 EXT4 PERSID BINPERSID "
    "BYTEARRAY8 NEXT_BUFFER READONLY_BUFFER"
)


def _refuse(_: Any) -> None:
    raise pickle.UnpicklingError("it names a function, a class or a buffer")


class _PlainPickle(pickle._Unpickler):
    """Reads plain values. It is the reader of the standard library in Python: the faster one in C takes
    gigabytes of memory for a few bytes of a hostile file."""

    dispatch = dict(pickle._Unpickler.dispatch)
    dispatch.update((getattr(pickle, name)[0], _refuse) for name in _FORBIDDEN.split())


def _device(name: str, traces: dict[int, Any], device: Optional[int]) -> int:
    with_history = [number for number, trace in traces.items() if len(trace) > 0]
    if device is not None:
        if whole(device, "device") in with_history:
            return device
        rule = f"device: must be one of those with a history, {with_history}, is {device}"
        raise InputError([("E207", name, rule)])
    if len(with_history) != 1:
        rule = (
            f"must have the history of one device, has those of {with_history}; pass device="
            if with_history
            else "must have a history; call torch.cuda.memory._record_memory_history() before the step"
        )
        raise InputError([("E207", name, rule)])
    return with_history[0]


def _read(device: int, segments: list[Any], trace: list[Any]) -> Snapshot:
    buffers: list[dict[str, Any]] = []
    live: dict[int, dict[str, Any]] = {}  # the open allocation at each address
    step = 0
    growth, most_growth, errors = 0, 0, 0

    def begin(at: int, address: int, size: int, why: str) -> None:
        whole_blocks = -(-size // _BLOCK) * _BLOCK
        buffer = {"id": f"{len(buffers)} {why}".rstrip(), "lower": at, "size_bytes": whole_blocks}
        live[address] = buffer
        buffers.append(buffer)

    for event in trace:
        action = event["action"]
        if action == "oom":
            errors += 1
        if action in _GROWTH:
            growth += _GROWTH[action] * int(event["size"])
            most_growth = max(most_growth, growth)
        if action not in (_ALLOCATED, _FREED):
            continue
        address, size = int(event["addr"]), int(event["size"])
        if action == _FREED and address not in live:
            begin(0, address, size, "")  # from before the history
        if address in live:
            live.pop(address)["upper"] = step
        if action == _ALLOCATED:
            begin(step, address, size, _caller(event.get("frames", ())))
        step += 1
    end = max(step, 1)
    earlier = 0
    for segment in segments:
        if segment["device"] != device:
            continue
        for address, block in _blocks(segment):
            if block["state"] != "inactive" and address not in live:
                size = int(block.get("requested_size", block["size"]))
                begin(0, address, size, _caller(block.get("frames", ())))
                earlier += buffers[-1]["size_bytes"]
    for buffer in live.values():
        buffer["upper"] = end
    buffers = [each for each in buffers if each["lower"] < each["upper"]]
    held = sum(int(each["total_size"]) for each in segments if each["device"] == device)
    instance = {
        "format": "stowage/instance",
        "version": 1,
        "problem": "layout",
        "name": f"snapshot of device {device}",
        "alignment": _BLOCK,
        "buffers": buffers,
    }
    return Snapshot(
        device, instance, held - growth + most_growth, _load(buffers, end), earlier, errors
    )


def _blocks(segment: Any) -> list[tuple[int, Any]]:
    """Returns the blocks of a segment with their addresses, which old releases of torch leave out."""
    address = int(segment["address"])
    found = []
    for block in segment["blocks"]:
        found.append((int(block.get("address", address)), block))
        address += int(block["size"])
    return found


def _caller(frames: Any) -> str:
    """Returns the innermost Python function of a stack, for people."""
    for frame in frames:
        if str(frame.get("filename", "")).endswith(".py"):
            return f"{frame['name']} ({os.path.basename(frame['filename'])}:{frame['line']})"
    return ""


def _load(buffers: list[dict[str, Any]], end: int) -> int:
    """Returns the most bytes that live at one step."""
    change = [0] * (end + 1)
    for each in buffers:
        change[each["lower"]] += each["size_bytes"]
        change[each["upper"]] -= each["size_bytes"]
    most = now = 0
    for growth in change:
        now += growth
        most = max(most, now)
    return most
