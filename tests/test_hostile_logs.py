"""Odd, broken and huge lines: what is an entry stays one, what is none is counted, what follows is read, offsets hold."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.machine import Machine, call, codex_line, failed, line, meta, prompt, typed

CLAUDE, CODEX = "claude-code:s1", "codex:s1"
FFFD = "\ufffd"


def digest(machine: Machine, ref: str = CLAUDE) -> dict[str, Any]:
    run = machine.sessions("digest", ref)
    assert run["errors"] == []
    return run["sessions"][0]


def listed(machine: Machine, ref: str = CLAUDE) -> dict[str, Any]:
    (item,) = [each for each in machine.sessions("list")["sessions"] if each["ref"] == ref]
    return item


def summaries(machine: Machine, ref: str = CLAUDE) -> list[str]:
    return [
        event["summary"] for event in digest(machine, ref)["events"] if event["type"] == "prompt"
    ]


def between(machine: Machine, odd: bytes) -> tuple[list[str], int, int]:
    """A line between two prompts: the prompts shown, entries, unparsed; and the watermark covers all bytes."""
    path = machine.claude("s1", [prompt("u1", "before"), odd, prompt("u2", "after")])
    found = digest(machine)
    assert {"before", "after"} <= {event.get("summary") for event in found["events"]}
    machine.sessions("mark", CLAUDE, "--outcome", "nothing")
    assert machine.state(CLAUDE) == ("processed", "")
    with path.open("ab") as file:
        file.write(prompt("u3", "later") + b"\n")
    assert [event["summary"] for event in digest(machine)["events"]] == ["later"]
    counts = found["counts"]
    return [event["summary"] for event in found["events"]], counts["entries"], counts["unparsed"]


ENTRIES = {
    "of a type nobody knows": b'{"type":"some-new-type","x":1}',
    "without a type": b"{}",
    "with a null type": b'{"type":null}',
    "with invalid UTF-8": b'{"type":"x","a":"\xff\xfe"}',
    "with a lone surrogate": b'{"type":"x","a":"\\udc88"}',
    "with a lone surrogate in a key": b'{"type":"x","\\ud800k":1}',
    "with the escape of a zero byte": b'{"type":"x","a":"\\u0000"}',
    "with an endless number": b'{"type":"x","n":' + b"9" * 5000 + b"}",
    "with a tiny number": b'{"type":"x","n":1e-99999}',
    "with a duplicate member": b'{"type":"x","type":"y"}',
    "nested 400 levels": b'{"type":"x","a":' + b"[" * 400 + b"]" * 400 + b"}",
    "ended by CR": b'{"type":"x"}\r',
    "with white space around": b'  {"type":"x"}  ',
}
UNPARSED = {
    "cut in the middle": b'{"type":"attachment","att',
    "empty": b"",
    "blank": b"   ",
    "null": b"null",
    "an array": b"[]",
    "a number": b"7",
    "a string": b'"text"',
    "NaN": b'{"type":"x","n":NaN}',
    "infinite": b'{"type":"x","n":-Infinity}',
    "with a raw control character": b'{"type":"x","a":"x\x01y"}',
    "with a raw tab in a string": b'{"type":"x","a":"x\ty"}',
    "after a byte order mark": b'\xef\xbb\xbf{"type":"x"}',
    "followed by another": b'{"type":"x"}{"type":"x"}',
    "of zero bytes": b"\0" * 64,
    "nested 100,000 levels": b"[" * 100_000 + b"]" * 100_000,
    "an object nested 100,000 levels": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "with single quotes": b"{'type':'x'}",
}


@pytest.mark.parametrize("how", ENTRIES)
def test_odd_but_valid_line_is_an_entry(machine: Machine, how: str) -> None:
    """A line that is a JSON object is an entry, however odd; what stands around it is read."""
    assert between(machine, ENTRIES[how])[1:] == (3, 0)


@pytest.mark.parametrize("how", UNPARSED)
def test_broken_line_is_counted_and_the_next_is_read(machine: Machine, how: str) -> None:
    """A line that is not a JSON object is counted once and ends nothing."""
    assert between(machine, UNPARSED[how])[1:] == (2, 1)


def test_a_line_nested_deeply_inside_a_call_is_read_or_counted(machine: Machine) -> None:
    """Nesting beyond what the parser takes never crashes, wherever it stands; around it all is read."""
    deep = b"[" * 100_000 + b"]" * 100_000
    use = b'{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"B","input":%s}]}}'
    assert between(machine, use % deep)[2] == 1
    machine.codex(
        "s1",
        [meta(), codex_line("response_item", arguments="@").replace(b'"@"', deep), typed("on")],
    )
    assert summaries(machine, CODEX) == ["on"]


@pytest.mark.parametrize(
    "separator", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\r", "\x1c", "\x1e"], ids=ascii
)
def test_only_a_line_feed_ends_a_line(machine: Machine, separator: str) -> None:
    """What other programs take for a line end is text where it stands raw or escaped in a string."""
    text = f"a{separator}b"
    raw = json.dumps(text, ensure_ascii=separator < " ").encode()
    lines = [line(type="user", uuid="u1", cwd="/p", message={"content": "@"}).replace(b'"@"', raw)]
    machine.claude("s1", [*lines, prompt("u2", "after")])
    assert [text, "after"] == summaries(machine)


@pytest.mark.parametrize("size", [12 << 20, (16 << 20) + 17])
def test_endless_line_is_one_entry(machine: Machine, size: int) -> None:
    """A line of many megabytes is read like any other, valid or not."""
    big = line(
        type="user",
        uuid="big",
        toolUseResult={"stdout": "z" * size},
        message={"content": "big one"},
    )
    assert between(machine, big) == (["before", "big one", "after"], 3, 0)
    assert between(machine, b'{"a":"' + b"z" * size)[2] == 1


def test_lone_surrogates_reach_no_output(machine: Machine) -> None:
    """Unpaired surrogates in texts, keys, directories, models, tools and spans become U+FFFD in every output and row."""
    odd = "\\udcb2"
    lines = [
        b'{"type":"user","uuid":"u%s","cwd":"/p/%s","message":{"content":"x %s y"}}',
        (
            b'{"type":"assistant","cwd":"/q%s","message":{"model":"m%s","content":[{"type":"tool_use","id":"t%s",'
            b'"name":"N%s","input":{"%s":"%s","command":"c%s"}}]}}'
        ),
        (
            b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%s","is_error":true,'
            b'"content":"bad %s"}]}}'
        ),
        b'{"type":"assistant","message":{"content":"said %s"}}',
    ]
    written = [text.replace(b"%s", odd.encode()) for text in lines]
    machine.claude("s1", written)
    item = listed(machine)
    assert (item["project"], item["counts"]["tool_errors"]) == (f"/p/{FFFD}", 1)
    found = digest(machine)
    no_uuid = len(written[0]) + 1  # an entry without one has its byte offset as its span
    assert [event["span"] for event in found["events"]] == [f"u{FFFD}", f"L{no_uuid}"]
    assert found["events"][0]["summary"] == f"x {FFFD} y"
    assert (found["events"][1]["tool"], found["events"][1]["excerpt"]) == (
        f"N{FFFD}",
        f"bad {FFFD}",
    )
    assert (found["model"], found["final_excerpt"]) == (f"m{FFFD}", f"said {FFFD}")
    for words in (
        ("list",),
        ("digest", CLAUDE),
        ("mark", CLAUDE, "--outcome", "nothing"),
        ("status",),
    ):
        result = machine.call("sessions", *words)
        assert result.status == 0 and "Traceback" not in result.err
        assert b"udcb2" not in result.out
    assert machine.state(CLAUDE) == ("processed", "")


def test_pair_of_surrogates_and_an_escaped_backslash_stay(machine: Machine) -> None:
    """An escaped pair is its character, and an escaped backslash before `ud800` is text."""
    text = b'{"type":"user","cwd":"/p","message":{"content":"\\ud83d\\ude00 \\\\ud800 \\udc00"}}'
    machine.claude("s1", [text])
    assert summaries(machine) == [f"\U0001f600 \\ud800 {FFFD}"]


def test_zero_byte_is_data_in_json_and_spelt_out_in_text(machine: Machine) -> None:
    """An escaped zero byte reaches JSON as it is, text as its spelling; a directory with one is none."""
    machine.claude("s1", [prompt("u1", "a\0b"), prompt("u2", "c", cwd="/p\0q")])
    assert summaries(machine) == ["a\0b", "c"]
    assert digest(machine)["project"] == "/srv/app/shop" == digest(machine)["cwd"]
    assert b"a\\x00b" in machine.call("sessions", "digest", CLAUDE).out


EMPTY = {
    "empty": b"",
    "one newline": b"\n",
    "blank lines": b"\n\n",
    "spaces": b"   \n",
    "no newline": b'{"a":1}',
}


@pytest.mark.parametrize("how", EMPTY)
def test_file_without_an_entry_has_no_format(machine: Machine, how: str) -> None:
    """A file in which no complete line is an entry is `unsupported-format`, for every reader, and fails nothing."""
    for path in (machine.claude("s1", []), machine.codex("s1", [])):
        path.write_bytes(EMPTY[how])
    machine.claude("s2", [prompt("u1")])
    assert machine.state(CLAUDE) == machine.state(CODEX) == ("unsupported-format", "")
    assert machine.state("claude-code:s2") == ("new", "")
    run = machine.call("sessions", "digest", CLAUDE, CODEX, "--json")
    assert (
        run.status == 1
        and [error["state"] for error in run.json["errors"]] == ["unsupported-format"] * 2
    )


@given(
    cuts=st.lists(st.integers(0, 10_000), max_size=5),
    marks=st.lists(st.booleans(), min_size=6, max_size=6),
    texts=st.lists(st.text(max_size=12), min_size=1, max_size=4),
)
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_split_into_appends_reports_each_event_once(
    machine: Machine, cuts: list[int], marks: list[bool], texts: list[str]
) -> None:
    """However a log grows, digested and marked in between or not, its events are reported once and in order."""
    lines = [prompt("p0", "start")]
    for number, text in enumerate(texts):
        lines += [
            call(f"a{number}", f"t{number}"),
            failed(f"r{number}", f"t{number}", text),
            prompt(f"p{number + 1}", f"x{text}é\U0001f600"),
        ]
    whole = b"".join(each + b"\n" for each in lines)
    path = machine.claude("s1", [])
    reported: list[str] = []
    ends = sorted({min(cut, len(whole)) for cut in cuts} | {len(whole)})
    for end, mark in zip(ends, [*marks[: len(ends) - 1], True], strict=True):
        path.write_bytes(whole[:end])
        if not mark:
            continue
        for item in machine.sessions("digest", "--unprocessed")["sessions"]:
            reported += [event["span"] for event in item["events"]]
            machine.sessions("mark", CLAUDE, "--outcome", "nothing")
    machine.call("sessions", "forget", CLAUDE)
    expected = ["p0"]
    for number in range(len(texts)):
        expected += [f"a{number}", f"p{number + 1}"]
    assert sorted(reported) == sorted(expected)
    assert [span for span in reported if span[0] == "p"] == [
        span for span in expected if span[0] == "p"
    ]


OTHERS: list[Any] = [None, True, 7, -1.5, 10**30, "text", "", [], [1], {}, {"a": {}}]


def mutations(value: Any) -> Iterable[Any]:
    """A JSON value with each of its parts in turn replaced by a value of every type."""
    yield from OTHERS
    if isinstance(value, dict):
        for name, part in value.items():
            for other in mutations(part):
                yield {**value, name: other}
    elif isinstance(value, list):
        for index, part in enumerate(value):
            for other in mutations(part):
                yield [*value[:index], other, *value[index + 1 :]]


def mutated(*lines: bytes) -> list[bytes]:
    found = [json.dumps(other).encode() for each in lines for other in mutations(json.loads(each))]
    return [each for each in found if each.startswith(b"{")]


def test_wrong_types_anywhere_leave_every_object_an_entry(machine: Machine) -> None:
    """Whatever type stands in the place of a member, the line is an entry and the lines after it are read."""
    claude = mutated(prompt("u1"), call("a1", "t1"), failed("u2", "t1"))
    machine.claude("s1", [prompt("u0", "first"), *claude, prompt("u9", "last")])
    item = {
        "type": "CommandExecution",
        "id": "c2",
        "status": "failed",
        "exit_code": 1,
        "aggregated_output": "x",
    }
    codex = mutated(
        meta(),
        typed(),
        codex_line("turn_context", cwd="/srv/b", model="m"),
        codex_line(
            "response_item",
            type="function_call",
            name="shell",
            arguments='{"command":["ls"]}',
            call_id="c1",
        ),
        codex_line(
            "response_item",
            type="function_call_output",
            call_id="c1",
            output=[{"type": "t", "text": "no"}],
        ),
        codex_line("event_msg", type="item_completed", item=item),
        codex_line(
            "event_msg", type="mcp_tool_call_end", call_id="c1", result={"Ok": {"isError": True}}
        ),
        codex_line("event_msg", type="patch_apply_end", call_id="c1", success=False),
        codex_line("event_msg", type="turn_aborted", reason="interrupted"),
    )
    machine.codex("s1", [meta(), typed("first"), *codex, typed("last")])
    for ref, count in ((CLAUDE, len(claude) + 2), (CODEX, len(codex) + 3)):
        counts = listed(machine, ref)["counts"]
        assert (counts["entries"], counts["unparsed"]) == (count, 0)
        shown = digest(machine, ref)
        assert shown["counts"] == counts
        prompts = [event["summary"] for event in shown["events"] if event["type"] == "prompt"]
        assert (prompts[0], prompts[-1]) == ("first", "last") or shown["truncated"]


TIMES = {
    '"2026-03-01T10:00:00.123456789+05:30"': "2026-03-01T04:30:00.123456789Z",
    '"2026-03-01T10:00:00,5Z"': "2026-03-01T10:00:00.5Z",
    '"2026-03-01T10:00:00.0000000009Z"': "2026-03-01T10:00:00Z",
    '"2026-03-01T10:00:00-05:45"': "2026-03-01T15:45:00Z",
    '"0001-01-01T00:00:00Z"': "0001-01-01T00:00:00Z",
    '"9999-12-31T23:59:59Z"': "9999-12-31T23:59:59Z",
    '"2026-03-01 10:00:00"': None,
    '"2026-03-01T10:00:00"': None,
    '"2026-03-01t10:00:00z"': None,
    '"2026-W09-7T10:00:00Z"': None,
    '"2026-02-29T10:00:00Z"': None,
    '"9999-12-31T23:59:60Z"': None,
    '"9999-12-31T23:59:59-23:59"': None,
    '"0000-01-01T00:00:00Z"': None,
    '"10000-01-01T00:00:00Z"': None,
    '""': None,
    "1772359200": None,
    "null": None,
    '{"seconds":1}': None,
}


@pytest.mark.parametrize("written", TIMES)
def test_times_are_rfc_3339_or_none(machine: Machine, written: str) -> None:
    """A time with any offset and fraction is shown in UTC; every other form is not a time, and never an error."""
    text = b'{"type":"user","uuid":"u1","cwd":"/p","timestamp":%s,"message":{"content":"hi"}}'
    machine.claude("s1", [text % written.encode()])
    assert listed(machine).get("start") == TIMES[written]
    found = digest(machine)
    assert ("at" in found["events"][0]) == ("start" in found) == (TIMES[written] is not None)
    assert machine.call("sessions", "list").status == 0


def test_start_and_end_are_the_minimum_and_maximum(machine: Machine) -> None:
    """Times that go back or repeat are not error; the span of a session is that of all its times."""
    machine.claude(
        "s1",
        [
            prompt("u1", second=30),
            prompt("u2", second=10),
            prompt("u3", second=10),
            prompt("u4", second=40),
            prompt("u5", second=20),
        ],
    )
    item = listed(machine)
    assert (item["start"][-4:], item["end"][-4:]) == (":10Z"[-4:], ":40Z"[-4:])
    assert len(digest(machine)["events"]) == 5


def test_memory_is_one_line_and_not_the_file(machine: Machine) -> None:
    """Listing and digesting 200 MB of 3 MB lines takes no more than 110 MiB, in a process of its own."""
    path = machine.claude("s1", [prompt("u1")])
    big = line(
        type="user",
        uuid="big",
        cwd="/p",
        toolUseResult={"stdout": "z" * (3 << 20)},
        message={"content": []},
    )
    with path.open("ab") as file:
        for _ in range(66):
            file.write(big + b"\n")
    assert path.stat().st_size > 200_000_000
    for words in (("list", "--json"), ("digest", CLAUDE, "--json")):
        assert peak(machine, *words) < 110 << 20


_MEASURED = """
import resource, sys
from agentfeedback.cli.main import main
status = main(sys.argv[1:])
try:  # of this program alone: what the system calls the maximum may be that of the parent before it
    with open("/proc/self/status") as file:
        peak = int(file.read().split("VmHWM:")[1].split()[0]) * 1024
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak, file=sys.stderr)
sys.exit(status)
"""


def peak(machine: Machine, *words: str) -> int:
    """The most memory a command had resident, in bytes."""
    command = [sys.executable, "-c", _MEASURED, "sessions", *words]
    done = subprocess.run(
        command, env=machine.environ, capture_output=True, timeout=120, check=True
    )
    assert json.loads(done.stdout)["sessions"]
    return int(done.stderr.split()[-1])
