"""The nodes of a graph that become operators, and the tensors that they read and write."""

from __future__ import annotations

from typing import Iterator, Sequence

import onnx

_RANDOM = {
    *("Bernoulli", "Dropout", "Multinomial"),
    *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
}


def operators_of(
    graph: onnx.GraphProto, random: set[tuple[str, str]]
) -> tuple[list[int], set[str]]:
    """Returns the indices of the nodes that are not constants, and the names of all constant
    tensors."""
    constants = {each.name for each in graph.initializer}
    constants.update(each.values.name for each in graph.sparse_initializer)
    places = []
    for index, node in enumerate(graph.node):
        if all(name in constants for name in touched_by(node)) and not _draws_random(node, random):
            constants.update(filter(None, node.output))
        else:
            places.append(index)
    return places, constants


def written_by(model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto]) -> list[list[str]]:
    """Returns the outputs of each node, without optional outputs that have no reader."""
    wanted = {each.name for each in model.graph.output}
    for node in model.graph.node:
        wanted.update(touched_by(node))
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


def touched_by(node: onnx.NodeProto) -> list[str]:
    """Returns the tensors that a node reads, each once: its inputs, and the outer tensors that its
    bodies read."""
    names = dict.fromkeys(filter(None, node.input))
    for body in _bodies(node):
        names.update(dict.fromkeys(_read_from_outside(body)))
    return list(names)


def random_functions(model: onnx.ModelProto) -> set[tuple[str, str]]:
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
        for name in touched_by(node):
            if name not in own:
                yield name
        own.update(node.output)
    for each in body.output:
        if each.name not in own:
            yield each.name


def ids_of(nodes: Sequence[onnx.NodeProto]) -> list[str]:
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
