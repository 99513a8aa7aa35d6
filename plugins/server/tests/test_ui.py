"""The pages for people: behind the key, safe with hostile texts, and usable in a browser by keyboard and screen reader."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from agentfeedback_server.routes.ui import COOKIE, POLICY
from agentfeedback_server.settings import Settings
from tests.support.uploads import Upload

from .conftest import Running, listening
from .test_uploads import Uploader

HOSTILE = "</pre><script>document.title='owned'</script><img src=x onerror=\"alert(1)\">{{ 7*7 }}\u202e\x1b[31m\0"
ORIGIN = {"Origin": "http://server"}
VOID = {"meta", "link", "input", "option"}


class Page(HTMLParser):
    """A page as it is parsed: its elements, and whether each that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def pages(small: Running) -> Any:
    """A browser that is signed in."""
    found = small.with_key("")
    reply = found.post("/ui/login", data={"key": small.key}, headers=ORIGIN, follow_redirects=False)
    assert (reply.status_code, reply.headers["Location"]) == (303, "/ui/queue")
    return found


def shown(reply: Any) -> Page:
    """A page with the headers that every page has."""
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert reply.headers["Content-Security-Policy"] == POLICY
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    return Page(reply.text)


def test_nothing_is_shown_without_a_key(small: Running) -> None:
    """Every page leads to the form; a wrong key, a wrong cookie and another site's form lead nowhere."""
    small.file(summary="a report")
    bare = small.with_key("")
    for path in (
        "/",
        "/ui/queue",
        "/ui/stats",
        "/ui/submissions/1",
        "/ui/submissions/1/transcript",
    ):
        reply = bare.get(path)
        assert reply.url.path == "/ui/login" and "a report" not in reply.text, path
        shown(reply)
    wrong = bare.post("/ui/login", data={"key": "afk_nope"}, headers=ORIGIN)
    assert wrong.status_code == 401 and COOKIE not in wrong.cookies
    assert 'role="alert"' in wrong.text
    bare.cookies.set(COOKIE, "guess")
    assert bare.get("/ui/queue").url.path == "/ui/login"
    for headers in ({}, {"Origin": "http://elsewhere"}, {"Origin": "null"}):
        reply = bare.post("/ui/login", data={"key": small.key}, headers=headers)
        assert reply.status_code == 403 and COOKIE not in reply.cookies


def test_a_browser_is_signed_in_for_as_long_as_its_key_is_good(small: Running) -> None:
    """Its cookie is not the key, is out of reach of scripts and other sites, and ends with key or sign-out."""
    id, key = small.server.access.add("default", "for a browser")
    browser = small.with_key("")
    reply = browser.post("/ui/login", data={"key": key}, headers=ORIGIN, follow_redirects=False)
    cookie = reply.headers["Set-Cookie"]
    assert key not in cookie and "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert "Path=/ui;" in cookie
    assert browser.get("/ui/queue").url.path == "/ui/queue"
    small.server.access.revoke(id)
    assert browser.get("/ui/queue").url.path == "/ui/login"
    other = small.with_key("")
    other.post("/ui/login", data={"key": small.key}, headers=ORIGIN)
    token = other.cookies[COOKIE]
    with small.server.database.reading() as connection:
        rows = repr(connection.exec_driver_sql("SELECT * FROM browser_sessions").all())
    assert token not in rows and small.key not in rows
    assert other.post("/ui/logout", headers=ORIGIN).url.path == "/ui/login"
    other.cookies.set(COOKIE, token)
    assert other.get("/ui/queue").url.path == "/ui/login"
    assert token not in small.log.getvalue() and key not in small.log.getvalue()


def test_a_browser_with_the_key_of_the_environment(tmp_path: Any) -> None:
    """It is signed in until the server has another one."""
    key = "a-key-of-" + "the-environment"
    url = f"sqlite:///{tmp_path}/s.db"
    first = Running(Settings(url, str(tmp_path / "o"), key=key))
    browser = first.with_key("")
    browser.post("/ui/login", data={"key": key}, headers=ORIGIN)
    assert browser.get("/ui/queue").url.path == "/ui/queue"
    first.server.close()
    second = Running(Settings(url, str(tmp_path / "o"), key=key + "-changed"))
    other = second.with_key("")
    other.cookies = browser.cookies
    assert other.get("/ui/queue").url.path == "/ui/login"
    second.server.close()


def test_the_queue_is_searched_and_paged(small: Running, pages: Any) -> None:
    """Open reports first; filters and pages are links and fields."""
    for number in range(53):
        small.file(key=str(number), summary=f"report {number}", project="ab"[number % 2])
    small.client.patch("/api/v1/submissions/1", json={"verdict": "fixed"})
    first = pages.get("/ui/queue")
    assert "52 reports" in first.text and "report 52<" in first.text
    (older,) = re.findall(r'href="([^"]*)" rel="next"', first.text)
    second = pages.get(older.replace("&amp;", "&"))
    assert "report 1<" in second.text and "report 0<" not in second.text
    found = pages.get("/ui/queue", params={"q": "REPORT 5", "project": "a", "state": "all"})
    assert re.findall(r">(report \d+)<", found.text) == ["report 52", "report 50"]
    assert "report 0<" in pages.get("/ui/queue?state=processed").text
    assert "0 reports" in pages.get("/ui/queue?kind=none").text
    assert pages.get("/ui/queue?q=" + "x" * 300).status_code == 400
    assert pages.get("/ui/queue?before=x").status_code == 400


def test_a_report_is_read_and_marked(small: Running, pages: Any) -> None:
    """The mark, a refusal that is named, and the mark taken back."""
    id = small.file(kind="friction", summary="s", payload={"n": 1})["id"]
    where = f"/ui/submissions/{id}"
    shown(pages.get(where))
    done = pages.post(
        where, data={"action": "mark", "verdict": "fixed", "ref": " r "}, headers=ORIGIN
    )
    assert done.url.path == where and 'value="fixed"' in done.text
    record = small.client.get(f"/api/v1/submissions/{id}").json()
    assert (record["verdict"], record["ref"]) == ("fixed", "r") and "resolution" not in record
    bad = pages.post(where, data={"verdict": "Not One Word"}, headers=ORIGIN)
    assert bad.status_code == 400 and 'role="alert"' in bad.text
    pages.post(where, data={"action": "undo"}, headers=ORIGIN)
    assert "processed_at" not in small.client.get(f"/api/v1/submissions/{id}").json()
    assert pages.post(where, data={"verdict": "x"}).status_code == 403
    for path in ("/ui/submissions/99", "/ui/submissions/x"):
        assert pages.get(path).status_code == 404
        assert pages.post(path, data={"verdict": "x"}, headers=ORIGIN).status_code == 404


def test_hostile_texts_are_texts(small: Running, pages: Any) -> None:
    """In every place a report has one; characters that hide or reorder are spelt out, numbers stay as written."""
    small.client.post(
        "/api/v1/submissions",
        content=b'{"kind":"note","payload":{"n":1.50,"deep":' + b"[" * 500 + b"]" * 500 + b"}}",
    )
    members = ("kind", "summary", "project", "harness", "model", "machine")
    body = dict.fromkeys(members, HOSTILE)
    small.file(**body, payload={HOSTILE: HOSTILE, "n": 1.5}, context={HOSTILE: HOSTILE})
    texts = []
    for path in ("/ui/queue", "/ui/submissions/2", "/ui/stats", "/ui/queue?" + "q=%3Cscript%3E"):
        reply = pages.get(path)
        assert reply.status_code == 200
        texts.append(reply.text)
        names = [tag for tag, _ in shown(reply).elements]
        assert "script" not in names and "img" not in names
        assert "\u202e" not in reply.text and "\x1b" not in reply.text and "\0" not in reply.text
        assert "49" not in re.sub(r"\d{3,}", "", reply.text) or "{{ 7*7 }}" in reply.text
    assert "&lt;script&gt;" in texts[1] and r"\u202e" in texts[1]
    assert ": 1.50\n" in pages.get("/ui/submissions/1").text


def test_a_transcript_is_a_file_to_download(small: Running, pages: Any) -> None:
    """Never a page; behind the same key."""
    upload = Upload(b"<script>1</script>\n")
    id = Uploader(small).push(upload).json()["submission"]["id"]
    assert "/transcript" in pages.get(f"/ui/submissions/{id}").text
    reply = pages.get(f"/ui/submissions/{id}/transcript")
    assert reply.content == upload.transcript
    assert reply.headers["Content-Type"] == "application/octet-stream"
    assert reply.headers["Content-Disposition"] == "attachment"
    assert pages.get("/ui/submissions/99/transcript").status_code == 404


@pytest.fixture
def browser() -> Iterator[Any]:
    """A page of Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        context = chromium.new_context(color_scheme="dark", viewport={"width": 360, "height": 700})
        yield context.new_page()
        chromium.close()


def test_a_person_works_with_the_keyboard_alone(small: Running, browser: Any) -> None:
    """Sign in, search, open, mark, statistics, sign out: on a small dark screen, with no fault that axe finds."""
    from axe_playwright_python.sync_playwright import Axe

    for number in range(3):
        small.file(key=str(number), kind="friction", summary=f"report {number} {HOSTILE}")
    faults: list[str] = []
    browser.on(
        "console",
        lambda message: (
            faults.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    browser.on("pageerror", lambda error: faults.append(str(error)))

    def sound() -> None:
        found = Axe().run(browser)
        assert found.violations_count == 0, found.generate_report()
        assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    with listening(small) as url:
        browser.goto(url)
        sound()
        browser.keyboard.press("Tab")
        assert browser.evaluate("document.activeElement.textContent") == "Skip to the content"
        browser.keyboard.press("Tab")
        browser.keyboard.type(small.key)
        browser.keyboard.press("Enter")
        browser.wait_for_url("**/ui/queue")
        sound()
        assert (
            browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 23, 27)"
        )
        browser.get_by_label("Text").focus()
        browser.keyboard.type("report 1")
        browser.keyboard.press("Enter")
        browser.wait_for_url("**q=report+1**")
        assert browser.get_by_role("status").inner_text() == "1 report"
        link = browser.get_by_role("link", name=re.compile("^report 1"))
        link.focus()
        browser.keyboard.press("Enter")
        browser.wait_for_url("**/ui/submissions/2")
        sound()
        browser.get_by_label("Verdict").focus()
        browser.keyboard.type("fixed")
        browser.get_by_role("button", name="Mark as processed").focus()
        browser.keyboard.press("Enter")
        browser.get_by_role("button", name="Take the mark back").wait_for()
        browser.get_by_role("link", name="Statistics").focus()
        browser.keyboard.press("Enter")
        browser.wait_for_url("**/ui/stats")
        sound()
        assert browser.title() == "Statistics · agentfeedback"
        browser.get_by_role("button", name="Sign out").press("Enter")
        browser.wait_for_url("**/ui/login")
    assert faults == []
    assert small.client.get("/api/v1/submissions/2").json()["verdict"] == "fixed"
