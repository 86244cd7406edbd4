"""The page of the package: its programs run, and the reference is that of the docstrings."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import two

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "python" / "README.md").read_text(), re.S)


def test_the_first_step_runs(capsys):
    exec(compile(BLOCKS[0], "README.md", "exec"), {})
    said = capsys.readouterr().out
    assert re.match(r"\d+ ms, at least \d+ ms, \d+ micro-batches\n", said) and "other ranks" in said


def test_documents_go_as_the_page_says(tmp_path, monkeypatch):
    (tmp_path / "instance.json").write_text(json.dumps(two()))
    monkeypatch.chdir(tmp_path)
    program = next(block for block in BLOCKS if "stowage.solve(" in block)
    exec(compile(program, "README.md", "exec"), {"stowage": __import__("stowage")})
    assert json.loads(Path("outcome.json").read_text())["status"] == "optimal"


def test_the_reference_is_that_of_the_docstrings():
    made = subprocess.run(
        [sys.executable, Path(__file__).parent / "reference.py"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    path = ROOT / "python" / "reference.md"
    if os.environ.get("STOWAGE_UPDATE_GOLDEN"):
        path.write_text(made)
    assert path.read_text() == made, "run with STOWAGE_UPDATE_GOLDEN=1 and read the difference"
