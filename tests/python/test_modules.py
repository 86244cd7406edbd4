"""Tests of modules that need a framework: they are imported on first use, and a missing framework
is named."""

import ast
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
    packages = {path.parent.name for path in FOLDER.glob("[!_]*/__init__.py")}
    public = {path.stem for path in FOLDER.glob("[!_]*.py")} | packages
    assert set(stowage._LAZY) == public


def imported_by(name, files):
    """Yields the modules of the package that a module imports anywhere: in functions, and for types."""
    base = name.split(".") if files[name].stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(files[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in files)
        elif isinstance(node, ast.ImportFrom):
            own = base[: len(base) + 1 - node.level] if node.level else []
            source = ".".join([*own, *filter(None, [node.module])])
            for each in node.names:
                if each.name == "_core":  # the extension
                    continue
                inner = f"{source}.{each.name}"
                yield from (
                    found for found in [inner if inner in files else source] if found in files
                )


def circle_in(arrows):
    """Returns a circle of modules, or []."""
    done = set()

    def search(path):
        if path[-1] in path[:-1]:
            return path[path.index(path[-1]) :]
        for other in sorted(arrows[path[-1]] - done):
            if found := search([*path, other]):
                return found
        done.add(path[-1])
        return []

    return next(filter(None, (search([name]) for name in sorted(arrows) if name not in done)), [])


def test_no_modules_import_each_other_in_a_circle():
    files = {
        ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in FOLDER.rglob("*.py")
    }
    # the package's __init__ imports modules for type checkers, and they never import it
    arrows = {name: set(imported_by(name, files)) - {name} for name in files}
    assert "stowage._step" in arrows["stowage.torch._batch"] and len(arrows) > 40
    assert circle_in(arrows) == []
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]


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
