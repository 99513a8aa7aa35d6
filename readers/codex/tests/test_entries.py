"""What the lines of a rollout say: entries, directories, models, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from agentfeedback.reading.reader import Place
from agentfeedback.reading.timeline import Timeline, args_digest
from agentfeedback_codex.reader import Codex

if TYPE_CHECKING:
    from conftest import Rollout, Store


def test_every_object_is_an_entry(rollout: Rollout) -> None:
    """Unknown types and payloads of any shape are entries; a line that is not a JSON object is not."""
    lines = (
        b'{"type":"new_in_2030","payload":{"x":1}}\n',
        b'{"type":null}\n',
        b'{"type":"event_msg","payload":[]}\n',
        b'{"type":"thread.started","thread_id":"t"}\n',
        b"{}\n",
        b"null\n",
        b"[]\n",
        b"\n",
        b'{"half":\n',
    )
    counts = rollout.read(*lines).counts()
    assert (counts.entries, counts.unparsed) == (5, 4)


def test_directories_are_the_recorded_ones(rollout: Rollout) -> None:
    """`session_meta` and `turn_context` record directories, later ones too; other payloads do not."""
    timeline = rollout.read(
        rollout.meta("/srv/app"),
        rollout.line("turn_context", {"cwd": "/srv/app/src"}),
        rollout.event("exec_command_end", cwd="/srv/other"),
        rollout.line("turn_context", {"cwd": "relative"}),
        rollout.meta("/srv/parent"),
    )
    assert list(timeline.cwds) == ["/srv/app", "/srv/app/src", "/srv/parent"]
    assert timeline.cwd == "/srv/parent"


def test_model_is_that_of_the_turn_context(rollout: Rollout) -> None:
    """Only a turn context names the model; a rollout without one has none."""
    model = rollout.line("turn_context", {"cwd": "/srv/app", "model": "m-2"})
    assert rollout.read(rollout.meta(model="m-1")).model == ""
    assert rollout.read(rollout.meta(), model, rollout.event("x", model="m-3")).model == "m-2"


def test_final_words_are_the_last_assistant_text(rollout: Rollout) -> None:
    """Non-blank `output_text` items of assistant messages are joined; later silence keeps them."""

    def message(role: str, *parts: tuple[str, str]) -> bytes:
        content = [{"type": type, "text": text} for type, text in parts]
        return rollout.line("response_item", {"type": "message", "role": role, "content": content})

    timeline = rollout.read(
        message("assistant", ("output_text", "a"), ("output_text", " "), ("refusal", "no")),
        message("assistant", ("output_text", "b"), ("output_text", "c")),
        message("assistant", ("output_text", "\n")),
        message("developer", ("output_text", "no")),
    )
    assert timeline.final_excerpt == "b\nc"


def test_calls_are_named_and_spanned(rollout: Rollout) -> None:
    """A call spans its `call_id`, or its line without one; a namespace comes before the name."""
    custom = {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": "x"}
    local = {"type": "local_shell_call", "call_id": "c3", "action": {"command": ["ls"]}}
    assert rollout.calls(
        rollout.call("wait", call_id="", namespace="agents"),
        rollout.line("response_item", custom),
        rollout.line("response_item", local),
        rollout.call(name=7, call_id="c4"),
    ) == [
        ("L0", "agents.wait", None, None),
        ("c2", "apply_patch", None, None),
        ("c3", "local_shell", None, None),
        ("c4", "", None, None),
    ]


def test_a_repeated_call_id_is_one_call(rollout: Rollout) -> None:
    """History that was copied into a fork does not count its calls twice."""
    counts = rollout.read(rollout.call(), rollout.call("shell")).counts()
    assert (counts.entries, counts.tool_calls) == (2, 1)


def _digest(rollout: Rollout, line: bytes) -> str:
    (entry,) = rollout.read(line).entries
    (call,) = entry.calls
    return call.args_digest


@pytest.mark.parametrize(
    ("arguments", "digested"),
    [
        ('{"a": [1,  2], "b": "x"}', b'{"a":[1,2],"b":"x"}'),
        ("null", b"null"),
        ("not json", b'"not json"'),
        ({"a": 1}, b'{"a":1}'),
        (None, b'""'),
        ("", b'""'),
    ],
)
def test_arguments_are_digested_as_their_json(
    rollout: Rollout, arguments: Any, digested: bytes
) -> None:
    """A string that holds JSON stands for that JSON; null and the empty string are digested as one."""
    line = rollout.call("other", arguments)
    assert _digest(rollout, line) == args_digest(digested, None)


def test_absent_input_is_digested_as_null(rollout: Rollout) -> None:
    """A call of any kind without its input is digested as `null`."""
    for type, name in (
        ("function_call", "other"),
        ("custom_tool_call", "apply_patch"),
        ("local_shell_call", None),
    ):
        line = rollout.line("response_item", {"type": type, "name": name, "call_id": "c1"})
        assert _digest(rollout, line) == "74234e98afe7"


@pytest.mark.parametrize(
    ("tool", "arguments", "command"),
    [
        ("exec_command", '{"cmd": "go  build   ./..."}', "go build ./..."),
        ("exec_command", '{"cmd": ["ls"]}', None),
        ("exec_command", '{"command": "ls"}', None),
        ("shell", '{"command": ["/bin/bash", "-lc", "ls  -l"]}', "ls -l"),
        ("shell", '{"command": ["zsh", "-c", "ls"]}', "ls"),
        ("shell", '{"command": ["bash", "-cl", "ls", "x"]}', "bash -cl ls x"),
        ("shell", '{"command": ["bash", "-x", "ls"]}', "bash -x ls"),
        ("shell", '{"command": ["fish", "-c", "ls"]}', "fish -c ls"),
        ("shell", '{"command": "ls"}', "ls"),
        ("shell", '{"command": ["ls", 7]}', None),
        ("shell", '{"command": {}}', None),
        ("shell_command", '{"command": "ls"}', None),
    ],
)
def test_commands_are_found_where_the_tool_has_them(
    rollout: Rollout, tool: str, arguments: str, command: str | None
) -> None:
    """`exec_command` has `cmd`, `shell` an argument vector, and no other tool a command."""
    want = args_digest(arguments.encode(), command)
    assert _digest(rollout, rollout.call(tool, arguments)) == want


def test_command_of_a_local_shell_call(rollout: Rollout) -> None:
    """The argument vector of its action is read by the same rule."""
    action = {"type": "exec", "command": ["sh", "-c", "ls"]}
    line = rollout.line(
        "response_item", {"type": "local_shell_call", "call_id": "c1", "action": action}
    )
    assert _digest(rollout, line) == args_digest(None, "ls")


def test_a_compressed_rollout_reads_as_its_plain_form(store: Store, rollout: Rollout) -> None:
    """Offsets, size and head are those of the decompressed log, so a watermark outlives compression."""
    lines = rollout.meta() + rollout.call() + rollout.event("user_message", message="hello")
    heads = []
    for suffix, content in (("", lines), (".zst", zstandard.ZstdCompressor().compress(lines))):
        path = store.add("sessions", f"s{suffix[1:]}", suffix, content)
        (session,) = [each for each in store.find()[0] if each.path == str(path)]
        log = Codex().open(session)
        timeline = Timeline(clip=lambda text, size: text[:size])
        Codex().read(log, Place(), timeline)
        log.close()
        heads.append((log.size, log.head, [entry.span for entry in timeline.entries]))
    assert heads[0] == heads[1]
    assert heads[0][0] == len(lines)
