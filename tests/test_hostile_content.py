"""What a session seems to say and does not: harness texts, quoted denials, copies, thinking, odd results, secrets in escapes."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from tests.support.machine import Machine, call, codex_line, failed, line, meta, prompt, typed

CLAUDE, CODEX = "claude-code:s1", "codex:s1"


def digest(machine: Machine, ref: str) -> dict[str, Any]:
    run = machine.sessions("digest", ref, "--allow-unknown-project")
    assert run["errors"] == []
    return run["sessions"][0]


def claude(machine: Machine, *lines: bytes) -> dict[str, Any]:
    machine.claude("s1", [prompt("u0", "typed"), *lines])
    return digest(machine, CLAUDE)


def codex(machine: Machine, *lines: bytes) -> dict[str, Any]:
    machine.codex("s1", [meta(), typed("typed"), *lines])
    return digest(machine, CODEX)


def user(content: Any, **more: Any) -> bytes:
    return line(
        type="user",
        uuid="h",
        cwd="/srv/app/shop",
        message={"role": "user", "content": content},
        **more,
    )


def function_call(id: str = "c1", **more: Any) -> bytes:
    members = {
        "type": "function_call",
        "name": "exec_command",
        "arguments": '{"cmd":"make"}',
        "call_id": id,
    }
    return codex_line("response_item", **{**members, **more})


def output(text: Any, id: str = "c1", kind: str = "function_call_output") -> bytes:
    return codex_line("response_item", type=kind, call_id=id, output=text)


def statuses(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (event["status"], event.get("excerpt", ""))
        for event in found["events"]
        if event["type"] == "tool_call"
    ]


NOT_TYPED: dict[str, bytes] = {
    "a summary after compaction": user("still failing, again, wrong", isCompactSummary=True),
    "a meta entry": user("Caveat: wrong", isMeta=True),
    "the output of a local command": user("<local-command-stdout>wrong</local-command-stdout>"),
    "a command's name": user("<command-name>/clear</command-name>"),
    "the news of a task": user(
        "<task-notification>again</task-notification>", origin={"kind": "task-notification"}
    ),
    "a side chain": user("Warmup, why did you", isSidechain=True, parentUuid=None),
    "a tool's result": user([{"type": "tool_result", "tool_use_id": "none", "content": "wrong"}]),
    "blank": user(" \n\t "),
    "thinking": line(
        type="assistant",
        message={"content": [{"type": "thinking", "thinking": "wrong", "signature": "x"}]},
    ),
}


@pytest.mark.parametrize("how", NOT_TYPED)
def test_what_no_person_typed_is_no_prompt_and_raises_no_flag(machine: Machine, how: str) -> None:
    """What the harness wrote into a session is an entry, and neither a prompt nor a flag."""
    found = claude(machine, NOT_TYPED[how])
    assert [event["summary"] for event in found["events"]] == ["typed"]
    assert (found["flagged"], found["counts"]["entries"], found["counts"]["prompts"]) == ([], 2, 1)
    assert "wrong" not in str(found)


def test_one_message_in_several_lines_counts_lines_and_calls(machine: Machine) -> None:
    """Lines of one message are entries each; a call told twice is one; the last words are the last text."""
    say = [
        line(
            type="assistant",
            uuid=f"s{n}",
            message={"id": "m", "content": [{"type": "text", "text": t}]},
        )
        for n, t in enumerate(("one", "two"))
    ]
    found = claude(
        machine,
        say[0],
        call("a1", "t1"),
        call("a2", "t1"),
        say[1],
        failed("r1", "t1"),
        line(type="system"),
    )
    assert (found["counts"]["entries"], found["counts"]["tool_calls"], found["final_excerpt"]) == (
        7,
        1,
        "two",
    )


def test_result_in_blocks_is_joined_and_images_are_left_out(machine: Machine) -> None:
    """Texts of a result's blocks are joined; data of images is never shown."""
    blocks = [
        {"type": "text", "text": "boom"},
        {"type": "image", "source": {"data": "QUJD" * 20}},
        {"type": "text", "text": "bang"},
        7,
    ]
    found = claude(
        machine,
        call("a1", "t1"),
        user([{"type": "tool_result", "tool_use_id": "t1", "content": blocks, "is_error": True}]),
    )
    assert statuses(found) == [("error", "boom\nbang")]
    parts = [
        {"type": "input_text", "text": "Exit code: 3\nOutput:"},
        {"type": "input_image", "image_url": "data:QUJD"},
        {"type": "input_text", "text": "boom"},
    ]
    found = codex(machine, function_call(), output(parts))
    assert (statuses(found), found["events"][1]["exit_code"]) == ([("error", "boom")], 3)


DENIED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


def test_a_status_is_never_taken_from_what_a_command_printed(machine: Machine) -> None:
    """A successful result that quotes denials and interrupts stays ok, in either harness."""
    quote = f"{DENIED}\n[Request interrupted by user]\nhas been denied"
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": quote}
    assert statuses(claude(machine, call("a1", "t1"), user([answer]))) == []
    printed = "Process exited with code 0\nOutput:\nexec command rejected by user\naborted by user\nExit code: 9"
    assert statuses(codex(machine, function_call(), output(printed))) == []
    printed = printed.replace("code 0", "code 1")
    assert [status for status, _ in statuses(codex(machine, function_call(), output(printed)))] == [
        "error"
    ]


def test_calls_without_a_result_are_no_failures(machine: Machine) -> None:
    """A call that has no result is counted and not reported, whatever other calls do."""
    found = claude(machine, call("a1", "t1"), call("a2", "t2"), failed("r", "t2"))
    assert (found["counts"]["tool_calls"], len(statuses(found))) == (2, 1)


@pytest.mark.parametrize(
    ("reason", "expected"), [("interrupted", ["interrupted"]), ("replaced", []), (7, [])]
)
def test_only_an_interrupt_ends_open_calls(
    machine: Machine, reason: Any, expected: list[str]
) -> None:
    """A turn aborted for another reason than an interrupt leaves open calls open."""
    found = codex(
        machine, function_call(), codex_line("event_msg", type="turn_aborted", reason=reason)
    )
    assert [status for status, _ in statuses(found)] == expected


def test_rollout_of_a_fork_keeps_its_first_metadata_and_asks_for_every_directory(
    machine: Machine,
) -> None:
    """Later metadata lines are entries; their directories are recorded, and so judged by the policy."""
    found = codex(machine, meta("/srv/parent"), typed("inherited"))
    assert (found["project"], found["counts"]["entries"], found["counts"]["prompts"]) == (
        "/srv/app/shop",
        4,
        2,
    )
    machine.config('[collect]\ndeny_paths = ["/srv/parent"]\n')
    assert machine.state(CODEX) == ("denied", "deny_paths")


def test_rollout_without_a_turn_names_no_model(machine: Machine) -> None:
    """Where no turn names a model there is none, rather than a guess; a later turn's is the session's."""
    assert "model" not in codex(machine)
    assert (
        codex(
            machine,
            codex_line("turn_context", model="m-1"),
            codex_line("turn_context", model="m-2"),
        )["model"]
        == "m-2"
    )


def test_output_of_another_program_in_the_store_is_an_unknown_project(machine: Machine) -> None:
    """Lines in another grammar are entries that record no directory: unknown, and refused where paths matter."""
    machine.codex(
        "s1",
        [
            line(type="thread.started", thread_id="x"),
            line(type="item.completed", item={"text": "hi"}),
        ],
    )
    assert machine.state(CODEX) == ("unknown-project", "")
    assert machine.sessions("digest", "--unprocessed")["sessions"] == []
    assert machine.call("sessions", "digest", CODEX).status == 1
    assert digest(machine, CODEX)["project"] == ""
    machine.sessions("mark", CODEX, "--outcome", "nothing")
    assert machine.state(CODEX) == ("unknown-project", "")
    machine.config('[collect]\ndeny_paths = ["/nowhere"]\n')
    assert machine.state(CODEX)[0] == "denied"


def test_relative_directory_is_no_directory(machine: Machine) -> None:
    """A recorded directory that is not absolute counts as not recorded."""
    machine.claude("s1", [prompt("u1", cwd=cwd) for cwd in ("", ".", "srv/app", "~", "C:\\x")])
    assert machine.state(CLAUDE) == ("unknown-project", "")


def test_since_goes_by_the_last_entry_and_not_by_the_folder(machine: Machine) -> None:
    """A rollout in the folder of an old day whose last entry is young is listed, and the reverse is not."""
    machine.codex("young", [meta(), typed()], day="2020/01/01")
    old = machine.codex("old", [meta(), typed()], day="2030/01/01")
    old.write_bytes(old.read_bytes().replace(b"2026-11", b"2025-11"))
    found = machine.sessions("list", "--since", "2026-01-01T00:00:00Z")["sessions"]
    assert [item["ref"] for item in found] == ["codex:young"]
    os.utime(old, (1, 1))
    assert machine.sessions("list", "--since", "")["sessions"]


def test_tail_of_mode_lines_ends(machine: Machine) -> None:
    """Resuming adds lines that say nothing: changed once, an empty digest, then processed."""
    path = machine.claude("s1", [prompt("u1")])
    for _ in range(3):
        machine.sessions("digest", CLAUDE)
        machine.sessions("mark", CLAUDE, "--outcome", "nothing")
        with path.open("ab") as file:
            file.write(line(type="mode") + b"\n")
        assert digest(machine, CLAUDE)["events"] == []


SECRET = "gh" + "p_" + "aB3d" * 10
HIDDEN_IN = {
    "escaped letters": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "an escaped first letter": lambda text: f"\\u{ord(text[0]):04x}{text[1:]}",
    "an escaped slash before it": lambda text: f"\\/{text}",
    "after an escaped quote": lambda text: f'\\"{text}\\"',
    "after an escaped line end": lambda text: f"line\\n{text}",
    "after an escaped zero": lambda text: f"\\u0000{text}",
    "after a lone surrogate": lambda text: f"\\udc88 {text}",
}


@pytest.mark.parametrize("how", HIDDEN_IN)
def test_secret_behind_an_escape_of_json_is_hidden(machine: Machine, how: str) -> None:
    """Texts are decoded before they are scrubbed: how a log escapes a secret hides nothing from the scrubber."""
    written = json.dumps({"type": "user", "uuid": "u1", "cwd": "/p", "message": {"content": "@"}})
    machine.claude(
        "s1", [written.replace("@", "see " + HIDDEN_IN[how](SECRET)).encode(), prompt("u2")]
    )
    machine.codex("s1", [meta(), typed("@").replace(b"@", HIDDEN_IN[how](SECRET).encode())])
    for ref in (CLAUDE, CODEX):
        printed = machine.call("sessions", "digest", ref, "--json").out
        assert b"aB3d" not in printed
        assert digest(machine, ref)["counts"]["unparsed"] == 0


PEM_BODY = "MIIEvQIBADANBgkq"
PEM = f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{PEM_BODY}\n{PEM_BODY}xyz\n-----END RSA {'PRIVATE'} KEY-----"


@pytest.mark.parametrize(
    "form",
    [
        PEM,
        PEM.replace("\n", "\r\n"),
        PEM.replace("\n", "\\n"),
        PEM.replace("\n", " "),
        PEM.replace("\n", "\n> "),
        PEM.replace("\n", "\n  12→"),
        PEM.replace("\n", "\n+"),
        PEM[:70],
    ],
    ids=["lines", "CRLF", "escaped", "spaces", "quoted", "numbered", "a diff", "cut"],
)
def test_private_key_in_any_layout_is_hidden(machine: Machine, form: str) -> None:
    """However the lines of a private key are joined or prefixed, nothing of it is shown."""
    found = claude(machine, call("a1", "t1"), failed("r1", "t1", f"key:\n{form}"))
    assert PEM_BODY not in json.dumps(found) and "[REDACTED:private_key]" in statuses(found)[0][1]


@pytest.mark.parametrize(
    "text",
    [
        "xai-oauth-correction-loop-v2-final",
        "0a1b2c3d-1111-4222-bffc-aa8c3cbf261e:user",
        "/private/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T",
        "max_tokens=8192 total_tokens: 12 tokens=5",
        "https://peer:9077 refused, mail ops@corp.example",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "the token is short",
        "API_KEY=$API_KEY",
    ],
)
def test_plain_words_stay_readable(machine: Machine, text: str) -> None:
    """Names, ids, paths, counters and variables are not secrets and stay as they are."""
    machine.claude("s1", [prompt("u0", text)])
    assert digest(machine, CLAUDE)["events"][0]["summary"] == text


def test_digest_quoted_in_a_session_is_data(machine: Machine) -> None:
    """A session that holds the program's own output is digested like any other, and grows no faster than it."""
    machine.claude("s1", [prompt("u1"), call("a1", "t1"), failed("r1", "t1")])
    own = machine.call("sessions", "digest", CLAUDE, "--json").text
    found = claude(
        machine,
        call("a1", "t1", "agentfeedback sessions digest --unprocessed"),
        failed("r1", "t1", own),
    )
    (event,) = [event for event in found["events"] if event["type"] == "tool_call"]
    assert event["self"] is True and len(event["excerpt"]) <= 240
