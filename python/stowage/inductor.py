"""Orders of Inductor's scheduler nodes with the least peak.

    with stowage.inductor.use() as planned:
        torch.compile(model)(batch).sum().backward()
    planned.outcomes[0].objective      # peak of the first graph, bytes

Written for torch 2.13. Inductor tries a few topological orders of each graph and takes the one with
the least estimated peak. Within use(), it also has the order of a plan, whose peak is proven in
most graphs. Memory is counted as Inductor counts it: a buffer lives from its node to its last
reader, and graph outputs live to the end.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Sequence

import torch._inductor.config
import torch._inductor.memory

from ._arguments import number
from ._families import Outcome, solve


class PlannedOrders:
    """Takes the place of Inductor's reorder_for_peak_memory().

    Attributes:
        outcomes: the outcome of each graph, in the order in which they were compiled.
    """

    def __init__(self, time_limit: float = 1.0) -> None:
        self.time_limit = number(time_limit, "time_limit")
        self.outcomes: list[Outcome] = []
        self._replaced = torch._inductor.memory.reorder_for_peak_memory

    def __call__(
        self,
        nodes: list[Any],
        name_to_buf: dict[str, Any],
        name_to_fused_node: dict[str, Any],
        graph_inputs: Any,
        graph_outputs: Any,
        methods: Sequence[Any] = (),
    ) -> list[Any]:
        """Returns the order with the least peak among Inductor's own orders and the planned one."""

        def planned(given: list[Any]) -> list[Any]:
            outcome = solve(order_instance(given, graph_outputs), time_limit=self.time_limit)
            self.outcomes.append(outcome)
            assert outcome.plan is not None, "every order is a plan without a capacity"
            return [given[index] for index in outcome.plan["order"]]

        replaced: Any = self._replaced
        own = methods or replaced.__defaults__[0]
        return self._replaced(
            nodes,
            name_to_buf,
            name_to_fused_node,
            graph_inputs,
            graph_outputs,
            methods=[planned, *own],
        )


def order_instance(nodes: Sequence[Any], graph_outputs: Any) -> dict[str, Any]:
    """Returns the graph of Inductor's scheduler nodes as a stowage/instance document.

    Args:
        nodes: nodes with the memory information that Inductor assigns before it reorders them.
        graph_outputs: names of the buffers that the graph returns.

    An operator stands for each node, in their order. Entries of a tuple are in memory from the node
    that computes the tuple. Inputs that Inductor does not free are left out.
    """
    index = {node: place for place, node in enumerate(nodes)}
    tensors: dict[str, dict[str, Any]] = {}
    writes: list[list[str]] = [[] for _ in nodes]
    reads: list[dict[str, None]] = [{} for _ in nodes]
    after: list[list[int]] = [[] for _ in nodes]

    def add(buffer: Any, maker: Any = None, **flags: bool) -> str:
        name = str(buffer.get_name())
        size = int(buffer.mpi_buffer.size_free)
        output = name in graph_outputs
        tensors[name] = {"id": name, "size_bytes": size, "output": output, **flags}
        for reader in buffer.mpi_buffer.succ_nodes:
            if reader in index and reader is not maker:
                reads[index[reader]][name] = None
        return name

    for place, node in enumerate(nodes):
        after[place] = sorted(index[each] for each in node.mpi_node.pred_nodes if each in index)
        for buffer in node.mpi_node.pred_buffers:
            if isinstance(buffer, torch._inductor.memory.FreeableInputBuffer):
                if buffer.get_name() not in tensors:
                    add(buffer, input=True)
        for buffer in node.get_outputs():
            information = buffer.mpi_buffer
            if information.size_free == 0:
                continue
            maker = place if information.size_alloc else _maker(node, index)
            writes[maker].append(add(buffer, nodes[maker]))
            if maker != place:
                reads[place][buffer.get_name()] = None
    return {
        "format": "stowage/instance",
        "version": 1,
        "problem": "order",
        "name": "Inductor graph",
        "tensors": list(tensors.values()),
        "operators": [
            {
                "id": str(place),
                "reads": list(reads[place]),
                "writes": writes[place],
                "after": [str(each) for each in after[place]],
            }
            for place in range(len(nodes))
        ],
    }


def _maker(node: Any, index: dict[Any, int]) -> int:
    """Returns the place of the node that allocates the outputs of a node that allocates nothing."""
    makers = [
        index[each]
        for each in node.mpi_node.pred_nodes
        if each in index
        and any(
            buffer.mpi_buffer.size_alloc > buffer.mpi_buffer.size_free
            for buffer in each.get_outputs()
        )
    ]
    return makers[0] if makers else index[node]


@contextlib.contextmanager
def use(time_limit: float = 1.0) -> Iterator[PlannedOrders]:
    """Orders the graphs that Inductor compiles within the block.

    Torch's caches of compiled graphs are not used within the block, since their code has other
    orders.

    Args:
        time_limit: seconds of each graph's solve.
    """
    planned = PlannedOrders(time_limit)
    torch._inductor.memory.reorder_for_peak_memory = planned
    try:
        with torch._inductor.config.patch(force_disable_caches=True):
            yield planned
    finally:
        torch._inductor.memory.reorder_for_peak_memory = planned._replaced
