"""Converts graphs of ONNX models to order instances, and applies the planned order of nodes.

    instance = stowage.onnx.order_instance("model.onnx", dimensions={"batch": 8})
    outcome = stowage.solve(instance)
    planned = stowage.onnx.reordered(model, outcome.plan["order"])   # nodes in that order
    onnxruntime.InferenceSession(planned.SerializeToString(), stowage.onnx.session_options())

The module needs the package onnx. The sizes are those of its shape inference.
"""

from __future__ import annotations

import math
import os
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union

import onnx

from ._arguments import each_of, path_of, require, whole
from ._errors import InputError

#: A model, or the path of its file.
Model = Union[onnx.ModelProto, str, "os.PathLike[str]"]

_BITS = {
    **dict.fromkeys(("DOUBLE", "INT64", "UINT64", "COMPLEX64"), 64),
    **dict.fromkeys(("FLOAT", "INT32", "UINT32"), 32),
    **dict.fromkeys(("FLOAT16", "BFLOAT16", "INT16", "UINT16"), 16),
    **dict.fromkeys(("INT8", "UINT8", "BOOL", "FLOAT8E8M0"), 8),
    **dict.fromkeys(("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"), 8),
    **dict.fromkeys(("INT4", "UINT4", "FLOAT4E2M1"), 4),
    **dict.fromkeys(("INT2", "UINT2"), 2),
    "COMPLEX128": 128,
}

_RANDOM = {
    *("Bernoulli", "Dropout", "Multinomial"),
    *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
}

# Operators whose output has the bytes of their first input, in another shape.
_VIEWS = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"}

# Operators of which each element of an output depends on the elements at its place alone, so that the
# output may be written over an input of its size. With broadcasting, only inputs of the output's size
# qualify.
_ELEMENTWISE = {
    *(
        "Abs",
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Ceil",
        "Celu",
        "Clip",
        "Cos",
        "Cosh",
    ),
    *("Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish"),
    *(
        "Neg",
        "Not",
        "PRelu",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Shrink",
        "Sigmoid",
        "Sign",
        "Sin",
    ),
    *("Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu", "Cast"),
    *("Add", "Sub", "Mul", "Div", "Mod", "Pow", "Min", "Max", "Mean", "Sum", "Where"),
    *("And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift"),
    *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "IsInf", "IsNaN"),
}

# Weights above this number of bytes are left out of shape inference, which reads shapes from the
# values of small ones.
_LARGE = 1 << 16


def order_instance(
    model: Model,
    *,
    dimensions: Optional[Mapping[str, int]] = None,
    weights: bool = True,
    alignment: int = 64,
    capacity_bytes: Optional[int] = None,
    in_place: bool = False,
) -> dict[str, Any]:
    """Returns the graph of a model as a stowage/instance document of the problem `order`.

    Nodes become operators, in the order of the model. Graph inputs are in memory from the start, graph
    outputs to the end. Runtimes fold a node whose inputs are all constants, so it runs before the first
    step and its outputs are weights; a node that draws random numbers is never folded. Optional outputs without a reader are omitted. An If, Loop or Scan
    is one operator that reads all outer tensors of its bodies; memory inside the bodies is not
    modelled. Every tensor has its own memory, including reshaped tensors, unless `in_place` is True.

    Args:
        model: a model or the path of its file.
        dimensions: values of named dimensions of the model, such as the batch.
        weights: False omits weights. They are in memory at all steps, so omitting them lowers every
            peak by the same number of bytes.
        alignment: sizes are rounded up to a multiple of it, bytes.
        capacity_bytes: limit on the memory of each step, bytes.
        in_place: True counts memory as a runtime needs it that writes in place. The output of a node
            that computes element by element may take the memory of an input of its size of which it is
            the last reader; `in_place` of the plan names these outputs. Reshaped tensors (Reshape,
            Squeeze, Unsqueeze, Flatten, Identity) have the memory of the tensor they are made from. The
            caller's inputs, the weights and the outputs of the graph are never written over.

    Returns the document; its operators correspond to the entries of `node_order(model)`.

    Raises InputError for tensors of unknown size: E201 with the place of each tensor and the
    missing value, E203 for a type without a size in bytes; and E202 for a name in `dimensions` that
    the model does not have. Exceptions of onnx for an invalid model are passed on.
    """
    proto = _loaded(model)
    alignment = whole(alignment, "alignment")
    if capacity_bytes is not None:
        capacity_bytes = whole(capacity_bytes, "capacity_bytes")
    if dimensions is not None:
        require(dimensions, Mapping, "dimensions")
        dimensions = {
            name: whole(value, f"dimensions/{name}") for name, value in dimensions.items()
        }
    graph = _with_shapes(proto, dimensions or {})
    places, constants = _operators(graph, _random_functions(proto))
    operators = [graph.node[place] for place in places]
    written = _written(proto, operators)
    inputs = {each.name for each in graph.input} - constants
    outputs = {each.name for each in graph.output}
    names = dict.fromkeys(each.name for each in graph.input if each.name in inputs)
    for node, made in zip(operators, written):
        names.update(dict.fromkeys(_touched(node)))
        names.update(dict.fromkeys(made))
    names.update(dict.fromkeys(each.name for each in graph.output))
    if not weights:
        names = dict.fromkeys(name for name in names if name not in constants)
    sizes = _sizes(graph, names)
    own_ids = _ids(operators)
    views = _Views(operators, own_ids, written, sizes, outputs) if in_place else _Views()
    names = dict.fromkeys(views.root(name) for name in names)
    whole_outputs = {views.root(name) for name in outputs}
    kept = whole_outputs | inputs | constants
    document: dict[str, Any] = {
        "format": "stowage/instance",
        "version": 1,
        "problem": "order",
        "name": graph.name,
        "alignment": alignment,
        "tensors": [
            {
                "id": name,
                "size_bytes": sizes[name],
                "input": name in inputs or name in constants,
                "output": name in whole_outputs or name in constants,
            }
            for name in names
        ],
        "operators": [
            views.operator(own, node, made, names, kept, sizes)
            for own, node, made in zip(own_ids, operators, written)
        ],
    }
    if capacity_bytes is not None:
        document["capacity_bytes"] = capacity_bytes
    return document


class _Views:
    """The reshaped tensors of a graph, and the operators with what they may write in place. Without
    arguments, no tensor is a view and no operator writes in place."""

    def __init__(
        self,
        nodes: Sequence[onnx.NodeProto] = (),
        ids: Sequence[str] = (),
        written: Sequence[Sequence[str]] = (),
        sizes: Mapping[str, int] = {},
        outputs: Iterable[str] = (),
    ) -> None:
        self._root: dict[str, str] = {}
        self._after: dict[str, str] = {}  # id of the node that makes a view
        self._in_place = bool(nodes)
        taken = set(outputs)
        for node, own, made in zip(nodes, ids, written):
            if node.op_type not in _VIEWS or node.domain not in ("", "ai.onnx") or len(made) != 1:
                continue
            source, view = node.input[0], made[0]
            root = self.root(source)
            # Two outputs of the graph need two tensors. A view has the bytes of its tensor.
            both = view in taken and root in taken
            if root not in sizes or sizes[root] != sizes[view] or both:
                continue
            self._root[view] = root
            self._after[view] = own
            if view in taken:
                taken.add(root)

    def root(self, name: str) -> str:
        """Returns the tensor whose memory the tensor has."""
        return self._root.get(name, name)

    def operator(
        self,
        own: str,
        node: onnx.NodeProto,
        made: Sequence[str],
        names: Mapping[str, Any],
        kept: set[str],
        sizes: Mapping[str, int],
    ) -> dict[str, Any]:
        """Returns the operator of a node. `names` are the tensors of the document, `kept` those that
        nothing may be written over, `sizes` bytes."""
        touched = _touched(node)
        reads = dict.fromkeys(self.root(name) for name in touched)
        writes = [name for name in made if name not in self._root]
        operator: dict[str, Any] = {
            "id": own,
            "reads": [name for name in reads if name in names],
            "writes": writes,
        }
        # A view is there when its node has run.
        after = dict.fromkeys(self._after[name] for name in touched if name in self._after)
        if after:
            operator["after"] = list(after)
        if self._in_place and _is_elementwise(node):
            sources = dict.fromkeys(self.root(name) for name in node.input if name)
            over = [
                name
                for name in sources
                if name in names
                and name not in kept
                and any(sizes[name] == sizes[each] for each in writes)
            ]
            if over:
                operator["in_place"] = over
        return operator


def _is_elementwise(node: onnx.NodeProto) -> bool:
    if node.domain not in ("", "ai.onnx"):
        return False
    # Without statistics as outputs, a batch normalisation scales and shifts each element.
    normalises = node.op_type == "BatchNormalization" and sum(map(bool, node.output)) == 1
    return normalises or node.op_type in _ELEMENTWISE


def node_order(model: Model) -> list[int]:
    """Returns the indices of the nodes that are operators of `order_instance(model)`."""
    proto = _loaded(model)
    return _operators(proto.graph, _random_functions(proto))[0]


def reordered(model: Model, order: Sequence[int]) -> onnx.ModelProto:
    """Returns a copy of the model with its nodes in the order of a plan.

    Nodes that only compute weights come first, in their old order. The model's results do not
    change.

    Args:
        model: the argument of `order_instance()`. order: a plan's `order`.

    Raises ValueError if `order` does not contain each operator exactly once.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(_loaded(model))
    operators = node_order(copy)
    order = [whole(each, f"order/{at}") for at, each in enumerate(each_of(order, "order"))]
    if sorted(order) != list(range(len(operators))):
        raise ValueError(f"order: must name each of {len(operators)} operators once")
    kept = set(operators)
    nodes = [node for index, node in enumerate(copy.graph.node) if index not in kept]
    nodes += [copy.graph.node[operators[each]] for each in order]
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    return copy


def session_options() -> Any:
    """Returns `onnxruntime.SessionOptions` with which ONNX Runtime executes nodes in the order of the
    model.

    By default ONNX Runtime sorts the nodes anew, and its optimisations replace nodes. These options
    turn both off; only nodes Shape and Size, which return few bytes, may run earlier. To plan an
    optimised model, let ONNX Runtime write it first (`SessionOptions.optimized_model_filepath`), and
    plan that file. Raises ImportError without the package onnxruntime.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.execution_order = onnxruntime.ExecutionOrder.PRIORITY_BASED
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def _loaded(model: Model) -> onnx.ModelProto:
    """Loads a model without weights in external files, since the model contains their sizes."""
    if isinstance(model, onnx.ModelProto):
        return model
    return onnx.load(str(path_of(model, "model")), load_external_data=False)


def _with_shapes(model: onnx.ModelProto, dimensions: Mapping[str, int]) -> onnx.GraphProto:
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


def _operators(graph: onnx.GraphProto, random: set[tuple[str, str]]) -> tuple[list[int], set[str]]:
    """Returns the indices of the nodes that are not constants, and the names of all constant
    tensors."""
    constants = {each.name for each in graph.initializer}
    constants.update(each.values.name for each in graph.sparse_initializer)
    places = []
    for index, node in enumerate(graph.node):
        if all(name in constants for name in _touched(node)) and not _draws_random(node, random):
            constants.update(filter(None, node.output))
        else:
            places.append(index)
    return places, constants


def _written(model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto]) -> list[list[str]]:
    """Returns the outputs of each node, without optional outputs that have no reader."""
    wanted = {each.name for each in model.graph.output}
    for node in model.graph.node:
        wanted.update(_touched(node))
    versions = {each.domain: each.version for each in model.opset_import}
    written = []
    for node in nodes:
        optional = set()
        version = versions.get(node.domain, 1)
        if onnx.defs.has(node.op_type, version, node.domain):
            outputs = onnx.defs.get_schema(node.op_type, version, node.domain).outputs
            options = onnx.defs.OpSchema.FormalParameterOption
            optional = {i for i, each in enumerate(outputs) if each.option == options.Optional}
        written.append(
            [
                name
                for i, name in enumerate(node.output)
                if name and (name in wanted or i not in optional)
            ]
        )
    return written


def _touched(node: onnx.NodeProto) -> list[str]:
    """Returns the tensors that a node reads, each once: its inputs, and the outer tensors that its
    bodies read."""
    names = dict.fromkeys(filter(None, node.input))
    for body in _bodies(node):
        names.update(dict.fromkeys(_read_from_outside(body)))
    return list(names)


def _random_functions(model: onnx.ModelProto) -> set[tuple[str, str]]:
    """Returns the operators of which two runs may differ, as (domain, type): those of ONNX, and the
    functions of the model that use one."""
    random = {(domain, kind) for domain in ("", "ai.onnx") for kind in _RANDOM}
    for _ in model.functions:  # a function may call another one
        for function in model.functions:
            if any(_draws_random(node, random) for node in function.node):
                random.add((function.domain, function.name))
    return random


def _draws_random(node: onnx.NodeProto, random: set[tuple[str, str]]) -> bool:
    if (node.domain, node.op_type) in random:
        return True
    return any(_draws_random(each, random) for body in _bodies(node) for each in body.node)


def _bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            yield from attribute.graphs


def _read_from_outside(body: onnx.GraphProto) -> Iterator[str]:
    own = {each.name for each in (*body.input, *body.initializer)}
    for node in body.node:
        for name in _touched(node):
            if name not in own:
                yield name
        own.update(node.output)
    for each in body.output:
        if each.name not in own:
            yield each.name


def _ids(nodes: Sequence[onnx.NodeProto]) -> list[str]:
    """Returns unique names of the nodes. A node without a unique name is called by its type and
    index."""
    taken = {node.name for node in nodes}
    ids: list[str] = []
    used: set[str] = set()
    for index, node in enumerate(nodes):
        name = node.name
        if not name or name in used:
            name = f"{node.op_type}_{index}"
            while name in taken or name in used:
                name += "_"
        used.add(name)
        ids.append(name)
    return ids


def _sizes(graph: onnx.GraphProto, names: Iterable[str]) -> dict[str, int]:
    """Returns the bytes of each tensor. Raises InputError with all tensors of unknown size."""
    weights = {each.name: [each] for each in graph.initializer}
    for sparse in graph.sparse_initializer:  # stored in the file as values and indices
        weights[sparse.values.name] = [sparse.values, sparse.indices]
    values = {each.name: each.type for each in (*graph.input, *graph.value_info, *graph.output)}
    sizes = {}
    errors = []
    for name in names:
        try:
            if name in weights:
                sizes[name] = sum(_bytes(part.data_type, part.dims) for part in weights[name])
            else:
                sizes[name] = _bytes_of(values.get(name, onnx.TypeProto()))
        except _NoSize as problem:
            code, message = problem.args
            errors.append((code, f"/tensors/{name}/size_bytes", f"tensor '{name}': {message}"))
    if errors:
        raise InputError(errors)
    return sizes


class _NoSize(Exception):
    """An error code and the reason why a tensor has no size."""


def _bytes_of(known: onnx.TypeProto) -> int:
    kind = known.WhichOneof("value")
    if kind is None:
        raise _NoSize("E201", "shape inference finds no type; add it to the model's value_info")
    if kind != "tensor_type":
        raise _NoSize("E203", f"must be a dense tensor, is a {kind.removesuffix('_type')}")
    tensor = known.tensor_type
    if not tensor.HasField("shape"):
        raise _NoSize("E201", "shape inference finds no shape; add it to the model's value_info")
    unknown = [each for each in tensor.shape.dim if not each.HasField("dim_value")]
    if unknown:
        names = ", ".join(each.dim_param or "one without a name" for each in unknown)
        raise _NoSize("E201", f"dimensions must be known: give `dimensions` for {names}")
    return _bytes(tensor.elem_type, [each.dim_value for each in tensor.shape.dim])


def _bytes(elem_type: int, dims: Iterable[int]) -> int:
    kind = onnx.TensorProto.DataType.Name(elem_type)
    if kind not in _BITS:
        raise _NoSize("E203", f"elements must be numbers, are {kind}")
    return -(-math.prod(dims) * _BITS[kind] // 8)
