"""Secrets put wherever a log, a path or a plugin can hold one never reach what any command prints."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.machine import Machine, codex_line, line, meta, prompt, typed
from tests.support.secrets_of_every_kind import KINDS, NEED_A_LINE, Planter

#: Fit into a path: no line of their own, no second line.
IN_A_PATH = [
    kind for kind in KINDS if kind not in (*NEED_A_LINE, "private_key", "open_private_key")
]
#: Fit into a file name as well.
IN_A_NAME = [kind for kind in IN_A_PATH if kind not in ("url_credentials", "bearer_token")]
COMMANDS = (
    ("list",),
    ("list", "--harness", "claude-code"),
    ("digest", "--unprocessed", "--harness", "claude-code"),
    ("digest", "--unprocessed", "--harness", "codex"),
    ("status",),
)


def outputs(machine: Machine, *commands: tuple[str, ...]) -> list[bytes]:
    """All that these commands print, as text and as JSON."""
    found = []
    for words in commands:
        for more in ((), ("--json",)):
            result = machine.call("sessions", *words, *more)
            found += [result.out, result.err.encode()]
    return found


def texts(planter: Planter, kind: str, where: str) -> dict[str, str]:
    """A secret as it may stand in a text: plain, in JSON, in JSON inside a string, among words."""

    def plant(how: str) -> str:
        return planter.plant(kind, f"{where}, {how}")

    shapes = {"plain": plant("plain")}
    if (
        kind == "quoted"
    ):  # the form is JSON's own; with its quotes escaped the table does not know it
        shapes["in JSON"] = "{" + plant("in JSON") + "}"
    elif kind not in NEED_A_LINE:
        shapes["in JSON"] = json.dumps({"a": [plant("in JSON")]})
        shapes["in words"] = f"see {plant('in words')} there"
        shapes["in JSON inside a string"] = json.dumps(
            {"a": json.dumps({"b": plant("in a string")})}
        )
    return shapes


def claude_log(planter: Planter, kind: str) -> list[bytes]:
    """A session with that kind of secret in every text it holds."""
    lines = [prompt("first", "max_tokens=4096, input_tokens: 1234 and KEYSTONE_PATH=/opt/x")]

    def call(number: str, tool: str, content: Any, cwd: str = "/srv/app/shop", **more: Any) -> None:
        use = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": tool,
            "input": {"command": f"make {number}"},
        }
        message = {"role": "assistant", "model": more.pop("model", "m-1"), "content": [use]}
        lines.append(line(type="assistant", uuid=f"a{number}", cwd=cwd, message=message))
        answer = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": content,
            "is_error": True,
        }
        lines.append(line(type="user", uuid=f"r{number}", message={"content": [answer]}, **more))

    for how, text in texts(planter, kind, "a prompt").items():
        lines.append(prompt(f"p {how}", text))
    for how, text in texts(planter, kind, "an output").items():
        call(f"o{how}", "Bash", text)
        blocks = [{"type": "text", "text": text}]
        call(
            f"b{how}",
            "Bash",
            blocks,
            toolUseResult={"stderr": planter.plant(kind, "toolUseResult")},
        )
    if kind not in NEED_A_LINE:  # of a prompt the first line is shown
        cuts = {before: planter.plant(kind, "a prompt across the cut") for before in (150, 158)}
        lines += [prompt(f"cut{n}", "x" * n + " " + secret) for n, secret in cuts.items()]
    for before in (220, 238):
        between = "\n" if kind in NEED_A_LINE else " "
        call(
            f"cut{before}",
            "Bash",
            "y" * before + between + planter.plant(kind, "an excerpt across the cut"),
        )
    call("tool", planter.plant(kind, "a tool's name"), "failed")
    call("model", "Bash", "failed", model=planter.plant(kind, "a model's name"))
    lines.append(prompt(planter.plant(kind, "a span"), "a span that is a secret"))
    broken = planter.plant(kind, "a broken line").replace("\n", " ")
    lines.append(b'{"type":"user","broken ' + broken.encode())
    lines.append(line(type="assistant", message={"content": planter.plant(kind, "the last words")}))
    if kind in IN_A_PATH:
        lines.append(prompt("cwd", "moved", cwd="/srv/" + planter.plant(kind, "a later directory")))
    return lines


def codex_log(planter: Planter, kind: str) -> list[bytes]:
    """A rollout with that kind of secret in every text it holds."""
    cwd = "/srv/" + planter.plant(kind, "a first directory") if kind in IN_A_PATH else "/srv/app"
    lines = [
        meta(cwd),
        codex_line("turn_context", model=planter.plant(kind, "a model"), cwd="/srv/app"),
    ]
    for how, text in texts(planter, kind, "a Codex prompt").items():
        lines.append(typed(text))
        id = f"call {how}"
        arguments = json.dumps({"cmd": planter.plant(kind, "a command")})
        lines.append(
            codex_line(
                "response_item",
                type="function_call",
                name="exec_command",
                arguments=arguments,
                call_id=id,
            )
        )
        told = texts(planter, kind, "a Codex output")[how]
        output = f"Process exited with code 1\nOutput:\n{told}"
        lines.append(
            codex_line("response_item", type="function_call_output", call_id=id, output=output)
        )
    name = planter.plant(kind, "a Codex tool's name")
    id = planter.plant(kind, "a call's id")
    lines.append(
        codex_line("response_item", type="function_call", name=name, arguments="{}", call_id=id)
    )
    lines.append(
        codex_line(
            "response_item", type="function_call_output", call_id=id, output="aborted by user"
        )
    )
    said = [{"type": "output_text", "text": planter.plant(kind, "what Codex said")}]
    lines.append(codex_line("response_item", type="message", role="assistant", content=said))
    return lines


@pytest.mark.parametrize("kind", KINDS)
def test_secret_in_a_log_is_never_printed(machine: Machine, kind: str) -> None:
    """Of every format of the table nothing of a secret in a log is printed, as text or as JSON."""
    planter = Planter()
    machine.claude("c1", claude_log(planter, kind))
    machine.codex("x1", codex_log(planter, kind))
    printed = outputs(machine, *COMMANDS)
    assert planter.leaks(b"\n".join(printed)) == []
    digest = machine.sessions("digest", "claude-code:c1")["sessions"][0]
    assert digest["truncated"] is False
    assert digest["counts"]["unparsed"] == 1
    summaries = [event.get("summary") for event in digest["events"]]
    assert summaries[0] == "max_tokens=4096, input_tokens: 1234 and KEYSTONE_PATH=/opt/x"
    assert str(digest).count("[REDACTED:") >= 8  # the secrets were where something is shown


@pytest.mark.parametrize("kind", IN_A_NAME)
def test_secret_in_a_path_is_never_printed(machine: Machine, kind: str) -> None:
    """A secret in the name of a folder or file is hidden in paths and problems, and stays stored only as it is."""
    planter = Planter()
    folder = planter.plant(kind, "a folder")
    machine.claude("c1", [prompt("u1")], folder=folder)
    machine.claude("#" + planter.plant(kind, "a refused file name"), [prompt("u1")])
    machine.codex("x1", [meta(), typed()], day=planter.plant(kind, "a live folder"))
    live = machine.codex("x1", [meta(), typed()], day=planter.plant(kind, "a second folder"))
    printed = outputs(machine, *COMMANDS)
    listing = machine.sessions("list")
    assert sum(len(store.get("problems", ())) for store in listing["stores"]) == 2
    live.unlink()
    printed += outputs(machine, ("digest", "claude-code:c1", "codex:x1"), ("status",))
    printed += outputs(machine, ("mark", "claude-code:c1", "codex:x1", "--outcome", "nothing"))
    (machine.home / ".claude/projects" / folder / "c1.jsonl").unlink()
    printed += outputs(
        machine, ("list",), ("digest", "claude-code:c1"), ("forget", "claude-code:c1")
    )
    assert planter.leaks(b"\n".join(printed)) == []


def test_what_names_a_session_is_hidden_in_a_digest_alone(machine: Machine) -> None:
    """A session id that is a secret can be copied from a list, and is not shown in a digest."""
    planter = Planter()
    id = planter.plant("github_token", "a session id")
    machine.claude(id, [prompt("u1")])
    item = machine.sessions("list")["sessions"][0]
    assert (item["ref"], item["session_id"]) == (f"claude-code:{id}", id)
    assert planter.leaks(item["path"].encode()) == []
    digest = outputs(machine, ("digest", f"claude-code:{id}"))
    assert planter.leaks(b"\n".join(digest)) == []
    assert b"[REDACTED:github_token]" in digest[0]


def test_secret_in_a_refusal_or_failure_is_never_printed(machine: Machine, tmp_path: Path) -> None:
    """A gate's reason, a plugin's failure and a broken configuration show no secret they quote."""
    planter = Planter()
    machine.claude("c1", [prompt("u1")])
    reason = planter.plant("github_token", "a gate's reason")
    machine.plugin(
        "talkative",
        "from agentfeedback.plugins.hookspecs import hookimpl\n"
        f"@hookimpl\ndef session_before_open(session):\n    return {reason!r}\n",
        group="agentfeedback.gates",
    )
    at_import = planter.plant("gitlab_token", "a plugin's error at import")
    machine.plugin("unloadable", f"raise ValueError({at_import!r})\n")
    raised = planter.plant("slack_token", "a plugin's error in a hook")
    machine.plugin(
        "failing",
        "from agentfeedback.plugins.hookspecs import hookimpl\n"
        f"@hookimpl\ndef run_finished():\n    raise ValueError({raised!r})\n",
    )
    printed = b""
    for words in (
        ("sessions", "list", "--json"),
        ("sessions", "list"),
        ("sessions", "digest", "claude-code:c1"),
        ("sessions", "status"),
        ("plugins",),
        ("plugins", "--json"),
        ("demo",),
    ):
        result = machine.run(*words)
        printed += result.out + result.err.encode()
    assert b"gate talkative: [REDACTED:github_token]" in printed
    assert b"unloadable" in printed and b"plugin failing failed in run_finished" in printed
    for text in (
        'token = "{}',
        "x = {}",
        '[collect]\ndeny_paths = "{}"',
        '[collect]\ndisabled = "{}"',
        "[a]\n[a]\n#{}",
    ):
        machine.config(text.format(planter.plant("stripe_key", f"config.toml as {text}")))
        result = machine.run("sessions", "list")
        assert result.status == 1 and "config.toml is not valid" in result.err
        printed += result.err.encode()
    assert planter.leaks(printed) == []


def test_secret_in_a_database_row_is_not_printed(machine: Machine) -> None:
    """What the database keeps unscrubbed, the path, is printed scrubbed also once the file is gone."""
    planter = Planter()
    path = machine.claude(
        "c1", [prompt("u1")], folder=planter.plant("aws_access_key", "a row's path")
    )
    machine.sessions("digest", "claude-code:c1")
    path.unlink()
    os.rmdir(path.parent)
    assert (
        planter.leaks(
            b"\n".join(outputs(machine, ("list",), ("digest", "claude-code:c1"), ("status",)))
        )
        == []
    )
