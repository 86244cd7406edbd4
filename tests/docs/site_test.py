"""Tests the built site: links, search, and pages in a headless Chromium at two widths.

    site_test.py SOURCE_DIR WORK_DIR

Builds the site into WORK_DIR with the packages in SOURCE_DIR/build/docs/venv, which `./dev docs` makes.
Exit code 77 (skipped) without these packages or Chromium. Screenshots are kept in WORK_DIR.
"""

import functools
import html
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

SOURCE, WORK = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MKDOCS = SOURCE / "build/docs/venv/bin/mkdocs"
SITE = WORK / "site"
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

# A page of each kind, and a long table.
PAGES = {
    "first": "index.html",
    "start": "docs/start/index.html",
    "task": "docs/tasks/plan-a-step/index.html",
    "command": "docs/reference/flags/index.html",
    "keys": "docs/reference/keys/index.html",
    "python": "docs/reference/python/index.html",
    "cpp": "docs/reference/cpp/solvers-plan_stream/index.html",
    "bounds": "docs/theory/bounds/index.html",
    "report": "bench/results/0.1.0/index.html",
}
SHOTS = ("first", "task", "keys", "report")
WIDTHS = (1300, 390)
FRAMES = {}  # pages that show a page of the site in a frame, by path
STILL = ("--virtual-time-budget=20000",)  # virtual ms until the page's scripts have finished
# Writes a result into the title: the elements beyond the right edge of the page, and the width of
# the page.
MEASURE = """<script>addEventListener("load", () => {
  const out = [];
  for (const part of document.querySelectorAll("article *")) {
    const box = part.getBoundingClientRect();
    let inside = false;
    for (let at = part; at && at.tagName !== "ARTICLE"; at = at.parentElement) {
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(at).overflowX)) inside = true;
    }
    if (!inside && box.width > 0 && box.right > innerWidth + 1) out.push(part.tagName);
  }
  document.title = "measured " + innerWidth + ": " + out.slice(0, 5).join(" ");
});</script></body>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site. A page with ?measure gets a script that measures its width."""

    def do_GET(self):
        if self.path == "/wait":  # a page with this picture gets its load event late
            time.sleep(6)
            self.send_response(200)
            self.send_header("Content-Type", "image/svg+xml")
            self.end_headers()
            self.wfile.write(b'<svg xmlns="http://www.w3.org/2000/svg"/>')
            return None
        if self.path in FRAMES:
            body = FRAMES[self.path].encode()
        elif self.path.endswith("?measure"):
            text = Path(self.translate_path(self.path)).read_text(encoding="utf-8")
            body = text.replace("</body>", MEASURE).encode()
        else:
            super().do_GET()
            return None
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *_):
        pass


class Reader(HTMLParser):
    """The ids of a page, and the targets of its links and resources."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        for name in ("href", "src"):
            if found.get(name) is not None:
                self.links.append((tag, found[name]))


def read(page):
    return Reader(page.read_text(encoding="utf-8"))


class Links(unittest.TestCase):
    def test_lead_somewhere(self):
        pages = {page: read(page) for page in SITE.rglob("*.html")}
        links, faults = 0, []
        for page, reader in pages.items():
            if page.name == "404.html":
                continue
            for tag, link in reader.links:
                if re.match(r"[a-z]+:|//", link):
                    if tag in ("script", "img", "link"):
                        faults.append(f"{page}: loads {link} from elsewhere")
                    continue
                links += 1
                path, anchor = urldefrag(link)
                there = (page.parent / unquote(path)).resolve() if path else page
                there = there / "index.html" if there.is_dir() else there
                if not there.is_file():
                    faults.append(f"{page}: {link}")
                elif anchor and there in pages and unquote(anchor) not in pages[there].ids:
                    faults.append(f"{page}: no such place: {link}")
        self.assertEqual(faults, [])
        self.assertGreater(links, 2000)

    def test_tables_and_lists_are_no_text(self):
        """No paragraph of the site holds Markdown that GitHub shows as a table, a list or a block."""
        for page in SITE.rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            for paragraph in re.findall(r"<p>(.*?)</p>", text, re.S):
                for line in paragraph.splitlines():
                    wrong = re.match(r"\| |- |[0-9]+\. |```|#+ ", html.unescape(line))
                    self.assertIsNone(wrong, f"{page}: {line}")


class InChromium(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        handler = functools.partial(Handler, directory=str(SITE))
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        cls.root = f"http://127.0.0.1:{cls.server.server_port}"
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def open(self, url, width, *more):
        """Returns Chromium's output after the page's scripts ran. The page's console must be empty."""
        said = subprocess.run(
            [
                BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={WORK}/profile", "--enable-logging=stderr", "--v=0",
                # Windows have a minimum width, so a phone is simulated by a page in a narrower
                # frame.
                f"--window-size={width},1400", *more, url,
            ],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        self.assertNotIn("CONSOLE", said.stderr)
        return said.stdout

    def framed(self, page, width):
        """Returns the address of a page that shows `page` in a frame of `width` pixels."""
        FRAMES["/frame"] = (
            f'<body style="margin:0"><iframe src="{page}" style="border:0;width:{width}px;height:1400px">'
            '</iframe><script>addEventListener("load", () => setTimeout(() => {'
            "document.title = frames[0].document.title}, 500))</script></body>"
        )
        return f"{self.root}/frame"

    def test_pages_fit_their_width(self):
        for width in WIDTHS:
            for name, page in PAGES.items():
                with self.subTest(page=name, width=width):
                    url = self.framed(f"{page}?measure", width)
                    title = re.search(
                        r"<title>(.*?)</title>",
                        self.open(url, max(width, 500), *STILL, "--dump-dom"),
                    )
                    self.assertIsNotNone(title)
                    self.assertEqual(html.unescape(title.group(1)).strip(), f"measured {width}:")
                    if name not in SHOTS:
                        continue
                    shot = WORK / f"{name}-{width}.png"
                    self.open(
                        self.framed(page, width), max(width, 500), *STILL, f"--screenshot={shot}"
                    )
                    self.assertGreater(shot.stat().st_size, 10_000)

    def test_search_finds(self):
        for word in ("offload", "E385", "gap", "plan_stream"):
            with self.subTest(word=word):
                FRAMES["/search"] = (
                    f'<iframe src="index.html?q={word}" style="width:1300px;height:1000px"></iframe>'
                    '<img src="/wait"><script>addEventListener("load", () => {document.title = "found " +'
                    'frames[0].document.querySelectorAll(".md-search-result__link").length})</script>'
                )
                page = self.open(f"{self.root}/search", 1300, "--dump-dom")
                self.assertRegex(page, "<title>found [1-9]")


if __name__ == "__main__":
    if BROWSER is None or not MKDOCS.exists():
        print("skipped: needs Chromium, and build/docs/venv, which ./dev docs makes")
        sys.exit(77)
    WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [MKDOCS, "build", "--strict", "-q", "-d", SITE],
        cwd=SOURCE,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    unittest.main(argv=sys.argv[:1])
