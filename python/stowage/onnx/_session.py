"""Options with which ONNX Runtime keeps a planned order."""

from __future__ import annotations

from typing import Any


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
