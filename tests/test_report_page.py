"""`sessions report --html`: one page without scripts and without anything from elsewhere, whatever logs hold."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.plugins.host import Host
from agentfeedback.report.page import BEGINNING, BEHIND, page
from agentfeedback.sessions.engine import Engine
from tests.support.machine import Machine, call, failed, later, prompt

CHROMIUM = shutil.which("chromium")
#: Texts that would be more than text, were they not escaped.
EVIL = (
    "<script>document.title='owned'</script>",
    "</pre></style><style>body{display:none}</style>",
    '"><img src=x onerror=alert(1)>',
    "<a href=javascript:alert(1)>x</a>",
    "<!-- --> ]]> &lt;b&gt; {{ 7*7 }} {% raw %}",
    "<svg onload=alert(1)><title>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "\x1b[31m\x00\u202etxt\u2066\ufffe",
    "https://evil.example/a.css",
)


@pytest.fixture
def evil(machine: Machine) -> Machine:
    """Sessions whose commands, results, prompts and directories are hostile."""
    for number, text in enumerate(EVIL):
        machine.claude(
            f"s{number}",
            [
                prompt("u1", f"still failing {text}", cwd=f"/srv/{text.replace('/', '|')}"),
                call("a1", "t1", f"run {text} {number}"),
                failed("r1", "t1", f"Exit code 1\nerror: {text}"),
                call("a2", "t2", f"other {text}"),
                failed("r2", "t2", f"The user doesn't want to proceed with this tool use {text}"),
            ],
        )
    return machine


def html(machine: Machine, **more: Any) -> str:
    engine = Engine(machine.environ, host=Host(machine.environ), now=later)
    return page(engine.report_page(0, **more)).decode()


class _Read(HTMLParser):
    """The elements of a page, with what is wrong about how they are nested."""

    VOID = frozenset(("meta", "link", "br", "img", "input", "hr"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(text)
        self.close()
        self.faults += self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


ALLOWED = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "h1",
        "h2",
        "h3",
        "p",
        "dl",
        "div",
        "dt",
        "dd",
        "main",
        "section",
        "ul",
        "li",
        "svg",
        "rect",
        "desc",
        "g",
        "line",
        "text",
        "details",
        "summary",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "pre",
        "span",
        "strong",
        "footer",
    ]
)


def test_a_hostile_log_puts_nothing_but_text_on_the_page(evil: Machine) -> None:
    """Only elements of ours, no handler, no style of an element, nothing that is fetched or followed."""
    text = html(evil, limit=100)
    read = _Read(text)
    assert read.faults == []
    assert {tag for tag, _ in read.elements} <= ALLOWED
    for tag, attributes in read.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert not {"src", "srcset", "action", "data", "xlink:href"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")
        assert tag != "meta" or (attributes.get("http-equiv") or "") != "refresh"
    for number, said in enumerate(EVIL):
        assert text.count(f"{number}</")
        assert said not in text or not set(said) & set("<>&\"'")
    assert "49" not in re.findall(r"other [^<]*", text)
    for char in "\x1b\x00\u202e\u2066":
        assert char not in text


def test_the_page_allows_its_own_style_alone(evil: Machine) -> None:
    """The policy of the page names the style by its hash, and nothing else may be loaded, sent or run."""
    text = html(evil)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert f'content="{policy}"' in text and "url(" not in style and "@import" not in style
    assert text.encode().startswith(BEGINNING)


def test_charts_say_in_words_what_they_show(evil: Machine) -> None:
    """Each has a title and a description that it names, and the same numbers as a table."""
    text = html(evil)
    read = _Read(text)
    charts = [attributes for tag, attributes in read.elements if attributes.get("role") == "img"]
    assert len(charts) == 2
    ids = {attributes.get("id") for _, attributes in read.elements}
    for chart in charts:
        assert set((chart["aria-labelledby"] or "").split()) <= ids
    assert text.count("The same as a table") == 2
    assert f"Failed calls</dt><dd>{len(EVIL)}<" in text
    headings = [tag for tag, _ in read.elements if tag in ("h1", "h2", "h3")]
    assert headings[0] == "h1" and headings.count("h1") == 1
    scopes = [attributes.get("scope") for tag, attributes in read.elements if tag == "th"]
    assert scopes and set(scopes) <= {"col", "row"}


def test_a_failure_opens_to_what_is_behind_it(machine: Machine) -> None:
    """The newest events with time, project and ref; the others are counted."""
    for number in range(30):
        machine.claude(
            f"s{number:02}", [prompt("u1"), call("a1", "t1", second=number), failed("r1", "t1")]
        )
    text = html(machine)
    assert text.count('<details class="failure">') == 1 and "30×" in text
    assert text.count("#a1</code></td>") == BEHIND and f"and {30 - BEHIND} more" in text
    assert "agentfeedback sessions show &#39;claude-code:s29#a1&#39;" in text


def test_a_quiet_time_is_a_page_too(machine: Machine) -> None:
    """Without a failure there are no charts, and it says so."""
    machine.claude("s1", [prompt("u1")])
    text = html(machine)
    assert "No call failed." in text and _Read(text).faults == [] and 'role="img"' not in text


# -- the file --------------------------------------------------------------------------------------


def written(machine: Machine, path: Path, *words: str) -> Any:
    return machine.call("sessions", "report", "--since", "2020-01-01", "--html", str(path), *words)


def test_the_file_is_the_owner_s_alone_and_replaced(evil: Machine, tmp_path: Path) -> None:
    """A page of ours is written over, in one step; the command says where it is."""
    path = tmp_path / "report.html"
    for _ in range(2):
        result = written(evil, path)
        assert (result.status, result.text) == (0, f"wrote {path}\n")
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.read_bytes().startswith(BEGINNING)
    assert os.listdir(tmp_path).count("report.html") == 1


@pytest.mark.parametrize("foreign", ["text", "empty", "link", "folder", "fifo", "no folder"])
def test_what_is_not_ours_is_left_alone(evil: Machine, tmp_path: Path, foreign: str) -> None:
    """Status 1, nothing on standard output, and what was there is still there."""
    path, target = tmp_path / "report.html", tmp_path / "target"
    target.write_bytes(BEGINNING)
    if foreign in ("text", "empty"):
        path.write_text("mine" if foreign == "text" else "")
    elif foreign == "link":
        path.symlink_to(target)
    elif foreign == "folder":
        path.mkdir()
    elif foreign == "fifo":
        os.mkfifo(path)
    else:
        path = tmp_path / "none" / "report.html"
    before = path.lstat().st_ino if path.parent.exists() else None
    result = written(evil, path)
    assert (result.status, result.out) == (1, b"") and str(path.parent) in result.err
    assert (path.lstat().st_ino if path.parent.exists() else None) == before
    assert target.read_bytes() == BEGINNING


@pytest.mark.parametrize(
    "words", [("--html", "", "--json"), ("--html=",), ("--html", "x", "--json")]
)
def test_a_wrong_line_is_refused(machine: Machine, words: tuple[str, ...]) -> None:
    """A page is not JSON, and has a name."""
    result = machine.call("sessions", "report", *words)
    assert (result.status, result.out) == (2, b"") and "--html" in result.err


# -- in a browser ----------------------------------------------------------------------------------


def browser(profile: Path, page: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run Chromium without a window over a page, with what it says on standard error."""
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={profile}", "--enable-logging=stderr", *words, page.as_uri()]
    return subprocess.run(command, capture_output=True, timeout=120, check=True)


def pixels(path: Path) -> tuple[int, int, set[bytes]]:
    """Width and height of a screenshot, and the colours of its right-most column."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    channels = {2: 3, 6: 4}[data[25]]
    packed, at = b"", 8
    while at < len(data):
        size = int.from_bytes(data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += 12 + size
    raw = zlib.decompress(packed)
    row, before = width * channels + 1, bytearray(width * channels)
    colours = set()
    for start in range(0, len(raw), row):
        before = _unfiltered(raw[start], bytearray(raw[start + 1 : start + row]), before, channels)
        colours.add(bytes(before[-channels:][:3]))
    return width, height, colours


def _unfiltered(kind: int, line: bytearray, above: bytearray, step: int) -> bytearray:
    for at in range(len(line)):
        left = line[at - step] if at >= step else 0
        up, corner = above[at], above[at - step] if at >= step else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        elif kind == 4:
            near = left + up - corner
            guess = min((left, up, corner), key=lambda each: abs(near - each))
        else:
            guess = 0
        line[at] = (line[at] + guess) & 0xFF
    return line


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_shows_it_and_runs_nothing(evil: Machine, tmp_path: Path) -> None:
    """Light, dark, narrow and on paper, without a word of complaint; no text of a log became a part of the page."""
    path, profile = tmp_path / "report.html", tmp_path / "profile"
    assert written(evil, path, "--limit", "100").status == 0
    dumped = browser(profile, path, "--dump-dom")
    said = dumped.stderr.decode("utf-8", "replace")
    assert "CONSOLE" not in said, said
    dom = dumped.stdout.decode()
    assert "<title>What went wrong, " in dom and "owned" not in re.findall("<title>[^<]*", dom)[0]
    elements = _Read(dom).elements
    assert {tag for tag, _ in elements} <= ALLOWED
    shots = {
        "light": ("--window-size=500,700", "--blink-settings=preferredColorScheme=1"),
        "dark": ("--window-size=500,700", "--blink-settings=preferredColorScheme=0"),
    }
    edges = {}
    for name, words in shots.items():
        shot = tmp_path / f"{name}.png"
        browser(profile, path, f"--screenshot={shot}", *words)
        width, height, colours = pixels(shot)
        assert (width, height) == (500, 700)
        # The margin is empty: nothing is wider than the window, whatever long word a log holds.
        (edges[name],) = colours
    assert edges["light"] == b"\xff\xff\xff" and max(edges["dark"]) < 0x30
    paper = tmp_path / "report.pdf"
    browser(profile, path, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    assert paper.read_bytes().startswith(b"%PDF") and paper.stat().st_size > 20_000
