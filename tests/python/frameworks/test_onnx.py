"""Tests of stowage.onnx with models from the package onnx, and with small models built here."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx_models import model_of, tensors, value, wide_first

import stowage
import stowage.onnx


def test_models_of_the_package_are_read_planned_and_proven():
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    # Number of operators, and the peak of the best order relative to the model's own order (checked
    # by the search's proof). All but one graph are chains or nearly so.
    known = {
        "shufflenet": (203, 0.927),
        "resnet50": (176, 1),
        "densenet121": (668, 1),
        "squeezenet": (66, 1),
    }
    for name, (operators, best) in known.items():
        path = folder / f"light_{name}.onnx"
        if not path.exists():
            pytest.skip(f"this release of onnx does not carry {path.name}")
        instance = stowage.onnx.order_instance(path, weights=False)
        assert len(instance["operators"]) == operators
        program = stowage.solve(instance, method="program")
        outcome = stowage.solve(instance)
        assert outcome.status == "optimal"
        assert outcome.objective / program.objective == pytest.approx(best, abs=5e-4)
        onnx.checker.check_model(stowage.onnx.reordered(path, outcome.plan["order"]))


def test_sizes_are_those_of_the_shapes():
    instance = stowage.onnx.order_instance(wide_first(), dimensions={"rows": 3})
    found = tensors(instance)
    assert {name: each["size_bytes"] for name, each in found.items()} == {
        **{"x": 12, "widen": 256, "a": 768, "b": 768},
        **{"sum_a": 4, "sum_b": 4, "y": 4},
    }
    assert [name for name, each in found.items() if each["input"]] == ["x", "widen"]
    assert [name for name, each in found.items() if each["output"]] == ["widen", "y"]
    assert [each["id"] for each in instance["operators"]] == [
        *("widen", "Add_1", "ReduceSum_2", "ReduceSum_3", "Add_4")
    ]


def test_a_reordered_model_needs_less_and_computes_the_same():
    model = wide_first()
    instance = stowage.onnx.order_instance(model, dimensions={"rows": 4}, alignment=1)
    program = stowage.solve(instance, method="program")
    outcome = stowage.solve(instance)
    assert outcome.objective < program.objective
    after = stowage.onnx.reordered(model, outcome.plan["order"])
    assert [node.output[0] for node in after.graph.node] != [
        node.output[0] for node in model.graph.node
    ]
    onnx.checker.check_model(after)
    x = np.arange(4, dtype=np.float32).reshape(4, 1)
    expected = ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_array_equal(ReferenceEvaluator(after).run(None, {"x": x}), expected)
    with pytest.raises(ValueError, match="each of 5 operators"):
        stowage.onnx.reordered(model, [0, 1, 2, 3, 3])


def drawn_branches(seed):
    """Returns a model of branches whose large tensors need not be in memory at once."""
    chooser = random.Random(seed)
    nodes, weights, joined = [], [], []
    for k in range(8):
        width = np.ones((1, chooser.randint(10, 400)), np.float32)
        weights.append(onnx.numpy_helper.from_array(width, f"w{k}"))
        nodes.append(helper.make_node("Mul", ["x", f"w{k}"], [f"a{k}"], name=f"wide{k}"))
    for k in chooser.sample(range(8), 8):
        nodes.append(
            helper.make_node("ReduceSum", [f"a{k}"], [f"s{k}"], name=f"sum{k}", keepdims=1)
        )
        joined.append(f"s{k}")
        if len(joined) == 3:
            nodes.append(helper.make_node("Sum", joined, [f"t{k}"], name=f"join{k}"))
            joined = [f"t{k}"]
    nodes.append(helper.make_node("Sum", joined, ["y"], name="all"))
    return model_of(nodes, [value("x", [4, 1])], [value("y", [1, 1])], weights)


@pytest.mark.parametrize("seed", range(6))
def test_onnx_runtime_executes_the_planned_order(seed, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = drawn_branches(seed)
    plan = stowage.solve(stowage.onnx.order_instance(model)).plan
    planned = stowage.onnx.reordered(model, plan["order"])
    x = np.arange(4, dtype=np.float32).reshape(4, 1)

    def run(proto, options):
        options.enable_profiling = True
        options.profile_file_prefix = str(tmp_path / "profile")
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        result = session.run(None, {"x": x})[0]
        events = json.loads(Path(session.end_profiling()).read_text())
        names = [each["name"] for each in events if each.get("cat") == "Node"]
        end = "_kernel_time"
        return result, [name.removesuffix(end) for name in names if name.endswith(end)]

    expected = ReferenceEvaluator(model).run(None, {"x": x})[0]
    result, executed = run(planned, stowage.onnx.session_options())
    assert executed == [node.name for node in planned.graph.node]
    np.testing.assert_array_equal(result, expected)
    # The default options sort the nodes anew, so that these options are needed.
    unsorted = onnxruntime.SessionOptions()
    unsorted.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    assert run(planned, unsorted)[1] != executed


def test_a_capacity_is_kept_or_refuted():
    model = wide_first()
    best = stowage.solve(stowage.onnx.order_instance(model, dimensions={"rows": 4})).objective
    for capacity, status in ((best, "optimal"), (best - 64, "infeasible")):
        instance = stowage.onnx.order_instance(
            model, dimensions={"rows": 4}, capacity_bytes=int(capacity)
        )
        assert stowage.solve(instance).status == status


def test_outputs_in_place_and_views_lower_the_peak():
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    # The peak with outputs in place, relative to that without; both are proven.
    known = {"squeezenet": 0.6228, "inception_v1": 0.7235, "densenet121": 0.8571, "resnet50": 0.75}
    for name, share in known.items():
        path = folder / f"light_{name}.onnx"
        if not path.exists():
            pytest.skip(f"this release of onnx does not carry {path.name}")
        alone = stowage.solve(stowage.onnx.order_instance(path, weights=False))
        shared = stowage.solve(stowage.onnx.order_instance(path, weights=False, in_place=True))
        assert alone.status == shared.status == "optimal"
        assert shared.objective / alone.objective == pytest.approx(share, abs=5e-4)
        assert shared.plan["in_place"]


def test_what_lies_in_place_is_what_a_runtime_may_overwrite():
    model = model_of(
        [
            helper.make_node("Relu", ["x"], ["a"], name="relu"),  # the input of the caller stays
            helper.make_node("Add", ["a", "bias"], ["b"], name="add"),  # the weight stays
            helper.make_node("Reshape", ["b", "shape"], ["v"], name="view"),
            helper.make_node("Exp", ["v"], ["e"], name="exp"),
            helper.make_node("Softmax", ["e"], ["s"], name="softmax"),  # not element by element
            helper.make_node("ReduceSum", ["v"], ["r"], name="sum", keepdims=1),
            helper.make_node("Mul", ["s", "r"], ["y"], name="mul"),
        ],
        [value("x", [4, 16])],
        [value("y", [8, 8])],
        [
            onnx.numpy_helper.from_array(np.ones((4, 16), np.float32), "bias"),
            onnx.numpy_helper.from_array(np.array([8, 8], np.int64), "shape"),
        ],
    )
    instance = stowage.onnx.order_instance(model, in_place=True)
    by_id = {each["id"]: each for each in instance["operators"]}
    over = {own: each.get("in_place", []) for own, each in by_id.items()}
    # Exp reads the view, which has the memory of b and another reader.
    assert over == {
        **{"relu": [], "add": ["a"], "view": [], "exp": ["b"], "softmax": [], "sum": []},
        "mul": ["s"],
    }
    assert by_id["exp"]["reads"] == ["b"] and by_id["exp"]["after"] == ["view"]
    assert "v" not in tensors(instance)
    outcome = stowage.solve(instance)
    order = [instance["operators"][each]["id"] for each in outcome.plan["order"]]
    assert order.index("sum") < order.index("exp")
    names = [each["id"] for each in instance["tensors"]]
    pairs = {(names[each["tensor"]], names[each["on"]]) for each in outcome.plan["in_place"]}
    assert pairs == {("b", "a"), ("e", "b"), ("y", "s")}
    stowage.verify(instance, outcome.plan)
    again = ReferenceEvaluator(stowage.onnx.reordered(model, outcome.plan["order"]))
    x = np.random.default_rng(0).normal(size=(4, 16)).astype(np.float32)
    assert np.array_equal(
        ReferenceEvaluator(model).run(None, {"x": x})[0], again.run(None, {"x": x})[0]
    )


def test_a_view_that_is_an_output_of_the_graph_keeps_its_tensor():
    model = model_of(
        [
            helper.make_node("Relu", ["x"], ["a"], name="relu"),
            helper.make_node("Reshape", ["a", "shape"], ["v"], name="view"),
            helper.make_node("Identity", ["a"], ["w"], name="copy"),
            helper.make_node("Exp", ["a"], ["e"], name="exp"),
        ],
        [value("x", [4, 4])],
        [value("v", [16]), value("w", [4, 4]), value("e", [4, 4])],
        [onnx.numpy_helper.from_array(np.array([16], np.int64), "shape")],
    )
    instance = stowage.onnx.order_instance(model, in_place=True)
    known = tensors(instance)
    # v has the memory of a; w is another output, and has memory of its own.
    assert known["a"]["output"] and known["w"]["output"] and "v" not in known
    assert all("in_place" not in each for each in instance["operators"])
    assert stowage.solve(instance).status == "optimal"
