"""The tools over sessions: pages and cursors, reports, entries, marks of all that was digested, progress."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from anyio import to_thread

from agentfeedback_mcp.local.sessions import TOOLS
from agentfeedback_mcp.stdio.progress import Progress
from agentfeedback_mcp.tools.call import answer
from tests.support.machine import meta, typed

NAMED = {tool.name: tool for tool in TOOLS}


def asked(machine: Any, tool: str, *, wrong: bool = False, **arguments: Any) -> Any:
    """What a tool answers, in this process."""
    text = json.dumps(arguments).encode()
    reply = answer(NAMED[tool], text, machine.environ, None)  # type: ignore[arg-type] # no submission is asked for
    shown = json.loads(reply.encoded())
    assert (not reply.ok) is wrong, shown
    return shown


def pointer(machine: Any, tool: str, **arguments: Any) -> str:
    """The argument that a refusal is about."""
    (detail,) = asked(machine, tool, wrong=True, **arguments)["details"]
    pointed: str = detail["pointer"]
    return pointed


@pytest.fixture
def many(machine: Any) -> Any:
    """Seven sessions, a second from one to the next."""
    for number in range(7):
        machine.codex(f"s{number}", [meta(second=number), typed("go on", number)])
    return machine


def test_a_list_is_given_by_pages(many: Any) -> None:
    """The newest first page, in the command's order; the cursor leads to those before, and every session comes once."""
    whole = many.json("sessions", "list", "--json")
    assert asked(many, "sessions_list") == whole
    assert asked(many, "sessions_list", limit=7) == whole
    pages, cursor = [], None
    while True:
        page = asked(many, "sessions_list", limit=3, **({"cursor": cursor} if cursor else {}))
        assert (page["total"], page["stores"]) == (7, whole["stores"])
        pages.append([item["ref"] for item in page["sessions"]])
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [ref for page in reversed(pages) for ref in page] == [
        item["ref"] for item in whole["sessions"]
    ]


def test_a_cursor_outlives_its_session(many: Any) -> None:
    """It names a place: the next page is the same when the session it came from is gone and a newer one is there."""
    first = asked(many, "sessions_list", limit=3)
    before = asked(many, "sessions_list", limit=3, cursor=first["next_cursor"])["sessions"]
    (path,) = many.home.rglob("*-s4.jsonl")
    path.unlink()
    many.codex("s9", [meta(second=30), typed("x", 30)])
    after = asked(many, "sessions_list", limit=3, cursor=first["next_cursor"])["sessions"]
    assert after == before


def test_a_digest_goes_on_behind_the_last(many: Any) -> None:
    """In either order, whether what was digested is marked or not, until all have come once."""
    for newest in (False, True):
        given = {"unprocessed": True, "limit": 3, "newest": newest}
        found, cursor = [], None
        while True:
            run = asked(many, "sessions_digest", **given, **({"cursor": cursor} if cursor else {}))
            found += [digest["session_id"] for digest in run["sessions"]]
            cursor = run.get("next_cursor")
            if cursor is None:
                break
        expected = [f"s{number}" for number in range(7)]
        assert found == (expected[::-1] if newest else expected)


def test_digests_of_a_time_and_of_trouble(many: Any) -> None:
    """`since` alone takes processed sessions too; `problems` leaves out what went well."""
    run = asked(many, "sessions_digest", since="2026-11-03T10:00:05Z")
    assert [digest["session_id"] for digest in run["sessions"]] == ["s5", "s6"]
    run = asked(many, "sessions_digest", unprocessed=True, problems=True)
    assert (run["sessions"], len(run["clean"])) == ([], 7)


@pytest.mark.parametrize(
    ("tool", "arguments", "wanted"),
    [
        ("sessions_digest", {}, "?refs"),
        ("sessions_digest", {"refs": ["codex:s1"], "unprocessed": True}, "?refs"),
        ("sessions_digest", {"refs": ["codex:s1"], "since": "7d"}, "?refs"),
        ("sessions_digest", {"refs": ["codex:s1"], "newest": True}, "?refs"),
        ("sessions_digest", {"refs": ["codex:s1"], "limit": 1}, "?refs"),
        ("sessions_digest", {"refs": ["codex:s1"] * 51}, "?refs"),
        ("sessions_digest", {"unprocessed": True, "cursor": "x"}, "?cursor"),
        ("sessions_list", {"cursor": "eA"}, "?cursor"),
        ("sessions_list", {"cursor": "A" * 600}, "?cursor"),
        ("sessions_list", {"limit": 0}, "?limit"),
        ("sessions_list", {"limit": 201}, "?limit"),
        ("sessions_list", {"since": "soon"}, "?since"),
        ("sessions_report", {"limit": 101}, "?limit"),
        ("sessions_report", {"harness": "none"}, "?harness"),
        ("sessions_mark", {"outcome": "nothing"}, "?refs"),
        ("sessions_mark", {"outcome": "nothing", "refs": ["codex:s1"], "digested": True}, "?refs"),
        ("sessions_mark", {"outcome": "nothing", "digested": True, "uids": ["x"]}, "?uids"),
        ("sessions_mark", {"outcome": "nothing", "refs": ["codex:s1"]}, "?refs"),
        ("session_show", {}, "?ref"),
        ("session_show", {"ref": "codex"}, "?ref"),
        ("session_show", {"ref": "codex:none"}, "?ref"),
        ("session_show", {"ref": "codex:s1#none"}, "?ref"),
    ],
)
def test_a_wrong_argument_is_named(many: Any, tool: str, arguments: Any, wanted: str) -> None:
    """By the pointer of a validation error."""
    assert pointer(many, tool, **arguments) == wanted


def test_all_that_was_digested_is_marked(many: Any) -> None:
    """And nothing that was not, or that changed since."""
    asked(many, "sessions_digest", refs=["codex:s1", "codex:s2"])
    (path,) = many.home.rglob("*-s2.jsonl")
    with path.open("ab") as file:
        file.write(typed("more") + b"\n")
    marked = asked(many, "sessions_mark", digested=True, outcome="nothing")
    assert marked["marked"] == ["codex:s1"]
    assert marked["skipped"] == [{"ref": "codex:s2", "reason": "changed"}]


def test_a_session_and_an_entry_are_shown(machine: Any) -> None:
    """As the command shows them; what is refused says so, and what only a person may allow."""
    machine.friction()
    for ref in ("claude-code:s1", "claude-code:s1#u-2"):
        assert asked(machine, "session_show", ref=ref) == machine.json(
            "sessions", "show", ref, "--json"
        )
    machine.codex("lost", [b'{"type":"event_msg","payload":{"type":"user_message","message":"x"}}'])
    refusal = asked(machine, "session_show", wrong=True, ref="codex:lost")
    assert "unknown-project" in refusal["message"] and "a person's decision" in refusal["message"]
    assert "--" not in refusal["message"]


def test_a_report_is_the_commands(machine: Any) -> None:
    """What went wrong since a time, in the directory that is named."""
    machine.friction()
    since = "2026-01-01T00:00:00Z"
    report = asked(machine, "sessions_report", since=since)
    shown = machine.json("sessions", "report", "--since", since, "--json")
    for each in (report, shown):
        each.pop("until")
    assert report == shown
    assert report["totals"]["tool_errors"] == 1
    assert (
        asked(machine, "sessions_report", since=since, cwd="/elsewhere")["totals"]["sessions"] == 0
    )


def test_progress_is_told_now_and_then() -> None:
    """Not more often than twice a second, and the end where anything was reported."""
    told: list[tuple[float, float | None, str | None]] = []
    clock = [0.0]

    async def send(done: float, total: float | None, label: str | None) -> None:
        told.append((done, total, label))

    def work() -> None:
        for quick in (False, True):
            progress = Progress(send, "reading sessions", 10, now=lambda: clock[0])
            for _ in range(10):
                clock[0] += 0.01 if quick else 0.2
                progress.step()
            progress.done()

    async def run() -> None:
        await to_thread.run_sync(work)

    anyio.run(run)
    assert [done for done, _, _ in told] == [3, 6, 9, 10]
    assert {each[1:] for each in told} == {(10, "reading sessions")}
