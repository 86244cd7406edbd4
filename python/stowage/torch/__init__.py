"""Planned global batches in a DataLoader of torch, and the process groups that they run on.

sampler = StepBatchSampler(lengths, planner, global_batch_size=512, rank=rank)
loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=PackedCollator(sampler, pad_token_id=0))
groups = Groups(planner.cluster)
for step, micro_batches in sampler.steps_with(loader):
    for batch in micro_batches:
        if not batch.idle:
            ...  # batch.input_ids [1, T / degree] on groups[batch]
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Sampler

from .._cluster import Cluster
from .._errors import Error
from .._lengths import Integers, as_integers
from .._planner import Planner
from .._step import Step
from .._trainer_step import Batch

#: What cross_entropy leaves out.
IGNORED = -100


@dataclass(frozen=True, eq=False)
class PackedBatch:
    """A rank's part of one packed row; `idle` where it has none: then all sizes are 0.

    input_ids, labels, position_ids: int64 [1, T / degree]; labels are the tokens to predict, -100
    where there is none. cu_seqlens, cu_seqlens_padded: int32 [sequences + 1], of the whole row.
    max_seqlen: the longest, padded. ranks: those that share the row. loss_denominator: of the step.
    """

    input_ids: Tensor
    labels: Tensor
    position_ids: Tensor
    cu_seqlens: Tensor
    cu_seqlens_padded: Tensor
    max_seqlen: int = 0
    ranks: tuple[int, ...] = ()
    micro_batch: int = 0
    loss_denominator: int = 0
    sequences: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def idle(self) -> bool:
        return self.input_ids.numel() == 0

    @property
    def degree(self) -> int:
        return len(self.ranks)

    @property
    def loss_scale(self) -> float:
        """What a sum of token losses is multiplied with, gradients being summed over all ranks."""
        return 1.0 / self.loss_denominator if self.loss_denominator else 0.0

    def _with_tensors(self, change: Any) -> PackedBatch:
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(self, **{k: change(v) for k, v in own.items() if isinstance(v, Tensor)})

    def to(self, device: Any, non_blocking: bool = False) -> PackedBatch:
        """The same on another device."""
        return self._with_tensors(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> PackedBatch:
        """The same in pinned memory; DataLoader(pin_memory=True) calls it."""
        return self._with_tensors(lambda tensor: tensor.pin_memory())


class StepBatchSampler(Sampler[list[int]]):
    """This rank's rows of a data set, micro-batch after micro-batch, of planned global batches.

    An idle rank gets []. Every rank draws the same global batches and plans them itself: the plans
    are equal, for a planner without a time limit is deterministic.

    Args:
        lengths: tokens of each row of the data set, integers [K].
        planner: its cluster's devices are the ranks.
        global_batch_size: sequences of a step.
        rank: of this process; default that of torch.distributed.
        shuffle, seed: the order of an epoch, drawn with `seed` and the epoch.
        drop_last: leave out a last step of fewer sequences.
        ahead: steps that are planned before they are needed.
        loss_tokens: labels of each row that are not ignored, integers [K]; default the lengths.
        replicated: False, and rank 0 plans and broadcasts over torch.distributed.
        compare: compare the plans of all ranks, over torch.distributed, before a step is used.
            Raises stowage.Error where they differ: versions, clusters or lengths do then.

    Raises ValueError for a planner with a time limit if replicated, whose plans depend on the machine.
    `len()` is unknown before planning; `steps` is the number of steps of an epoch.
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
    ) -> None:
        if replicated and planner.search.time_limit is not None:
            raise ValueError(
                "a planner with a time_limit plans otherwise on every rank: set node_limit, or "
                "replicated=False"
            )
        if global_batch_size < 1:
            raise ValueError(f"global_batch_size: must be at least 1, is {global_batch_size}")
        if ahead < 1:
            raise ValueError(f"ahead: must be at least 1, is {ahead}")
        self.rank = dist.get_rank() if rank is None else rank
        if not 0 <= self.rank < planner.cluster.devices:
            raise ValueError(
                f"rank: must be from 0 to {planner.cluster.devices - 1}, is {self.rank}"
            )
        self.lengths = as_integers(lengths, "lengths")
        self.loss_tokens = None if loss_tokens is None else as_integers(loss_tokens, "loss_tokens")
        if self.loss_tokens is not None and self.loss_tokens.size != self.lengths.size:
            raise ValueError("loss_tokens: must be as many as lengths")
        self.planner = planner
        self.global_batch_size = global_batch_size
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.ahead, self.replicated, self.compare = ahead, replicated, compare
        self.epoch = 0
        self._done = 0  # steps of the epoch that steps_with() has gone through
        self._handed: deque[Step] = deque()  # steps whose rows were asked for, not yet consumed
        if self.steps == 0:
            raise ValueError(
                f"{self.lengths.size} rows make no step of {global_batch_size}: set drop_last=False"
            )

    @property
    def steps(self) -> int:
        """Steps of an epoch."""
        whole, rest = divmod(self.lengths.size, self.global_batch_size)
        return whole + (1 if rest and not self.drop_last else 0)

    def __len__(self) -> int:
        raise TypeError("the number of micro-batches is known once steps are planned; see steps")

    def set_epoch(self, epoch: int) -> None:
        """Begins another epoch, from its first step."""
        self.epoch, self._done = epoch, 0

    def rows_of(self, step: int) -> NDArray[np.int64]:
        """The rows of the global batch `step` of this epoch."""
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(self.lengths.size, generator=generator).numpy()
        else:
            order = np.arange(self.lengths.size)
        return order[step * self.global_batch_size : (step + 1) * self.global_batch_size]

    def _submit(self, step: int) -> Future[Step]:
        rows = self.rows_of(step)
        targets = None if self.loss_tokens is None else self.loss_tokens[rows]
        return self.planner.submit(self.lengths[rows], ids=rows, loss_tokens=targets)

    def _plans(self) -> Iterator[Step]:
        """The steps that are left of the epoch, planned ahead."""
        if not self.replicated and dist.get_rank() != 0:
            for _ in range(self._done, self.steps):
                yield _broadcast(None)
            return
        waiting: deque[Future[Step]] = deque()
        for step in range(self._done, self.steps):
            waiting.append(self._submit(step))
            if len(waiting) > self.ahead:
                yield self._shared(waiting.popleft().result())
        while waiting:
            yield self._shared(waiting.popleft().result())

    def _shared(self, step: Step) -> Step:
        if not self.replicated:
            return _broadcast(step)
        if self.compare:
            _require_equal(step)
        return step

    def __iter__(self) -> Iterator[list[int]]:
        self._handed.clear()
        for step in self._plans():
            self._handed.append(step)
            for batch in step.of_rank(self.rank):
                yield [] if batch is None else batch.sequences.tolist()

    def steps_with(self, loader: DataLoader[Any]) -> Iterator[tuple[Step, Iterator[PackedBatch]]]:
        """The steps left of this epoch, each with its micro-batches as `loader` delivers them.

        The loader has this sampler and a PackedCollator. A step whose micro-batches were not all
        taken is finished before the next. Behind the last step the next epoch begins.
        """
        packer = loader.collate_fn
        if loader.batch_sampler is not self or not isinstance(packer, PackedCollator):
            raise ValueError("loader: must have this sampler and a PackedCollator")
        delivered = iter(loader)
        for _ in range(self._done, self.steps):
            row = next(delivered)  # which makes sure that the step was planned
            step = self._handed.popleft()
            batches = self._batches(step, row, delivered, packer)
            yield step, batches
            for _ in batches:
                pass
            self._done += 1
        self.set_epoch(self.epoch + 1)

    def _batches(
        self, step: Step, row: PackedBatch, delivered: Iterator[PackedBatch], packer: PackedCollator
    ) -> Iterator[PackedBatch]:
        for m, batch in enumerate(step.of_rank(self.rank)):
            if m > 0:
                row = next(delivered)
            yield (
                replace(row, micro_batch=m)
                if batch is None
                else packer.part(step, batch, row, self.rank)
            )

    def state_dict(self) -> dict[str, int]:
        """Where the training is: load it into a sampler made with the same arguments."""
        return {"epoch": self.epoch, "step": self._done}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Goes on behind the last step that steps_with() finished when the state was taken."""
        self.epoch, self._done = state["epoch"], state["step"]

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes state_dict() as JSON."""
        Path(path).write_text(json.dumps(self.state_dict()), encoding="utf-8")

    def load(self, path: Union[str, os.PathLike[str]]) -> None:
        """Reads what save() wrote."""
        self.load_state_dict(json.loads(Path(path).read_text(encoding="utf-8")))


def _broadcast(step: Optional[Step]) -> Step:
    box = [step]
    dist.broadcast_object_list(box, src=0)
    assert box[0] is not None
    return box[0]


def _require_equal(step: Step) -> None:
    own = hashlib.sha256(step.to_bytes() + step.ids.tobytes()).hexdigest()
    everywhere: list[Optional[str]] = [None] * dist.get_world_size()
    dist.all_gather_object(everywhere, own)
    other = [rank for rank, plan in enumerate(everywhere) if plan != everywhere[0]]
    if other:
        raise Error(f"the ranks {other} have planned otherwise than rank 0")


class PackedCollator:
    """Packs the sequences of a micro-batch into one row, padded as they were planned.

    Samples are mappings with "input_ids" and perhaps "labels", 1-d, by default the input_ids.

    Args:
        sampler: whose planner says what lengths are padded to.
        pad_token_id: of padding in input_ids; its labels are -100.
        shift: labels stand at their own token, as in Hugging Face data sets, and are moved to the
            one before, which predicts them; False if they were moved already.
        slice: "zigzag" or "contiguous" parts of a row for the ranks of its group, None for whole rows.
    """

    def __init__(
        self,
        sampler: StepBatchSampler,
        *,
        pad_token_id: int,
        shift: bool = True,
        slice: Optional[str] = "zigzag",
    ) -> None:
        if slice not in ("zigzag", "contiguous", None):
            raise ValueError(f'slice: must be "zigzag", "contiguous" or None, is {slice!r}')
        self.pad_multiple = sampler.planner.cluster.pad_multiple
        self.pad_token_id = pad_token_id
        self.shift = shift
        self.slice = slice
        self.counted = sampler.loss_tokens is not None

    def __call__(self, samples: Sequence[Mapping[str, Any]]) -> PackedBatch:
        """The whole row."""
        ids, labels, places, lengths, padded = [], [], [], [0], [0]
        for sample in samples:
            tokens = torch.as_tensor(sample["input_ids"], dtype=torch.int64)
            targets = torch.as_tensor(sample.get("labels", tokens), dtype=torch.int64)
            if self.shift:
                targets = torch.cat([targets[1:], targets.new_full((1,), IGNORED)])
            length = -(-len(tokens) // self.pad_multiple) * self.pad_multiple
            more = length - len(tokens)
            ids.append(torch.nn.functional.pad(tokens, (0, more), value=self.pad_token_id))
            labels.append(torch.nn.functional.pad(targets, (0, more), value=IGNORED))
            places.append(torch.arange(length))
            lengths.append(len(tokens))
            padded.append(length)
        none = torch.zeros(0, dtype=torch.int64)
        return PackedBatch(
            input_ids=torch.cat([none, *ids])[None],
            labels=torch.cat([none, *labels])[None],
            position_ids=torch.cat([none, *places])[None],
            cu_seqlens=torch.tensor(lengths).cumsum(0).to(torch.int32),
            cu_seqlens_padded=torch.tensor(padded).cumsum(0).to(torch.int32),
        )

    def part(self, step: Step, batch: Batch, row: PackedBatch, rank: int) -> PackedBatch:
        """What `rank` holds of a row of `step`. Raises ValueError for a row that was not planned so."""
        if not np.array_equal(row.cu_seqlens.numpy(), batch.cu_seqlens):
            raise ValueError(
                f"rows {batch.sequences.tolist()}: lengths must be those that were planned, "
                f"{np.diff(batch.cu_seqlens).tolist()}, are {row.cu_seqlens.diff().tolist()}"
            )
        targets = int((row.labels != IGNORED).sum())
        if self.counted and targets != batch.loss_denominator:
            raise ValueError(
                f"rows {batch.sequences.tolist()}: loss_tokens must be the labels that are not "
                f"{IGNORED}, {targets} behind the shift, are {batch.loss_denominator}"
            )
        own = replace(
            row,
            max_seqlen=batch.max_seqlen,
            ranks=tuple(batch.ranks),
            micro_batch=batch.micro_batch,
            loss_denominator=step.loss_denominator,
            sequences=batch.sequences,
        )
        if self.slice is None or batch.degree == 1:
            return own
        at = torch.from_numpy(step.positions(batch.index, rank, self.slice))
        return replace(
            own,
            input_ids=row.input_ids[:, at],
            labels=row.labels[:, at],
            position_ids=row.position_ids[:, at],
        )


class Groups:
    """The process groups of all groups that plans of a cluster can have, made once.

    Every rank must make it, at the same place of its program. `groups[batch]` is the group of a
    PackedBatch or Batch, None where one rank computes alone. N - 1 groups for N aligned ranks.
    Raises ValueError for clusters that are not aligned, whose groups would be too many.
    """

    def __init__(self, cluster: Cluster, ranks: Optional[Sequence[int]] = None) -> None:
        """`ranks`: those of torch.distributed that the cluster's devices are, default 0 to N - 1."""
        if not cluster.aligned:
            raise ValueError("groups of a cluster that is not aligned may begin at any rank")
        own = range(cluster.devices) if ranks is None else ranks
        if len(own) != cluster.devices:
            raise ValueError(f"ranks: must be {cluster.devices}, are {len(own)}")
        self._groups: dict[tuple[int, int], dist.ProcessGroup] = {}
        for degree in cluster.degrees:
            if degree == 1:
                continue
            for first in range(0, cluster.devices - degree + 1, degree):
                members = [own[rank] for rank in range(first, first + degree)]
                self._groups[first, degree] = dist.new_group(members)

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, batch: Union[PackedBatch, Batch]) -> Optional[dist.ProcessGroup]:
        if batch.degree <= 1:
            return None
        return self._groups[batch.ranks[0], batch.degree]


def target_counts(labels: Iterable[Sequence[int]], shift: bool = True) -> NDArray[np.int64]:
    """How many labels of each row are not ignored: `loss_tokens` of the data set, int64 [K]."""
    first = 1 if shift else 0
    return np.array([int(np.sum(np.asarray(row)[first:] != IGNORED)) for row in labels], np.int64)
