"""Small models of ONNX, and what an instance says of their tensors."""

import numpy as np
import onnx
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs, outputs, initializers=(), values=()):
    graph = helper.make_graph(
        nodes, "small", inputs, outputs, initializer=list(initializers), value_info=list(values)
    )
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("elsewhere", 1)],
        ir_version=8,
    )


def wide_first():
    """Returns a model of two branches with a large tensor each and a small result; in program order
    both large tensors are in memory at once."""
    widen = np.ones((1, 64), np.float32)
    nodes = [
        helper.make_node("Mul", ["x", "widen"], ["a"], name="widen"),
        helper.make_node("Add", ["x", "widen"], ["b"], name="widen"),
        helper.make_node("ReduceSum", ["a"], ["sum_a"], keepdims=1),
        helper.make_node("ReduceSum", ["b"], ["sum_b"], keepdims=1),
        helper.make_node("Add", ["sum_a", "sum_b"], ["y"]),
    ]
    return model_of(
        nodes,
        [value("x", ["rows", 1])],
        [value("y", [1, 1])],
        [onnx.numpy_helper.from_array(widen, "widen")],
    )


def tensors(instance):
    return {each["id"]: each for each in instance["tensors"]}
