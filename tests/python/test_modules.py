"""Tests of modules that need a framework: they are imported on first use, and a missing framework
is named."""

import importlib.util
import inspect
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import stowage

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "python" / "stowage"
FRAMEWORKS = sorted({each for packages in stowage._LAZY.values() for each in packages})


def run(program, *options):
    return subprocess.run(
        [sys.executable, *options, "-c", program], capture_output=True, text=True, timeout=300
    )


def test_each_module_is_an_attribute():
    public = {path.stem for path in FOLDER.glob("[!_]*.py")} | {"hf", "torch"}
    assert set(stowage._LAZY) == public


def test_nothing_is_imported_before_it_is_used():
    program = (
        "import sys, stowage\n"
        f"assert not set({FRAMEWORKS}) & set(sys.modules)\n"
        "assert 'stowage.calibrate' not in sys.modules\n"
        "print(stowage.calibrate.fit.__name__, 'stowage.calibrate' in sys.modules)"
    )
    done = run(program)
    assert (done.stdout, done.stderr) == ("fit True\n", "")


@pytest.mark.parametrize("name", [name for name, needs in stowage._LAZY.items() if needs])
def test_a_missing_framework_is_named(name, monkeypatch):
    """The framework is made unavailable, whether or not it is installed."""
    for each in [*FRAMEWORKS, f"stowage.{name}"]:
        monkeypatch.delitem(sys.modules, each, raising=False)
    monkeypatch.delitem(vars(stowage), name, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    needed = " and ".join(stowage._LAZY[name])
    with pytest.raises(ImportError, match=f"stowage.{name} needs {needed}, not found") as raised:
        getattr(stowage, name)
    assert raised.value.name == stowage._LAZY[name][0]
    assert name not in dir(stowage) and "calibrate" in dir(stowage)
    assert dict(inspect.getmembers(stowage))["solve"] is stowage.solve


def test_other_names_are_no_attributes():
    assert not hasattr(stowage, "planner") and not hasattr(stowage, "__wrapped__")
    with pytest.raises(AttributeError, match="module 'stowage' has no attribute 'hg'"):
        _ = stowage.hg
    assert set(stowage.__all__) <= set(dir(stowage))


def test_the_extension_is_built_to_leave_the_gil_off():
    text = (ROOT / "python" / "CMakeLists.txt").read_text()
    (call,) = [part for part in text.split("nanobind_add_module(")[1:]]
    assert "FREE_THREADED" in call.split("binding/")[0].split()


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="an interpreter with the GIL"
)
def test_the_import_leaves_the_gil_off():
    done = run("import sys, stowage\nprint(sys._is_gil_enabled())", "-W", "error")
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_threads_may_share_all_of_it():
    """Threads that plan, partition and read at once get the results of one thread."""
    program = """
import threading, numpy as np, stowage
from stowage import _core
cluster = stowage.Cluster.preset("gpt-7b", devices=8, limit=64_000)
planner = stowage.Planner(cluster)
draw = np.random.default_rng(0)
lists = [draw.integers(1, 9000, 60).tolist() for _ in range(8)]
def all_of(lengths):
    step = planner.plan(lengths)
    again = stowage.read_trainer(step.to_bytes())
    return step.to_bytes(), again.to_json(), _core.balanced_lists(list(lengths), 4, False), hash(cluster)
expected = [all_of(lengths) for lengths in lists]
wrong, gate = [], threading.Barrier(len(lists))
def work(own):
    gate.wait()
    for k in range(6):
        at = (own + k) % len(lists)
        if all_of(lists[at]) != expected[at]:
            wrong.append(at)
threads = [threading.Thread(target=work, args=(own,)) for own in range(len(lists))]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(wrong))
"""
    done = run(program)
    assert (done.stdout, done.stderr) == ("0\n", "")
