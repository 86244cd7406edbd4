"""What stowage.torch refuses, and loops that go on where others would lose rows."""

import pytest
import torch
from planned_loader import CLUSTER, Documents, LENGTHS, TARGETS, loader_of, sampler_of, trace
from torch.utils.data import DataLoader

import stowage
from stowage.torch import Groups, PackedCollator, StepBatchSampler, loader


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"global_batch_size": 0}, "global_batch_size: must be at least 1"),
        ({"global_batch_size": 101}, "100 rows make no step of 101"),
        ({"ahead": 0}, "ahead: must be at least 1"),
        ({"loss_tokens": [1]}, "loss_tokens: must be as many"),
        ({"rank": 4}, "rank: must be from 0 to 3, is 4"),
    ],
    ids=str,
)
def test_refuses_arguments(wrong, said):
    with pytest.raises(ValueError, match=said):
        sampler_of(**wrong)


def test_a_time_limit_is_for_one_planner_only():
    planner = stowage.Planner(CLUSTER, method="auto", time_limit=1)
    with pytest.raises(ValueError, match="set node_limit, or replicated=False"):
        StepBatchSampler(LENGTHS, planner, rank=0, global_batch_size=20)
    StepBatchSampler(LENGTHS, planner, rank=0, global_batch_size=20, replicated=False)


@pytest.mark.parametrize(
    "state, said",
    [
        (None, "must be what state_dict"),
        ({}, "must be what state_dict"),
        ({"model": 1}, "must be what state_dict"),
        ({"epoch": 0.5, "step": 0}, "epoch: must be an integer"),
        ({"epoch": -1, "step": 0}, "epoch and micro_batch must be at least 0"),
        ({"epoch": 0, "step": 6}, "step from 0 to 5"),
        ({"epoch": 0, "step": 0, "order": "another"}, "other lengths, seed, shuffle"),
    ],
    ids=str,
)
def test_refuses_states(state, said):
    with pytest.raises(ValueError, match=said):
        sampler_of().load_state_dict(state)


def test_refuses_files_that_are_no_state(tmp_path):
    path = tmp_path / "sampler.json"
    for content in (b"\xff\xfe{", b"{", b"[]"):
        path.write_bytes(content)
        with pytest.raises(ValueError):
            sampler_of().load(path)


def test_refuses_a_state_in_the_midst_of_another_plan():
    sampler = sampler_of()
    for _, batches in sampler.steps_with(loader_of(sampler)):
        next(batches)
        state = sampler.state_dict()
        if state["micro_batch"]:
            break
    assert state["micro_batch"] == 1
    other = StepBatchSampler(
        LENGTHS,
        stowage.Planner(CLUSTER.replace(linear_ms=1, fixed_ms=0)),
        rank=0,
        global_batch_size=20,
        loss_tokens=TARGETS,
    )
    other.load_state_dict(state)
    with pytest.raises(stowage.Error, match="a plan of step 0 that this planner does not make"):
        next(iter(other))


def test_two_loops_at_once_are_refused():
    sampler = sampler_of()
    own = loader(Documents(), sampler, PackedCollator(sampler, pad_token_id=7))
    first = iter(own)
    next(first)
    next(iter(own))
    with pytest.raises(stowage.Error, match="another loop over it was begun"):
        next(first)


def test_a_look_at_the_first_row_loses_nothing():
    sampler = sampler_of()
    own = loader(Documents(), sampler, PackedCollator(sampler, pad_token_id=7))
    first = next(iter(own))
    assert torch.equal(first.input_ids, next(iter(own)).input_ids)


def test_steps_go_on_behind_a_break():
    whole = trace(sampler_of())
    sampler = sampler_of()
    assert trace(sampler, 2) + trace(sampler, 1) + trace(sampler) == whole
    assert sampler.epoch == 1 and sampler.state_dict()["step"] == 0


def test_items_that_are_steps():
    sampler = sampler_of()
    own = loader(Documents(), sampler, PackedCollator(sampler, pad_token_id=7), by_step=True)
    assert len(own) == 5
    seen = []
    for batches in own:
        seen.append((batches[0].plan.to_bytes(), [b.input_ids.tolist() for b in batches]))
        assert own.state_dict()["step"] == len(seen) and own.state_dict()["micro_batch"] == 0
    assert seen == trace(sampler_of())


def test_a_loader_takes_no_options_that_the_plan_decides():
    with pytest.raises(
        ValueError, match="batch_size, shuffle: the sampler and the collator decide"
    ):
        loader(Documents(), sampler_of(), shuffle=True, batch_size=4)


def test_a_sampler_in_a_wrapper_is_refused():
    class Every(torch.utils.data.Sampler):
        def __init__(self, inner):
            self.inner = inner

        def __iter__(self):
            yield from self.inner

    wrapped = DataLoader(
        Documents(),
        batch_sampler=Every(sampler_of()),
        collate_fn=PackedCollator(sampler_of(), pad_token_id=7),
    )
    with pytest.raises(stowage.Error, match="is wrapped in .*Every.*stowage.torch.loader"):
        next(iter(wrapped))


@pytest.mark.parametrize("processes", [1, 2])
def test_what_accelerate_makes_of_a_plain_loader_is_refused(processes):
    prepare = pytest.importorskip("accelerate.data_loader").prepare_data_loader
    sharded = prepare(
        loader_of(sampler_of()), num_processes=processes, process_index=0, put_on_device=False
    )
    with pytest.raises(stowage.Error, match="accelerate.*stowage.torch.loader"):
        next(iter(sharded))
    with pytest.raises((stowage.Error, ValueError), match="stowage.torch.loader"):
        next(sampler_of().steps_with(sharded))


def test_what_accelerate_skips_is_refused():
    accelerate = pytest.importorskip("accelerate")
    own = loader(Documents(), sampler_of(), PackedCollator(sampler_of(), pad_token_id=7))
    with pytest.raises(stowage.Error, match="SkipBatchSampler.*resume by its state_dict"):
        next(iter(accelerate.skip_first_batches(own, 2)))


def test_a_class_that_inherits_is_no_wrapper():
    class Own(StepBatchSampler):
        def __iter__(self):
            return super().__iter__()

    sampler = Own(LENGTHS, stowage.Planner(CLUSTER), rank=0, global_batch_size=20)
    collator = PackedCollator(sampler, pad_token_id=7)
    rows = DataLoader(Documents(), batch_sampler=sampler, collate_fn=collator, num_workers=2)
    for _ in rows:  # workers have fetched more
        break
    plan = sampler.planner.plan(LENGTHS[sampler.rows_of(0)])
    state = sampler.state_dict()
    assert (state["step"], state["micro_batch"]) == ((0, 1) if plan.micro_batches > 1 else (1, 0))


def test_rows_out_of_order_are_refused():
    with pytest.raises(stowage.Error, match="in_order=False"):
        next(iter(loader_of(sampler_of(), num_workers=2, in_order=False)))


def test_a_collator_of_another_sampler_is_refused():
    other = StepBatchSampler(
        LENGTHS, stowage.Planner(CLUSTER.replace(pad_multiple=16)), rank=0, global_batch_size=20
    )
    sampler = sampler_of()
    mixed = DataLoader(
        Documents(), batch_sampler=sampler, collate_fn=PackedCollator(other, pad_token_id=7)
    )
    with pytest.raises(ValueError, match="must be padded as they were planned"):
        for _, batches in sampler.steps_with(mixed):
            list(batches)


def test_another_data_set_is_refused():
    with pytest.raises(ValueError, match="must have the 100 rows whose lengths the sampler has"):
        loader([{"input_ids": [1]}] * 101, sampler_of())


def test_tokens_are_integers():
    collate = PackedCollator(sampler_of(), pad_token_id=7)
    with pytest.raises(ValueError, match="input_ids must be integers, are torch.float32"):
        collate([{"input_ids": [1.0, 2.0]}])
    with pytest.raises(ValueError, match="must be 1-d and equally long"):
        collate([{"input_ids": [1, 2], "labels": [1]}])


def test_an_epoch_does_not_end_where_planning_fails():
    planner = stowage.Planner(CLUSTER.replace(memory_mib=64))  # rows are too long for it
    sampler = StepBatchSampler(LENGTHS, planner, rank=0, global_batch_size=20)
    rows = iter(sampler)
    for _ in range(2):
        with pytest.raises(stowage.Infeasible):
            for _ in rows:
                pass
    assert sampler.state_dict()["epoch"] == 0


def test_rows_without_their_sampler_are_refused():
    single = DataLoader(
        Documents(), batch_size=None, collate_fn=PackedCollator(sampler_of(), pad_token_id=7)
    )
    with pytest.raises(ValueError, match="the loader has lost its StepBatchSampler"):
        next(iter(single))


def test_has_no_length():
    with pytest.raises(TypeError, match="see steps"):
        len(sampler_of())


def test_cpu_tensors_are_lengths():
    lengths = torch.from_numpy(LENGTHS)
    step = stowage.Planner(CLUSTER).plan(lengths)
    assert step.to_bytes() == stowage.Planner(CLUSTER).plan(LENGTHS).to_bytes()
    with pytest.raises(stowage.InputTypeError, match="must be integers, are float32"):
        stowage.Planner(CLUSTER).plan(lengths.float())
    with pytest.raises(stowage.InputTypeError, match="is on meta; use lengths.cpu"):
        stowage.Planner(CLUSTER).plan(lengths.to("meta"))


def test_groups_need_alignment():
    with pytest.raises(ValueError, match="not aligned"):
        Groups(CLUSTER.replace(aligned=False))
