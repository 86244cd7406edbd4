"""The types of all modules of the package, those of the frameworks included.

Some frameworks have no types of their own, so their objects are Any.
"""

import pathlib
import subprocess
import sys

import stowage


def test_mypy_finds_nothing(tmp_path):
    found = subprocess.run(
        [
            *(sys.executable, "-B", "-m", "mypy", "--strict", "-p", "stowage"),
            *("--disable-error-code", "import-untyped", "--cache-dir", tmp_path),
        ],
        env={"MYPYPATH": str(pathlib.Path(stowage.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert " no issues found in " in found.stdout
