"""Plans global batches within a training loop."""

from __future__ import annotations

import atexit
import functools
import os
import threading
import weakref
from collections import deque
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Optional,
    Sequence,
    TypeVar,
    Union,
)

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import each_of, text, whole
from ._cluster import Cluster
from ._errors import InputTypeError, log
from ._lengths import Integers
from ._misfit import without_plan
from ._oversize import OVERSIZE, Oversize, fitted_sequences, require_known_targets
from ._search import Search
from ._step import Report, Sequences, Step
from ._threads import Threads
from ._window import Batch, batches_of, dealt, errors_of, instances_of, rule_of

if TYPE_CHECKING:
    from concurrent.futures import Future

Planned = TypeVar("Planned")


class Planner:
    """Plans one global batch after another for a cluster.

    Args:
        method: "fast" is fast enough for a data loader; "auto" improves the plan until its limit;
            stowage.methods() lists all methods.
        time_limit: wall-clock seconds per plan; None for no limit. With a limit, plans depend on
            the machine.
        node_limit: limit on the nodes of a search; plans do not depend on the machine.
        gap: relative gap at which the search stops.
        seed: seed of randomised methods.
        solver: MILP backend, "auto" or one of stowage.build_info()["backends"].
        params: values of parameters by name, in place of their defaults; stowage.params("scatter")
            lists all parameters.
        without: names of stages to leave out; stowage.stages("scatter") lists all stages.
        on_oversize: treatment of a sequence that no group can hold: "raise" raises Infeasible,
            "drop" omits it, and "clip" cuts it to Cluster.largest_sequence. With "clip", loss tokens
            of such a sequence are refused.
        threads: threads of submit() and stream().

    The same arguments and lengths give the same plan on every rank and machine, unless a time limit
    ends the search. Any number of threads may call a planner concurrently. It can be pickled. After a
    fork the child process has its own threads. `with Planner(...)`, close() and the end of the
    program end the planner's threads and searches.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        method: str = "fast",
        time_limit: Optional[float] = None,
        node_limit: Optional[int] = None,
        gap: float = 0.0,
        seed: int = 0,
        solver: str = "auto",
        params: Optional[Mapping[str, float]] = None,
        without: Sequence[str] = (),
        on_oversize: Oversize = "raise",
        threads: int = 1,
    ) -> None:
        if not isinstance(cluster, Cluster):
            raise InputTypeError(f"cluster: must be a Cluster, is of the type {_type(cluster)}")
        if text(on_oversize, "on_oversize") not in OVERSIZE:
            raise ValueError(f"on_oversize: must be one of {OVERSIZE}, is {on_oversize!r}")
        threads = whole(threads, "threads")
        if threads < 1:
            raise ValueError(f"threads: must be at least 1, is {threads}")
        self.cluster = cluster
        self.search = Search.of(method, time_limit, node_limit, gap, seed, solver, params, without)
        self.search.check(cluster._instance)
        self.on_oversize = on_oversize
        self.threads = threads
        self._forget_threads()
        _planners.add(self)

    def _forget_threads(self) -> None:
        self._lock = threading.Lock()
        self._pool: Optional[Threads] = None
        self._running: set[_core.Interrupt] = set()

    def __repr__(self) -> str:
        cluster = self.cluster
        limits = "".join(
            f", {name}={value}"
            for name, value in (
                ("time_limit", self.search.time_limit),
                ("node_limit", self.search.node_limit),
            )
            if value is not None
        )
        return (
            f"<Planner {self.search.method!r}{limits}: {cluster.devices} devices, degrees "
            f"{', '.join(map(str, cluster.degrees))}>"
        )

    def plan(
        self,
        lengths: Integers,
        *,
        ids: Optional[Integers] = None,
        loss_tokens: Optional[Integers] = None,
        start: Optional[Step] = None,
    ) -> Step:
        """Returns the plan of a batch of K sequences.

        Args:
            lengths: tokens of the sequences, integers [K], each at least 1.
            ids: ids of the sequences in Step.sequences, integers [K]; default 0 to K - 1.
            loss_tokens: targets (unmasked labels) of each sequence, integers [K], 0 to its length;
                default the lengths. Loss denominators and trainer files depend on them, plans do
                not.
            start: a plan of the same lengths and loss tokens from which the search starts; the
                result is never worse.

        Raises InputTypeError and InputError for invalid arguments, Infeasible for sequences that
        fit in no group and for rules that these sequences cannot satisfy, NoPlan if a limit ends
        the search before the first plan, and KeyboardInterrupt. The first Ctrl-C ends a search with
        the best plan so far, whose stopped_by is "interrupted".
        """
        return self._plan(self.cluster, lengths, ids, loss_tokens, start)

    def _plan(
        self,
        cluster: Cluster,
        lengths: Integers,
        ids: Optional[Integers],
        loss_tokens: Optional[Integers],
        start: Optional[Step],
    ) -> Step:
        interrupt = _core.Interrupt()
        with self._lock:
            self._running.add(interrupt)
        try:
            given = fitted_sequences(cluster, self.on_oversize, lengths, ids, loss_tokens)
            return self._planned(cluster, *given, start, interrupt)
        finally:
            with self._lock:
                self._running.discard(interrupt)

    def plan_window(
        self,
        batches: Iterable[Batch],
        *,
        delay: Optional[int] = None,
        token_spread: Optional[float] = None,
    ) -> list[Step]:
        """Plans consecutive batches together: sequences change batches where that saves time.

        Each batch keeps its number of sequences, and all batches together have the sequences that they
        were given: Step.ids tells which. Long sequences that share a step leave fewer ranks idle.
        If no deal is faster, each batch keeps its own sequences.

        Args:
            batches: a batch is its lengths, or a mapping of "lengths", "ids" and "loss_tokens" as
                plan() takes them. Default ids count on from batch to batch.
            delay: steps by which a sequence may come later than in its own batch; default no limit.
                Sequences may always come earlier.
            token_spread: no step has more tokens than this factor times those of the largest batch,
                or fewer than those of the smallest one divided by it; at least 1; default no limit.
                Steps of unlike tokens have gradients of unlike noise.

        Raises what plan() raises, and ValueError for ids that are not unique in the window.
        """
        return self._plan_window(self.cluster, batches, delay, token_spread)

    def _plan_window(
        self,
        cluster: Cluster,
        batches: Iterable[Batch],
        delay: Optional[int],
        token_spread: Optional[float],
    ) -> list[Step]:
        given = batches_of(batches)
        rule = rule_of(len(given), delay, token_spread)
        interrupt = _core.Interrupt()
        with self._lock:
            self._running.add(interrupt)
        try:
            drawn = []
            for at, own in enumerate(given):
                with errors_of(at):
                    drawn.append(
                        fitted_sequences(
                            cluster,
                            self.on_oversize,
                            own["lengths"],
                            own["ids"],
                            own.get("loss_tokens"),
                        )
                    )
            planned = self.search.run_window(instances_of(cluster, drawn), rule, interrupt)
        finally:
            with self._lock:
                self._running.discard(interrupt)
        ids = [sequences for _, _, sequences in drawn]
        return [
            self._step_of(
                cluster, instance, outcome, drawn[own][0], dealt(ids, own, steps, indices)
            )
            for own, (instance, outcome, steps, indices) in enumerate(planned)
        ]

    def submit_window(
        self,
        batches: Iterable[Batch],
        *,
        delay: Optional[int] = None,
        token_spread: Optional[float] = None,
    ) -> Future[list[Step]]:
        """Plans a window as plan_window() on a thread of the planner. Returns a future of its
        steps."""
        given = list(each_of(batches, "batches"))
        return self._on_thread(
            functools.partial(self._plan_window, self.cluster, given, delay, token_spread)
        )

    def use_cost(self, cost: Union[str, os.PathLike[str], Mapping[str, Any]]) -> None:
        """Uses another cost (Cluster.with_cost) for all later calls.

        Plans that submit() and stream() have already begun or queued keep the old cost. Ranks that
        plan the same steps must change the cost before the same step.
        """
        cluster = self.cluster.with_cost(cost)
        self.search.check(cluster._instance)
        self.cluster = cluster

    def submit(
        self,
        lengths: Integers,
        *,
        ids: Optional[Integers] = None,
        loss_tokens: Optional[Integers] = None,
        start: Optional[Step] = None,
    ) -> Future[Step]:
        """Plans on a thread of the planner without the interpreter's lock. Returns a future of the
        Step."""
        return self._on_thread(
            functools.partial(self._plan, self.cluster, lengths, ids, loss_tokens, start)
        )

    def _on_thread(self, call: Callable[[], Planned]) -> Future[Planned]:
        with self._lock:
            if self._pool is None:
                self._pool = Threads(self.threads)
                weakref.finalize(self, self._pool.stop)
            return self._pool.submit(call)

    def stream(self, batches: Iterable[Batch], *, ahead: int = 2) -> Iterator[Step]:
        """Yields the plans of batches in order, and plans up to `ahead` batches in advance.

        A batch is its lengths, or a mapping of the arguments of plan(): {"lengths": ...,
        "loss_tokens": ...}.
        """
        ahead = whole(ahead, "ahead")
        if ahead < 1:
            raise ValueError(f"ahead: must be at least 1, is {ahead}")
        waiting: deque[Future[Step]] = deque()
        try:
            for batch in each_of(batches, "batches"):
                given = batch if isinstance(batch, Mapping) else {"lengths": batch}
                waiting.append(self.submit(**given))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def close(self) -> None:
        """Ends all running searches with their best plans so far, and ends the threads."""
        with self._lock:
            for interrupt in self._running:
                interrupt.set()
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _planner_of, (self.cluster, self.search, self.on_oversize, self.threads)

    def require_known_targets(self, lengths: Integers, loss_tokens: Integers) -> None:
        """Raises ValueError for sequences with targets that would be clipped.

        The number of targets after a cut depends on the labels, so cut the sequences first and
        count the targets.
        """
        require_known_targets(self.cluster, self.on_oversize, lengths, loss_tokens)

    def _planned(
        self,
        cluster: Cluster,
        lengths: NDArray[np.int64],
        targets: Optional[NDArray[np.int64]],
        sequences: Sequences,
        start: Optional[Step],
        interrupt: _core.Interrupt,
    ) -> Step:
        if start is not None and not isinstance(start, Step):
            raise InputTypeError(f"start: must be a Step, is of the type {_type(start)}")
        instance = cluster._instance.with_lengths(lengths, targets, cluster.name)
        if start is not None and start.instance_hash != instance.hash():
            raise ValueError(
                "start: must be a plan of these lengths and loss tokens on this cluster"
            )
        outcome = self.search.run(instance, None if start is None else start._plan, interrupt)
        return self._step_of(cluster, instance, outcome, lengths, sequences)

    def _step_of(
        self,
        cluster: Cluster,
        instance: _core.Instance,
        outcome: _core.Outcome,
        lengths: NDArray[np.int64],
        sequences: Sequences,
    ) -> Step:
        plan = outcome.plan
        if plan is None:
            raise without_plan(cluster, outcome, lengths, sequences)
        report = Report(
            outcome.status,
            outcome.objective or 0.0,
            outcome.bound,
            outcome.bound_by,
            outcome.gap or 0.0,
            outcome.stopped_by,
            outcome.found_by,
            outcome.seconds,
        )
        if outcome.detail:
            log().info("%s: %s", outcome.method, outcome.detail)
        log().debug("planned %d sequences: %s", len(lengths), report)
        return Step(instance, plan, report, sequences)


def _type(value: object) -> str:
    return type(value).__name__


def _planner_of(cluster: Cluster, search: Search, on_oversize: Oversize, threads: int) -> Planner:
    return Planner(cluster, on_oversize=on_oversize, threads=threads, **search._asdict())


# Threads do not survive a fork, and locks that they held stay locked.
_planners: weakref.WeakSet[Planner] = weakref.WeakSet()


def _at_exit() -> None:
    for planner in list(_planners):
        planner.close()


atexit.register(_at_exit)


def _after_fork() -> None:
    for planner in _planners:
        planner._forget_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
