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

from ._budget import BudgetSolver as BudgetSolver
from ._budget import most_valuable as most_valuable
from ._joint_graph import LOSS as LOSS
from ._joint_graph import JointGraph as JointGraph
from ._joint_graph import RunTime as RunTime
from ._joint_graph import order_instance as order_instance
from ._joint_graph import tidied as tidied
from ._partition import Partition as Partition
from ._partition import use as use
