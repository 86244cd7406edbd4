"""Models of ONNX, and the shapes of their tensors."""

from __future__ import annotations

import os
from typing import Any, Mapping, Union

import onnx

from .._arguments import path_of
from .._errors import InputError

#: A model, or the path of its file.
Model = Union[onnx.ModelProto, str, "os.PathLike[str]"]

# Weights above this number of bytes are left out of shape inference, which reads shapes from the
# values of small ones.
_LARGE = 1 << 16


def loaded(model: Model) -> onnx.ModelProto:
    """Loads a model without weights in external files, since the model contains their sizes."""
    if isinstance(model, onnx.ModelProto):
        return model
    return onnx.load(str(path_of(model, "model")), load_external_data=False)


def with_shapes(model: onnx.ModelProto, dimensions: Mapping[str, int]) -> onnx.GraphProto:
    """Returns the graph with the shapes that inference finds.

    Inference passes the model through a protobuf message, which is limited to 2 GiB. Therefore large
    weights are inputs of a copy, with their types and shapes; inference reads the values of small
    ones.
    """
    slim = onnx.ModelProto()
    for field, content in model.ListFields():
        if field.name not in ("graph", "functions"):
            _set(slim, field, content)
    slim.functions.extend(model.functions)
    for field, content in model.graph.ListFields():
        if field.name not in ("initializer", "node"):
            _set(slim.graph, field, content)
    large: list[tuple[str, onnx.TensorProto]] = []
    for weight in model.graph.initializer:
        if weight.ByteSize() > _LARGE:
            large.append((weight.name, weight))
        else:
            slim.graph.initializer.append(weight)
    for node in model.graph.node:
        values = [each.t for each in node.attribute if each.name == "value" and each.HasField("t")]
        if node.op_type == "Constant" and values and values[0].ByteSize() > _LARGE:
            large.append((node.output[0], values[0]))
        else:
            slim.graph.node.append(node)
    known = {each.name for each in slim.graph.input}
    for name, tensor in large:
        if name not in known:
            slim.graph.input.append(
                onnx.helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims))
            )
    _set_dimensions(slim.graph, dimensions)
    inferred = onnx.shape_inference.infer_shapes(slim, data_prop=True).graph
    whole_graph = onnx.GraphProto()
    for field, content in model.graph.ListFields():
        if field.name not in ("value_info", "input", "output", "initializer"):
            _set(whole_graph, field, content)
    names = {each.name for each in model.graph.input}
    for each in inferred.input:
        (whole_graph.input if each.name in names else whole_graph.value_info).append(each)
    whole_graph.output.extend(inferred.output)
    whole_graph.value_info.extend(inferred.value_info)
    for weight in model.graph.initializer:
        whole_graph.initializer.append(
            onnx.TensorProto(name=weight.name, data_type=weight.data_type, dims=weight.dims)
        )
    return whole_graph


def _set(message: Any, field: Any, content: Any) -> None:
    """Copies a field of a protobuf message."""
    if field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED:
        getattr(message, field.name).extend(content)
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(content)
    else:
        setattr(message, field.name, content)


def _set_dimensions(graph: onnx.GraphProto, dimensions: Mapping[str, int]) -> None:
    named: dict[str, list[Any]] = {}
    for value in (*graph.input, *graph.output, *graph.value_info):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param:
                named.setdefault(dimension.dim_param, []).append(dimension)
    unknown = [name for name in dimensions if name not in named]
    if unknown:
        have = ", ".join(named) or "none"
        raise InputError(
            [
                ("E202", f"/dimensions/{name}", f"must be a named dimension of the model: {have}")
                for name in unknown
            ]
        )
    for name, value in dimensions.items():
        for dimension in named[name]:
            dimension.dim_value = value
