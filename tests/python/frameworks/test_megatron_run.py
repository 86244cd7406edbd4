"""python -m stowage.megatron, and Megatron-LM's own code in a checkout of it.

Without a checkout a script runs on a minimal stand-in of its imports: a map of schedulers, and a
configuration that refuses unknown names, as branch dev does in its options, in the check of their
combination and in its list of supported schedulers.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stowage
from planned_loader import CLUSTER, FRAMEWORKS, torchrun

SCHEDULES = """
class DpBalancedScheduler:
    def __init__(self, cap, cp_size, dp_size, vpp=None, max_num_seqs=None):
        self.max_num_seqs = max_num_seqs

    def run(self, samples, count, dp, tp, pp, dp_cp, device, config):
        return self.get_groups_and_subsamples(samples)

class DefaultDynamicCPScheduler(DpBalancedScheduler):
    pass

scheduler_map = {"dp_balanced": DpBalancedScheduler, "default_dynamic_cp": DefaultDynamicCPScheduler}
"""
SCRIPT = """
import argparse, json, sys
from types import SimpleNamespace
from megatron.core.datasets import data_schedule
import own_helper
parser = argparse.ArgumentParser()
parser.add_argument("--sequence-packing-scheduler", choices=["dp_balanced", "default_dynamic_cp"])
parser.add_argument("--dynamic-context-parallel", action="store_true")
parser.add_argument("--fail", type=int)
parser.add_argument("--tensor-model-parallel-size", type=int)
args = parser.parse_args()
if args.fail is not None:
    sys.exit(args.fail)
name = args.sequence_packing_scheduler or "default_dynamic_cp"
if args.dynamic_context_parallel and name != "default_dynamic_cp":
    raise ValueError("dynamic context parallelism requires default_dynamic_cp")
if name not in ["dp_balanced", "default_dynamic_cp"]:
    raise ValueError("unsupported scheduler")
own = {"min_cp_size": 1} if name == "default_dynamic_cp" else {}
scheduler = data_schedule.scheduler_map[name](128, 2, 2, None, max_num_seqs=None, **own)
config = SimpleNamespace(dynamic_context_parallel=args.dynamic_context_parallel)
samples = [(i, 40 + 8 * i) for i in range(20)]
groups = scheduler.run(samples, 20, *[None] * 4, "cpu", config)
print(json.dumps([type(scheduler).__name__, groups, sys.argv, __name__, own_helper.here]))
"""


@pytest.fixture
def checkout(tmp_path):
    """Returns a folder with a script, its imports, and the file of a cluster of four ranks."""
    package = tmp_path / "megatron" / "core" / "datasets"
    package.mkdir(parents=True)
    for folder in (package.parents[1], package.parent, package):
        (folder / "__init__.py").write_text("")
    (package / "data_schedule.py").write_text(SCHEDULES)
    (tmp_path / "pretrain.py").write_text(SCRIPT)
    (tmp_path / "own_helper.py").write_text("here = True\n")
    CLUSTER.replace(memory_mib=1000).save(tmp_path / "cluster.json")
    return tmp_path


def run(checkout, *arguments, folder=None, **environment):
    return subprocess.run(
        [sys.executable, "-B", "-m", "stowage.megatron", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder or checkout,
        env={
            **{key: value for key, value in os.environ.items() if key != "STOWAGE_CLUSTER"},
            "PYTHONPATH": str(Path(stowage.__file__).parents[1]),
            **environment,
        },
    )


DYNAMIC = ["--dynamic-context-parallel", "--sequence-packing-scheduler", "default_dynamic_cp"]


def test_the_script_packs_by_plans(checkout):
    done = run(checkout, "--cluster", "cluster.json", "pretrain.py", *DYNAMIC)
    assert done.returncode == 0, done.stderr
    kind, groups, argv, name, here = json.loads(done.stdout)
    assert kind == "StowagePackingScheduler" and name == "__main__" and here
    assert argv == ["pretrain.py", *DYNAMIC]
    assert sorted({i for micro_batch in groups for ids in micro_batch for i in ids}) == list(range(20))
    widths = {ranks.count(ranks[0]) for ranks in groups}
    assert all(len(micro_batch) == 4 and all(micro_batch) for micro_batch in groups) and widths


def test_the_command_of_the_page_packs_by_plans(checkout):
    page = (Path(__file__).parents[3] / "docs/start/megatron-lm.md").read_text()
    command = re.search(r"^torchrun .*-m stowage\.megatron (.*\\\n.*) \.\.\.$", page, re.MULTILINE)
    arguments = command.group(1).replace("\\\n", " ").split()
    assert arguments[2] == "pretrain_gpt.py"
    (checkout / "pretrain.py").rename(checkout / "pretrain_gpt.py")
    done = run(checkout, *arguments)
    assert done.returncode == 0, done.stderr
    kind, _, argv, *_ = json.loads(done.stdout)
    assert kind == "StowagePackingScheduler"
    assert argv == arguments[2:]


@pytest.mark.parametrize("dynamic", [True, False])
def test_from_the_environment_and_another_folder(checkout, dynamic, tmp_path_factory):
    asked = ["--dynamic-context-parallel"] if dynamic else ["--sequence-packing-scheduler=dp_balanced"]
    done = run(
        checkout,
        *("--method", "fast", "--seed", 3, checkout / "pretrain.py", *asked),
        folder=tmp_path_factory.mktemp("other"),
        STOWAGE_CLUSTER=str(checkout / "cluster.json"),
        WORLD_SIZE="4",
    )
    assert done.returncode == 0, done.stderr
    _, groups, *_ = json.loads(done.stdout)
    if not dynamic:  # contexts of two ranks
        assert all(ids[0] == ids[1] and ids[2] == ids[3] for ids in groups)


def test_the_exit_code_is_that_of_the_script(checkout):
    for code in (0, 3):
        done = run(checkout, "--cluster", "cluster.json", "pretrain.py", *DYNAMIC, "--fail", code)
        assert done.returncode == code


@pytest.mark.parametrize(
    "arguments, environment, said",
    [
        (["pretrain.py", *DYNAMIC], {}, "--cluster: must be the file of a cluster.*STOWAGE_CLUSTER"),
        (["--cluster", "none.json", "pretrain.py", *DYNAMIC], {}, "E110 none.json"),
        (["--cluster", "cluster.json", "none.py", *DYNAMIC], {}, "SCRIPT: must be a file, is none.py"),
        (["--cluster", "cluster.json", "pretrain.py"], {}, "ARGS: must ask for a packing scheduler"),
        (
            ["--cluster", "cluster.json", "pretrain.py", "--sequence-packing-scheduler", "stowage"],
            {},
            "must be one of dp_balanced, default_dynamic_cp, is stowage; plans take the place",
        ),
        (
            [
                *("--cluster", "cluster.json", "pretrain.py", "--dynamic-context-parallel"),
                *("--sequence-packing-scheduler", "dp_balanced"),
            ],
            {},
            "must be default_dynamic_cp with --dynamic-context-parallel, is dp_balanced",
        ),
        (
            [
                *("--cluster", "cluster.json", "pretrain.py", *DYNAMIC),
                *("--tensor-model-parallel-size", "2"),
            ],
            {"WORLD_SIZE": "4"},
            "--cluster: must be of 2 devices, the 4 ranks over 2 for tensors and 1 .* is of 4",
        ),
        (["--method", "auto", "--cluster", "c.json", "pretrain.py", *DYNAMIC], {}, "E110 c.json"),
    ],
    ids=["no cluster", "no file", "no script", "no scheduler", "ours", "both", "ranks", "method"],
)
def test_says_what_is_wrong(checkout, arguments, environment, said):
    done = run(checkout, *arguments, **environment)
    assert done.returncode == 2 and done.stdout == ""
    assert re.match(f"stowage.megatron: .*{said}", done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_a_megatron_without_schedulers_is_named(checkout):
    (checkout / "megatron" / "core" / "datasets" / "data_schedule.py").write_text("")
    done = run(checkout, "--cluster", "cluster.json", "pretrain.py", *DYNAMIC)
    assert done.returncode == 2 and "has no packing schedulers" in done.stderr


CHECKOUT = os.environ.get("STOWAGE_MEGATRON_LM")


@pytest.mark.skipif(
    not CHECKOUT, reason="STOWAGE_MEGATRON_LM names no checkout of Megatron-LM, branch dev"
)
def test_megatrons_own_data_path_packs_by_plans(monkeypatch):
    paths = [CHECKOUT, str(Path(stowage.__file__).parents[1])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    out = torchrun(FRAMEWORKS / "megatron_packing.py", CHECKOUT)
    assert "default_dynamic_cp: groups of [1, 2, 4]" in out
    assert "stowage: groups of [1, 2, 4]" in out and "dp_balanced: groups of [4]" in out
    assert "its configuration refuses ['stowage']" in out
