"""Tests of stowage.executorch: programs are planned by ExecuTorch's own pass, checked by its own
verifier and executed by its runtime."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("executorch")

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.tensor import TensorSpec
from executorch.runtime import Runtime
from torch import nn

import stowage
import stowage.executorch


class Block(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 5 * width)
        self.down = nn.Linear(5 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + self.out((q @ k.transpose(-1, -2)).softmax(-1) @ v)
        return x + self.down(torch.relu(self.up(x)))


class Branches(nn.Module):
    """Branches of different widths, which a convolution network joins again."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.branches = nn.ModuleList(nn.Conv2d(8, c, k, padding=k // 2) for c, k in ((4, 1), (9, 3), (17, 5)))
        self.last = nn.Conv2d(30, 5, 1)

    def forward(self, x):
        x = torch.relu(self.first(x))
        return self.last(torch.cat([torch.relu(branch(x)) for branch in self.branches], 1)).mean((2, 3))


class Counter(nn.Module):
    """A buffer that the program changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(8))

    def forward(self, x):
        self.count.add_(1.0)
        return x * 2 + self.count


MODELS = {
    "block": (lambda: nn.Sequential(Block(), Block()), (torch.randn(1, 24, 32),)),
    "branches": (Branches, (torch.randn(1, 3, 16, 16),)),
    "counter": (Counter, (torch.randn(8),)),
}


def program(model, inputs, algorithms, **options):
    edge = to_edge(torch.export.export(model.eval(), inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False))
    suite = MemoryPlanningAlgorithmSuite(algorithms)
    passes = MemoryPlanningPass(memory_planning_algo=suite, **options)
    return edge.to_executorch(ExecutorchBackendConfig(memory_planning_pass=passes))


def memory_of(made):
    return sum(made.exported_program().graph_module.meta["non_const_buffer_sizes"])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("options", [{}, {"alignment": 64}, {"alloc_graph_input": False}])
def test_programs_need_less_memory_and_compute_the_same(name, options):
    torch.manual_seed(5)
    make, inputs = MODELS[name]
    model = make()
    planner = stowage.executorch.MemoryPlanner()
    # The pass runs ExecuTorch's verifier of overlaps on the result.
    ours = program(model, inputs, [planner], **options)
    theirs = program(make(), inputs, [greedy], **options)
    assert memory_of(ours) <= memory_of(theirs)
    assert [outcome.gap for outcome in planner.outcomes] == [0.0]
    method = Runtime.get().load_program(ours.buffer).load_method("forward")
    expected = make()
    expected.load_state_dict(model.state_dict())
    torch.testing.assert_close(method.execute(inputs)[0], expected.eval()(*inputs), rtol=1e-5, atol=1e-5)


def test_the_suite_takes_the_smaller_of_both():
    make, inputs = MODELS["block"]
    planner = stowage.executorch.MemoryPlanner()
    both = program(make(), inputs, [greedy, planner])
    assert memory_of(both) == planner.outcomes[0].objective


def spec(size, lifetime, **more):
    made = TensorSpec(dtype=torch.uint8, shape=torch.Size([size]))
    made.lifetime = list(lifetime)
    for key, value in more.items():
        setattr(made, key, value)
    return made


class Graph:
    input_mem_buffer_sizes = [0, 100, 0, 40]


def test_memories_are_planned_apart_above_what_submodules_need():
    first = [spec(32, (0, 4)), spec(16, (2, 3)), spec(48, (5, 9))]
    other = [spec(64, (0, 9), mem_id=3), spec(32, (4, 4), mem_id=3)]
    planner = stowage.executorch.MemoryPlanner()
    result = planner(16, first + other, Graph, None, 7)
    # 100 and 40 bytes are rounded up to the alignment.
    assert result.bufsizes == [0, 112 + 48 + 7, 0, 48 + 96 + 7]
    assert {result.spec_dict[each].mem_id for each in first} == {1}
    assert {result.spec_dict[each].mem_id for each in other} == {3}
    assert all(result.spec_dict[each].mem_offset % 16 == 0 for each in first + other)
    assert min(result.spec_dict[each].mem_offset for each in other) == 48


def test_a_tensor_in_the_storage_of_another_one_stays_there():
    base = spec(64, (0, 9))
    inside = spec(32, (3, 5), storage_base=base, storage_base_offset=16)
    deeper = spec(16, (4, 4), storage_base=inside, storage_base_offset=16)
    before = spec(64, (0, 2))
    planner = stowage.executorch.MemoryPlanner()
    result = planner(16, [deeper, before, inside, base], None, None)
    offset = {each: result.spec_dict[each].mem_offset for each in (base, inside, deeper, before)}
    assert offset[inside] == offset[base] + 16
    assert offset[deeper] == offset[base] + 32
    assert abs(offset[base] - offset[before]) >= 64
    assert result.bufsizes == [0, 128]


@pytest.mark.parametrize(
    "more, message",
    [
        ({"storage_base": spec(64, (0, 9)), "storage_base_offset": 0}, "not among them"),
        ({"storage_base": None, "storage_base_offset": 48}, "does not fit into its storage of 64"),
        ({"storage_base": None, "storage_base_offset": -16}, "does not fit into its storage of 64"),
        ({"storage_base": None, "storage_base_offset": 8}, "not aligned to its 16 bytes"),
    ],
)
def test_a_storage_that_cannot_hold_a_tensor_is_an_error(more, message):
    base = spec(64, (0, 9))
    inside = spec(32, (3, 5), **{**more, "storage_base": more["storage_base"] or base})
    with pytest.raises(ValueError, match=message):
        stowage.executorch.MemoryPlanner()(16, [base, inside], None, None)


def test_a_graph_without_tensors_needs_nothing():
    planner = stowage.executorch.MemoryPlanner()
    assert planner(16, [], None, None).bufsizes == [0, 0]
    assert planner.outcomes == []
    with pytest.raises(stowage.InputTypeError, match="time_limit"):
        stowage.executorch.MemoryPlanner(time_limit="1")
