"""Planned steps in torchtitan: a data loader for its configuration, and the Trainer that runs them.

    def llama3_planned():  # a function of a config registry, for --config llama3_planned
        loader = StepDataLoader.Config(rows=load_tokenised, cluster="cluster.json", sequences=64)
        return planned(llama3_8b(), loader)

The loader delivers packed rows with positions, by which torchtitan's attention separates the sequences
of a row. Each rank of the data-parallel mesh computes whole rows.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Callable, Iterator, Mapping, Optional

import numpy as np
import tyro
from numpy.typing import NDArray
from torch import Tensor
from torchtitan.components.dataloader import BaseDataLoader, DataloaderExhaustedError
from torchtitan.trainer import Trainer

from ._arguments import require
from ._cluster import Cluster
from ._errors import Error
from ._planner import Planner
from .torch import PackedBatch, PackedCollator, StepBatchSampler, StepLoader, loader, target_counts


class StepDataLoader(BaseDataLoader):  # type: ignore[misc]
    """Planned steps as a data loader of torchtitan, which its Config builds.

    An item is a micro-batch of this rank: {"input", "positions"} and labels, int64 [1, T] with a T of
    its own, labels moved to the token that predicts them, -100 without a target. PlannedTrainer takes
    the items of a step together. The state is that after the last step whose items were all taken; it
    does not depend on the number of ranks.

    Raises ValueError for a row that is longer than training.seq_len, padding included.
    """

    @dataclass(kw_only=True, slots=True)
    class Config(BaseDataLoader.Config):  # type: ignore[misc]
        """The settings of the loader; all but `rows` are flags as well: --dataloader.sequences 64."""

        rows: Annotated[Callable[[Any], Any], tyro.conf.Suppress]
        """A function that gets the tokenizer and returns the data set: rows by number, mappings with
        "input_ids" and optionally "labels". Its members `lengths` and `target_counts`, integers [K],
        are used if it has them; otherwise all rows are read once."""

        cluster: str = "cluster.json"
        """File of the cost and memory of a rank, as Cluster.save() writes it."""

        sequences: int = 64
        """Number of sequences of a step, over all ranks."""

        on_oversize: str = "raise"
        """What becomes of a sequence that no rank can hold: "raise" or "drop"."""

        pad_token_id: int = 0
        """Token of padding."""

        shuffle: bool = True
        """Whether the order of an epoch is drawn, from `seed` and the epoch."""

        seed: int = 0
        """Seed of the order."""

        window: int = 1
        """Number of steps that are planned together, whose rows may change steps."""

        infinite: bool = True
        """Whether an epoch follows the last one; otherwise training ends there."""

        num_workers: int = 0
        """Number of processes that load rows."""

        pin_memory: bool = False
        """Copy tensors to pinned memory."""

    def __init__(
        self,
        config: Config,
        *,
        dp_world_size: int,
        dp_rank: int,
        tokenizer: Any,
        seq_len: int,
        **more: Any,
    ) -> None:
        """torchtitan's Trainer gives the arguments after `config`; `more` has no effect on plans."""
        dataset = config.rows(tokenizer)
        cluster = Cluster.load(config.cluster).replace(devices=dp_world_size, degrees=[1])
        lengths, targets = _counts(dataset)
        multiple = cluster.pad_multiple
        if int(lengths.max(initial=0)) > seq_len // multiple * multiple:
            raise ValueError(
                f"rows: must have at most {seq_len // multiple * multiple} tokens, a multiple of "
                f"{multiple}, row {int(lengths.argmax())} has {int(lengths.max())}: cut the rows, or raise "
                "--training.seq_len"
            )
        sampler = StepBatchSampler(
            lengths,
            Planner(cluster, on_oversize=config.on_oversize),  # type: ignore[arg-type]
            global_batch_size=config.sequences,
            rank=dp_rank,
            shuffle=config.shuffle,
            seed=config.seed,
            loss_tokens=targets,
            window=config.window,
        )
        self.infinite = config.infinite
        self.step_loader: StepLoader = loader(
            dataset,
            sampler,
            PackedCollator(sampler, pad_token_id=config.pad_token_id, slice=None),
            by_step=True,
            num_workers=config.num_workers,
            pin_memory=config.pin_memory,
        )
        self._begin()

    def _begin(self) -> None:
        self._steps: Optional[Iterator[list[PackedBatch]]] = None
        self._waiting: deque[PackedBatch] = deque()
        self._state = self.step_loader.state_dict()

    def begin_step(self) -> int:
        """Loads the next step, and returns its number of micro-batches, equal on all ranks.

        Raises DataloaderExhaustedError after the last step, unless `infinite`.
        """
        if self._waiting:
            raise Error(
                f"step: {len(self._waiting)} of its micro-batches were not taken before the next step"
            )
        if self._steps is None:
            self._steps = iter(self.step_loader)
        step = next(self._steps, None)
        if step is None:  # the epoch has ended
            if not self.infinite:
                raise DataloaderExhaustedError
            self._steps = iter(self.step_loader)
            step = next(self._steps)
        self._waiting = deque(step)
        return len(step)

    def __iter__(self) -> Iterator[tuple[dict[str, Tensor], Tensor]]:
        while True:
            if not self._waiting:
                raise Error(
                    "stowage.torchtitan.StepDataLoader: is read without begin_step(), and an optimizer "
                    "step would not be a planned step; train with the configuration that "
                    "stowage.torchtitan.planned() returns"
                )
            batch = self._waiting.popleft()
            if not self._waiting:
                self._state = self.step_loader.state_dict()
            yield {"input": batch.input_ids, "positions": batch.position_ids}, batch.labels

    def state_dict(self) -> dict[str, Any]:
        """Returns the position after the last step whose micro-batches were all taken."""
        return dict(self._state)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues at a position. An empty state is the beginning, as torchtitan's loaders take it.

        Raises ValueError for the state of a loader with other rows, seed or number of sequences.
        """
        if state_dict:
            self.step_loader.load_state_dict(state_dict)
            self._begin()


class PlannedTrainer(Trainer):  # type: ignore[misc]
    """torchtitan's Trainer, each of whose steps is a planned step; planned() makes its Config.

    A step has as many micro-batches as its plan, in the place of a fixed number of accumulation steps.
    The loss is torchtitan's: the sum over targets divided by the targets of all ranks. The largest mean
    loss of a rank, which torchtitan logs as well, is not a number if a rank has no target in a step.
    """

    @dataclass(kw_only=True, slots=True)
    class Config(Trainer.Config):  # type: ignore[misc]
        """Raises ValueError for settings that planned steps do not support: another loader, pipelines,
        context parallelism and CUDA graphs."""

        def __post_init__(self) -> None:
            Trainer.Config.__post_init__(self)
            wrong = []
            if not isinstance(self.dataloader, StepDataLoader.Config):
                kind = type(self.dataloader).__qualname__
                wrong.append(f"dataloader: must be StepDataLoader.Config, is {kind}")
            for name in ("pipeline_parallel_degree", "context_parallel_degree"):
                if (degree := getattr(self.parallelism, name)) != 1:
                    wrong.append(f"parallelism.{name}: must be 1, is {degree}")
            if not self.training.disable_cuda_graphs:
                wrong.append(
                    "training.disable_cuda_graphs: must be True, for each row has a length of its own"
                )
            if wrong:
                raise ValueError("; ".join(wrong))

    dataloader: StepDataLoader

    def train_step(self, data_iterator: Iterator[tuple[dict[str, Tensor], Tensor]]) -> None:
        """Runs the micro-batches of the next planned step, and the optimizer."""
        self.gradient_accumulation_steps = self.dataloader.begin_step()
        super().train_step(data_iterator)


def planned(config: Any, dataloader: StepDataLoader.Config) -> PlannedTrainer.Config:
    """Returns a torchtitan configuration with planned steps.

    Args:
        config: a Trainer.Config, such as a function of a config registry returns.
        dataloader: in the place of its data loader.

    Its local and global batch sizes have no effect, and CUDA graphs are switched off. Raises ValueError
    for pipelines and context parallelism.
    """
    require(config, Trainer.Config, "config")
    require(dataloader, StepDataLoader.Config, "dataloader")
    training = replace(
        config.training, local_batch_size=1, global_batch_size=-1, disable_cuda_graphs=True
    )
    own = {each.name: getattr(config, each.name) for each in fields(config)}
    return PlannedTrainer.Config(**{**own, "training": training, "dataloader": dataloader})


def _counts(dataset: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the tokens and the targets of each row, its members or counted."""
    if hasattr(dataset, "lengths") and hasattr(dataset, "target_counts"):
        return np.asarray(dataset.lengths), np.asarray(dataset.target_counts)
    rows = [dataset[at] for at in range(len(dataset))]
    lengths = np.array([len(row["input_ids"]) for row in rows], np.int64)
    return lengths, target_counts(row.get("labels", row["input_ids"]) for row in rows)
