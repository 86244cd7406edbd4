"""Tests that a loop that is interrupted at any point and resumed sees the same rows and plans as an
uninterrupted one."""

import os
import random

import pytest
import torch
from torch.utils.data import DataLoader

import stowage
from stowage.torch import PackedCollator, StepBatchSampler, loader
from planned_loader import CLUSTER, LENGTHS, TARGETS, Documents

EPOCHS = 2
PLANNED = {}


class Remembering(stowage.Planner):
    """A planner that plans each batch once for all loops."""

    def submit(self, lengths, **more):
        key = lengths.tobytes(), more["ids"].tobytes()
        if key not in PLANNED:
            PLANNED[key] = super().submit(lengths, **more)
            PLANNED[key].result()
        return PLANNED[key]


PLANNER = Remembering(CLUSTER)


class Loop:
    """The items of two epochs, and the state after each; `workers` is the number of the loader's
    workers."""

    def __init__(self, workers, state=None):
        self.sampler = StepBatchSampler(
            LENGTHS, PLANNER, rank=1, global_batch_size=15, loss_tokens=TARGETS
        )
        self.collator = PackedCollator(self.sampler, pad_token_id=7)
        self.options = {"num_workers": workers}
        self.make()
        if state is not None:
            self.load(state)

    def plain(self, kind=DataLoader):
        return kind(
            Documents(), batch_sampler=self.sampler, collate_fn=self.collator, **self.options
        )

    def items(self):
        return self.loader

    def state(self):
        return self.sampler.state_dict()

    def load(self, state):
        self.sampler.load_state_dict(state)

    def seen(self, item):
        return [item.input_ids.tolist()]


class Plain(Loop):
    def make(self):
        self.loader = self.plain()


class Steps(Plain):
    """A loop over steps_with(), whose state is taken after each micro-batch."""

    def items(self):
        for _, batches in self.sampler.steps_with(self.loader):
            for batch in batches:
                yield batch

    def seen(self, item):
        return [item.input_ids.tolist(), item.plan.to_bytes(), item.micro_batch, item.ranks]


class Own(Steps):
    def make(self):
        self.loader = loader(Documents(), self.sampler, self.collator, **self.options)

    def items(self):
        return self.loader


class OwnBySteps(Own):
    def make(self):
        self.loader = loader(
            Documents(), self.sampler, self.collator, by_step=True, **self.options
        )

    def seen(self, item):
        return [Steps.seen(self, batch) for batch in item]


class Stateful(Loop):
    def make(self):
        stateful = pytest.importorskip("torchdata.stateful_dataloader")
        self.loader = self.plain(stateful.StatefulDataLoader)

    def state(self):
        return self.loader.state_dict()

    def load(self, state):
        self.loader.load_state_dict(state)


class StatefulSteps(Stateful):
    items, seen = Steps.items, Steps.seen


class SamplerOfStateful(Stateful):
    """A loop that saves the state of the sampler, although the loader has its own."""

    state, load = Loop.state, Loop.load


class Persistent(Plain):
    def make(self):
        self.options = {**self.options, "persistent_workers": True}
        self.loader = self.plain()


class Prepared(Own):
    def make(self):
        accelerate = pytest.importorskip("accelerate")
        super().make()
        self.loader = accelerate.Accelerator(cpu=True).prepare(self.loader)


def run(loop, first_epoch=0, stop=None):
    """Returns the items of all epochs. With `stop` it returns that number of items, and the epoch
    and the state after them."""
    seen = []
    for epoch in range(first_epoch, EPOCHS):
        for item in loop.items():
            seen.append(loop.seen(item))
            if len(seen) == stop:
                return seen, epoch, loop.state()
    return seen


LOOPS = [Plain, Steps, Own, OwnBySteps, Stateful, StatefulSteps, SamplerOfStateful]


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("kind", LOOPS + [Persistent, Prepared], ids=lambda kind: kind.__name__)
def test_the_same_rows_and_plans(kind, workers):
    if kind is Persistent and not workers:
        pytest.skip("only workers persist")
    whole = run(kind(workers))
    draw = random.Random(workers)
    more = 18 if workers == 0 or os.environ.get("STOWAGE_LONG") else 2 * workers  # workers take time
    epoch_end = sum(1 for _ in kind(workers).items())
    stops = [epoch_end, len(whole) // 2, len(whole), *(draw.randrange(1, len(whole)) for _ in range(more))]
    for stop in stops:
        before, epoch, state = run(kind(workers), stop=stop)
        after = run(kind(workers, state), first_epoch=epoch)
        assert before + after == whole, (stop, state)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", [Plain, Steps, Own, OwnBySteps], ids=lambda kind: kind.__name__)
def test_the_state_behind_a_break(kind, workers):
    """The state is read after the loop, when its iterator no longer exists."""
    whole = run(kind(workers))
    loop, seen = kind(workers), []
    for item in loop.items():
        seen.append(loop.seen(item))
        if len(seen) == 3:
            break
    del item
    assert seen + run(kind(workers, loop.state())) == whole


@pytest.mark.parametrize("kind", [Stateful, StatefulSteps], ids=lambda kind: kind.__name__)
def test_snapshots_between_batches(kind):
    """StatefulDataLoader may save a snapshot every few batches, and continue from there."""
    for workers in (0, 2):
        whole = run(kind(workers))
        for stop in (1, 4, 6):
            first = kind(workers)
            first.loader.snapshot_every_n_steps = 3
            before, epoch, state = run(first, stop=stop)
            again = kind(workers)
            again.loader.snapshot_every_n_steps = 3
            again.load(state)
            assert before + run(again, first_epoch=epoch) == whole


def test_epochs_that_the_loop_counts():
    """set_epoch() at the beginning of each epoch, as frameworks call it, has no effect."""
    for kind in (Plain, Own):
        whole = run(kind(0))
        loop, seen = kind(0), []
        for epoch in range(EPOCHS):
            loop.sampler.set_epoch(epoch)
            for item in loop.items():
                seen.append(loop.seen(item))
                if len(seen) == 5:
                    state = loop.state()
        assert seen == whole
        again = kind(0, state)
        again.sampler.set_epoch(0)
        assert whole[:5] + run(again) == whole
        again.sampler.set_epoch(1)
        assert torch.tensor(again.sampler.rows_of(0)).tolist() == loop.sampler.rows_of(0, 1).tolist()


def test_accelerate_saves_and_loads_the_position(tmp_path):
    accelerate = pytest.importorskip("accelerate")
    whole = run(Own(0))
    for stop in (1, 4, len(whole) - 1):
        accelerator = accelerate.Accelerator(cpu=True)
        loop = Own(2)
        loop.loader = accelerator.prepare(loop.loader)
        before, epoch, _ = run(loop, stop=stop)
        accelerator.save_state(tmp_path / str(stop))
        other = accelerate.Accelerator(cpu=True)
        again = Own(2)
        again.loader = other.prepare(again.loader)
        other.load_state(tmp_path / str(stop))
        assert before + run(again, first_epoch=epoch) == whole
