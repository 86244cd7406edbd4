"""Peers that place the buffers of a layout themselves. Each takes the instance as read from its
JSON, with its `hash`, the path of its plan, and a limit in seconds. The peers do not support
buffers with gaps or pinned offsets, which the suite does not contain. Every written plan claims the
trivial bound 0."""
import json
import time

from answer import Answer


def _rounded(instance, buffer):
    step = max(instance.get("alignment", 1), buffer.get("alignment", 1))
    return -(-buffer["size_bytes"] // step) * step, step


def _write_plan(plan, instance, offsets):
    peak = max((offset + _rounded(instance, buffer)[0]
                for offset, buffer in zip(offsets, instance["buffers"])), default=0)
    plan.write_text(json.dumps({
        "format": "stowage/plan", "version": 1, "problem": "layout", "name": instance["name"],
        "instance_hash": instance["hash"], "peak_bytes": peak, "bound_bytes": 0, "bound_by": "", "offsets": offsets}), encoding="utf-8")


def cp_sat(instance, plan, seconds):
    """Places rectangles of time and memory that do not overlap, under the least ceiling."""
    from ortools.sat.python import cp_model
    began = time.process_time()
    model = cp_model.CpModel()
    sizes = [_rounded(instance, buffer) for buffer in instance["buffers"]]
    most = instance.get("capacity_bytes") or sum(size for size, _ in sizes)
    ceiling = model.new_int_var(0, most, "peak")
    places, spans, heights = [], [], []
    for index, (buffer, (size, step)) in enumerate(zip(instance["buffers"], sizes)):
        place = model.new_int_var(0, most // step, f"place{index}")
        places.append((place, step))
        spans.append(model.new_fixed_size_interval_var(
            buffer["lower"], buffer["upper"] - buffer["lower"], f"span{index}"))
        heights.append(model.new_fixed_size_interval_var(step * place, size, f"height{index}"))
        model.add(step * place + size <= ceiling)
    model.add_no_overlap_2d(spans, heights)
    # The same without time: what is alive together fits below the ceiling.
    model.add_cumulative(spans, [size for size, _ in sizes], ceiling)
    model.minimize(ceiling)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    took = time.process_time() - began
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    if found:
        _write_plan(plan, instance, [step * solver.value(place) for place, step in places])
    return Answer(solver.status_name(status).lower(), plan if found else None,
                  solver.best_objective_bound, took)


def _omnimalloc(make):
    def run(instance, plan, seconds):
        import omnimalloc
        omnimalloc.set_max_threads(1)
        began = time.process_time()
        allocations = [omnimalloc.Allocation(index, max(1, _rounded(instance, buffer)[0]),
                                             buffer["lower"], buffer["upper"])
                       for index, buffer in enumerate(instance["buffers"])]
        placed = {each.id: each.offset for each in
                  omnimalloc.allocate(allocations, make(omnimalloc.allocators, seconds))}
        took = time.process_time() - began
        offsets = [placed[index] for index in range(len(allocations))]
        if any(offset is None or offset % _rounded(instance, buffer)[1]
               for offset, buffer in zip(offsets, instance["buffers"])):
            return Answer("no offsets", None, None, took)
        _write_plan(plan, instance, offsets)
        return Answer("ended", plan, None, took)
    return run


ALL = {
    "CP-SAT": cp_sat,
    "omnimalloc omni": _omnimalloc(lambda its, _: its.OmniAllocator()),
    "omnimalloc supermalloc": _omnimalloc(
        lambda its, seconds: its.SupermallocAllocator(timeout=seconds, num_threads=1)),
    "omnimalloc hill_climb": _omnimalloc(lambda its, seconds: its.HillClimbAllocator(timeout=seconds)),
}
