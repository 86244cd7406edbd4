"""Tests of arrange(): an order, its buffers and their offsets, computed independently of the
library."""

import json
import pickle

import pytest

import stowage


@pytest.fixture
def graph(data):
    return json.loads((data / "order/tiny/another-order-when-long.json").read_text())


def without_lengths(graph):
    fixed = {key: value for key, value in graph.items() if key != "tokens"}
    fixed["tensors"] = [
        {key: value for key, value in tensor.items() if key != "bytes_per_token"}
        for tensor in graph["tensors"]
    ]
    return fixed


def overlaps(buffers, offsets):
    """Returns the pairs of buffers that share a byte at a step."""
    lying = [
        (one["lower"], one["upper"], offset, offset + one["size_bytes"])
        for one, offset in zip(buffers, offsets)
    ]
    return [
        (a, b)
        for i, a in enumerate(lying)
        for b in lying[:i]
        if a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
    ]


def test_the_tensors_lie_where_the_layout_says(graph):
    fixed = without_lengths(graph)
    outcome = stowage.solve(fixed)
    found = stowage.arrange(fixed, outcome.plan)
    assert found.stopped_by == "proof" and found.orders >= 1
    assert found.needed_bytes == found.layout["peak_bytes"] == outcome.objective
    stowage.verify(fixed, found.order)
    stowage.verify(found.buffers, found.layout)
    assert len(found.layout["offsets"]) == len(found.buffers["buffers"]) > 3
    assert overlaps(found.buffers["buffers"], found.layout["offsets"]) == []


def test_solve_lays_out_too(graph, data):
    fixed = without_lengths(graph)
    outcome = stowage.solve(fixed, layout=True)
    found = outcome.arrangement
    assert outcome.status == "optimal" and found.order == outcome.plan
    stowage.verify(found.buffers, found.layout)
    assert overlaps(found.buffers["buffers"], found.layout["offsets"]) == []
    assert pickle.loads(pickle.dumps(outcome)).arrangement == found
    assert stowage.solve(fixed).arrangement is None
    assert stowage.solve({**fixed, "capacity_bytes": 1}, layout=True).arrangement is None
    with pytest.raises(ValueError, match="layout: must be False for the problem scatter"):
        stowage.solve(next((data / "scatter/tiny").glob("*.json")), layout=True)


def test_an_order_of_many_lengths_is_laid_out_at_the_longest(graph):
    plan = stowage.solve(graph).plan
    found = stowage.arrange(graph, plan)
    assert found.order == plan and found.orders == 1
    assert found.needed_bytes >= plan["peak_bytes"]


def test_node_limits_say_so_and_repeat(graph):
    fixed = without_lengths(graph)
    plan = stowage.solve(fixed, method="program").plan
    first = stowage.arrange(fixed, plan, node_limit=1000, time_limit=None, seed=3)
    assert first.stopped_by in ("gap", "node_limit", "proof") and first.orders >= 1
    assert first == stowage.arrange(fixed, plan, node_limit=1000, time_limit=None, seed=3)


def test_without_room_there_is_no_layout():
    """The sum of all workspaces exceeds the largest layout."""
    huge = 2**52
    graph = {
        "format": "stowage/instance",
        "version": 1,
        "problem": "order",
        "tensors": [{"id": "x", "size_bytes": 1, "input": True}],
        "operators": [
            {"id": f"f{k}", "reads": ["x"], "writes": [], "workspace_bytes": huge} for k in range(4)
        ],
    }
    found = stowage.arrange(graph, stowage.solve(graph).plan)
    assert found.layout is None and found.needed_bytes is None and found.orders == 0
    assert "cannot be laid out" in found.detail


def test_what_it_refuses(graph, data):
    fixed = without_lengths(graph)
    plan = stowage.solve(fixed).plan
    with pytest.raises(stowage.VerificationError):
        stowage.arrange(fixed, {**plan, "peak_bytes": 1})
    with pytest.raises(ValueError, match="time_limit"):
        stowage.arrange(fixed, plan, time_limit=-1)
    layout = {
        "format": "stowage/instance",
        "version": 1,
        "problem": "layout",
        "buffers": [{"lower": 0, "upper": 1, "size_bytes": 8}],
    }
    with pytest.raises(ValueError, match="problem order, is of layout"):
        stowage.arrange(layout, stowage.solve(layout).plan)
