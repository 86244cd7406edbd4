"""Recomputation for the joint graphs that functorch partitions into a forward and a backward graph.

    partition = stowage.functorch.Partition(peak_bytes=2 * 2**30)
    aot_function(f, fw_compiler=..., partition_fn=partition)       # functorch.compile
    with stowage.functorch.use(peak_bytes=2 * 2**30):              # torch.compile with Inductor
        torch.compile(model)(batch).sum().backward()

    solver = stowage.functorch.BudgetSolver()                      # torch's own partitioner
    with torch._functorch.config.patch(activation_memory_budget_solver=solver): ...

Written for torch 2.13. torch's own partitioner limits the bytes that the forward graph saves. A
partition of this module limits the peak of both graphs, with the least time of operators that run
again, and its plan has a proven lower bound.
"""

from __future__ import annotations

import contextlib
import operator
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import numpy as np
import torch
import torch._inductor.config
from numpy.typing import NDArray
from torch import fx
from torch._functorch import config, partitioners
from torch._functorch._aot_autograd.descriptors import InputMutationAOTOutput
from torch._functorch.compile_utils import fx_graph_cse
from torch._inductor.custom_graph_pass import CustomKnapsackSolver, CustomPartitionerFn
from torch.fx.experimental.proxy_tensor import is_sym_node
from torch.fx.experimental.symbolic_shapes import optimization_hint

from ._arguments import number, whole
from ._families import Outcome, solve

#: The operator between the passes: it reads the forward outputs and writes the tangents.
LOSS = "__loss"

# Sums of the same values may differ by this share with the order of their terms.
_ROUNDING = 1e-12

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
        tangents = [node for node in graph.find_nodes(op="placeholder") if _is_tangent(node)]
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


class Partition(CustomPartitionerFn):
    """A `partition_fn` of functorch: a forward and a backward graph of least time within a peak.

    Operators of both graphs are in the order of the plan. The tensors that the backward graph reads
    are saved, and operators that the plan runs again are copied into it.

    Args:
        peak_bytes: limit on the memory of each operator, bytes. None takes the share
            `torch._functorch.config.activation_memory_budget` of the way from the least peak that is
            found to the peak without runs again.
        time_limit: seconds of each solve.
        run_time: see order_instance().

    Attributes:
        outcomes: the outcome of each graph that was partitioned, in the order of the calls.
    """

    def __init__(
        self,
        peak_bytes: Optional[int] = None,
        *,
        time_limit: float = 2.0,
        run_time: Optional[RunTime] = None,
    ) -> None:
        self.peak_bytes = None if peak_bytes is None else whole(peak_bytes, "peak_bytes")
        self.time_limit = number(time_limit, "time_limit")
        self.run_time = run_time
        self.outcomes: list[Outcome] = []

    def __call__(
        self,
        gm: fx.GraphModule,
        joint_inputs: Sequence[object] = (),
        **kwargs: Any,
    ) -> tuple[fx.GraphModule, fx.GraphModule]:
        """Returns the forward and the backward graph of the joint graph `gm`.

        Of the keyword arguments it reads `num_fwd_outputs`, the number of results of the forward pass.

        Raises ValueError if no plan within `peak_bytes` is found; the message has the least peak that
        was found.
        """
        num_fwd_outputs = int(kwargs["num_fwd_outputs"])
        graph = tidied(gm)
        joint = JointGraph(graph, num_fwd_outputs, self.run_time)
        outcome = self._planned(joint)
        self.outcomes.append(outcome)
        ordered, saved = _in_order(graph, joint, _plan(outcome)["order"])
        symbols = [node for node in saved if is_sym_node(node)]
        return partitioners._extract_fwd_bwd_modules(
            fx.GraphModule(gm, ordered),
            [node for node in saved if node not in symbols],
            symbols,
            num_fwd_outputs=num_fwd_outputs,
        )

    def uuid(self) -> Any:
        """Returns the key of compiled graphs in torch's caches."""
        return (type(self).__name__, self.peak_bytes, self.time_limit, repr(self.run_time))

    def _planned(self, joint: JointGraph) -> Outcome:
        within = self.peak_bytes
        lowest = None
        if within is None:
            share = number(config.activation_memory_budget, "activation_memory_budget")
            most = self._lowest(joint.instance(again=False))
            lowest = self._lowest(joint.instance())
            within = _peak(lowest) + int(share * (_peak(most) - _peak(lowest)))
        outcome = solve(joint.instance(within), time_limit=self.time_limit)
        if outcome.plan is None:
            lowest = lowest or self._lowest(joint.instance())
            if _peak(lowest) > within:
                raise ValueError(
                    f"peak_bytes: no plan within {within} bytes was found; ask for at least "
                    f"{_peak(lowest)} bytes"
                )
            outcome = lowest
        return outcome

    def _lowest(self, instance: dict[str, Any]) -> Outcome:
        outcome = solve(instance, time_limit=self.time_limit)
        assert outcome.plan is not None, "every order is a plan without a limit"
        return outcome


def _plan(outcome: Outcome) -> Mapping[str, Any]:
    assert outcome.plan is not None
    return outcome.plan


def _peak(outcome: Outcome) -> int:
    return int(_plan(outcome)["peak_bytes"])


@contextlib.contextmanager
def use(
    peak_bytes: Optional[int] = None,
    *,
    time_limit: float = 2.0,
    run_time: Optional[RunTime] = None,
) -> Iterator[Partition]:
    """Partitions the graphs that torch.compile compiles with Inductor within the block.

    The arguments are those of Partition, which the block receives.
    """
    partition = Partition(peak_bytes, time_limit=time_limit, run_time=run_time)
    with torch._inductor.config.patch(custom_partitioner_fn=partition):
        yield partition


class BudgetSolver(CustomKnapsackSolver):
    """An `activation_memory_budget_solver` of torch: the values that its partitioner saves within the
    budget are those whose recomputation takes most time. torch's default rounds sizes.

    A larger budget never means more recomputation.

    Args:
        run_time: the time of one run of a node; by default torch's estimate.

    Attributes:
        gaps: for each call, the share of all recomputation that a better choice could save at most. It
            is 0 unless the call met more than `most_states` choices of which none is better than
            another in time and in memory.
    """

    most_states = 100_000

    def __init__(self, run_time: Optional[RunTime] = None) -> None:
        self.run_time = run_time
        self.gaps: list[float] = []

    def __call__(
        self,
        memory: list[float],
        joint_graph: fx.Graph,
        max_memory: float,
        node_info: Any,
        all_recomputable_banned_nodes: list[fx.Node],
    ) -> tuple[list[int], list[int]]:
        """Returns the places in `memory` of the values to save, and of those to recompute.

        Args:
            memory: size of each value, in any unit.
            joint_graph, node_info: not used.
            max_memory: most of the sum of sizes that are saved.
            all_recomputable_banned_nodes: the node of each value.
        """
        run_time = partitioners.estimate_runtime if self.run_time is None else self.run_time
        times = [
            number(run_time(node), f"run_time({node.name})")
            for node in all_recomputable_banned_nodes
        ]
        saved, gap = most_valuable(memory, times, max_memory, self.most_states)
        self.gaps.append(gap)
        chosen = set(saved)
        return saved, [at for at in range(len(memory)) if at not in chosen]

    def uuid(self) -> Any:
        """Returns the key of compiled graphs in torch's caches."""
        return (type(self).__name__, self.most_states, repr(self.run_time))


def most_valuable(
    sizes: Sequence[float], values: Sequence[float], most: float, most_states: int = 100_000
) -> tuple[list[int], float]:
    """Returns the places of items of the largest sum of values whose sizes sum to at most `most`, and
    the share of all values by which a better choice may exceed it.

    The states of the recursion are the choices of the first items of which none has more value and less
    size than another (Nemhauser and Ullmann, 1969). A state goes if its linear relaxation (Dantzig,
    1957) is not above the best choice.
    """
    size, value = np.asarray(sizes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(size > 0, value / size, np.inf)
    order = np.argsort(-ratio, kind="stable")
    size, value = size[order], value[order]
    sums, worth = np.append(0, np.cumsum(size)), np.append(0, np.cumsum(value))
    most = max(float(most), 0.0)
    held, gained = np.zeros(1), np.zeros(1)
    steps: list[tuple[NDArray[np.int64], NDArray[np.bool_]]] = []
    lost = 0.0
    for at in range(len(size)):
        count = len(held)
        parent = np.tile(np.arange(count), 2)
        taken = np.repeat([False, True], count)
        held = np.concatenate([held, held + size[at]])
        gained = np.concatenate([gained, gained + value[at]])
        # What fits of the next items, the last one in part, bounds each state; without that item it is
        # a choice.
        room = most - held + sums[at + 1]
        fits = np.clip(np.searchsorted(sums, room, side="right") - 1, at + 1, len(size))
        choice = gained + worth[fits] - worth[at + 1]
        rest = np.minimum(fits, len(size) - 1)
        part = np.where(fits < len(size), (room - sums[fits]) * _ratio(value[rest], size[rest]), 0)
        possible = held <= most
        bar = choice[possible].max()
        kept = np.flatnonzero(possible & (choice + part >= bar * (1 - _ROUNDING)))
        kept = kept[np.lexsort((-gained[kept], held[kept]))]
        better = np.append(True, gained[kept][1:] > np.maximum.accumulate(gained[kept])[:-1])
        kept = kept[better]
        if len(kept) > most_states:
            # Of states with nearly equal value the one with the least size stays.
            width = (gained[kept[-1]] - gained[kept[0]]) / most_states
            kept = kept[
                np.unique(
                    ((gained[kept] - gained[kept[0]]) / width).astype(int), return_index=True
                )[1]
            ]
            lost += width
        held, gained = held[kept], gained[kept]
        steps.append((parent[kept], taken[kept]))
    state = int(gained.argmax())
    chosen = []
    for at in range(len(size) - 1, -1, -1):
        parents, takes = steps[at]
        if takes[state]:
            chosen.append(int(order[at]))
        state = int(parents[state])
    return sorted(chosen), lost / max(float(worth[-1]), 1e-300)


def _ratio(value: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(value, size, out=np.zeros_like(value), where=size > 0)


def tidied(joint_module: fx.GraphModule) -> fx.Graph:
    """Returns the graph without dead nodes and without common subexpressions. torch's partitioner
    begins with the same two passes."""
    joint_module.graph.eliminate_dead_code()
    return fx_graph_cse(joint_module.graph) if config.cse else joint_module.graph


def _in_order(
    graph: fx.Graph, joint: JointGraph, order: Sequence[int]
) -> tuple[fx.Graph, list[fx.Node]]:
    """Returns the graph with its operators in the order of a plan, one node for each run, and the
    nodes that the backward pass reads from the forward pass."""
    ordered = fx.Graph()
    now: dict[fx.Node, fx.Node] = {}  # the latest run of a node
    views: dict[Any, fx.Node] = {}  # by node and by the runs that it reads
    of_pass: set[fx.Node] = set()  # nodes that the current pass makes
    saved: dict[fx.Node, None] = {}
    forward: Optional[list[Any]] = None  # outputs of the forward pass, which then is complete

    def copy(node: fx.Node) -> fx.Node:
        made = ordered.node_copy(node, argument)
        of_pass.add(made)
        return made

    def argument(node: fx.Node) -> fx.Node:
        if joint.is_view(node):
            key = (node, forward is None, *(argument(each) for each in node.all_input_nodes))
            if key not in views:
                views[key] = copy(node)
            return views[key]
        if now[node] not in of_pass:
            saved[now[node]] = None
        return now[node]

    def results(nodes: Sequence[Any]) -> list[Any]:
        return [argument(each) if isinstance(each, fx.Node) else each for each in nodes]

    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            now[node] = copy(node)
    for index in order:
        node = joint.nodes[index]
        if node is None:
            forward = results(joint.results[: joint.num_fwd_outputs])
            of_pass.clear()
            of_pass.update(now[each] for each in now if _is_tangent(each) or each.op == "get_attr")
            continue
        now[node] = copy(node)
        for each in node.users:
            if each.target is operator.getitem:
                now[each] = copy(each)
    assert forward is not None, "every order has the operator between the passes"
    output = ordered.output((*forward, *results(joint.results[joint.num_fwd_outputs :])))
    output.meta = dict(graph.output_node().meta)
    return ordered, list(saved)


def _is_tangent(node: fx.Node) -> bool:
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
