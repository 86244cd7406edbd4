import pickle

import numpy as np
import pytest

import stowage
from conftest import drawn


@pytest.fixture
def step(cluster):
    return stowage.Planner(cluster).plan(drawn(60), ids=np.arange(60) * 10 + 5)


def test_has_each_sequence_once(step):
    assert sorted(step.sequences.values.tolist()) == [10 * i + 5 for i in range(60)]
    lengths = drawn(60)
    for b in range(len(step.sequences)):
        batch = step.batch(b)
        assert np.diff(batch.cu_seqlens).tolist() == lengths[(batch.sequences - 5) // 10].tolist()
        padded = -(-np.diff(batch.cu_seqlens) // 16) * 16  # twice the largest degree
        assert np.diff(batch.cu_seqlens_padded).tolist() == padded.tolist()
        assert batch.max_seqlen == padded.max() and batch.tokens == padded.sum()
        assert batch.loss_denominator == batch.cu_seqlens[-1]
    assert step.loss_denominator == lengths.sum() == step.loss_denominators.sum()


def test_types_and_shapes(step):
    batches = len(step.sequences)
    assert step.schedule.dtype == np.int32 and step.schedule.shape == (8, step.micro_batches)
    for name in ("micro_batch", "group", "first_rank", "degree", "stages", "max_seqlen", "tokens"):
        array = getattr(step, name)
        assert array.dtype == np.int32 and array.shape == (batches,), name
    assert step.sequences.values.dtype == np.int64
    assert step.cu_seqlens.values.dtype == step.cu_seqlens_padded.values.dtype == np.int32
    assert step.loss_denominators.dtype == np.int64 and step.predicted_ms.dtype == np.float64


def test_arrays_are_read_only(step):
    arrays = [
        step.schedule,
        step.degree,
        step.sequences.values,
        step.cu_seqlens.values,
        step.cu_seqlens.offsets,
        step.loss_denominators,
        step.predicted_ms,
    ]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_arrays_outlive_their_step(cluster):
    schedule = stowage.Planner(cluster).plan(drawn(30)).schedule
    kept = schedule.copy()
    for seed in range(5):
        stowage.Planner(cluster).plan(drawn(30, seed))
    assert np.array_equal(schedule, kept)


def test_ranks_find_their_batches(step):
    seen = np.zeros(len(step.sequences), int)
    for rank in range(step.ranks):
        of_rank = step.of_rank(rank)
        assert len(of_rank) == step.micro_batches
        for m, batch in enumerate(of_rank):
            if batch is None:
                assert step.schedule[rank, m] == -1
                continue
            assert batch.micro_batch == m and rank in batch.ranks
            seen[batch.index] += 1
    assert np.array_equal(seen, step.degree)
    with pytest.raises(ValueError, match="rank: must be from 0 to 7, is 8"):
        step.of_rank(8)


@pytest.mark.parametrize("slice", ["contiguous", "zigzag"])
def test_ranks_share_each_row(step, slice):
    held = [[] for _ in step.sequences]
    for rank in range(step.ranks):
        for row in step.rows(rank, slice):
            if row is not None:
                assert len(row.positions) == row.batch.tokens // row.batch.degree
                held[row.batch.index].append(row.positions)
    for b, parts in enumerate(held):
        assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(step.tokens[b]))


def wide_row(pad_multiple):
    """Returns a step of one sequence of 30 tokens on two devices."""
    cluster = stowage.Cluster(
        devices=2,
        memory_mib=40,
        states_mib=0,
        activation_mib_per_token=2,
        quadratic_ms=1,
        linear_ms=1,
        pad_multiple=pad_multiple,
    )
    return stowage.Planner(cluster).plan([30])


def test_zigzag_pairs_the_first_chunk_with_the_last():
    step = wide_row(4)
    parts = [step.rows(rank, "zigzag")[0].positions.tolist() for rank in (0, 1)]
    assert parts == [[*range(0, 8), *range(24, 32)], [*range(8, 24)]]
    assert step.rows(1)[0].positions.tolist() == [*range(16, 32)]


def test_rows_that_do_not_divide():
    step = wide_row(1)
    assert step.rows(0)[0].positions.tolist() == [*range(15)]
    with pytest.raises(
        ValueError, match="30 tokens has no 4 equal parts: plan with a pad_multiple"
    ):
        step.rows(0, "zigzag")
    with pytest.raises(ValueError, match='slice: must be "contiguous" or "zigzag"'):
        step.rows(0, "spiral")


def test_positions_begin_anew(step):
    for b in range(len(step.sequences)):
        ids = step.position_ids(b)
        assert len(ids) == step.tokens[b]
        assert np.flatnonzero(ids == 0).tolist() == step.position_resets[b].tolist()
        assert set(np.diff(ids)[np.diff(ids) != 1]) <= set(1 - np.diff(step.cu_seqlens_padded[b]))


def test_says_how_it_was_planned(step):
    assert step.status in ("optimal", "feasible") and step.stopped_by == "heuristic_end"
    assert 0 < step.bound_ms <= step.objective_ms and step.bound_by
    assert step.gap == pytest.approx((step.objective_ms - step.bound_ms) / step.objective_ms)
    slowest = [step.predicted_ms[step.micro_batch == m].max() for m in range(step.micro_batches)]
    assert sum(slowest) == pytest.approx(step.objective_ms)
    step.verify()


def test_predicts_what_the_cluster_says(cluster):
    lengths = drawn(40)
    step = stowage.Planner(cluster).plan(lengths)
    for b, ids in enumerate(step.sequences):
        told = cluster.group_ms(int(step.degree[b]), lengths[ids])
        assert step.predicted_ms[b] == pytest.approx(told, rel=1e-12)


def test_trainer_files(step, tmp_path):
    binary = stowage.TrainerStep.from_bytes(step.to_bytes())
    text = stowage.read_trainer(step.to_json().encode())
    (tmp_path / "step.bin").write_bytes(step.to_bytes())
    for read in (binary, text, stowage.read_trainer(tmp_path / "step.bin")):
        assert np.array_equal(read.schedule, step.schedule)
        assert np.array_equal(step.ids[read.sequences.values], step.sequences.values)
        assert read.cu_seqlens == step.cu_seqlens and read.instance_hash == step.instance_hash
        assert read.to_bytes() == step.to_bytes()
    with pytest.raises(stowage.InputError) as raised:
        stowage.read_trainer(step.to_bytes()[:-1])
    assert raised.value.errors[0].code == "E602"


def test_documents(step):
    assert step.plan["format"] == "stowage/plan" and step.instance["lengths"] == drawn(60).tolist()
    stowage.verify(step.instance, step.plan)
    worse = step.plan
    worse["micro_batches"][0]["groups"][0]["tokens"] += 1
    with pytest.raises(stowage.VerificationError) as raised:
        stowage.verify(step.instance, worse)
    assert {violation.rule for violation in raised.value.violations} == {"tokens"}


def test_is_pickled(step):
    again = pickle.loads(pickle.dumps(step))
    assert again.sequences == step.sequences and np.array_equal(again.schedule, step.schedule)
    assert again.objective_ms == step.objective_ms and again.status == step.status
    assert again.to_bytes() == step.to_bytes()
    trainer = stowage.TrainerStep.from_bytes(step.to_bytes())
    assert pickle.loads(pickle.dumps(trainer)).to_bytes() == step.to_bytes()


def test_is_drawn(step, tmp_path):
    step.render(tmp_path / "step.svg")
    svg = (tmp_path / "step.svg").read_text()
    assert svg == step._repr_svg_() and svg.startswith("<?xml") and "</svg>" in svg


def test_loss_tokens_are_what_losses_are_divided_by(cluster):
    lengths, targets = drawn(30), drawn(30) // 3
    step = stowage.Planner(cluster).plan(lengths, loss_tokens=targets)
    assert step.loss_denominator == targets.sum()
    for b, ids in enumerate(step.sequences):
        assert step.loss_denominators[b] == step.batch(b).loss_denominator == targets[ids].sum()
        assert step.loss_tokens[b].tolist() == step.batch(b).loss_tokens.tolist() == targets[ids].tolist()
    for data in (step.to_bytes(), step.to_json().encode()):
        read = stowage.read_trainer(data)
        assert read.loss_tokens == step.loss_tokens and read.loss_denominator == targets.sum()
    assert step.to_bytes()[8] == 2 and step.instance["loss_tokens"] == targets.tolist()
    again = pickle.loads(pickle.dumps(step))
    assert again.loss_tokens == step.loss_tokens and again.loss_denominator == targets.sum()
    plain = stowage.Planner(cluster).plan(lengths)
    assert plain.sequences == step.sequences and plain.to_bytes()[8] == 1
    assert all((own == np.diff(ends)).all() for own, ends in zip(plain.loss_tokens, plain.cu_seqlens))


def test_carries_what_leaves_for_the_host(cluster):
    """Rows beyond what memory holds must leave in part; steps without offload keep their version."""
    plain = stowage.Planner(cluster).plan(drawn(60))
    assert not plain.offload.any() and plain.offload.dtype == np.float64
    assert '"version": 1' in plain.to_json() and "offload" not in plain.to_json()
    away = cluster.replace(
        degrees=[1], offload={"mib_per_token": 0.5, "out_mib_per_ms": 8, "in_mib_per_ms": 8}
    )
    longest = away.largest_sequence
    assert longest > cluster.replace(degrees=[1]).largest_sequence
    step = stowage.Planner(away).plan([longest] * 3 + [100])
    assert 0.9 < step.offload.max() <= 1 and step.offload.min() == 0
    assert [batch.offload for batch in step] == step.offload.tolist()
    planned = [
        group.get("offload", 0)
        for micro_batch in step.plan["micro_batches"]
        for group in micro_batch["groups"]
    ]
    assert step.offload.tolist() == planned
    assert '"version": 4' in step.to_json()
    for form in (step.to_bytes(), step.to_json().encode()):
        again = stowage.read_trainer(form)
        assert again == pickle.loads(pickle.dumps(again))
        assert again.offload.tolist() == planned
    with pytest.raises(ValueError, match="read-only"):
        step.offload[0] = 0.5


def test_ragged():
    ragged = stowage.Ragged(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    assert ragged.tolist() == [[1, 2], [], [3]] and len(ragged) == 3
    assert ragged[-1].tolist() == [3] and [len(part) for part in ragged] == [2, 0, 1]
    assert ragged == stowage.Ragged(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    assert ragged != stowage.Ragged(np.array([1, 2, 3]), np.array([0, 1, 2, 3])) and ragged != 3
    for outside in (3, -4):
        with pytest.raises(IndexError):
            ragged[outside]


def test_is_a_list_of_batches(step, cluster):
    assert len(step) == len(step.sequences) > 1
    assert [batch.index for batch in step] == list(range(len(step)))
    assert [batch.sequences.tolist() for batch in step] == step.sequences.tolist()


def test_equal_plans_are_equal_steps(step, cluster):
    planner = stowage.Planner(cluster)
    again = planner.plan(drawn(60), ids=np.arange(60) * 10 + 5)
    assert step == again and hash(step) == hash(again) and step in {again}
    assert pickle.loads(pickle.dumps(step)) == step
    for other in (planner.plan(drawn(60)), planner.plan(drawn(61)), None, "step"):
        assert step != other
    read = stowage.TrainerStep.from_bytes(planner.plan(drawn(60)).to_bytes())
    assert read == stowage.read_trainer(read.to_bytes()) and read != step


def test_planners_have_one_line(cluster):
    shown = repr(stowage.Planner(cluster, node_limit=5))
    assert shown.startswith("<Planner 'fast', node_limit=5: 8 devices, degrees ") and "\n" not in shown
