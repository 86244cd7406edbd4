"""Tests of stowage.onnx: which tensors a model has, and their sizes."""

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, helper
from onnx_models import model_of, tensors, value, wide_first

import stowage
import stowage.onnx


def test_weights_raise_every_peak_alike():
    model = wide_first()
    peaks = [
        stowage.solve(
            stowage.onnx.order_instance(model, dimensions={"rows": 2}, weights=weights),
            method=method,
        ).objective
        for method in ("program", "auto")
        for weights in (True, False)
    ]
    assert peaks[0] - peaks[1] == peaks[2] - peaks[3] == 256


def test_what_makes_constants_is_no_operator():
    shape = onnx.numpy_helper.from_array(np.array([1, 64]), "shape")
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("Exp", ["zeros"], ["ones"]),
        helper.make_node("Add", ["x", "ones"], ["y"]),
    ]
    model = model_of(nodes, [value("x", [1, 64])], [value("y", [1, 64])], [shape])
    instance = stowage.onnx.order_instance(model)
    assert [each["id"] for each in instance["operators"]] == ["Add_0"]
    assert set(tensors(instance)) == {"x", "ones", "y"}
    assert stowage.onnx.node_order(model) == [2]
    after = stowage.onnx.reordered(model, [0])
    assert [node.op_type for node in after.graph.node] == ["ConstantOfShape", "Exp", "Add"]


def test_what_draws_random_numbers_is_no_weight():
    """Its tensor would lie in memory at all steps; the best order makes it right before its reader."""
    drawn = {
        "RandomNormal": helper.make_node("RandomNormal", [], ["r"], shape=[1024]),
        "RandomUniformLike": helper.make_node("RandomUniformLike", ["like"], ["r"]),
        "Bernoulli": helper.make_node("Bernoulli", ["like"], ["r"]),
        "a function": helper.make_node("Noise", ["like"], ["r"], domain="elsewhere"),
    }
    like = onnx.numpy_helper.from_array(np.full(1024, 0.5, np.float32), "like")
    for kind, node in drawn.items():
        nodes = [
            node,
            helper.make_node("Relu", ["x"], ["a"]),
            helper.make_node("Exp", ["a"], ["c"]),
            helper.make_node("ReduceSum", ["c"], ["b"], keepdims=0),
            helper.make_node("Add", ["r", "b"], ["y"]),
        ]
        model = model_of(
            nodes, [value("x", [4096])], [value("y", [1024])], [like], [value("r", [1024])]
        )
        body = [helper.make_node("RandomNormalLike", ["p"], ["q"])]
        imports = [helper.make_opsetid("", 17)]
        noise = helper.make_function("elsewhere", "Noise", ["p"], ["q"], body, imports)
        model.functions.append(noise)
        instance = stowage.onnx.order_instance(model, weights=False)
        assert any("r" in each["writes"] for each in instance["operators"]), kind
        assert stowage.solve(instance).objective == 2 * 16384, kind
        assert 0 in stowage.onnx.node_order(model), kind


def test_large_weights_are_kept_from_shape_inference():
    """Inference takes models up to 2 GiB. Values of small constants still give shapes."""
    large = onnx.numpy_helper.from_array(np.zeros((64, 1024), np.float32), "large")
    shape = onnx.numpy_helper.from_array(np.array([8, 128]), "shape")
    also = onnx.numpy_helper.from_array(np.zeros((64, 1024), np.float32))
    nodes = [
        helper.make_node("Constant", [], ["also"], value=also),
        helper.make_node("MatMul", ["x", "large"], ["a"]),
        helper.make_node("Reshape", ["a", "shape"], ["b"]),
        helper.make_node("MatMul", ["x", "also"], ["c"]),
        helper.make_node("ReduceSum", ["c"], ["d"], keepdims=0),
        helper.make_node("Add", ["b", "d"], ["y"]),
    ]
    model = model_of(nodes, [value("x", [1, 64])], [value("y", [8, 128])], [large, shape])
    model.graph.initializer.append(large)
    model.graph.initializer[-1].name = "unread"
    taken = []
    infer = onnx.shape_inference.infer_shapes

    def seen(given, **options):
        taken.append(given.ByteSize())
        return infer(given, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx.shape_inference, "infer_shapes", seen)
        instance = stowage.onnx.order_instance(model)
    assert taken and max(taken) < 4096 < model.ByteSize()
    size = {each["id"]: each["size_bytes"] for each in instance["tensors"]}
    assert size["large"] == size["also"] == 4 * 64 * 1024
    assert size["b"] == 4 * 1024
    assert model.graph.initializer[0].raw_data == large.raw_data, "the model is unchanged"


def test_scalars_have_one_element():
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        helper.make_node("Add", ["x", "s"], ["y"]),
    ]
    model = model_of(nodes, [value("x", [4, 16])], [value("y", [4, 16])])
    instance = stowage.onnx.order_instance(model)
    assert tensors(instance)["s"]["size_bytes"] == 4
    assert stowage.solve(instance).objective == 256 + 64 + 256


def test_dimensions_must_be_those_of_the_model():
    with pytest.raises(stowage.InputError) as found:
        stowage.onnx.order_instance(wide_first(), dimensions={"row": 2, "rows": 2, "batch": 1})
    assert [(each[0], each[1]) for each in found.value.errors] == [
        ("E202", "/dimensions/row"),
        ("E202", "/dimensions/batch"),
    ]
    assert "rows" in found.value.errors[0][2]


def test_optional_outputs_that_nobody_reads_are_not_made():
    ratio = onnx.numpy_helper.from_array(np.array(0.5, np.float32), "ratio")
    node = helper.make_node("Dropout", ["x", "ratio"], ["y", "mask"])
    model = model_of([node], [value("x", [8])], [value("y", [8])], [ratio])
    assert stowage.onnx.order_instance(model)["operators"][0]["writes"] == ["y"]
    model = model_of(
        [node], [value("x", [8])], [value("y", [8]), value("mask", [8], TensorProto.BOOL)], [ratio]
    )
    instance = stowage.onnx.order_instance(model)
    assert instance["operators"][0]["writes"] == ["y", "mask"]
    assert tensors(instance)["mask"]["size_bytes"] == 8


def test_bodies_read_from_outside():
    def body(name):
        return helper.make_graph(
            [helper.make_node(name, ["big", "one"], ["out"])], name, [], [value("out", [64])]
        )

    one = onnx.numpy_helper.from_array(np.float32(1), "one")
    nodes = [
        helper.make_node("Neg", ["x"], ["big"]),
        helper.make_node("If", ["which"], ["y"], then_branch=body("Add"), else_branch=body("Mul")),
    ]
    model = model_of(
        nodes, [value("x", [64]), value("which", [], TensorProto.BOOL)], [value("y", [64])], [one]
    )
    instance = stowage.onnx.order_instance(model)
    assert instance["operators"][1]["reads"] == ["which", "big", "one"]
    assert stowage.solve(instance).plan["order"] == [0, 1]


@pytest.mark.parametrize(
    "kind, size",
    [
        ("FLOAT16", 14),
        ("BFLOAT16", 14),
        ("DOUBLE", 56),
        ("BOOL", 7),
        ("INT4", 4),
        ("FLOAT8E4M3FN", 7),
    ],
)
def test_every_type_has_its_size(kind, size):
    node = helper.make_node("Identity", ["x"], ["y"])
    shape = [value(name, [7], getattr(TensorProto, kind)) for name in "xy"]
    instance = stowage.onnx.order_instance(model_of([node], shape[:1], shape[1:]))
    assert tensors(instance)["y"]["size_bytes"] == size


def test_all_that_has_no_size_is_named_at_once():
    nodes = [
        helper.make_node("Neg", ["x"], ["a"]),
        helper.make_node("Foreign", ["a"], ["b"], domain="elsewhere"),
        helper.make_node("Identity", ["words"], ["z"]),
    ]
    inputs = [value("x", ["batch", 2]), value("words", [3], TensorProto.STRING)]
    model = model_of(nodes, inputs, [value("b", None), value("z", [3], TensorProto.STRING)])
    with pytest.raises(stowage.InputError) as refused:
        stowage.onnx.order_instance(model)
    found = {
        entry.pointer.split("/")[2]: (entry.code, entry.message) for entry in refused.value.errors
    }
    assert set(found) == {"x", "words", "a", "b", "z"}
    assert found["x"][0] == "E201" and "`dimensions` for batch" in found["x"][1]
    assert found["words"] == ("E203", "tensor 'words': elements must be numbers, are STRING")
    assert found["b"][0] == "E201" and "value_info" in found["b"][1]
