import gc
import logging
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import stowage
from conftest import drawn


def same(one, other):
    return one.to_bytes() == other.to_bytes()


def hard(cluster):
    """Returns a planner that would search for an hour."""
    return stowage.Planner(cluster, method="auto", time_limit=3600)


def test_plans_alike_on_threads_and_ahead(cluster):
    batches = [drawn(40, seed) for seed in range(6)]
    with stowage.Planner(cluster, threads=3) as planner:
        apart = [planner.plan(batch) for batch in batches]
        futures = [planner.submit(batch) for batch in batches]
        assert all(same(a, f.result()) for a, f in zip(apart, futures))
        assert all(same(a, s) for a, s in zip(apart, planner.stream(batches, ahead=3)))
        together = [None] * 4

        def plan(k):
            together[k] = planner.plan(batches[k])

        threads = [threading.Thread(target=plan, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(same(a, t) for a, t in zip(apart, together))


def test_stream_reads_no_further_than_it_is_ahead(cluster):
    asked = []

    def batches():
        for seed in range(10):
            asked.append(seed)
            yield drawn(10, seed)

    with stowage.Planner(cluster) as planner:
        steps = planner.stream(batches(), ahead=2)
        next(steps)
        assert asked == [0, 1, 2]
        steps.close()
        with pytest.raises(ValueError, match="ahead: must be at least 1"):
            next(planner.stream([], ahead=0))
        with pytest.raises(stowage.InputError):
            list(planner.stream([[5], [-1]]))


def test_stream_takes_the_arguments_of_plan(cluster):
    lengths = drawn(10)
    given = [{"lengths": lengths, "loss_tokens": lengths // 2, "ids": lengths * 3}, lengths]
    with stowage.Planner(cluster) as planner:
        first, second = planner.stream(given)
        assert first.loss_denominator == (lengths // 2).sum() and 3 * lengths[0] in first.ids
        assert same(second, planner.plan(lengths)) and not same(first, second)
        submitted = planner.submit(lengths, loss_tokens=lengths // 2).result()
        assert same(submitted, first)
        with pytest.raises(TypeError):
            next(planner.stream([{"sizes": lengths}]))
        with pytest.raises(ValueError, match="lengths and loss tokens"):
            planner.plan(lengths, start=first)


def test_other_threads_run_while_it_plans(cluster):
    planner = stowage.Planner(cluster, method="auto", time_limit=0.5)
    future = planner.submit(drawn(200))
    counted = 0
    while not future.done():
        counted += 1
    future.result()
    planner.close()
    assert counted > 10_000  # with the lock held for 0.5 s, none or one


def test_close_ends_a_search_with_its_plan(cluster):
    planner = hard(cluster)
    future = planner.submit(drawn(200))
    while not planner._running:
        time.sleep(0.001)
    time.sleep(0.2)
    planner.close()
    step = future.result()
    assert step.stopped_by == "interrupted" and step.status == "feasible"
    step.verify()


def test_a_program_ends_with_a_search_under_way(cluster):
    program = """
import time, stowage
cluster = stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000)
planner = stowage.Planner(cluster, method="auto", time_limit=3600)
running, waiting = planner.submit([9000] * 300), planner.submit([9000] * 300)
while not planner._running:
    time.sleep(0.001)
print("ends", flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")


def test_threads_go_with_their_planner(cluster):
    def own():
        return [thread for thread in threading.enumerate() if thread.name.startswith("stowage_")]

    others = own()
    planner = stowage.Planner(cluster, threads=2)
    futures = [planner.submit(drawn(10, seed)) for seed in range(4)]
    assert [future.result().status for future in futures]
    assert len(own()) == len(others) + 2
    mine = [thread for thread in own() if thread not in others]
    del planner, futures
    gc.collect()
    for thread in mine:
        thread.join(60)
        assert not thread.is_alive()


def test_what_waits_is_cancelled(cluster):
    planner = hard(cluster)
    first, second, third = (planner.submit(drawn(200, seed)) for seed in range(3))
    assert third.cancel()
    while not planner._running:
        time.sleep(0.001)
    planner.close()
    assert second.cancelled() and third.cancelled()
    assert first.result().stopped_by == "interrupted" or first.exception()
    again = stowage.Planner(cluster)
    again.close()
    assert again.submit(drawn(10)).result().status  # a closed planner begins anew
    again.close()
    with pytest.raises(stowage.InputError):
        again.submit([-1]).result()


def after(seconds, *times):
    """Sends SIGINT to this process after each of the given times, in seconds."""

    def send():
        for wait in (seconds, *times):
            time.sleep(wait)
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send, daemon=True).start()


def test_ctrl_c_ends_a_search_with_its_plan(cluster):
    after(0.3)
    begin = time.monotonic()
    step = hard(cluster).plan(drawn(300))
    assert step.stopped_by == "interrupted" and step.status == "feasible"
    assert time.monotonic() - begin < 1800
    step.verify()


def test_exceptions_of_other_handlers_are_raised(cluster):
    def handler(*_):
        raise RuntimeError("of the handler")

    before = signal.signal(signal.SIGINT, handler)
    try:
        after(0.1)
        with pytest.raises(RuntimeError, match="of the handler"):
            stowage.Planner(cluster, method="auto", time_limit=0.3).plan(drawn(300))
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "signals, stopped_by, plan, raised",
    [
        (0, "heuristic_end", "a plan", False),
        (1, "interrupted", "a plan", False),  # the search was cut short
        (1, "heuristic_end", "a plan", True),  # it was not: nobody would hear of the signal
        (1, "interrupted", None, True),
        (2, "interrupted", "a plan", True),
    ],
)
def test_ctrl_c_is_raised_unless_it_ended_a_search(
    cluster, monkeypatch, signals, stopped_by, plan, raised
):
    outcome = SimpleNamespace(stopped_by=stopped_by, plan=plan)
    monkeypatch.setattr(stowage._core, "solve", lambda *_: outcome)
    search = stowage.Planner(cluster).search
    if raised:
        with pytest.raises(KeyboardInterrupt):
            search.run(None, None, SimpleNamespace(signals=signals))
    else:
        assert search.run(None, None, SimpleNamespace(signals=signals)) is outcome


def plan_in_child(planner, lengths, queue):
    with planner:
        queue.put((planner.plan(lengths).to_bytes(), planner.submit(lengths).result().to_bytes()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_plans_in_other_processes(cluster, method):
    planner = stowage.Planner(cluster)
    own = planner.submit(drawn(30)).result()  # it has a thread, which a fork does not take along
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=plan_in_child, args=(planner, drawn(30), queue))
    child.start()
    assert queue.get(timeout=120) == (own.to_bytes(), own.to_bytes())
    child.join()
    planner.close()


def test_is_pickled(cluster):
    planner = stowage.Planner(cluster, seed=3, gap=0.1, on_oversize="clip", threads=2)
    again = pickle.loads(pickle.dumps(planner))
    assert again.search == planner.search and again.cluster == cluster
    assert (again.on_oversize, again.threads) == ("clip", 2)
    assert same(again.plan(drawn(30)), planner.plan(drawn(30)))


def test_a_start_is_never_made_worse(cluster):
    lengths = drawn(12)
    start = stowage.Planner(cluster).plan(lengths)
    step = stowage.Planner(cluster, method="auto", node_limit=20).plan(lengths, start=start)
    assert step.objective_ms <= start.objective_ms
    with pytest.raises(ValueError, match="start: must be a plan of these lengths"):
        stowage.Planner(cluster).plan(lengths[1:], start=start)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"method": "fastest"}, "E701 method: must be one of auto, "),
        ({"time_limit": -1.0}, "time_limit: must be at least 0"),
        ({"time_limit": float("nan")}, "time_limit: must be at least 0"),
        ({"node_limit": -1}, "node_limit: must be at least 0"),
        ({"gap": -0.1}, "gap: must be at least 0"),
        ({"gap": float("inf")}, "gap: must be at least 0"),
        ({"seed": -1}, "seed: must be from 0"),
        ({"solver": "cplex"}, "solver: must be one of"),
        ({"on_oversize": "cut"}, "on_oversize: must be one of"),
        ({"threads": 0}, "threads: must be at least 1"),
        ({"node_limit": 2**70}, "node_limit: must be from -2^63 to 2^63 - 1, is 1180591620717411303424"),
        ({"seed": 2**70}, "seed: must be from -2^63 to 2^63 - 1, is 1180591620717411303424"),
        ({"threads": -(2**70)}, "threads: must be from -2^63 to 2^63 - 1"),
        ({"time_limit": 10**400}, "time_limit: must be a number of at most 1.8e308, is an integer of"),
        ({"gap": 10**400}, "gap: must be a number of at most 1.8e308, is an integer of"),
    ],
    ids=str,
)
def test_refuses_arguments(cluster, wrong, said):
    with pytest.raises(ValueError) as raised:
        stowage.Planner(cluster, **wrong)
    assert said in str(raised.value)


def test_refuses_an_integer_that_python_does_not_write(cluster):
    with pytest.raises(ValueError, match="node_limit: must be from .*, is an integer of 16610 bits"):
        stowage.Planner(cluster, node_limit=10**5000)


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"seed": 1.5}, "seed: must be an integer, is 1.5"),
        ({"threads": 1.5}, "threads: must be an integer, is 1.5"),
        ({"node_limit": "9"}, "node_limit: must be an integer, is '9'"),
        ({"time_limit": "1"}, "time_limit: must be a number, is '1'"),
        ({"gap": None}, "gap: must be a number, is None"),
    ],
    ids=str,
)
def test_refuses_types(cluster, wrong, said):
    with pytest.raises(stowage.InputTypeError, match=said):
        stowage.Planner(cluster, **wrong)


def test_takes_numbers_of_numpy(cluster):
    given = {"seed": np.int64(3), "threads": np.int32(2), "gap": np.float32(0.5)}
    planner = stowage.Planner(cluster, node_limit=np.int64(5), time_limit=np.float64(9), **given)
    assert planner.search[:6] == ("fast", 9.0, 5, 0.5, 3, "auto") and planner.threads == 2


def test_refuses_what_is_no_cluster_and_no_step(cluster):
    with pytest.raises(stowage.InputTypeError, match="cluster: must be a Cluster, is of the type"):
        stowage.Planner({"devices": 8})
    with pytest.raises(stowage.InputTypeError, match="start: must be a Step, is of the type dict"):
        stowage.Planner(cluster).plan([5], start={})


def test_logs(cluster, caplog):
    with caplog.at_level(logging.DEBUG, "stowage"):
        stowage.Planner(cluster, on_oversize="drop").plan([100, 10**8])
    said = [record.getMessage() for record in caplog.records if record.name == "stowage"]
    assert any("1 sequences of more than" in line for line in said)
    assert any("planned 1 sequences" in line for line in said)


def test_prints_nothing(cluster, capfd):
    with pytest.raises(stowage.Infeasible):
        stowage.Planner(cluster).plan([10**8])
    stowage.Planner(cluster, method="auto", node_limit=10).plan(drawn(20))
    assert capfd.readouterr() == ("", "")


def test_errors_are_pickled():
    for error in (
        stowage.InputError([("E205", "/lengths/0", "must be at least 1, is 0")]),
        stowage.Infeasible("long", np.array([3]), "shorten it"),
        stowage.VerificationError([("tokens", "/x", "3 tokens", "4 tokens")]),
        stowage.NoPlan("none"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error)
        assert isinstance(error, stowage.Error)


def test_import_needs_numpy_only():
    code = "import sys, stowage; print(sorted({m.split('.')[0] for m in sys.modules}))"
    named = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    foreign = {"torch", "megatron", "verl", "transformers", "deepspeed", "ray", "pandas", "onnx"}
    assert "numpy" in named.stdout and not foreign & set(eval(named.stdout))
