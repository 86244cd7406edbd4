"""A plan for a training loop: the packed row of every rank in every micro-batch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import path_of, text, whole
from ._errors import InputTypeError
from ._ragged import Ragged


@dataclass(frozen=True, eq=False)
class Batch:
    """A packed row and the ranks that share it. Its arrays are views of the step's arrays."""

    index: int  # index of the batch in its step
    micro_batch: int
    ranks: range
    degree: int  # ranks that share the row
    stages: int  # pipeline stages, each on `degree` ranks
    sequences: NDArray[np.int64]  # ids, in packing order
    loss_tokens: NDArray[np.int32]  # targets of each sequence
    cu_seqlens: NDArray[np.int32]  # prefix sums of the lengths
    cu_seqlens_padded: NDArray[np.int32]  # prefix sums of the padded lengths in the row
    max_seqlen: int  # longest padded length in the row
    tokens: int  # tokens of the row, padding included
    loss_denominator: int  # targets of the row
    # recomputation mode of its micro-batch; None if there is no choice
    recomputation: Optional[str]
    # share of the activations that can leave for the host which do (Cluster.offload)
    offload: float = 0.0


class Row(NamedTuple):
    """A rank's part of a packed row: `positions` lists the row's tokens on the rank, in order."""

    batch: Batch
    positions: NDArray[np.int64]


class TrainerStep:
    """The contents of a trainer file. Arrays are read-only; B is the number of batches, R of ranks,
    M of micro-batches.

    Attributes:
        problem, name, instance_hash: str; ranks, micro_batches, loss_denominator: int.
        schedule: int32 [R, M], the batch of a rank in a micro-batch, -1 where it idles.
        micro_batch, group, first_rank, degree, stages, max_seqlen, tokens: int32 [B]; tokens
            includes padding.
        loss_denominators: int64 [B], targets of each batch.
        offload: float64 [B], share of the activations that can leave for the host which do.
        sequences: Ragged int64, ids. cu_seqlens, cu_seqlens_padded: Ragged int32, prefix sums.
        loss_tokens: Ragged int32, targets of each sequence; by default all its tokens.
        recomputation: tuple [B] of str, the recomputation mode of each batch's micro-batch, a name
            of `Cluster.recomputation`; tuple of None if that lists no modes.

    len(step) is B, and `for batch in step` yields each Batch. Steps of equal trainer files are equal. The
    object is immutable and can be pickled; any number of threads may use it.
    """

    schedule: NDArray[np.int32]
    micro_batch: NDArray[np.int32]
    group: NDArray[np.int32]
    first_rank: NDArray[np.int32]
    degree: NDArray[np.int32]
    stages: NDArray[np.int32]
    max_seqlen: NDArray[np.int32]
    tokens: NDArray[np.int32]
    loss_denominators: NDArray[np.int64]
    offload: NDArray[np.float64]
    sequences: Ragged[np.int64]
    loss_tokens: Ragged[np.int32]
    cu_seqlens: Ragged[np.int32]
    cu_seqlens_padded: Ragged[np.int32]
    recomputation: tuple[Optional[str], ...]

    def __init__(self, trainer: _core.TrainerStep) -> None:
        self._trainer = trainer
        self.problem = trainer.problem
        self.name = trainer.name
        self.instance_hash = trainer.instance_hash
        self.ranks = trainer.ranks
        self.micro_batches = trainer.micro_batches
        self.loss_denominator = trainer.loss_denominator
        for key, value in trainer.arrays().items():
            if isinstance(value, tuple):
                value = Ragged(*value)
            setattr(self, key, tuple(value) if isinstance(value, list) else value)

    @classmethod
    def from_bytes(cls, data: bytes) -> TrainerStep:
        """Reads a trainer file, JSON or binary. Raises InputError."""
        if not isinstance(data, bytes):
            raise InputTypeError(f"data: must be bytes, is of the type {type(data).__name__}")
        return TrainerStep(_core.read_trainer(data))

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> TrainerStep:
        """Reads the trainer file at `path`, JSON or binary. Raises InputError, OSError."""
        return cls.from_bytes(path_of(path, "path").read_bytes())

    def to_bytes(self) -> bytes:
        """Returns a binary trainer file (docs/reference/trainer.md)."""
        return self._trainer.to_bytes()

    def to_json(self) -> str:
        """Returns a trainer file as JSON."""
        return self._trainer.to_json()

    @property
    def position_resets(self) -> Ragged[np.int32]:
        """Returns, for each row, the tokens at which positions start at 0 again."""
        padded = self.cu_seqlens_padded
        keep = np.ones(len(padded.values), bool)
        keep[padded.offsets[1:] - 1] = False
        return Ragged(padded.values[keep], padded.offsets - np.arange(len(padded.offsets)))

    def batch(self, index: int) -> Batch:
        """Returns batch `index` of the B batches. Raises IndexError for another index."""
        index = self._index(index)
        first = int(self.first_rank[index])
        degree, stages = int(self.degree[index]), int(self.stages[index])
        return Batch(
            index=index,
            micro_batch=int(self.micro_batch[index]),
            ranks=range(first, first + degree * stages),
            degree=degree,
            stages=stages,
            sequences=self.sequences[index],
            loss_tokens=self.loss_tokens[index],
            cu_seqlens=self.cu_seqlens[index],
            cu_seqlens_padded=self.cu_seqlens_padded[index],
            max_seqlen=int(self.max_seqlen[index]),
            tokens=int(self.tokens[index]),
            loss_denominator=int(self.loss_denominators[index]),
            recomputation=self.recomputation[index],
            offload=float(self.offload[index]),
        )

    def of_rank(self, rank: int) -> list[Optional[Batch]]:
        """Returns the batch of `rank` in each micro-batch; None where the rank idles."""
        return [None if b < 0 else self.batch(b) for b in self._scheduled(rank)]

    def batch_of(self, rank: int, micro_batch: int) -> Optional[Batch]:
        """Returns the batch of `rank` in a micro-batch; None if the rank idles."""
        b = int(self.schedule[rank, micro_batch])
        return None if b < 0 else self.batch(b)

    def rows(self, rank: int, slice: str = "contiguous") -> list[Optional[Row]]:
        """Returns the part of each packed row on `rank`, micro-batch by micro-batch.

        slice: "contiguous", the i-th of `degree` equal parts of the row, as in Ulysses; or
        "zigzag", the chunks i and 2 degree - 1 - i of the 2 degree chunks of each sequence, as in
        Megatron-LM's ring. Raises ValueError if lengths cannot be divided into these parts.
        """
        return [
            None if b < 0 else Row(self.batch(b), self.positions(b, rank, slice))
            for b in self._scheduled(rank)
        ]

    def position_ids(self, index: int) -> NDArray[np.int64]:
        """Returns int64 [tokens of the row]: the position of each token in its sequence."""
        index = self._index(index)
        starts = self.cu_seqlens_padded[index].astype(np.int64)
        return np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))

    def _index(self, index: int) -> int:
        index = whole(index, "index")
        if not -len(self.degree) <= index < len(self.degree):
            raise IndexError(f"index: must be below the {len(self.degree)} batches, is {index}")
        return index % len(self.degree)

    def _scheduled(self, rank: int) -> list[int]:
        rank = whole(rank, "rank")
        if not 0 <= rank < self.ranks:
            raise ValueError(f"rank: must be from 0 to {self.ranks - 1}, is {rank}")
        scheduled: list[int] = self.schedule[rank].tolist()
        return scheduled

    def positions(self, index: int, rank: int, slice: str) -> NDArray[np.int64]:
        """Returns int64 [tokens / degree]: the tokens of the row of batch `index` on `rank`; see
        rows()."""
        index, rank = self._index(index), whole(rank, "rank")
        degree = int(self.degree[index])
        place = (rank - int(self.first_rank[index])) % degree
        starts = self.cu_seqlens_padded[index].tolist()
        return row_positions(starts, degree, place, text(slice, "slice"))

    def __len__(self) -> int:
        return len(self.degree)

    def __iter__(self) -> Iterator[Batch]:
        return (self.batch(index) for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrainerStep):
            return NotImplemented
        return self is other or self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((self.instance_hash, self.ranks, self.micro_batches))

    def _compared(self) -> tuple[Any, ...]:
        """Returns the contents that decide whether two steps are equal."""
        return (self.to_bytes(), self.sequences.values.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return TrainerStep.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self.name!r}: {len(self.sequences.values)} sequences, "
            f"{self.micro_batches} micro-batches on {self.ranks} ranks>"
        )


def row_positions(starts: Sequence[int], degree: int, place: int, slice: str) -> NDArray[np.int64]:
    """Returns int64 [tokens / degree]: the tokens of a row on the rank with index `place` in its
    group.

    starts: the first token of each sequence, and the number of tokens of the row. slice: as in
    rows().
    """
    tokens = starts[-1]
    if slice == "contiguous":
        _divides(degree, tokens, "the row", degree)
        part = tokens // degree
        return np.arange(place * part, (place + 1) * part)
    if slice != "zigzag":
        raise ValueError(f'slice: must be "contiguous" or "zigzag", is {slice!r}')
    chunks = 2 * degree if degree > 1 else 1
    kept = []
    for start, end in zip(starts, starts[1:]):
        _divides(chunks, end - start, "a sequence", chunks)
        part = (end - start) // chunks
        for chunk in sorted({place, chunks - 1 - place}):
            kept.append(np.arange(start + chunk * part, start + (chunk + 1) * part))
    return np.concatenate(kept)


def _divides(parts: int, tokens: int, what: str, multiple: int) -> None:
    if tokens % parts:
        raise ValueError(
            f"{what} of {tokens} tokens has no {parts} equal parts: plan with a pad_multiple that "
            f"{multiple} divides, or with padding by degree"
        )


def read_trainer(source: Union[bytes, str, os.PathLike[str]]) -> TrainerStep:
    """Reads a trainer file, JSON or binary: its bytes, or its path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return TrainerStep.from_bytes(bytes(source))
    return TrainerStep.load(path_of(source, "source"))
