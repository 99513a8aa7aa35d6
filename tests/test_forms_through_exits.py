"""Written forms of a secret wherever a log holds a text, through every command that shows, files or sends one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.machine import Machine, line
from tests.support.secret_forms import ALL, SECRET, SURROUNDINGS, leaks

#: Enough of all sections; every form alone is the scrubber's own test.
SOME = ALL[::12]
ON_A_LINE = [form for form in SOME if "\n" not in form]
IN_A_PATH = [form for form in ON_A_LINE if "/" not in form and len(form) < 60]
HOW = ("alone", "JSON", "ANSI", "added")


def _record(kind: str, span: str, content: Any, cwd: str = "/srv/app/shop", **more: Any) -> bytes:
    message = {"role": kind, "content": content} | (
        {"model": more.pop("model", "m-1")} if kind == "assistant" else {}
    )
    return line(
        type=kind, uuid=span, timestamp="2026-11-03T09:00:00.000Z", cwd=cwd, message=message, **more
    )


def _call(number: int, span: str, tool: str, command: str, output: str) -> list[bytes]:
    use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": {"command": command}}
    answer = {
        "type": "tool_result",
        "tool_use_id": f"t{number}",
        "content": output,
        "is_error": True,
    }
    return [_record("assistant", span, [use]), _record("user", f"r{number}", [answer])]


def _sessions() -> dict[str, list[bytes]]:
    """A session for each place that a log has for a text."""
    shown = [SURROUNDINGS[HOW[number % len(HOW)]](form) for number, form in enumerate(SOME)]
    sessions: dict[str, list[bytes]] = {
        "prompts": [_record("user", f"u{n}", text) for n, text in enumerate(shown)],
        "outputs": [
            each
            for n, text in enumerate(shown)
            for each in _call(n, f"a{n}", "Bash", f"make {n}", f"Exit code 2\n{text}")
        ],
        "commands": [
            each
            for n, text in enumerate(shown)
            for each in _call(n, f"a{n}", "Bash", text, "Exit code 2\nno rule")
        ],
        "spans": [
            each
            for n, text in enumerate(ON_A_LINE)
            for each in _call(n, f"{n} {text}", "Bash", "make", "Exit code 2\nno")
        ],
        "tools": [
            each
            for n, text in enumerate(ON_A_LINE)
            for each in _call(n, f"a{n}", text, "make", "Exit code 2\nno")
        ],
        "paths": [
            _record("user", f"u{n}", "fix it", cwd=f"/srv/{text}/x")
            for n, text in enumerate(IN_A_PATH)
        ],
        "models": [
            _record("assistant", f"a{n}", [{"type": "text", "text": "on it"}], model=text)
            for n, text in enumerate(ON_A_LINE)
        ],
        "said": [
            _record("assistant", f"a{n}", [{"type": "text", "text": text}])
            for n, text in enumerate(shown)
        ],
    }
    return sessions


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir()
    machine = Machine(home, tmp_path / "work")
    for id, lines in _sessions().items():
        machine.claude(id, [_record("user", "first", "fix it"), *lines])
    return machine


def _lines_with_a_leak(output: str) -> list[str]:
    return [
        each[max(0, each.find(SECRET[:5]) - 80) :][:240]
        for each in output.splitlines()
        if leaks(each)
    ]


def test_no_command_shows_a_secret_in_any_form(machine: Machine) -> None:
    refs = [f"claude-code:{id}" for id in _sessions()]
    found = []
    for words in (
        ("sessions", "list"),
        ("sessions", "list", "--json"),
        ("sessions", "status"),
        ("sessions", "report", "--since", "2026-01-01"),
        ("sessions", "report", "--since", "2026-01-01", "--json"),
        *(("sessions", "show", ref, *more) for ref in refs for more in ((), ("--json",))),
        ("sessions", "show", "claude-code:commands#a3"),
        ("sessions", "show", "claude-code:outputs#a4", "--json"),
        *(
            ("submit", "friction", "--summary", "a", "--context-from", f"{ref}#first")
            for ref in refs
        ),
        ("sessions", "digest", "--unprocessed"),
        ("sessions", "digest", *refs[:2], "--detail", "--json"),
        ("sessions", "digest", *refs[2:], "--detail", "--json"),
        ("doctor", "--formats"),
        (),
    ):
        result = machine.call(*words)
        assert result.status in (0, 1), (words, result.err)
        found += [
            f"{' '.join(words)}: {each}"
            for each in _lines_with_a_leak(result.text + "\n" + result.err)
        ]
    assert found == []
    assert (
        machine.call("sessions", "show", "claude-code:outputs").text.count("[REDACTED:")
        > len(SOME) / 2
    )


def test_no_tool_shows_a_secret_in_any_form(machine: Machine) -> None:
    refs = [f"claude-code:{id}" for id in _sessions()]
    calls = [
        ("sessions_list", {}),
        ("sessions_report", {"since": "2026-01-01"}),
        *(("session_show", {"ref": ref}) for ref in refs),
        *(("sessions_digest", {"refs": [ref], "detail": True}) for ref in refs),
    ]
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    lines = [
        line(jsonrpc="2.0", id=0, method="initialize", params=client),
        line(jsonrpc="2.0", method="notifications/initialized"),
        *(
            line(
                jsonrpc="2.0",
                id=n,
                method="tools/call",
                params={"name": tool, "arguments": arguments},
            )
            for n, (tool, arguments) in enumerate(calls, 1)
        ),
    ]
    result = machine.run("mcp", stdin=b"\n".join(lines) + b"\n")
    answers = [json.loads(each) for each in result.text.splitlines()]
    assert len(answers) == len(calls) + 1 and all("result" in each for each in answers), (
        result.text[:2000]
    )
    assert _lines_with_a_leak(result.text + result.err) == []
    assert result.text.count("[REDACTED:") > len(SOME)


def test_nothing_filed_or_printed_again_shows_a_secret_in_any_form(machine: Machine) -> None:
    payload = {"forms": SOME, "named": {form: form for form in ON_A_LINE}, "summary": "a"}
    for form in SOME[:8]:
        machine.call("submit", "friction", "--summary", form, "--scrub")
    filed = machine.call("submit", "note", "--scrub", "--context", f"what={SOME[9]}", stdin=payload)
    assert filed.status == 0, filed.err
    found = []
    for words in (
        ("list",),
        ("list", "--json"),
        ("show", "1", "--json"),
        ("export",),
        ("stats", "--json"),
    ):
        result = machine.call(*words)
        assert result.status == 0, result.err
        text = result.text + result.err
        if words[0] in ("export", "show"):  # names of members are not changed
            text = json.dumps(_values(text))
        found += [f"{' '.join(words)}: {each}" for each in _lines_with_a_leak(text)]
    assert found == []


def _values(text: str) -> list[Any]:
    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return [of(item) for item in value.values()]
        return [of(item) for item in value] if isinstance(value, list) else value

    return [of(json.loads(each)) for each in text.splitlines() if each.startswith("{")]
