"""Rules, memory and forms of a cluster, and the plans that keep them."""

import json
import pickle

import numpy as np
import pytest

import stowage
from conftest import small


RULES = dict(
    no_idle_ranks=True,
    sorted_groups=True,
    micro_batches_multiple_of=3,
    min_degree=2,
    max_tokens_per_rank=60,
    max_sequences_per_group=5,
    equal_sequences=True,
    packed=False,
)


def test_rules_are_those_of_the_document(tmp_path):
    path = tmp_path / "cluster.json"
    cluster = small(**RULES)
    cluster.save(path)
    assert json.loads(path.read_text())["rules"] == RULES
    for same in (stowage.Cluster.load(path), small().replace(**RULES)):
        assert same == cluster and {name: getattr(same, name) for name in RULES} == RULES
    assert eval(repr(cluster), {"Cluster": stowage.Cluster}) == cluster != small()
    none = dict(RULES, max_tokens_per_rank=None, max_sequences_per_group=None, packed=True)
    none.update(
        equal_sequences=False,
        no_idle_ranks=False,
        sorted_groups=False,
        micro_batches_multiple_of=1,
        min_degree=1,
    )
    assert cluster.replace(**none) == small()
    small().save(path)
    assert "rules" not in json.loads(path.read_text())


@pytest.mark.parametrize(
    "rule, value",
    [
        ("no_idle_ranks", 3),
        ("micro_batches_multiple_of", 0),
        ("min_degree", 8),
        ("max_tokens_per_rank", 0),
        ("max_sequences_per_group", 1.5),
        ("equal_sequences", "yes"),
        ("packed", "no"),
    ],
)
def test_refuses_rules(rule, value):
    with pytest.raises(stowage.InputError) as raised:
        small(**{rule: value})
    assert raised.value.errors[0].pointer == "/rules/" + rule


def counts_of(step):
    return np.array([len(each) for each in step.sequences])


def test_plans_keep_the_rules():
    lengths = np.random.default_rng(3).integers(1, 100, 60)
    rules = {**RULES, "packed": True, "max_sequences_per_group": 2, "equal_sequences": False}
    step = stowage.Planner(small(**rules)).plan(lengths)
    free = stowage.Planner(small()).plan(lengths)
    assert step.objective_ms > free.objective_ms
    assert step.micro_batches % 3 == 0 and (step.schedule >= 0).all()
    assert step.degree.min() >= 2 and max(map(len, step.sequences)) <= 2
    for m in range(step.micro_batches):
        assert (np.diff(step.degree[step.micro_batch == m]) <= 0).all()
    assert (step.tokens <= 60 * step.degree).all()
    # No rule is kept by chance.
    assert free.micro_batches % 3 != 0 and free.degree.min() == 1
    assert max(map(len, free.sequences)) > 2 and (free.tokens > 60 * free.degree).any()
    even = stowage.Planner(small(equal_sequences=True)).plan(lengths)
    for counts, step in ((counts_of(even), even), (counts_of(free), free)):
        same = all(len(set(counts[step.micro_batch == m])) == 1 for m in range(step.micro_batches))
        assert same == (step is even)
    slow = small(latency_ms={2: 1000, 4: 1000})
    assert (stowage.Planner(slow).plan([5]).schedule < 0).any()
    assert (stowage.Planner(slow.replace(no_idle_ranks=True)).plan([5]).schedule >= 0).all()


def test_memory_holds_the_longest_sequence_of_a_group_that_is_not_packed():
    alone = small(packed=False)
    lengths = [40] * 30
    step = stowage.Planner(alone.replace(degrees=[1])).plan(lengths)
    assert step.tokens.max() > alone.tokens_per_device >= step.max_seqlen.max()
    assert alone.largest_sequence == small().largest_sequence
    assert small(max_tokens_per_rank=60).largest_sequence == 240
    # fixed_ms is paid for each: 2 (3 + 0.5 40^2 + 2 40)
    assert alone.group_ms(1, [40, 40]) == pytest.approx(2 * (3 + 800 + 80))


def test_micro_batches_choose_what_they_recompute(tmp_path):
    ways = [
        {"name": "none"},
        {"name": "full", "activation_mib_per_token": 0.25, "linear_factor": 1.25},
    ]
    costs = dict(devices=2, memory_mib=120, states_mib=20, activation_mib_per_token=1)
    times = dict(quadratic_ms=0, linear_ms=1, fixed_ms=1)
    cluster = stowage.Cluster(**costs, **times, recomputation=ways)
    step = stowage.Planner(cluster).plan([400, 50, 50, 50, 50])
    assert step.objective_ms == pytest.approx(1.25 * 200 + 1 + 101)
    told = {b["recomputation"]: b["makespan_ms"] for b in step.plan["micro_batches"]}
    assert told == pytest.approx({"full": 251, "none": 101})
    trainer = stowage.read_trainer(step.to_bytes())
    for index in range(len(trainer.degree)):
        batch = trainer.batch(index)
        assert batch.recomputation == ("full" if 0 in batch.sequences else "none")
    assert trainer.recomputation == step.recomputation
    path = tmp_path / "cluster.json"
    cluster.save(path)
    assert stowage.Cluster.load(path) == cluster == pickle.loads(pickle.dumps(cluster))
    assert [way["name"] for way in cluster.recomputation] == ["none", "full"]
    assert cluster.largest_sequence == 800 and cluster.tokens_per_device == 400
    plain = cluster.replace(recomputation=())
    assert plain == stowage.Cluster(**costs, **times) and plain.largest_sequence == 200
    assert stowage.Planner(plain).plan([50]).recomputation == (None,)
    with pytest.raises(stowage.InputError) as raised:
        cluster.replace(recomputation=[ways[0], ways[0]])
    assert raised.value.errors[0].pointer == "/model/recomputation/1/name"
    with pytest.raises(stowage.InputError) as raised:
        cluster.replace(recomputation=[dict(ways[1], linear_factor=float("nan"))])
    assert raised.value.errors[0].pointer == "/model/recomputation/0/linear_factor"


def test_the_longest_micro_batch_counts_for_every_stage_of_a_pipeline(tmp_path):
    lengths = np.random.default_rng(3).integers(1, 100, 60)
    flat = small()
    deep = small(pipeline_stages=8)
    steps = {cluster: stowage.Planner(cluster).plan(lengths) for cluster in (flat, deep)}

    def makespans(step):
        return [batch["makespan_ms"] for batch in step.plan["micro_batches"]]

    for cluster, step in steps.items():
        own = makespans(step)
        taken = sum(own) + (cluster.pipeline_stages - 1) * max(own)
        assert step.objective_ms == pytest.approx(taken)
    without = makespans(steps[flat])
    assert steps[deep].objective_ms <= sum(without) + 7 * max(without)
    path = tmp_path / "cluster.json"
    deep.save(path)
    assert stowage.Cluster.load(path) == deep == flat.replace(pipeline_stages=8) != flat
    assert deep.replace(pipeline_stages=1) == flat
    with pytest.raises(stowage.InputError) as raised:
        small(pipeline_stages=0)
    assert raised.value.errors[0].pointer == "/pipeline_stages"


def test_memory_of_a_group(tmp_path):
    more = dict(sequence_mib=0.5, logits_mib_per_token=0.25, logits_chunk_tokens=8)
    cluster = small(**more, keys_values_mib_per_token=0.125)
    path = tmp_path / "cluster.json"
    cluster.save(path)
    assert stowage.Cluster.load(path) == cluster == pickle.loads(pickle.dumps(cluster)) != small()
    assert {key: getattr(cluster, key) for key in more} == more
    assert cluster.replace(**dict.fromkeys(more), keys_values_mib_per_token=None) == small()
    with pytest.raises(stowage.InputError) as raised:
        small(logits_chunk_tokens=8)
    assert raised.value.errors[0].code == "E307"


def test_kinds_of_nodes(tmp_path):
    kinds = [
        {"name": "new", "nodes": 1, "speed": 2, "memory_mib": 200},
        {"name": "old", "nodes": 1},
    ]
    costs = dict(devices=4, devices_per_node=2, memory_mib=100, states_mib=20)
    times = dict(activation_mib_per_token=1, quadratic_ms=0, linear_ms=1, fixed_ms=1)
    cluster = stowage.Cluster(**costs, **times, kinds=kinds)
    step = stowage.Planner(cluster).plan([160, 80, 80])
    assert step.objective_ms == pytest.approx(61)
    (batch,) = step.plan["micro_batches"]
    assert [group["first_rank"] for group in batch["groups"] if 0 in group["sequences"]] == [0]
    path = tmp_path / "cluster.json"
    cluster.save(path)
    assert stowage.Cluster.load(path) == cluster == pickle.loads(pickle.dumps(cluster))
    assert cluster.kinds[1]["memory_mib"] == 100
    assert cluster.replace(kinds=()) == stowage.Cluster(**costs, **times) != cluster
    with pytest.raises(stowage.InputError) as raised:
        cluster.replace(no_idle_ranks=True)
    assert raised.value.errors[0].code == "E309"


def test_rules_that_few_sequences_cannot_keep():
    planner = stowage.Planner(small(micro_batches_multiple_of=3))
    assert planner.plan([5, 6, 7]).micro_batches == 3
    with pytest.raises(stowage.Infeasible) as raised:
        planner.plan([5, 6])
    assert raised.value.unplaceable.size == 0
    assert raised.value.remedy.startswith("plan at least 3 sequences in a step or lower rules.")
    assert "longer" not in str(raised.value) and raised.value.args[0]
