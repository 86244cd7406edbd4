"""Order instances of models, and models in a planned order."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import onnx

from .._arguments import each_of, require, whole
from ._model import Model, loaded, with_shapes
from ._nodes import ids_of, operators_of, random_functions, touched_by, written_by
from ._sizes import sizes_of
from ._views import Views


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
    proto = loaded(model)
    alignment = whole(alignment, "alignment")
    if capacity_bytes is not None:
        capacity_bytes = whole(capacity_bytes, "capacity_bytes")
    if dimensions is not None:
        require(dimensions, Mapping, "dimensions")
        dimensions = {
            name: whole(value, f"dimensions/{name}") for name, value in dimensions.items()
        }
    graph = with_shapes(proto, dimensions or {})
    places, constants = operators_of(graph, random_functions(proto))
    operators = [graph.node[place] for place in places]
    written = written_by(proto, operators)
    inputs = {each.name for each in graph.input} - constants
    outputs = {each.name for each in graph.output}
    names = dict.fromkeys(each.name for each in graph.input if each.name in inputs)
    for node, made in zip(operators, written):
        names.update(dict.fromkeys(touched_by(node)))
        names.update(dict.fromkeys(made))
    names.update(dict.fromkeys(each.name for each in graph.output))
    if not weights:
        names = dict.fromkeys(name for name in names if name not in constants)
    sizes = sizes_of(graph, names)
    own_ids = ids_of(operators)
    views = Views(operators, own_ids, written, sizes, outputs) if in_place else Views()
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


def node_order(model: Model) -> list[int]:
    """Returns the indices of the nodes that are operators of `order_instance(model)`."""
    proto = loaded(model)
    return operators_of(proto.graph, random_functions(proto))[0]


def reordered(model: Model, order: Sequence[int]) -> onnx.ModelProto:
    """Returns a copy of the model with its nodes in the order of a plan.

    Nodes that only compute weights come first, in their old order. The model's results do not
    change.

    Args:
        model: the argument of `order_instance()`. order: a plan's `order`.

    Raises ValueError if `order` does not contain each operator exactly once.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(loaded(model))
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
