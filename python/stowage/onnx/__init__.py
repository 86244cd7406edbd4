"""Converts graphs of ONNX models to order instances, and applies the planned order of nodes.

    instance = stowage.onnx.order_instance("model.onnx", dimensions={"batch": 8})
    outcome = stowage.solve(instance)
    planned = stowage.onnx.reordered(model, outcome.plan["order"])   # nodes in that order
    onnxruntime.InferenceSession(planned.SerializeToString(), stowage.onnx.session_options())

The module needs the package onnx. The sizes are those of its shape inference.
"""

from __future__ import annotations

from ._instance import node_order as node_order
from ._instance import order_instance as order_instance
from ._instance import reordered as reordered
from ._model import Model as Model
from ._session import session_options as session_options
