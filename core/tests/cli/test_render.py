"""The text forms of commands, word for word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.cli.digest_text import digest_text
from agentfeedback.cli.list_text import listing_text
from agentfeedback.cli.render import (
    forgotten_text,
    marked_text,
    plugins_text,
    status_text,
)
from agentfeedback.terminal.screen import Screen, visible, width
from agentfeedback.terminal.table import Column, table
from agentfeedback.wire import records
from agentfeedback.wire.encode import plain

PIPE = Screen()
LONG = "claude-code:1b4e28ba-2fa1-11d2-883f-0016d3cca427"
EVIL = "a\x1b[2J\u202eb\nc"


def listed(ref: str, **more: Any) -> records.Listed:
    harness, _, session = ref.partition(":")
    return records.Listed(ref=ref, harness=harness, session_id=session, path="/p", **more)


LISTING = records.Listing(
    sessions=[
        listed("codex:gone", state="absent"),
        listed(
            LONG,
            project="/srv/app/api",
            start="2026-10-08T07:39:40Z",
            end="2026-10-08T07:39:46.892Z",
            counts=records.Counts(9, 1, 20, 3),
            state="changed",
            reason="appended",
        ),
    ]
)


def test_the_list_is_a_padded_table() -> None:
    """Cells are padded, times are whole seconds, what is missing is a dash."""
    gap = " " * 40
    assert listing_text(LISTING, PIPE) == (
        "REF" + " " * 47 + "STATE               PROJECT       START                 "
        "END                   PROMPTS  TOOL CALLS  TOOL ERRORS\n"
        "codex:gone" + gap + "absent              -             -                     "
        "-                     -        -           -\n" + LONG + "  changed (appended)  "
        "/srv/app/api  2026-10-08T07:39:40Z  2026-10-08T07:39:46Z  1        20          3\n"
    )


def test_an_empty_list_is_its_header() -> None:
    """The header is there when no session is."""
    assert listing_text(records.Listing(), PIPE) == (
        "REF  STATE  PROJECT  START  END  PROMPTS  TOOL CALLS  TOOL ERRORS\n"
    )


def test_cells_of_a_table_are_measured_once() -> None:
    """A table takes time by its rows, not by their square: each cell is measured a bounded number of times."""
    measured = 0

    class Cell(str):
        __slots__ = ()

        def __len__(self) -> int:
            nonlocal measured
            measured += 1
            return super().__len__()

    rows = [[Cell("ab"), Cell("c")] for _ in range(50)]
    table([Column("A"), Column("B")], rows, PIPE)
    assert 0 < measured <= 4 * 2 * len(rows)


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_a_person_sees_where_to_look(columns: int) -> None:
    """Refs and what failed are whole at 60 cells already; projects and prompts take what is left."""
    prompts = {LONG: "fix the \x1b[31mfailing test in the cart of the shop"}
    text = listing_text(LISTING, Screen(columns), lambda ref: ref[:20], prompts)
    lines = text.splitlines()
    assert {"REF", "AGE", "FAIL", "DENY", "INT"} <= set(lines[0].split())
    assert ("PROMPT" in lines[0]) == (columns >= 80)
    assert lines[2].startswith(LONG[:20] + " ")
    assert " ".join(lines[3:]).startswith("2 sessions: 1 absent, 1 changed; 3 failed calls, ")
    assert "\x1b" not in "".join(lines)


def test_a_ref_is_never_cut() -> None:
    """Not even where the terminal is narrower than it: nobody could use what is left of it."""
    double = "codex:" + "01a22bcb-4ee9-7503-8a2c-9bfdeb3b36d9_01a22bcb-5271-7c03-b30d-4d4163b2f94d"
    shown = records.Listing(sessions=[*LISTING.sessions, listed(double)])
    for columns in (20, 60, 80):
        lines = listing_text(shown, Screen(columns)).splitlines()
        assert lines[3].split()[0] == double and lines[2].split()[0] == LONG


def test_states_have_a_colour_on_a_terminal() -> None:
    """Colour is for terminals that want it and never changes the words."""
    text = listing_text(LISTING, Screen(200, colour=True))
    assert "\x1b[33mchanged (appended)  \x1b[0m" in text
    assert "\x1b[2mabsent              \x1b[0m" in text


WORDS = st.text("ab/ \u6f22\u0301\U0001f600\x1b\n\u202e", max_size=70)


@given(
    st.lists(
        st.builds(
            lambda ref, project, reason, state, prompts: listed(
                ref,
                project=project,
                reason=reason,
                state=state,
                start="2026-10-08T07:39:40.1Z",
                end="2026-10-08T07:39:40Z",
                counts=records.Counts(prompts=prompts),
            ),
            WORDS,
            WORDS,
            WORDS,
            st.sampled_from(records.STATES),
            st.integers(0, 10**12),
        ),
        max_size=3,
    ),
    st.integers(40, 220),
)
def test_a_list_fits_the_terminal(sessions: list[records.Listed], columns: int) -> None:
    """Every line fits the terminal, or its longest ref, whatever refs, projects and reasons hold."""
    widest = max([columns, *(width(visible(each.ref)) for each in sessions)])
    lines = listing_text(records.Listing(sessions=sessions), Screen(columns)).split("\n")
    for line in lines[:-2]:
        assert width(line) <= widest
        assert visible(line) == line
    for line in lines[-2:]:
        assert visible(line) == line


def test_status_is_a_summary() -> None:
    """Stores, problems and the counts that are not zero, then the selection."""
    status = records.Status(
        harnesses=[
            records.HarnessStatus(
                "claude-code",
                "/h/.claude/projects",
                "present",
                ["/h/x: permission denied"],
                {"unsupported-format": 2, "processed": 10, "new": 1, "denied": 0},
            ),
            records.HarnessStatus("codex", "/h/.codex/sessions", "absent"),
        ]
    )
    head = (
        "claude-code: store /h/.claude/projects (present)\n"
        "  not listed: /h/x: permission denied\n"
        "  new                1\n"
        "  processed          10\n"
        "  unsupported-format 2\n"
        "codex: store /h/.codex/sessions (absent)\n"
    )
    assert status_text(status) == head + "selection: none saved\n"
    status.selection = records.Selection(["claude-code", "codex"], "7d", 5)
    saved = "selection: harnesses claude-code,codex, since 7d, limit 5\n"
    assert status_text(status) == head + saved
    status.selection = records.Selection()
    assert status_text(status) == head + "selection: harnesses -, since -, limit -\n"


def test_marking_and_forgetting_say_how_many() -> None:
    """One line each."""
    marked = records.Marked(["codex:a", "codex:a"], "filed", ["u"])
    assert marked_text(marked) == "marked 2 session(s) filed\n"
    assert forgotten_text(records.Forgotten(["codex:a"])) == "forgot 1 session(s)\n"


def digest(**more: Any) -> Any:
    return plain(records.Digest("codex:s1", "codex", "s1", **more))


def test_events_left_out_for_good_are_said() -> None:
    """Where one record completed more events than fit, their number stands with the truncation."""
    run = records.DigestRun("The notice.", "1", [digest(truncated=True, dropped=7)])
    assert "from offset 0  (truncated, 7 events left out for good)\n" in digest_text(run)


def test_a_digest_reads_notice_first() -> None:
    """The whole form: notice, version, sessions with their events, and what was deferred."""
    first = digest(
        project="/srv/app",
        cwd="/srv/app/api",
        start="2026-10-08T07:39:40.000Z",
        end="2026-10-08T07:39:46.892Z",
        model="m-1",
        from_offset=120,
        truncated=True,
        counts=records.Counts(9, 2, 5, 3, 1, 4, 0),
        events=[
            records.Event(
                "p1", "codex:s1#p1", "2026-10-08T07:39:40.000Z", summary="still  failing"
            ),
            records.Event(
                "c1",
                "codex:s1#c1",
                "2026-10-08T07:39:41.000Z",
                "tool_call",
                tool="shell",
                args_digest="0123",
                status="error",
                exit_code=0,
                error_class="exit",
                excerpt="one\n  two\tthree ",
                own=True,
            ),
            records.Event("c2", "codex:s1#c2", type="tool_call", tool="read", status="denied"),
        ],
        retries=[records.Retry("c3", "c1", "shell", "0123")],
        denials=["c2"],
        flagged=[records.Flagged("p1", "still failing")],
        final_excerpt="All\ndone.",
        findings={"slow": [{"span": "c1"}, "took\nlong"]},
    )
    run = records.DigestRun(
        "The notice.",
        "1",
        [first, digest()],
        [records.DigestError("x", "absent", "m")],
        ["codex:z"],
    )
    run.deferred.append("codex:y")
    assert digest_text(run) == (
        "The notice.\n"
        "(detector version 1)\n"
        "\n"
        "== codex:s1  project /srv/app  cwd /srv/app/api\n"
        "   2026-10-08T07:39:40.000Z .. 2026-10-08T07:39:46.892Z"
        "  model m-1  from offset 120  (truncated)\n"
        "   prompts 2, tool calls 5, tool errors 3, interrupts 1, denials 4\n"
        "   2026-10-08T07:39:40.000Z  prompt  #p1\n"
        "      still  failing\n"
        "   2026-10-08T07:39:41.000Z  tool_call  shell  error  exit 0  exit"
        "  (agentfeedback's own command)  #c1\n"
        "      one two three\n"
        "   tool_call  read  denied  #c2\n"
        "   retry #c3 of #c1  shell\n"
        '   flagged #p1  "still failing"\n'
        '   finding slow: {"span":"c1"}\n'
        "   finding slow: took long\n"
        "   final: All done.\n"
        "\n"
        "== codex:s1  project -  cwd -\n"
        "   - .. -  model -  from offset 0\n"
        "   prompts 0, tool calls 0, tool errors 0, interrupts 0, denials 0\n"
        "\n"
        "deferred (over the run cap; mark these, then digest again): codex:z\n"
        "\n"
        "deferred (over the run cap; mark these, then digest again): codex:y\n"
    )


def test_an_empty_digest_is_its_notice() -> None:
    """Nothing to do prints the notice and the version."""
    assert (
        digest_text(records.DigestRun("The notice.", "1")) == "The notice.\n(detector version 1)\n"
    )


def test_a_person_sees_the_first_deferred_sessions() -> None:
    """On a terminal five deferred refs are shown and the others counted; a program gets each on its line."""
    deferred = [f"codex:s{number}" for number in range(1892)]
    run = records.DigestRun("n", "1", deferred=deferred)
    lines = digest_text(run, Screen(80)).splitlines()
    assert [line.strip() for line in lines if line.startswith("  codex:")] == deferred[:5]
    assert lines[-1] == "  and 1,887 more"
    assert digest_text(run).count("deferred (over the run cap") == 1892
    run.deferred = deferred[:5]
    assert "more" not in digest_text(run, Screen(80))


def test_a_person_is_shown_the_next_step() -> None:
    """Where to look closer, how to see what was run, and how to mark, if there is anything to mark."""
    event = records.Event("c1", "codex:s1#c1", type="tool_call", tool="shell", status="error")
    run = records.DigestRun("n", "1", [digest(events=[event])])
    lines = digest_text(run, Screen(80)).splitlines()[-3:]
    assert lines == [
        "look closer: agentfeedback sessions show 'codex:s1#c1'",
        "what was run, and how outputs end: add --detail",
        "when you are through: agentfeedback sessions mark --digested --outcome nothing",
    ]
    assert "mark --digested" not in digest_text(run, Screen(80), marks=False)
    event.command = "make"
    detailed = records.DigestRun("n", "1", [digest(events=[event])])
    assert "--detail" not in digest_text(detailed, Screen(80))


def test_text_of_logs_cannot_reach_the_terminal_raw() -> None:
    """Whatever a log, a path or a plugin holds is one visible line."""
    evil = records.Event(EVIL, EVIL, type="tool_call", summary=EVIL, tool=EVIL, excerpt=EVIL)
    session = records.Digest(
        EVIL,
        EVIL,
        EVIL,
        project=EVIL,
        cwd=EVIL,
        model=EVIL,
        events=[evil],
        retries=[records.Retry(EVIL, EVIL, EVIL, "")],
        flagged=[records.Flagged(EVIL, EVIL)],
        final_excerpt=EVIL,
        findings={EVIL: [EVIL, {"x": EVIL}]},
    )
    status = records.Status([records.HarnessStatus(EVIL, EVIL, EVIL, [EVIL])])
    plugin = plain(records.InstalledPlugin(EVIL, EVIL, EVIL, EVIL, [EVIL], EVIL))
    row = listed(EVIL, project=EVIL, start=EVIL, end=EVIL, reason=EVIL)
    texts = [
        digest_text(records.DigestRun("n", "1", [plain(session)], [], [EVIL])),
        status_text(status),
        marked_text(records.Marked([], EVIL)),
        plugins_text([plugin], PIPE),
        listing_text(records.Listing(sessions=[row]), PIPE),
    ]
    lines = [16, 3, 1, 2, 2]
    for text, count in zip(texts, lines, strict=True):
        assert text.count("\n") == count
        assert visible(text, keep_newlines=True) == text
        assert "\\x1b[2J\\u202eb" in text


def test_plugins_are_a_table() -> None:
    """A row for each plugin, with a dash where there is nothing to say, that fits a terminal."""
    installed = [
        records.InstalledPlugin(
            "codex", "reader", "agentfeedback-codex", "1.0", ["register_readers"]
        ),
        records.InstalledPlugin("x", "plugin", "x-dist", "", error="no module x"),
    ]
    plugins = [plain(plugin) for plugin in installed]
    assert plugins_text(plugins, PIPE) == (
        "NAME   KIND    DIST                 VERSION  HOOKS             ERROR\n"
        "codex  reader  agentfeedback-codex  1.0      register_readers  -\n"
        "x      plugin  x-dist               -        -                 no module x\n"
    )
    assert plugins_text(plugins, Screen(60)) == (
        "NAME   KIND    VERSION  HOOKS             ERROR\n"
        "codex  reader  1.0      register_readers  -\n"
        "x      plugin  -        -                 no module x\n"
    )
