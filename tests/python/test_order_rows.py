"""Tests of OrderRows: the row of every length, and refused inputs."""

import copy
import json
import pickle

import numpy as np
import pytest

import stowage
from conftest import two


@pytest.fixture
def graph(data):
    """Returns a graph for which one order is optimal up to 4 tokens, and another from 5 tokens on."""
    return json.loads((data / "order/tiny/another-order-when-long.json").read_text())


@pytest.fixture
def plan(graph):
    return stowage.solve(graph).plan


def sizes(graph, tokens):
    """Returns the bytes of each tensor at a length; the alignment is 1."""
    return {
        tensor["id"]: tensor["size_bytes"] + tokens * tensor.get("bytes_per_token", 0)
        for tensor in graph["tensors"]
    }


def peak(graph, order, tokens):
    """Returns the largest need of a step, tensor by tensor; no operator updates a tensor or runs
    again."""
    size = sizes(graph, tokens)
    operators = [graph["operators"][op] for op in order]
    made = {tensor["id"] for tensor in graph["tensors"] if tensor.get("input")}
    kept = {tensor["id"] for tensor in graph["tensors"] if tensor.get("output")}
    most = 0
    for step, operator in enumerate(operators):
        needed = kept.union(*(later["reads"] for later in operators[step:]))
        live = (made & needed) | set(operator["writes"])
        most = max(most, sum(size[tensor] for tensor in live))
        made |= set(operator["writes"])
    return most


def test_every_length_has_the_row_that_holds_it(graph, plan):
    rows = stowage.OrderRows(graph, plan)
    assert len(rows) == len(plan["rows"]) > 1 and list(rows)[1] is rows[1]
    assert repr(rows) == f"<OrderRows {len(rows)} of 1 to 8 tokens>"
    orders = set()
    for tokens in range(1, 9):
        row = rows.row_at(tokens)
        assert row.from_tokens <= tokens <= row.to_tokens
        assert row.order.dtype == np.int64 and not row.order.flags.writeable
        wide = row.to_tokens - row.from_tokens
        between = row.peak_bytes_at_from * (row.to_tokens - tokens) + row.peak_bytes_at_to * (
            tokens - row.from_tokens
        )
        assert peak(graph, row.order, tokens) * wide <= between
        orders.add(tuple(row.order))
    assert len(orders) == 2
    assert rows.row_at(np.int64(5)) is rows.row_at(5)
    assert peak(graph, rows.row_at(1).order, 1) < peak(graph, rows.row_at(8).order, 1)


def test_rows_are_those_of_the_document(graph, plan):
    rows = stowage.OrderRows(graph, plan)
    for row, written in zip(rows, plan["rows"]):
        own = row._asdict()
        assert own.pop("order").tolist() == written["order"]
        assert (own.pop("from_tokens"), own.pop("to_tokens")) == (written["from"], written["to"])
        assert own == {name: written[name] for name in own}
        assert peak(graph, row.order, row.from_tokens) == row.peak_bytes_at_from
        assert peak(graph, row.order, row.to_tokens) == row.peak_bytes_at_to


def test_files_and_outcomes_are_taken_and_rows_are_pickled(graph, plan, tmp_path):
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    stowage.solve(graph).save(tmp_path / "outcome.json")
    rows = stowage.OrderRows(tmp_path / "graph.json", str(tmp_path / "outcome.json"))
    again = pickle.loads(pickle.dumps(rows))
    assert [row.order.tolist() for row in again] == [row["order"] for row in plan["rows"]]
    assert again.row_at(8)[:7] == rows.row_at(8)[:7]


@pytest.mark.parametrize("tokens", [0, 9, -1, 2**62])
def test_lengths_outside_of_the_range_have_no_row(graph, plan, tokens):
    with pytest.raises(ValueError, match=f"tokens: must be from 1 to 8, is {tokens}"):
        stowage.OrderRows(graph, plan).row_at(tokens)


@pytest.mark.parametrize("tokens", [1.5, "3", None])
def test_lengths_are_integers(graph, plan, tokens):
    with pytest.raises(stowage.InputTypeError, match="tokens: must be an integer"):
        stowage.OrderRows(graph, plan).row_at(tokens)


def test_lengths_have_64_bits(graph, plan):
    with pytest.raises(ValueError, match="tokens: must be from .* is 1208925819614629174706176"):
        stowage.OrderRows(graph, plan).row_at(2**80)


def test_plans_are_verified(graph, plan):
    broken = copy.deepcopy(plan)
    broken["rows"][0]["to"] -= 1
    with pytest.raises(stowage.VerificationError) as raised:
        stowage.OrderRows(graph, broken)
    assert "rows" in {violation.rule for violation in raised.value.violations}
    other = copy.deepcopy(graph)
    other["tokens"]["to"] = 7
    with pytest.raises(stowage.VerificationError):
        stowage.OrderRows(other, plan)
    with pytest.raises(stowage.InputError):
        stowage.OrderRows(graph, {"format": "stowage/plan"})


def test_only_orders_with_lengths_have_rows(graph):
    fixed = copy.deepcopy(graph)
    del fixed["tokens"]
    for tensor in fixed["tensors"]:
        tensor.pop("bytes_per_token", None)
    for instance in (fixed, two()):
        with pytest.raises(ValueError, match="must be of the problem order and have `tokens`"):
            stowage.OrderRows(instance, stowage.solve(instance).plan)
