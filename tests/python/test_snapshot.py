"""Tests of stowage.snapshot(): histories of an allocator that is simulated here, and hostile files."""

import io
import pickle
import random
import resource
import struct
import time

import pytest

import stowage


class Allocator:
    """A caching allocator of 2 MiB segments that records its history as torch does."""

    SEGMENT = 2 << 20

    def __init__(self, device=0, record=True):
        self.device, self.recording = device, record
        self.trace, self.segments, self.next = [], [], 1 << 40
        self.live = {}
        self.most_live = self.most_reserved = 0

    def event(self, action, address, size):
        if self.recording:
            self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "frames": FRAMES})

    def allocate(self, size):
        rounded = -(-size // 512) * 512
        for segment in self.segments:
            for at, block in enumerate(segment["blocks"]):
                if block["state"] == "inactive" and block["size"] >= rounded:
                    return self._take(segment, at, size, rounded)
        total = max(self.SEGMENT, rounded)
        segment = {
            "device": self.device, "address": self.next, "total_size": total, "stream": 0,
            "blocks": [{"address": self.next, "size": total, "requested_size": 0, "state": "inactive", "frames": []}],
        }
        self.next += 2 * total
        self.segments.append(segment)
        self.event("segment_alloc", segment["address"], total)
        self.most_reserved = max(self.most_reserved, sum(each["total_size"] for each in self.segments))
        return self._take(segment, 0, size, rounded)

    def _take(self, segment, at, size, rounded):
        block = segment["blocks"][at]
        left = block["size"] - rounded
        address = block["address"]
        used = {"address": address, "size": rounded, "requested_size": size, "state": "active_allocated", "frames": FRAMES}
        rest = [{"address": address + rounded, "size": left, "requested_size": 0, "state": "inactive", "frames": []}]
        segment["blocks"][at : at + 1] = [used, *(rest if left else [])]
        self.live[address] = (segment, used)
        self.event("alloc", address, size)
        self.most_live = max(self.most_live, sum(each["size"] for _, each in self.live.values()))
        return address

    def free(self, address):
        segment, used = self.live.pop(address)
        used["state"] = "inactive"
        self.event("free_requested", address, used["requested_size"])
        self.event("free_completed", address, used["requested_size"])
        merged = []
        for block in segment["blocks"]:
            if merged and merged[-1]["state"] == block["state"] == "inactive":
                merged[-1]["size"] += block["size"]
            else:
                merged.append(block)
        segment["blocks"] = merged

    def empty_cache(self):
        for segment in [each for each in self.segments if len(each["blocks"]) == 1]:
            if segment["blocks"][0]["state"] == "inactive":
                self.segments.remove(segment)
                self.event("segment_free", segment["address"], segment["total_size"])

    def snapshot(self):
        traces = [[] for _ in range(self.device)] + [self.trace]
        return {"segments": self.segments, "device_traces": traces, "allocator_settings": {}}


FRAMES = [
    {"filename": "CUDACachingAllocator.cpp", "line": 1, "name": "malloc"},
    {"filename": "model.py", "line": 7, "name": "forward"},
]


def trained(seed, record_from=0, device=0):
    """Returns an allocator after random allocations; what comes before `record_from` is not recorded."""
    chooser = random.Random(seed)
    allocator = Allocator(device, record=record_from == 0)
    for step in range(300):
        if step == record_from:
            allocator.recording = True
            allocator.most_live = sum(each["size"] for _, each in allocator.live.values())
            allocator.most_reserved = sum(each["total_size"] for each in allocator.segments)
        if allocator.live and chooser.random() < 0.47:
            allocator.free(chooser.choice(sorted(allocator.live)))
        elif chooser.random() < 0.02:
            allocator.empty_cache()
        else:
            allocator.allocate(chooser.choice([1, 700, 512 * chooser.randint(1, 900), 3 << 20]))
    return allocator


@pytest.mark.parametrize("record_from", [0, 120])
@pytest.mark.parametrize("seed", range(10))
def test_what_was_reserved_and_needed_is_found(seed, record_from):
    allocator = trained(seed, record_from)
    found = stowage.snapshot(allocator.snapshot())
    assert found.device == 0
    assert found.reserved_bytes == allocator.most_reserved
    assert found.live_bytes == allocator.most_live
    outcome = found.plan(2)
    assert found.live_bytes <= outcome.objective <= 1.02 * found.live_bytes
    assert outcome.bound >= found.live_bytes
    assert {each["id"].split(" ", 1)[1] for each in found.instance["buffers"] if " " in each["id"]} == {
        "forward (model.py:7)"
    }


def test_what_lived_before_the_history_lives_throughout():
    allocator = Allocator(record=False)
    kept, freed = allocator.allocate(1000), allocator.allocate(5000)
    allocator.recording = True
    later = allocator.allocate(512)
    allocator.free(freed)
    found = stowage.snapshot(allocator.snapshot())
    spans = {(each["lower"], each["upper"], each["size_bytes"]) for each in found.instance["buffers"]}
    assert spans == {(0, 2, 1024), (0, 1, 5120), (0, 2, 512)}
    assert found.earlier_bytes == 1024
    assert {kept, later} == set(allocator.live)


def test_files_and_dictionaries_are_the_same(tmp_path):
    allocator = trained(1)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path = tmp_path / f"{protocol}.pickle"
        path.write_bytes(pickle.dumps(allocator.snapshot(), protocol))
        assert stowage.snapshot(path) == stowage.snapshot(allocator.snapshot())
        assert stowage.snapshot(str(path)) == stowage.snapshot(path, device=0)


def test_the_sentence_has_its_units():
    allocator = Allocator()
    allocator.allocate(1 << 20)
    assert str(stowage.snapshot(allocator.snapshot())) == (
        "device 0: torch reserved 2.0 MiB for tensors of at most 1.0 MiB at once; 50.0 % were never needed"
    )


def test_the_device_is_the_one_with_a_history():
    allocator = trained(2, device=3)
    assert stowage.snapshot(allocator.snapshot()).device == 3
    both = allocator.snapshot()
    both["device_traces"][1] = trained(3).trace
    with pytest.raises(stowage.InputError, match=r"has those of \[1, 3\]; pass device="):
        stowage.snapshot(both)
    assert stowage.snapshot(both, device=3) == stowage.snapshot(allocator.snapshot())
    with pytest.raises(stowage.InputError, match=r"one of those with a history, \[1, 3\], is 0"):
        stowage.snapshot(both, device=0)
    with pytest.raises(stowage.InputError, match="_record_memory_history"):
        stowage.snapshot(Allocator().snapshot())


def test_errors_of_memory_are_counted():
    allocator = Allocator()
    allocator.allocate(512)
    allocator.trace.append({"action": "oom", "size": 1 << 40, "device_free": 0, "stream": 0, "frames": []})
    assert stowage.snapshot(allocator.snapshot()).errors_of_memory == 1


class Executed:
    def __reduce__(self):
        return (print, ("EXECUTED",))


HOSTILE = {
    "a function": pickle.dumps({"segments": [Executed()], "device_traces": []}),
    "a class": pickle.dumps(Allocator),
    "an object": pickle.dumps(Executed),
    "protocol 0": pickle.dumps(Executed(), 0),
    "INST": b"(S'true'\nios\nsystem\n.",
    "an extension": b"\x82\x01.",
    "a persistent id": b"Pname\n.",
    "a place of 2^32 in the memo": b"]r\xff\xff\xff\xff.",
    "a buffer of 2^60 bytes": b"\x80\x05\x96" + struct.pack("<Q", 1 << 60) + b".",
    "a text of 2^60 bytes": b"\x80\x05\x8d" + struct.pack("<Q", 1 << 60) + b".",
    "an integer of 2^31 bytes": b"\x80\x02\x8b" + struct.pack("<i", (1 << 31) - 1) + b".",
    "nothing": b"",
    "no end": pickle.dumps({"segments": []})[:-3],
    "an empty stack": b"0.",
    "text": b"{}",
    "an endless frame": b"\x80\x04\x95" + struct.pack("<Q", 1 << 62) + b"N.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_in_a_file_is_executed(name, tmp_path, capsys):
    path = tmp_path / "hostile.pickle"
    path.write_bytes(HOSTILE[name])
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(stowage.InputError, match="E207 .*hostile.pickle"):
        stowage.snapshot(path)
    assert time.process_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB
    assert "EXECUTED" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        {},
        {"segments": [], "device_traces": 7},
        {"segments": 7, "device_traces": [[{"action": "alloc", "addr": 1, "size": 1}]]},
        {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1}]]},
        {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": "x"}]]},
        {"segments": [], "device_traces": [["alloc"]]},
        {"segments": [{"device": 0}], "device_traces": [[{"action": "alloc", "addr": 1, "size": 1}]]},
    ],
)
def test_what_is_no_snapshot_is_an_error(damaged, tmp_path):
    path = tmp_path / "damaged.pickle"
    path.write_bytes(pickle.dumps(damaged))
    with pytest.raises(stowage.InputError, match="E207 .*damaged.pickle"):
        stowage.snapshot(path)


def test_what_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(stowage.InputError, match="E110 .*missing.pickle: cannot be read"):
        stowage.snapshot(tmp_path / "missing.pickle")
    with pytest.raises(stowage.InputError, match="E110"):
        stowage.snapshot(tmp_path)
    large = tmp_path / "large.pickle"
    with large.open("wb") as file:
        file.truncate((1 << 29) + 1)
    with pytest.raises(stowage.InputError, match="E107 .*large.pickle: must have at most 536870912 bytes"):
        stowage.snapshot(large)
    with pytest.raises(stowage.InputTypeError, match="source"):
        stowage.snapshot(7)
    with pytest.raises(stowage.InputTypeError, match="source"):
        stowage.snapshot(io.BytesIO())
