"""Tests of stowage.functorch with AOTAutograd and Inductor's own partition hook of torch, on the CPU."""

import random

import pytest

pytest.importorskip("torch")

import torch
import torch._functorch.config
import torch._inductor.config
from torch import nn
from torch._functorch.aot_autograd import aot_module
from torch._functorch._activation_checkpointing.knapsack import dp_knapsack
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.distributed._tools import mem_tracker
from torch.distributed._tools.mem_tracker import MemTracker
from torch.nn import functional as F

import stowage
import stowage.functorch


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Split(nn.Module):
    """Views, tuples, a drawn mask and a result that shares memory with an argument."""

    def forward(self, x):
        first, second = x.chunk(2, -1)
        values, places = torch.topk(first, 3)
        drawn = F.dropout(second.t().contiguous(), 0.5)
        return (values.sum() + drawn.exp().tanh().square().sum()) * 2, places, x.view(-1)


def models():
    torch.manual_seed(3)
    yield nn.Sequential(*(Block(32) for _ in range(4))), torch.randn(64, 32)
    image = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, padding=1),
        nn.GroupNorm(2, 8),
        nn.SiLU(),
        nn.Flatten(),
        nn.Linear(512, 10),
    )
    yield image, torch.randn(4, 3, 16, 16)


def gradients(model, batch, partition):
    """Returns the output and the gradients of a model that AOTAutograd compiles, and both graphs."""
    kept = []

    def keep(graph, _):
        kept.append(graph)
        return graph

    model.zero_grad()
    compiled = aot_module(model, fw_compiler=keep, bw_compiler=keep, partition_fn=partition)
    result = compiled(batch)
    (result if isinstance(result, torch.Tensor) else result[0]).square().sum().backward()
    return result, [each.grad.clone() for each in model.parameters()], kept


def peak_of(instance, order):
    """Returns the most bytes that a step needs, counted from the last step to the first."""
    size = {each["id"]: each["size_bytes"] for each in instance["tensors"]}
    live = {each["id"] for each in instance["tensors"] if each.get("output")}
    peak = sum(each["size_bytes"] for each in instance["tensors"] if each.get("input"))
    for step in reversed(order):
        made = set(instance["operators"][step]["writes"])
        live = live - made | set(instance["operators"][step]["reads"])
        peak = max(peak, sum(size[name] for name in live | made))
    return peak


@pytest.mark.parametrize("index", [0, 1])
def test_gradients_are_those_of_torch_at_every_peak(index):
    model, batch = list(models())[index]
    expected, wanted, _ = gradients(model, batch, min_cut_rematerialization_partition)
    peaks, times = [], []
    for budget in (1.0, 0.6, 0.3, 0.0):
        partition = stowage.functorch.Partition()
        with torch._functorch.config.patch(activation_memory_budget=budget):
            result, found, graphs = gradients(model, batch, partition)
        torch.testing.assert_close(result, expected, rtol=0, atol=0)
        for mine, theirs in zip(found, wanted):
            torch.testing.assert_close(mine, theirs)
        (outcome,) = partition.outcomes
        peaks.append(outcome.plan["peak_bytes"])
        times.append(len(outcome.plan["order"]))
        names = [node.name for each in graphs for node in each.graph.nodes]
        assert len(graphs) == 2 and names
    assert peaks == sorted(peaks, reverse=True)
    assert peaks[-1] < peaks[0] and times[-1] > times[0]


def test_a_peak_is_kept_or_refused():
    model, batch = next(models())
    roomy = stowage.functorch.Partition(peak_bytes=10**9)
    gradients(model, batch, roomy)
    least = stowage.functorch.Partition(peak_bytes=roomy.outcomes[0].plan["peak_bytes"] * 3 // 4)
    gradients(model, batch, least)
    assert least.outcomes[0].plan["peak_bytes"] <= least.peak_bytes
    with pytest.raises(Exception, match="no plan within 1000 bytes was found; ask for at least"):
        gradients(model, batch, stowage.functorch.Partition(peak_bytes=1000))


def test_never_behind_torch_at_its_own_peak():
    """torch's order of both graphs, with what it runs again, is a plan of the same instance."""
    model, batch = next(models())
    found = []

    def both(joint_module, joint_inputs, **options):
        graph = stowage.functorch.tidied(joint_module)
        joint = stowage.functorch.JointGraph(graph, options["num_fwd_outputs"])
        number = {node.name: k for k, node in enumerate(joint.nodes) if node is not None}
        passes = min_cut_rematerialization_partition(joint_module, joint_inputs, **options)
        forward, backward = (
            [
                number[node.name]
                for node in each.graph.nodes
                if node.op == "call_function" and node.name in number
            ]
            for each in passes
        )
        found.append((joint, [*forward, joint.nodes.index(None), *backward]))
        return passes

    for budget in (1.0, 0.4, 0.0):
        with torch._functorch.config.patch(activation_memory_budget=budget):
            gradients(model, batch, both)
        joint, order = found[-1]
        instance = joint.instance()
        outcome = stowage.solve(joint.instance(peak_of(instance, order)), time_limit=2)
        time = sum(instance["operators"][k]["ms"] for k in order)
        assert outcome.objective <= time * (1 + 1e-6)


def test_views_tuples_and_drawn_numbers():
    model = Split()
    batch = torch.randn(8, 16, requires_grad=True)
    seen = []

    def keep(joint_module, joint_inputs, **options):
        graph = stowage.functorch.tidied(joint_module)
        joint = stowage.functorch.JointGraph(graph, options["num_fwd_outputs"])
        seen.append(joint.instance())
        return stowage.functorch.Partition()(joint_module, joint_inputs, **options)

    compiled = aot_module(model, fw_compiler=lambda graph, _: graph, partition_fn=keep)
    total, places, flat = compiled(batch)
    total.backward()
    assert batch.grad is not None and flat.shape == (128,)
    (instance,) = seen
    operators = {each["id"]: each for each in instance["operators"]}
    assert not any("view" in name or "slice" in name for name in operators)
    assert operators["topk"]["writes"] == ["topk#0", "topk#1"]
    drawn = [each for name, each in operators.items() if "dropout" in name or "bernoulli" in name]
    assert drawn and not any(each["recompute"] for each in drawn)


def test_torch_compile_takes_the_partition():
    model, batch = next(models())
    expected = torch.autograd.grad(model(batch).sum(), list(model.parameters()))
    torch._dynamo.reset()
    fresh = torch._inductor.config.patch(force_disable_caches=True)
    with fresh, stowage.functorch.use(peak_bytes=10**9) as partition:
        result = torch.compile(model)(batch)
        found = torch.autograd.grad(result.sum(), list(model.parameters()))
    for mine, theirs in zip(found, expected):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
    assert len(partition.outcomes) == 1


def enumerated(sizes, values, most):
    """Returns the largest value of all choices that fit."""
    best = 0.0
    for bits in range(1 << len(sizes)):
        chosen = [k for k in range(len(sizes)) if bits >> k & 1]
        if sum(sizes[k] for k in chosen) <= most:
            best = max(best, sum(values[k] for k in chosen))
    return best


@pytest.mark.parametrize("seed", range(60))
def test_the_most_valuable_are_those_of_brute_force(seed):
    chooser = random.Random(seed)
    count = chooser.randint(0, 11)
    kinds = [lambda: chooser.random(), lambda: float(chooser.randint(0, 4)), lambda: 2.0 ** chooser.randint(0, 9)]
    draw, weigh = chooser.choice(kinds), chooser.choice(kinds)
    sizes, values = [draw() for _ in range(count)], [weigh() for _ in range(count)]
    most = chooser.choice([0.0, sum(sizes), sum(sizes) * chooser.random(), -1.0])
    saved, gap = stowage.functorch.most_valuable(sizes, values, most)
    assert gap == 0
    assert saved == sorted(set(saved))
    assert sum(sizes[k] for k in saved) <= max(most, 0)
    best = enumerated(sizes, values, max(most, 0))
    assert sum(values[k] for k in saved) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_more_memory_never_recomputes_more_and_torch_is_never_better(seed):
    chooser = random.Random(seed)
    sizes = [chooser.choice([1.0, 3.0, 4.0]) * chooser.uniform(0.9, 1.1) for _ in range(120)]
    sizes = [size / sum(sizes) for size in sizes]
    values = [chooser.lognormvariate(0, 2) for _ in sizes]
    last = -1.0
    for budget in (0, 0.01, 0.1, 0.3, 0.31, 0.7, 0.99, 1):
        saved, gap = stowage.functorch.most_valuable(sizes, values, budget)
        total = sum(values[k] for k in saved)
        assert gap == 0 and total >= last
        _, theirs, _ = dp_knapsack(sizes, values, budget)
        assert total >= sum(values[k] for k in theirs if sum(sizes[j] for j in theirs) <= budget) * (1 - 1e-12)
        last = total


def test_a_choice_with_too_many_states_says_how_far_it_may_be_off():
    chooser = random.Random(1)
    sizes = [chooser.random() for _ in range(30)]
    values = [size + 0.1 for size in sizes]
    exact, none = stowage.functorch.most_valuable(sizes, values, sum(sizes) / 2)
    rough, gap = stowage.functorch.most_valuable(sizes, values, sum(sizes) / 2, most_states=2)
    assert none == 0 < gap
    lost = sum(values[k] for k in exact) - sum(values[k] for k in rough)
    assert 0 <= lost <= gap * sum(values)


@pytest.mark.parametrize("budget", [0.1, 0.5, 0.8])
def test_torchs_partitioner_saves_within_its_budget(budget):
    # Without the second model: torch's partitioner, with its own solver too, saves running statistics
    # of a batch norm that change behind the forward pass.
    model, batch = next(models())
    plain = gradients(model, batch, min_cut_rematerialization_partition)
    solver = stowage.functorch.BudgetSolver()
    settings = dict(activation_memory_budget=budget, activation_memory_budget_solver=solver)
    with torch._functorch.config.patch(**settings):
        ours = gradients(model, batch, min_cut_rematerialization_partition)
    torch.testing.assert_close(ours[0], plain[0])
    torch.testing.assert_close(ours[1], plain[1])
    # Torch asks the solver only where simpler choices need more than the budget.
    assert len(solver.gaps) > 0 or budget > 0.1
    assert not any(solver.gaps)
    saved = [len(graphs[0].graph.output_node().args[0]) for graphs in (ours[2], plain[2])]
    assert saved[0] <= saved[1]


class Tower(nn.Module):
    """Convolutions whose hidden states are returned and read on."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.second = nn.Conv2d(8, 6, 3, padding=1)
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        hidden = F.silu(self.norm(self.first(x)))
        last = F.gelu(self.second(hidden).exp().sin())
        return self.head(last.mean((2, 3))), hidden


def measured_peak(model, batch, budget):
    """Returns the outcome of a partition, and the most bytes that torch's tracker of memory sees while
    both graphs run. An interpreter frees each value after its last reader, as Inductor's code does."""
    graphs = []

    def kept(graph, _):
        def run(arguments):
            graphs.append((graph, [each.clone() for each in arguments]))
            return torch.fx.Interpreter(graph).boxed_run(arguments)

        run._boxed_call = True
        return run

    partition = stowage.functorch.Partition()
    with torch._functorch.config.patch(activation_memory_budget=budget):
        result = aot_module(model, fw_compiler=kept, bw_compiler=kept, partition_fn=partition)(batch)
        results = [result] if isinstance(result, torch.Tensor) else list(result)
        sum(each.square().sum() for each in results).backward()
    model.zero_grad()
    (forward, primals), (backward, _) = graphs
    del graphs, result
    tracker = MemTracker()
    with tracker, torch.no_grad():
        given = [each.clone() for each in primals]
        made = list(torch.fx.Interpreter(forward).boxed_run(list(given)))
        returned, saved = made[: len(results)], made[len(results) :]
        del made
        saved += [torch.ones_like(each) for each in returned]
        gradients = torch.fx.Interpreter(backward).boxed_run(saved)
        assert gradients and given
    return partition.outcomes[0], tracker.get_tracker_snapshot("peak")[torch.device("cpu")]["Total"]


@pytest.mark.parametrize("name", ["blocks", "tower"])
def test_the_peak_is_that_of_torchs_tracker_and_falls_with_the_budget(name, monkeypatch):
    # By default the tracker rounds sizes up to the 512 bytes of the allocator for CUDA.
    monkeypatch.setattr(mem_tracker, "_PYTORCH_MIN_ALLOCATE", 1)
    model, batch = next(models()) if name == "blocks" else (Tower(), torch.randn(4, 3, 12, 12))
    last = 2**60
    for budget in (1.0, 0.8, 0.6, 0.4, 0.2, 0.0):
        outcome, measured = measured_peak(model, batch, budget)
        assert measured == outcome.plan["peak_bytes"]
        assert measured <= last
        last = measured
