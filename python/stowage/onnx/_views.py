"""Tensors that share memory: views, and outputs that may be written over inputs."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

import onnx

from ._nodes import touched_by

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


class Views:
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
        touched = touched_by(node)
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
