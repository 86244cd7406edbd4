"""Tests of stowage.inductor: graphs of Inductor on the CPU are ordered, proven and run."""

import pytest

pytest.importorskip("torch")

import torch
import torch._dynamo
import torch._inductor.memory
from torch import nn
from torch._inductor.virtualized import V

import stowage
import stowage.inductor


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        weights = (q @ k.transpose(-1, -2)).softmax(-1)
        return x + self.out(weights @ v)


class Branches(nn.Module):
    """Large tensors of several branches, of which one after another is enough, and a sort that
    returns a tuple."""

    def forward(self, x):
        parts = [(x.unsqueeze(-1) * (k + 1)).expand(-1, -1, 64).cumsum(-1) for k in range(4)]
        values, places = torch.sort(x, -1)
        return sum(part.sort(-1)[0].sum(-1) for part in parts) + values, places


def peaks_of_all_orders(nodes, graph_outputs):
    """Returns Inductor's estimate for each of its own orders."""
    memory = torch._inductor.memory
    graph_inputs = set(V.graph.graph_inputs)
    inputs = memory.get_freeable_input_buf(nodes, graph_inputs)
    orders = [nodes, memory.topological_sort_bfs(nodes), memory.topological_sort_dfs(nodes)]
    return [memory.estimate_peak_memory(each, inputs, graph_outputs)[0] for each in orders]


def compiled(model, batch):
    torch._dynamo.reset()
    model.zero_grad()
    result = torch.compile(model)(batch)
    first = result[0] if isinstance(result, tuple) else result
    if any(each.requires_grad for each in model.parameters()):
        first.sum().backward()
    return first.detach(), [each.grad for each in model.parameters()]


@pytest.mark.parametrize("name", ["attention", "branches"])
def test_graphs_are_proven_and_compute_the_same(name, monkeypatch):
    torch.manual_seed(1)
    model = Attention(32) if name == "attention" else Branches()
    batch = torch.randn(2, 16, 32) if name == "attention" else torch.randn(64, 32)
    seen = []
    ordered = stowage.inductor.order_instance

    def kept(nodes, graph_outputs):
        instance = ordered(nodes, graph_outputs)
        seen.append(peaks_of_all_orders(nodes, graph_outputs))
        return instance

    monkeypatch.setattr(stowage.inductor, "order_instance", kept)
    with stowage.inductor.use() as planned:
        result, gradients = compiled(model, batch)
    expected = model(batch)
    expected = expected[0] if isinstance(expected, tuple) else expected
    torch.testing.assert_close(result, expected.detach(), rtol=1e-4, atol=1e-4)
    model.zero_grad()
    if gradients:
        expected.sum().backward()
    for mine, each in zip(gradients, model.parameters()):
        torch.testing.assert_close(mine, each.grad, rtol=1e-3, atol=1e-4)
    assert len(planned.outcomes) == len(seen) > 0
    for outcome, peaks in zip(planned.outcomes, seen):
        assert outcome.status == "optimal"
        assert outcome.objective <= min(peaks)
    assert torch._inductor.memory.reorder_for_peak_memory is planned._replaced


def test_the_estimate_is_that_of_inductor():
    """The plan of the nodes' own order has the peak that Inductor estimates."""
    found = []
    ordered = stowage.inductor.order_instance

    def kept(nodes, graph_outputs):
        instance = ordered(nodes, graph_outputs)
        own = stowage.solve(instance, method="program").objective
        found.append((own, peaks_of_all_orders(nodes, graph_outputs)[0]))
        return instance

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stowage.inductor, "order_instance", kept)
        with stowage.inductor.use():
            compiled(Branches(), torch.randn(64, 32))
            compiled(Attention(32), torch.randn(2, 16, 32))
    assert found
    for ours, theirs in found:
        assert ours == theirs


def test_the_time_limit_must_be_a_number():
    with pytest.raises(TypeError, match="time_limit"):
        stowage.inductor.PlannedOrders("1")
