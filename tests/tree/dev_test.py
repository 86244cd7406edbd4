"""Tests of ./dev without a build: packages by system, and the dry run of a release."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])


def dev(*words):
    done = subprocess.run(["./dev", *words], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_packages_have_the_names_of_a_system():
    for system, command, names in (
        ("debian", "apt-get install", ("libeigen3-dev", "libcli11-dev", "libglpk-dev")),
        ("ubuntu", "apt-get install", ("libeigen3-dev", "libcli11-dev", "libglpk-dev")),
        ("fedora", "dnf install", ("eigen3-devel", "cli11-devel", "glpk-devel", "gcc-c++")),
        ("macos", "brew install", ("eigen", "cli11", "glpk", "nlohmann-json")),
    ):
        code, out, _ = dev("packages", system)
        words = out.split()
        assert code == 0 and command in out, out
        assert all(name in words for name in names), out
    code, _, err = dev("packages", "plan9")
    assert code == 2 and "want debian, ubuntu, fedora or macos" in err, err


def test_every_package_has_a_name_on_fedora_and_macos():
    text = (ROOT / "dev").read_text()
    table = re.search(r"readonly other_names='\n(.*?)'", text, re.S).group(1)
    rows = {row.split()[0]: row.split()[1:] for row in table.splitlines()}
    assert all(len(row) == 2 for row in rows.values())
    lists = re.findall(r"readonly (?:build|test)_packages=\((.*?)\)", text, re.S)
    needs = re.findall(r"^\s+need ((?:[a-z0-9+.-]+|\"\$\{[a-z_]+\[@\]\}\"| )+)", text, re.M)
    wanted = {word for words in lists + needs for word in words.split() if not word.startswith('"')}
    assert wanted <= set(rows), wanted - set(rows)


def test_a_release_is_shown_and_nothing_is_changed():
    def state():
        return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout

    before = state()
    code, out, err = dev("release", "99.0.0", "--dry-run")
    assert code == 0, err
    assert "+project(stowage VERSION 99.0.0" in out and "+version: 99.0.0" in out
    assert "+## [99.0.0] - " in out and "tag v99.0.0" in out and "SHA256SUMS" in out
    assert state() == before
    for wrong, why in (("1.0", "three numbers"), ("0.0.1", "must be at least"), ("v1.0.0", "three numbers")):
        code, _, err = dev("release", wrong, "--dry-run")
        assert code == 1 and why in err, err


def test_the_version_is_the_same_everywhere():
    version = re.search(r"project\(stowage VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'"version-semver": "{version}"' in (ROOT / "packaging/vcpkg/vcpkg.json").read_text()


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
