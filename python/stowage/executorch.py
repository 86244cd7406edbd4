"""Memory planning for ExecuTorch: tensors of an exported program in the least memory.

    planner = stowage.executorch.MemoryPlanner()
    suite = MemoryPlanningAlgorithmSuite([greedy, planner])        # executorch.exir.memory_planning
    config = ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(suite))
    program = to_edge(exported).to_executorch(config)
    planner.outcomes[0].objective      # bytes of the first memory, with a proven lower bound

Written for executorch 1.5. Its suite takes the algorithm with the smallest sum of memories. The greedy
algorithm of ExecuTorch may stay in the suite: the suite then never takes more memory than without this
planner.
"""

from __future__ import annotations

import math
from typing import Any, Iterable

from executorch.exir.memory_planning import MemoryAlgoResult, SpecAllocResult

from ._arguments import number
from ._families import Outcome, solve

# Tensors that name no memory lie in this one; memory 0 is that of constants.
_DEFAULT_MEMORY = 1


class MemoryPlanner:
    """An algorithm for `MemoryPlanningAlgorithmSuite(algo_list=[...])` of ExecuTorch.

    Each memory of a graph is a layout instance of its own. A tensor that lies in the storage of another
    one keeps its place in that storage.

    Args:
        time_limit: seconds of each solve.

    Attributes:
        outcomes: the outcome of each memory that was planned, in the order of the calls. Its objective
            is without the bytes that ExecuTorch reserves for submodules and padding.
    """

    def __init__(self, time_limit: float = 1.0) -> None:
        self.time_limit = number(time_limit, "time_limit")
        self.outcomes: list[Outcome] = []
        self.__name__ = "stowage"  # the key of the algorithm in the suite

    def __call__(
        self,
        alignment: int,
        specs: Iterable[Any],
        graph_module: Any,
        graph_signature: Any,
        extra_padding: int = 0,
    ) -> MemoryAlgoResult:
        """Returns the memory and the offset of each tensor, and the bytes of each memory.

        Args:
            alignment: bytes that divide every offset.
            specs: the tensors to place, `TensorSpec` objects with lifetimes.
            graph_module: its `input_mem_buffer_sizes` are bytes at the start of each memory that belong
                to submodules.
            graph_signature: not used.
            extra_padding: bytes added to each memory.

        Raises ValueError if a tensor lies in the storage of a tensor that is not among `specs`, or does
        not fit there.
        """
        tensors = list(specs)
        memories: dict[int, list[Any]] = {}
        for spec in tensors:
            spec.realign(alignment)
            if spec.storage_base is None:
                memories.setdefault(_memory_of(spec), []).append(spec)
        reserved = list(getattr(graph_module, "input_mem_buffer_sizes", None) or [])
        sizes = [0] * max([_DEFAULT_MEMORY + 1, *(memory + 1 for memory in memories)])
        result = MemoryAlgoResult({}, sizes)
        for memory, roots in memories.items():
            start = _aligned(reserved[memory] if memory < len(reserved) else 0, roots, alignment)
            outcome = solve(layout_instance(roots, alignment), time_limit=self.time_limit)
            self.outcomes.append(outcome)
            assert outcome.plan is not None, "every layout without a capacity has a plan"
            for spec, offset in zip(roots, outcome.plan["offsets"]):
                result.spec_dict[spec] = SpecAllocResult(memory, 0, start + offset)
            sizes[memory] = start + round(outcome.plan["peak_bytes"]) + extra_padding
        for spec in tensors:
            _place_in_storage(spec, result)
        return result


def layout_instance(specs: Iterable[Any], alignment: int = 1) -> dict[str, Any]:
    """Returns tensors of ExecuTorch as a stowage/instance document of the problem `layout`.

    Args:
        specs: `TensorSpec` objects with lifetimes (first and last node) and `allocated_memory`, bytes.
        alignment: bytes that divide every offset.
    """
    return {
        "format": "stowage/instance",
        "version": 1,
        "problem": "layout",
        "name": "ExecuTorch graph",
        "alignment": alignment,
        "buffers": [
            {
                "lower": spec.lifetime[0],
                "upper": spec.lifetime[1] + 1,
                "size_bytes": spec.allocated_memory,
                "alignment": spec.alignment,
            }
            for spec in specs
        ],
    }


def _memory_of(spec: Any) -> int:
    return _DEFAULT_MEMORY if spec.mem_id is None else int(spec.mem_id)


def _aligned(start: int, specs: list[Any], alignment: int) -> int:
    """Returns the first byte from `start` on that all alignments divide."""
    common = math.lcm(alignment, *(spec.alignment for spec in specs))
    return -(-start // common) * common


def _place_in_storage(spec: Any, result: MemoryAlgoResult) -> SpecAllocResult:
    """Places a tensor in the storage of another one, whose place is found first, and returns the place.
    A tensor that has a place keeps it."""
    chain = [spec]
    while chain[-1] not in result.spec_dict:
        base = chain[-1].storage_base
        if base is None or base in chain:
            raise ValueError(
                f"specs: a tensor of {spec.allocated_memory} bytes lies in the storage of a tensor "
                "that is not among them; plan both, or neither"
            )
        chain.append(base)
    place = result.spec_dict[chain.pop()]
    for each in reversed(chain):
        offset = int(each.storage_base_offset)
        if offset < 0 or offset + each.allocated_memory > each.storage_base.allocated_memory:
            raise ValueError(
                f"specs: a tensor of {each.allocated_memory} bytes at offset {offset} does not fit "
                f"into its storage of {each.storage_base.allocated_memory} bytes"
            )
        place = SpecAllocResult(place.mem_id, place.mem_obj_id, place.mem_offset + offset)
        if place.mem_offset % each.alignment:
            raise ValueError(
                f"specs: a tensor at offset {offset} of its storage is not aligned to its "
                f"{each.alignment} bytes"
            )
        result.spec_dict[each] = place
    return place
