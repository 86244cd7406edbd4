"""Plans ahead of a training job on actors of Ray.

    python examples/ray_planner.py

Each actor has a planner. The job asks for the plans of some steps ahead and takes them in order, so
that it never waits for planning and plans on no core of its own.
"""

from __future__ import annotations

from collections import deque
from typing import Iterable, Iterator

import numpy as np
import ray

import stowage


@ray.remote(num_cpus=1)
class PlannerActor:
    def __init__(self, cluster: stowage.Cluster) -> None:
        self.planner = stowage.Planner(cluster)

    def plan(self, lengths: np.ndarray) -> stowage.Step:
        return self.planner.plan(lengths)


def planned(batches: Iterable[np.ndarray], actors: list, ahead: int) -> Iterator[stowage.Step]:
    """The plans of batches, in order; actors take turns."""
    waiting: deque = deque()
    for number, lengths in enumerate(batches):
        waiting.append(actors[number % len(actors)].plan.remote(lengths))
        if len(waiting) > ahead:
            yield ray.get(waiting.popleft())
    while waiting:
        yield ray.get(waiting.popleft())


def main() -> None:
    ray.init(num_cpus=2, include_dashboard=False)
    cluster = stowage.Cluster.preset("gpt-7b", devices=16)
    actors = [PlannerActor.remote(cluster) for _ in range(2)]
    draw = np.random.default_rng(0)
    batches = [draw.lognormal(7.0, 1.2, 128).astype(np.int64) + 1 for _ in range(6)]
    for number, step in enumerate(planned(batches, actors, ahead=3)):
        step.verify()
        own = stowage.Planner(cluster).plan(batches[number])
        assert own.to_bytes() == step.to_bytes(), "an actor plans as everybody does"
        print(f"step {number}: {step.objective_ms:.0f} ms, gap {step.gap:.1%}", flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main()
