"""Joint graphs of functorch as order instances."""

from __future__ import annotations

import operator
from typing import Any, Callable, Optional, Sequence

import torch
from torch import fx
from torch._functorch import config, partitioners
from torch._functorch._aot_autograd.descriptors import InputMutationAOTOutput
from torch._functorch.compile_utils import fx_graph_cse
from torch.fx.experimental.symbolic_shapes import optimization_hint

from .._arguments import number, whole

#: The operator between the passes: it reads the forward outputs and writes the tangents.
LOSS = "__loss"

#: Returns the time of one run of a node, in any unit that is the same for all nodes.
RunTime = Callable[[fx.Node], float]


class JointGraph:
    """A joint graph as an order instance, and the nodes of its operators.

    A node whose result shares the memory of an argument, such as a view, is not an operator: its
    readers read the tensor behind it. An entry of a tuple is a tensor of the operator that writes
    the tuple. Operators of the forward pass may run again unless they draw random numbers or write
    to an argument.

    Attributes:
        nodes: the node of each operator; None for the operator between the passes.
        results: outputs of the graph, first those of the forward pass.
        num_fwd_outputs: number of outputs of the forward pass.
    """

    def __init__(
        self, graph: fx.Graph, num_fwd_outputs: int, run_time: Optional[RunTime] = None
    ) -> None:
        self.nodes: list[Optional[fx.Node]] = []
        self.num_fwd_outputs = num_fwd_outputs
        self.results = torch.utils._pytree.arg_tree_leaves(*graph.output_node().args)
        self._run_time = partitioners.estimate_runtime if run_time is None else run_time
        self._tensors: dict[str, dict[str, Any]] = {}
        self._operators: list[dict[str, Any]] = []
        self._behind: dict[fx.Node, list[str]] = {}  # tensors of the result of a node
        self._views: set[fx.Node] = set()
        self._changed = _changed_inputs(graph)
        tangents = [node for node in graph.find_nodes(op="placeholder") if is_tangent(node)]
        backward = _reached_from(tangents)
        loss: dict[str, Any] = {"id": LOSS, "reads": [], "writes": [], "ms": 0.0}
        for node in graph.nodes:
            if node.op == "output":
                continue
            if node.op in ("placeholder", "get_attr"):
                # Parameters and batches belong to the caller, so that no pass frees them.
                given = node not in backward
                self._behind[node] = self._new(node, input=given, output=given)
                if node in backward:
                    loss["writes"] += self._behind[node]
                continue
            if node in backward and None not in self.nodes:
                self._operators.append(loss)
                self.nodes.append(None)
            self._add(node, node not in backward and _may_run_again(node))
        if None not in self.nodes:
            self._operators.append(loss)
            self.nodes.append(None)
        for each in self.results:
            for name in self._behind_result(each):
                self._tensors[name]["output"] = True
        read = (self._behind_result(each) for each in self.results[:num_fwd_outputs])
        loss["reads"] = list(dict.fromkeys(name for names in read for name in names))
        # The caller has the outputs of the forward pass, so that they are not dropped and made again.
        returned = set(loss["reads"])
        for each in self._operators:
            if not returned.isdisjoint(each["writes"]):
                each["recompute"] = False

    def is_view(self, node: fx.Node) -> bool:
        """Returns whether the node's result shares the memory of an argument."""
        return node in self._views

    def _behind_result(self, result: Any) -> list[str]:
        return self._behind[result] if isinstance(result, fx.Node) else []

    def _new(self, node: fx.Node, **flags: bool) -> list[str]:
        """Adds the tensors of a node's result, one or one for each entry of a tuple."""
        value: Any = node.meta.get("val")
        several = isinstance(value, (list, tuple))
        parts = list(value) if several else [value]
        names = [f"{node.name}#{k}" if several else node.name for k in range(len(parts))]
        for name, part in zip(names, parts):
            self._tensors[name] = {"id": name, "size_bytes": _bytes(part), **flags}
        return names

    def _add(self, node: fx.Node, again: bool) -> None:
        if node.target is operator.getitem:
            source: Any = node.args[0]
            index: Any = node.args[1]
            tensors = self._behind[source]
            several = isinstance(source.meta.get("val"), (list, tuple))
            self._behind[node] = [tensors[index]] if several else tensors
            return
        updates = [name for each in _written_arguments(node) for name in self._behind[each]]
        shared = _shares_memory_with(node)
        if shared is not None and not updates:
            self._behind[node] = self._behind[shared]
            self._views.add(node)
            return
        reads = dict.fromkeys(name for each in node.all_input_nodes for name in self._behind[each])
        again = again and self._changed.isdisjoint(reads)
        made = [] if shared is not None else self._new(node)
        self._behind[node] = made if shared is None else self._behind[shared]
        self._operators.append(
            {
                "id": node.name,
                "reads": [name for name in reads if name not in updates],
                "updates": updates,
                "writes": made,
                "ms": number(self._run_time(node), f"run_time({node.name})"),
                "recompute": again,
            }
        )
        self.nodes.append(node)

    def instance(self, peak_bytes: Optional[int] = None, *, again: bool = True) -> dict[str, Any]:
        """Returns the stowage/instance document of the problem `order`.

        Args:
            peak_bytes: limit on the memory of each operator, bytes, and the objective is the time.
                None: the objective is the peak.
            again: whether operators may run again.
        """
        operators = self._operators
        if not again:
            operators = [{**each, "recompute": False} for each in operators]
        document: dict[str, Any] = {
            "format": "stowage/instance",
            "version": 1,
            "problem": "order",
            "name": "joint graph",
            "objective": "peak",
            "tensors": list(self._tensors.values()),
            "operators": operators,
        }
        if peak_bytes is not None:
            document["objective"] = "time"
            document["capacity_bytes"] = whole(peak_bytes, "peak_bytes")
        return document


def order_instance(
    joint_module: fx.GraphModule,
    *,
    num_fwd_outputs: int,
    peak_bytes: Optional[int] = None,
    run_time: Optional[RunTime] = None,
) -> dict[str, Any]:
    """Returns a joint graph as a stowage/instance document of the problem `order`.

    Primals are in memory from the start to the end, and outputs from their operator to the end.

    Args:
        joint_module: the first argument of a `partition_fn` of functorch.
        num_fwd_outputs: number of outputs of the forward pass.
        peak_bytes: limit on the memory of each operator, bytes; None asks for the least peak.
        run_time: the time of one run of a node; by default torch's estimate, in floating-point
            operations.
    """
    return JointGraph(joint_module.graph, num_fwd_outputs, run_time).instance(peak_bytes)


def tidied(joint_module: fx.GraphModule) -> fx.Graph:
    """Returns the graph without dead nodes and without common subexpressions. torch's partitioner
    begins with the same two passes."""
    joint_module.graph.eliminate_dead_code()
    return fx_graph_cse(joint_module.graph) if config.cse else joint_module.graph


def is_tangent(node: fx.Node) -> bool:
    return "tangents" in str(node.target)


def _changed_inputs(graph: fx.Graph) -> set[str]:
    """Returns the inputs that are changed behind the forward pass, such as running statistics. An
    operator that reads one cannot run again in the backward pass."""
    outputs = graph.output_node().meta.get("desc", ())
    changed = {
        each.mutated_input
        for each in torch.utils._pytree.tree_leaves(outputs)
        if isinstance(each, InputMutationAOTOutput)
    }
    inputs = graph.find_nodes(op="placeholder")
    return {node.name for node in inputs if node.meta.get("desc") in changed}


def _written_arguments(node: fx.Node) -> list[fx.Node]:
    """Returns the arguments that an operator writes to."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    arguments = zip(node.target._schema.arguments, node.args)
    return [
        each
        for known, each in arguments
        if known.alias_info is not None and known.alias_info.is_write and isinstance(each, fx.Node)
    ]


def _reached_from(nodes: Sequence[fx.Node]) -> set[fx.Node]:
    reached = set(nodes)
    todo = list(nodes)
    while todo:
        for user in todo.pop().users:
            if user not in reached:
                reached.add(user)
                todo.append(user)
    return reached


def _may_run_again(node: fx.Node) -> bool:
    target = node.target
    if isinstance(target, torch._ops.OpOverload):
        return not (target._schema.is_mutable or torch.Tag.nondeterministic_seeded in target.tags)
    return not node.is_impure()


def _storage(node: fx.Node) -> Optional[int]:
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or not torch._C._has_storage(value):
        return None
    return int(value.untyped_storage()._cdata)


def _shares_memory_with(node: fx.Node) -> Optional[fx.Node]:
    """Returns the argument whose memory is that of the result, or None."""
    own = _storage(node)
    shared = (each for each in node.all_input_nodes if own is not None and _storage(each) == own)
    return next(shared, None)


def _bytes(value: Any) -> int:
    """Returns the bytes of the memory behind a value; numbers need none on the device."""
    if not isinstance(value, torch.Tensor) or not torch._C._has_storage(value):
        return 0
    return int(optimization_hint(value.untyped_storage().nbytes(), fallback=4096))
