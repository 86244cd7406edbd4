"""The bytes of tensors."""

from __future__ import annotations

import math
from typing import Iterable

import onnx

from .._errors import InputError

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


def sizes_of(graph: onnx.GraphProto, names: Iterable[str]) -> dict[str, int]:
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
