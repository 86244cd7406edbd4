"""The batch sampler that plans global batches."""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from functools import cached_property
from typing import Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Sampler

from .._arguments import path_of, require, whole
from .._errors import Error
from .._lengths import Integers, as_integers
from .._planner import Planner
from .._step import Step
from .._window import rule_of
from ._batch import PackedBatch
from ._delivery import Delivery, Packer
from ._iteration import Iteration, Position, Start, digest_of, reader_of_caller


class StepBatchSampler(Sampler[list[int]]):
    """Yields this rank's rows of a data set, micro-batch after micro-batch of planned global
    batches.

    An idle rank gets []. Every rank draws the same global batches and plans them itself. The plans
    are equal, because a planner without a time limit is deterministic.

    Args:
        lengths: tokens of each row of the data set, integers [K].
        planner: its cluster's devices are the ranks.
        global_batch_size: number of sequences of a step.
        rank: rank of this process; default that of torch.distributed.
        shuffle, seed: with shuffle, the order of an epoch is drawn from `seed` and the epoch.
        drop_last: omit a last step of fewer sequences.
        ahead: number of steps that are planned in advance.
        loss_tokens: labels of each row that are not ignored, integers [K]; default the lengths.
        replicated: if False, rank 0 plans and broadcasts over torch.distributed.
        window: number of consecutive steps that are planned together (Planner.plan_window), whose
            rows may change steps. Step.ids are the rows of a step then, and rows_of() those that were
            drawn for it.
        delay, token_spread: limits on what a window changes, as plan_window() takes them.
        compare: compare the plans of all ranks, over torch.distributed, before a step is used.
            Raises stowage.Error if they differ, because versions, clusters or lengths then differ.

    Raises ValueError for a planner with a time limit if replicated, whose plans depend on the machine,
    and for loss_tokens of rows that the planner would clip, whose targets are then unknown.
    `len()` is unknown before planning; `steps` is the number of steps of an epoch.

    An iteration begins at the position set by load_state_dict() or set_epoch(); steps_with() begins
    where the last steps_with() was left. After the end of an epoch the next epoch begins.
    """

    def __init__(
        self,
        lengths: Integers,
        planner: Planner,
        *,
        global_batch_size: int,
        rank: Optional[int] = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = True,
        ahead: int = 2,
        loss_tokens: Optional[Integers] = None,
        replicated: bool = True,
        compare: bool = False,
        window: int = 1,
        delay: Optional[int] = None,
        token_spread: Optional[float] = None,
    ) -> None:
        require(planner, Planner, "planner")
        global_batch_size = whole(global_batch_size, "global_batch_size")
        ahead, seed = whole(ahead, "ahead"), whole(seed, "seed")
        window = whole(window, "window")
        if window < 1:
            raise ValueError(f"window: must be at least 1 step, is {window}")
        self._rule = rule_of(window, delay, token_spread)
        if window == 1 and (delay is not None or token_spread is not None):
            raise ValueError("delay and token_spread have no effect without window")
        if replicated and planner.search.time_limit is not None:
            raise ValueError(
                "a planner with a time_limit plans otherwise on every rank: set node_limit, or "
                "replicated=False"
            )
        if global_batch_size < 1:
            raise ValueError(f"global_batch_size: must be at least 1, is {global_batch_size}")
        if ahead < 1:
            raise ValueError(f"ahead: must be at least 1, is {ahead}")
        if rank is None and dist.get_world_size() != planner.cluster.devices:
            raise ValueError(
                f"planner: its cluster must have the {dist.get_world_size()} ranks of this job as "
                f"devices, has {planner.cluster.devices}: cluster.replace(devices=...)"
            )
        self.rank = dist.get_rank() if rank is None else whole(rank, "rank")
        if not 0 <= self.rank < planner.cluster.devices:
            raise ValueError(
                f"rank: must be from 0 to {planner.cluster.devices - 1}, is {self.rank}"
            )
        self.lengths = as_integers(lengths, "lengths")
        self.loss_tokens = None if loss_tokens is None else as_integers(loss_tokens, "loss_tokens")
        if self.loss_tokens is not None and self.loss_tokens.size != self.lengths.size:
            raise ValueError("loss_tokens: must be as many as lengths")
        if self.loss_tokens is not None:
            planner.require_known_targets(self.lengths, self.loss_tokens)
        self.planner = planner
        self.global_batch_size = global_batch_size
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.ahead, self.replicated, self.compare = ahead, replicated, compare
        self.window = window
        self._start = Start(Position(0, 0, 0))
        self._iteration: Optional[Iteration] = None  # the iteration begun last
        self._drawn: tuple[int, NDArray[np.int64]] = (-1, np.zeros(0, np.int64))  # epoch, its rows
        if self.steps == 0:
            raise ValueError(
                f"{self.lengths.size} rows make no step of {global_batch_size}: set drop_last=False"
            )

    @property
    def epoch(self) -> int:
        """The epoch of the loop; after its end, the next epoch."""
        self._settle()
        return self._start.position.epoch

    def _settle(self) -> None:
        """Moves to the next epoch if the last iteration reached the end of its epoch."""
        if self._iteration is not None and self._iteration.complete:
            self._start, self._iteration = self._iteration.reached, None

    @property
    def steps(self) -> int:
        """The number of steps of an epoch."""
        whole_steps, rest = divmod(self.lengths.size, self.global_batch_size)
        return whole_steps + (1 if rest and not self.drop_last else 0)

    def __len__(self) -> int:
        raise TypeError("the number of micro-batches is known once steps are planned; see steps")

    def set_epoch(self, epoch: int) -> None:
        """Begins another epoch with its first step. If `epoch` is the current epoch, it continues."""
        epoch = whole(epoch, "epoch")
        if epoch < 0:
            raise ValueError(f"epoch: must be at least 0, is {epoch}")
        if epoch != self.epoch:
            self._start, self._iteration = Start(Position(epoch, 0, 0)), None

    def rows_of(self, step: int, epoch: Optional[int] = None) -> NDArray[np.int64]:
        """Returns the rows of the global batch `step` of an epoch, by default of `self.epoch`."""
        drawn, order = self._drawn
        wanted = self.epoch if epoch is None else epoch
        if drawn != wanted:
            if self.shuffle:
                generator = torch.Generator().manual_seed(self.seed + wanted)
                order = torch.randperm(self.lengths.size, generator=generator).numpy()
            else:
                order = np.arange(self.lengths.size)
            self._drawn = wanted, order
        return order[step * self.global_batch_size : (step + 1) * self.global_batch_size].copy()

    def _batch(self, step: int, epoch: int) -> dict[str, Any]:
        rows = self.rows_of(step, epoch)
        targets = None if self.loss_tokens is None else self.loss_tokens[rows]
        return {"lengths": self.lengths[rows], "ids": rows, "loss_tokens": targets}

    def _submit(self, first: int, epoch: int) -> Callable[[], list[Step]]:
        """Begins to plan the window of steps that begins with `first`. Returns a call that waits for
        its steps."""
        batches = [
            self._batch(step, epoch) for step in range(first, min(first + self.window, self.steps))
        ]
        if self.window == 1:
            alone = self.planner.submit(**batches[0])
            return lambda: [alone.result()]
        delay, spread = self._rule
        return self.planner.submit_window(batches, delay=delay, token_spread=spread).result

    def _plans(self, at: Position) -> Iterator[Step]:
        """Yields the steps of the epoch from a position on, planned in advance."""
        if at.step >= self.steps:
            return
        if not self.replicated and dist.get_rank() != 0:
            for _ in range(at.step, self.steps):
                yield _broadcast(None)
            return
        # Windows are aligned to the epoch, so that a step has the same plan wherever one begins.
        waiting: deque[tuple[int, Callable[[], list[Step]]]] = deque()
        ahead = -(-self.ahead // self.window)  # windows
        for first in range(at.step // self.window * self.window, self.steps, self.window):
            waiting.append((max(at.step - first, 0), self._submit(first, at.epoch)))
            if len(waiting) > ahead:
                yield from self._shared(*waiting.popleft())
        while waiting:
            yield from self._shared(*waiting.popleft())

    def _shared(self, begin: int, planned: Callable[[], list[Step]]) -> Iterator[Step]:
        """Yields the steps of a window from number `begin` of it on."""
        if not self.replicated:
            try:
                steps = planned()
            except Exception as failed:
                _broadcast(failed)  # it raises the exception on all ranks
                return
            for step in steps[begin:]:
                yield _broadcast(step)
            return
        for step in planned()[begin:]:
            if self.compare:
                _require_equal(step)
            yield step

    def __iter__(self) -> Iteration:
        """Returns the rows of the rest of the epoch. Raises stowage.Error inside a wrapper that
        shards them."""
        reader = reader_of_caller(self)
        self._settle()
        if self._iteration is not None and self._iteration.exhausted:
            # A loop that counts the items of its loader does not request the end of the iteration.
            self._start = Start(Position(self._start.position.epoch + 1, 0, 0))
        self._iteration = Iteration(self, self._start, reader)
        return self._iteration

    def steps_with(self, loader: DataLoader[Any]) -> Iterator[tuple[Step, Iterator[PackedBatch]]]:
        """Yields the remaining steps of this epoch, each with its micro-batches from `loader`.

        The loader must have this sampler and a PackedCollator. If the loop did not take all
        micro-batches of a step, they are read before the next step. After a resume within a step,
        the step has its remaining micro-batches. After the last step the next epoch begins.
        """
        packer = getattr(loader, "collate_fn", None)
        if getattr(loader, "batch_sampler", None) is not self or not isinstance(packer, Packer):
            raise ValueError(
                "loader: must have this sampler and a PackedCollator, has "
                f"{type(getattr(loader, 'batch_sampler', None)).__name__} and {type(packer).__name__}; "
                "stowage.torch.loader() makes one that prepare() of a framework leaves as it is"
            )
        self._settle()
        if self._iteration is not None and self._iteration.counted:
            self._start = self._iteration.reached
        delivered = Delivery(self, iter(loader), packer)
        for first in delivered:
            assert first.plan is not None
            batches = delivered.rest_of_step(first)
            yield first.plan, batches
            for _ in batches:
                pass

    def state_dict(self) -> dict[str, Any]:
        """Returns the position of the training: after the last micro-batch that the loop received.

        Keys: "epoch", "step" and "micro_batch" of the next micro-batch; "order", a digest of the
        arguments that determine the order of rows; "plan", a digest of the plan of a step that has
        begun. A loop that accumulates gradients over the micro-batches of a step must take the state
        after the last micro-batch, or save the gradients too.
        """
        return self._state(self._start if self._iteration is None else self._iteration.reached)

    def _state(self, start: Start) -> dict[str, Any]:
        plan = {"plan": start.plan} if start.position.micro_batch else {}
        return {**start.position._asdict(), **plan, "order": self._order}

    @cached_property
    def _order(self) -> str:
        """Returns a digest of the arguments that determine which rows form which step."""
        kind = (self.global_batch_size, self.shuffle, self.seed, self.drop_last)
        digest = hashlib.sha256(repr(kind).encode())
        if self.window > 1:
            digest.update(repr((self.window, self._rule)).encode())
        digest.update(self.lengths.tobytes())
        return digest.hexdigest()[:16]

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues at the position of a state.

        A state without "micro_batch" continues at the beginning of its step. Raises ValueError for
        an invalid state, or the state of a sampler with other rows, seed or batch size.
        """
        try:
            begin = whole(state["epoch"], "epoch"), whole(state["step"], "step")
            at = Position(*begin, whole(state.get("micro_batch", 0), "micro_batch"))
        except (AttributeError, KeyError, TypeError) as wrong:
            raise ValueError(f"state: must be what state_dict() returned: {wrong}") from None
        if at.epoch < 0 or at.micro_batch < 0 or not 0 <= at.step <= self.steps:
            raise ValueError(
                f"state: epoch and micro_batch must be at least 0, step from 0 to {self.steps}, are "
                f"{at.epoch}, {at.micro_batch} and {at.step}"
            )
        if state.get("order", self._order) != self._order:
            raise ValueError(
                "state: was taken by a sampler with other lengths, seed, shuffle, drop_last, "
                "global_batch_size or window, which has other steps"
            )
        self._start, self._iteration = Start(at, str(state.get("plan", ""))), None

    def __getstate__(self) -> dict[str, Any]:
        start = self._start if self._iteration is None else self._iteration.reached
        return {**self.__dict__, "_start": start, "_iteration": None}

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes state_dict() as JSON, atomically."""
        target = path_of(path, "path")
        written = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            written.write_text(json.dumps(self.state_dict()), encoding="utf-8")
            os.replace(written, target)
        finally:
            written.unlink(missing_ok=True)

    def load(self, path: Union[str, os.PathLike[str]]) -> None:
        """Reads a state that save() wrote. Raises ValueError for any other file."""
        try:
            state = json.loads(path_of(path, "path").read_text(encoding="utf-8"))
        except ValueError as wrong:  # not UTF-8, or not JSON
            raise ValueError(f"{os.fspath(path)}: is no state of a sampler: {wrong}") from None
        self.load_state_dict(state)


def _broadcast(planned: Union[Step, Exception, None]) -> Step:
    """Returns rank 0's plan on every rank. If rank 0 failed, raises its exception on every rank."""
    box = [planned]
    dist.broadcast_object_list(box, src=0)
    if isinstance(box[0], Exception):
        raise box[0]
    assert box[0] is not None
    return box[0]


def _require_equal(step: Step) -> None:
    own = digest_of(step)
    everywhere: list[Optional[str]] = [None] * dist.get_world_size()
    dist.all_gather_object(everywhere, own)
    other = [rank for rank, plan in enumerate(everywhere) if plan != everywhere[0]]
    if other:
        raise Error(f"the ranks {other} have planned otherwise than rank 0")
