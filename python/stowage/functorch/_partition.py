"""Forward and backward graphs of the least time within a peak."""

from __future__ import annotations

import contextlib
import operator
from typing import Any, Iterator, Mapping, Optional, Sequence

import torch._inductor.config
from torch import fx
from torch._functorch import config, partitioners
from torch._inductor.custom_graph_pass import CustomPartitionerFn
from torch.fx.experimental.proxy_tensor import is_sym_node

from .._arguments import number, whole
from .._families import Outcome, solve
from ._joint_graph import JointGraph, RunTime, is_tangent, tidied


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
            of_pass.update(now[each] for each in now if is_tangent(each) or each.op == "get_attr")
            continue
        now[node] = copy(node)
        for each in node.users:
            if each.target is operator.getitem:
                now[each] = copy(each)
    assert forward is not None, "every order has the operator between the passes"
    output = ordered.output((*forward, *results(joint.results[joint.num_fwd_outputs :])))
    output.meta = dict(graph.output_node().meta)
    return ordered, list(saved)
