"""Hooks of MkDocs: which files make the site, and the pages that are made of schemas and of the help.

Pages of the tree keep their paths, so that a relative link leads to the same page here and on the site.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

import site_pages  # noqa: E402  (the path comes first)

LINK = re.compile(r"\]\(([^)#: ]+)(?:#[^) ]*)?\)")
# Pages of the repository alone: forms that its users fill in.
LEFT_OUT = re.compile(r"^\.github/")


def tracked() -> list[str]:
    """Paths of all files that git tracks or would track, relative to the root; without git, of all files."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if listing.returncode == 0:
        return [path for path in listing.stdout.splitlines() if (ROOT / path).is_file()]
    paths = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(str(path) for path in paths if path.parts[0] not in ("build", ".git"))


def linked(page: str) -> Iterator[str]:
    """Paths of the files of the tree that a page links to."""
    for target in LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        path = (ROOT / page).parent / target
        if path.is_file() and path.resolve().is_relative_to(ROOT):
            yield str(path.resolve().relative_to(ROOT))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the tree, what they link to, the theme's files, and the pages that are made."""
    docs = Path(config.docs_dir)
    site = [file for file in files if file.src_dir is None or Path(file.src_dir) != docs]
    pages = [path for path in tracked() if path.endswith(".md") and not LEFT_OUT.match(path)]
    others = {path for page in pages for path in linked(page) if not path.endswith(".md")}
    others.add("docs/site.css")
    try:
        shown, new = site_pages.made(ROOT)
    except site_pages.Missing as missing:
        raise PluginError(str(missing)) from None
    for path in pages + sorted(others):
        if path in shown:
            site.append(File.generated(config, path, content=shown[path]))
        else:
            site.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    for path, text in new.items():
        page = File.generated(config, path, content=text)
        page.inclusion = InclusionLevel.NOT_IN_NAV  # their table links to them
        site.append(page)
    return Files(site)
