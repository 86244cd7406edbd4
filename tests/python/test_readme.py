"""Tests that the programs of the pages run unchanged."""

import json
import re
from pathlib import Path

import pytest
from conftest import two

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# Other tests run the programs of these pages, with the framework that each needs: tests/python/loops and
# tests/python/frameworks.
OF_FRAMEWORKS = {
    "start/frameworks.md": 1,
    "start/hugging-face.md": 1,
    "start/hugging-face-groups.md": 1,
    "start/torch-loop.md": 1,
    "start/torchtitan.md": 1,
    "start/verl.md": 1,
}
SCREEN = 65  # lines of a page of docs/start


def programs(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)


BLOCKS = programs(ROOT / "python" / "README.md")
PAGES = sorted(page for page in DOCS.rglob("*.md") if programs(page))


def test_the_first_step_runs(capsys):
    exec(compile(programs(DOCS / "tasks" / "plan-a-step.md")[0], "plan-a-step.md", "exec"), {})
    assert re.match(r"\[[ \d]+\] \d+ \[ +0 [ \d]+\]\n", capsys.readouterr().out)


@pytest.mark.parametrize("page", sorted((DOCS / "start").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_of_a_framework_is_one_screen(page):
    assert page.read_text(encoding="utf-8").count("\n") <= SCREEN


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_programs_of_a_page_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    own = programs(page)
    left_out = OF_FRAMEWORKS.get(str(page.relative_to(DOCS)), 0)
    for program in own[: len(own) - left_out]:
        exec(compile(program, page.name, "exec"), {})
        assert capsys.readouterr().err == ""


def test_the_programs_of_tasks_are_many():
    assert sum(len(programs(page)) for page in (DOCS / "tasks").glob("*.md")) >= 6


def test_documents_go_as_the_page_says(tmp_path, monkeypatch):
    (tmp_path / "instance.json").write_text(json.dumps(two()))
    monkeypatch.chdir(tmp_path)
    program = next(block for block in BLOCKS if "stowage.solve(" in block)
    exec(compile(program, "README.md", "exec"), {"stowage": __import__("stowage")})
    assert json.loads(Path("outcome.json").read_text())["status"] == "optimal"
