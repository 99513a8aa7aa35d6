"""The program `agentscm`: what its setup commands print, what they refuse, and the demonstration."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfeedback_change_capture.cli.main import main
from agentfeedback_change_capture.setup import program


class Answer:
    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def agentscm(
    checkout: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Run a command line in this process."""
    path = checkout.home / "bin/agentscm"
    path.parent.mkdir()
    path.touch()
    monkeypatch.setattr(sys, "argv", [str(path)])
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    capsys.readouterr()

    def run(*words: Any, stdin: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main([str(word) for word in words])
        found = capsys.readouterr()
        return Answer(status, found.out, found.err)

    return run


def configure(checkout: Any, *more: str) -> list[str]:
    return [
        *("change-capture", "configure", "--json", "--root", str(checkout.root)),
        *("--spool", str(checkout.spool), "--worktree-id", "checkout_1"),
        *("--base-ref", "origin/main", "--setup-digest", "a" * 64),
        *more,
    ]


def test_a_user_s_way_through_the_commands(checkout: Any, agentscm: Any) -> None:
    rule = "Bash=execution:partial:process_exit_code"
    first = agentscm(*configure(checkout, "--action-rule", rule))
    assert (first.status, first.err) == (0, "")
    assert first.json == {
        "root": str(checkout.root),
        "spool": str(checkout.spool),
        "worktree_id": "checkout_1",
        "repository": "demo/app",
        "hub": "https://hub.example",
        "capture_mode": "metadata-only",
        "enabled": True,
        "created_spool": True,
        "hooks_added": 11,
        "hooks_unchanged": 0,
        "recipes": [],
        "warnings": [],
    }
    again = agentscm("change-capture", "configure", "--root", checkout.root, "--json").json
    assert (again["hooks_added"], again["hooks_unchanged"], again["created_spool"]) == (
        0,
        11,
        False,
    )
    root = ("--root", checkout.root)
    mode = agentscm("change-capture", "set-mode", *root, "--mode", "local-conversation", "--json")
    assert mode.json == {
        "root": str(checkout.root),
        "capture_mode": "local-conversation",
        "previous": "metadata-only",
    }
    checkout.send("SessionStart", source="startup")
    checkout.send("PreToolUse", tool_name="Bash", tool_use_id="t", tool_input={})
    checkout.hub.away = "unavailable"
    checkout.send("UserPromptSubmit", prompt="x")
    [row] = agentscm("change-capture", "status", *root, "--json").json["checkouts"]
    limits = {"records": 4096, "bytes": 67_108_864}
    used = {name: row.pop(name) for name in limits}
    assert {name: each["limit"] for name, each in used.items()} == limits
    assert used["records"]["used"] > 10
    assert row == {
        "root": str(checkout.root),
        "configured": True,
        "enabled": True,
        "capture_mode": "local-conversation",
        "lineage_mismatch": False,
        "repository": "demo/app",
        "hub": "https://hub.example",
        "spool": str(checkout.spool),
        "worktree_id": "checkout_1",
        "claude_settings": str(checkout.settings),
        "hooks": "installed",
        "spool_state": "ok",
        "pending": 3,
        "deferred": 1,
        "quarantined": 0,
        "open_actions": 1,
        "attempts": 0,
        "paused": False,
    }
    found = agentscm("change-capture", "inspect", "--spool", checkout.spool, "--json").json
    assert (found["classification"], len(found["pending"])) == ("committed_v4", 3)
    listed = agentscm("change-capture", "deferred", "--spool", checkout.spool, "--json").json
    assert [each["event"] for each in listed["records"]] == ["UserPromptSubmit"]
    archive = checkout.home / "archive"
    words = ("export", "--spool", checkout.spool, "--destination", archive, "--json")
    assert agentscm("change-capture", *words).json["files"] > 10
    off = agentscm("change-capture", "unconfigure", *root, "--json").json
    assert off == {
        "root": str(checkout.root),
        "enabled": False,
        "hooks_removed": 11,
        "spool": str(checkout.spool),
        "spool_retained": True,
    }
    gone = agentscm("change-capture", "forget", *root, "--json").json
    assert gone == {
        "root": str(checkout.root),
        "spool": str(checkout.spool),
        "spool_retained": True,
        "exclude_lines_removed": 0,
    }
    assert agentscm("change-capture", "status", "--json").json == {"checkouts": []}
    [missing] = agentscm("change-capture", "status", *root, "--json").json["checkouts"]
    assert (missing["configured"], missing["spool"]) == (False, None)


def test_the_states_of_a_spool(checkout: Any, agentscm: Any) -> None:
    import fcntl
    import shutil

    checkout.configure(limits={"records": 48, "bytes": 65_536})

    def state() -> Any:
        found = agentscm("change-capture", "status", "--json")
        return found.json["checkouts"][0]["spool_state"], found.err

    assert state() == ("ok", "")
    with (checkout.spool / "spool.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert state()[0] == "locked"
    checkout.spool.chmod(0o755)
    assert state()[0] == "refused"
    checkout.spool.chmod(0o700)
    for _ in range(30):
        checkout.send("Stop")
    full = agentscm("change-capture", "status", "--json")
    assert full.json["checkouts"][0]["paused"] is True
    assert "compact it or configure larger limits" in full.err
    shutil.rmtree(checkout.spool)
    assert state()[0] == "absent"
    checkout.settings.write_text("{")
    assert "not strict JSON" in state()[1]


WRONG: list[tuple[list[str], int, str]] = [
    (["change-capture", "configure"], 2, "--root is missing"),
    (["change-capture", "configure", "--root", "relative"], 2, "not an absolute path"),
    (["change-capture", "configure", "--root", "ROOT"], 2, "--spool, --worktree-id"),
    (["change-capture", "configure", "--root", "ROOT", "--spool", "x"], 2, "--spool is not"),
    (["change-capture", "configure", "--root", "ROOT", "--worktree-id", "-"], 2, "--worktree-id"),
    (["change-capture", "configure", "--root", "ROOT", "--setup-digest", "x"], 2, "--setup-digest"),
    (["change-capture", "configure", "--root", "ROOT", "--capture-mode", "x"], 2, "--capture-mode"),
    (["change-capture", "configure", "--root", "ROOT", "--action-rule", "Bash"], 2, "action rule"),
    (["change-capture", "configure", "--root", "ROOT", "--recipe-file", "x"], 2, "--recipe-file"),
    (["change-capture", "configure", "--root", "ROOT/sub"], 1, "not the root of its checkout"),
    (["change-capture", "configure", "--root", "HOME"], 1, "not a Git checkout"),
    (["change-capture", "configure", "--root", "ROOT", "extra"], 2, "wrong number of arguments"),
    (["change-capture", "set-mode", "--root", "ROOT"], 2, "--mode is not a capture mode"),
    (
        ["change-capture", "set-mode", "--root", "ROOT", "--mode", "metadata-only"],
        1,
        "no capture binding for this checkout",
    ),
    (
        ["change-capture", "unconfigure", "--root", "ROOT"],
        1,
        "no capture binding for this checkout",
    ),
    (["change-capture", "forget", "--root", "ROOT"], 1, "no capture binding for this checkout"),
    (["change-capture", "recipe-digest"], 2, "name one thing"),
    (["change-capture", "recipe-digest", "--tool", "Bash"], 2, "--input-file is missing"),
    (["change-capture", "recipe-digest", "--tool", "Bash", "--input-file", "HOME"], 1, "HOME"),
    (["change-capture", "capabilities", "--harness", "x"], 2, 'no harness "x"'),
    (["client", "setup", "--root", "ROOT"], 2, "--hub is not the URL of a Hub"),
    (
        ["client", "setup", "--root", "ROOT", "--hub", "https://u:p@h.example"],
        2,
        "user name or password",
    ),
    (
        ["client", "setup", "--root", "ROOT", "--hub", "https://h.example", "--repository", "a b"],
        2,
        "--repository",
    ),
    (
        ["client", "setup", "--root", "ROOT", "--hub", "https://h.example", "--repository", "a"],
        2,
        "no token",
    ),
    (["client", "remove", "--root", "HOME"], 1, "no client connection for this checkout"),
    (["demo", "--capture-mode", "x"], 2, "--capture-mode"),
]


@pytest.mark.parametrize(("words", "status", "said"), WRONG, ids=range(len(WRONG)))
def test_wrong_lines_and_refusals(
    checkout: Any, agentscm: Any, words: list[str], status: int, said: str
) -> None:
    (checkout.root / "sub").mkdir()
    places = {"ROOT": str(checkout.root), "HOME": str(checkout.home)}
    for name, path in places.items():
        words = [path + word[4:] if word.startswith(name) else word for word in words]
        said = path if said == name else said
    found = agentscm(*words)
    assert (found.status, found.out) == (status, "")
    assert said in found.err
    assert found.err.startswith("agentscm ")
    assert found.err.count("\n") == 1
    assert "p@h" not in found.err


def test_connections(checkout: Any, agentscm: Any) -> None:
    root = ("--root", checkout.root)
    words = ("client", "setup", *root, "--hub", "https://HUB.example/", "--repository", "demo/app")
    checked = agentscm(*words, "--token-stdin", stdin=b"secret\n")
    assert (checked.status, checked.out) == (1, "")
    found = agentscm(*words, "--token-stdin", "--unchecked", "--json", stdin=b"secret\n")
    assert found.json == {
        "root": str(checkout.root),
        "hub": "https://hub.example",
        "repository": "demo/app",
        "human": None,
        "role": None,
        "lowered_mode": False,
    }
    for token in (b"", b"two words", b"x" * 5000, b"\xff"):
        assert agentscm(*words, "--token-stdin", "--unchecked", stdin=token).status == 1
    [shown] = agentscm("client", "status", "--json").json["connections"]
    assert (shown["root"], shown["hub"]) == (str(checkout.root), "https://hub.example")
    assert "secret" not in agentscm("client", "status").out
    path = checkout.config / "connections.json"
    assert b"secret" in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    removed = agentscm("client", "remove", *root, "--json").json
    assert removed == {"root": str(checkout.root), "removed": True, "lowered_mode": False}
    assert agentscm("client", "status").out == "no checkout is connected\n"


def test_digests_and_capabilities(checkout: Any, agentscm: Any) -> None:
    recipe = checkout.home / "recipe.json"
    recipe.write_text(
        '{"id": "unit-test", "argv": ["/usr/bin/python3", "-m", "unittest", "-q"],'
        ' "coverage": "complete", "timeout_seconds": 300, "max_output_bytes": 1048576}'
    )
    recipe.chmod(0o600)
    found = agentscm("change-capture", "recipe-digest", "--recipe-file", recipe)
    assert found.out == "9b4f652bd93d04aad92a3d77e90426556ae9bd791728f418a127a50f7ea4d13c\n"
    given = checkout.home / "input.json"
    given.write_text('{"description": "Run a command", "command": "echo hello-from-bash"}')
    words = ("recipe-digest", "--tool", "Bash", "--input-file", given, "--json")
    digest = "e099d37479806cee89702ed7cb4c1b4a1a4a781ada3ef3b3c951a0f6cfe53bb6"
    assert agentscm("change-capture", *words).json == {"digest": digest}
    everything = agentscm("change-capture", "capabilities", "--json").json["harnesses"]
    assert [each["harness"] for each in everything] == ["claude-code", "codex"]
    [codex] = agentscm("change-capture", "capabilities", "--harness", "codex", "--json").json[
        "harnesses"
    ]
    assert codex["complete_possible"] is False
    assert codex["fields"]["prompts"] == "unavailable"
    done = agentscm(*configure(checkout, "--recipe-file", str(recipe)))
    assert "does not run them yet" in done.err
    assert done.json["recipes"] == [
        {
            "id": "unit-test",
            "digest": "9b4f652bd93d04aad92a3d77e90426556ae9bd791728f418a127a50f7ea4d13c",
        }
    ]


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("2.1.299", "older than"),
        ("2.1.300", ""),
        ("2.1.332", ""),
        ("2.1.333", "newer than"),
        ("x", ""),
    ],
)
def test_a_claude_code_that_was_not_tried_is_a_warning(
    checkout: Any, agentscm: Any, version: str, said: str
) -> None:
    claude = checkout.home / "bin/claude"
    claude.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    claude.chmod(0o755)
    found = agentscm(*configure(checkout))
    assert [said in each for each in found.json["warnings"]] == ([True] if said else [])
    assert said in found.err


@pytest.mark.parametrize("mode", ["metadata-only", "local-conversation", "shared-conversation"])
def test_the_demonstration(
    agentscm: Any, checkout: Any, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(checkout.home))
    before = sorted(os.listdir(checkout.home))
    found = agentscm("demo", "--capture-mode", mode, "--json").json
    assert sorted(os.listdir(checkout.home)) == before
    assert [step["warnings"] for step in found["steps"]] == [[]] * 17
    assert found["holds_text"] is (mode != "metadata-only")
    assert [action["execution"] for action in found["actions"]] == [
        *("failed", "unknown", "unknown", "incomplete"),
    ]
    assert [each["event"] for each in found["deferred"]] == ["Stop"]
    kinds = [event["kind"] for event in found["events"] if event["kind"] != "gap"]
    assert len(kinds) == 15  # one hook ran twice, one was deferred
    redacted = [event for event in found["events"] if event.get("detail") == "redacted"]
    assert len(redacted) == (mode == "shared-conversation")
    text = agentscm("demo", "--capture-mode", mode, "--keep").out
    kept = Path(text.splitlines()[-1].removeprefix("kept in "))
    assert (kept / "spool/format.json").is_file()
    secret = b"correct-" + b"horse-battery"
    spool = b"".join(path.read_bytes() for path in (kept / "spool").rglob("*") if path.is_file())
    assert (secret in spool) is (mode == "local-conversation")


def test_where_the_program_is(checkout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = checkout.home / "agentscm"
    own.touch()
    monkeypatch.setattr(sys, "argv", [str(own)])
    assert program.agentscm() == str(own)
    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert program.agentscm() == str(Path(sys.executable).with_name("agentscm"))


def test_configure_compiles_what_a_hook_imports(checkout: Any, tmp_path: Path) -> None:
    """A hook writes no byte code, so without this each one would compile everything again."""
    compiled = tmp_path / "compiled"
    environ = checkout.environ | {"PYTHONPYCACHEPREFIX": str(compiled)}
    agentscm = str(Path(sys.executable).with_name("agentscm"))
    words = [agentscm, *configure(checkout, "--capture-mode", "shared-conversation")]
    subprocess.run(words, env=environ, check=True, capture_output=True)
    before = set(compiled.rglob("*agentfeedback*/**/*.pyc"))
    code = (
        "import sys, time\n"
        "from agentfeedback_change_capture.adapter import hook\n"
        "from agentfeedback_change_capture.delivery import hub\n"
        "from agentfeedback_change_capture.facts import Target\n"
        "known = lambda self, observed, *_: hub.Resolution(Target('wrk_1', 1, observed))\n"
        "hub.NoHub.resolve = known\n"
        "for data in sys.argv[2:]:\n"
        "    words = ['--root', sys.argv[1]]\n"
        "    said = hook.serve(words, time.monotonic(), data=data.encode())\n"
        "    assert said == ('', []), said\n"
    )
    call = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}, "cwd": str(checkout.root)}
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
    lines = [
        json.dumps({"session_id": "s", "hook_event_name": event, "prompt": "pass=x1y2z3", **call})
        for event in events
    ]
    words = [sys.executable, "-c", code, str(checkout.root), *lines]
    subprocess.run(words, env=environ, check=True, capture_output=True)
    assert set(compiled.rglob("*agentfeedback*/**/*.pyc")) == before
    assert len(before) > 40


#: What no hook may load; the scrubber's engine is loaded only where a body is redacted.
NEVER = ("argparse", "attr", "attrs", "orjson", "pluggy", "importlib.metadata", "msgspec", "rich")


@pytest.mark.parametrize("mode", ["metadata-only", "local-conversation", "shared-conversation"])
def test_what_a_hook_imports(checkout: Any, mode: str) -> None:
    checkout.configure(capture_mode=mode)
    code = (
        "import sys\n"
        "from agentfeedback_change_capture.cli.main import HOOK\n"
        "from agentfeedback_change_capture.adapter import hook\n"
        "from agentfeedback_change_capture.delivery.hub import Resolution\n"
        "from agentfeedback_change_capture.facts import Target\n"
        "class Hub:\n"
        "    def resolve(self, observed, worktree_id, deadline):\n"
        "        return Resolution(Target('wrk_1', 1, observed))\n"
        "said = []\n"
        "for data in sys.argv[2:]:\n"
        "    import time\n"
        "    words = ['--root', sys.argv[1]]\n"
        "    said.append(hook.serve(words, time.monotonic(), data=data.encode(), hub=Hub()))\n"
        "assert said == [('', [])] * len(said), said\n"
        "print('\\n'.join(sys.modules))\n"
    )
    call = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}}
    lines = [
        json.dumps({"session_id": "s", "cwd": str(checkout.root), "hook_event_name": event, **more})
        for event, more in (
            ("SessionStart", {"source": "startup"}),
            ("PreToolUse", call),
            ("PostToolUse", {**call, "tool_response": "x"}),
            ("SessionEnd", {}),
        )
    ]
    words = [sys.executable, "-c", code, str(checkout.root), *lines]
    done = subprocess.run(words, env=checkout.environ, capture_output=True, check=True)
    loaded = set(done.stdout.decode().split())
    assert loaded.isdisjoint(NEVER)
    assert ("re2" in loaded) is (mode == "shared-conversation")
    network = {"socket", "ssl", "http.client", "urllib.request", "subprocess"}
    assert loaded.isdisjoint(network)


def test_the_account_in_the_readme_is_the_demonstration_s(checkout: Any, agentscm: Any) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    [shown] = [part.partition("```")[0] for part in readme.split("```demo\n")[1:]]
    printed = [line.rstrip() for line in agentscm("demo").out.splitlines()]
    assert [line for line in shown.splitlines() if line not in printed] == []


def test_the_commands_of_the_how_to_are_commands(checkout: Any, agentscm: Any) -> None:
    """Each command line parses: what it is about is not there, and no line is wrong."""
    import shlex

    page = Path(__file__).parents[3] / "docs/how-to/capture-changes.md"
    blocks = page.read_text().replace("\\\n", " ").split("```")[1::2]
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert len(lines) > 10
    for line in lines:
        program, *words = shlex.split(line.partition(" < ")[0])
        assert program == "agentscm"
        assert agentscm(*words, stdin=b"token").status != 2, line


def test_the_reference_has_every_command_with_its_flags_and_members(
    checkout: Any, agentscm: Any
) -> None:
    import re

    from agentfeedback_change_capture.cli.commands import COMMANDS

    page = (Path(__file__).parents[3] / "docs/reference/agentscm.md").read_text()
    sections = dict(
        re.findall(r"^## `agentscm (.*?)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    )
    called = [command for command in COMMANDS if command.target]
    assert list(sections) == [f"{each.name} {each.arguments}".strip() for each in called]
    for command, body in zip(called, sections.values(), strict=True):
        assert re.findall(r"^\| `--([^`]+)`", body, re.MULTILINE) == [
            flag.name for flag in command.flags
        ]
    checkout.configure()
    checkout.hub.away = "unavailable"
    checkout.send("Stop")
    for words in (
        ("change-capture", "configure", "--root", checkout.root),
        ("change-capture", "set-mode", "--root", checkout.root, "--mode", "metadata-only"),
        ("change-capture", "status"),
        ("change-capture", "inspect", "--spool", checkout.spool),
        ("change-capture", "deferred", "--spool", checkout.spool),
        ("change-capture", "quarantine", "--spool", checkout.spool),
        ("change-capture", "compact", "--spool", checkout.spool),
        (
            "change-capture",
            "export",
            "--spool",
            checkout.spool,
            "--destination",
            checkout.home / "a",
        ),
        ("change-capture", "capabilities"),
        ("client", "status"),
        ("change-capture", "unconfigure", "--root", checkout.root),
        ("change-capture", "forget", "--root", checkout.root),
        ("client", "remove", "--root", checkout.root),
    ):
        name = " ".join(str(word) for word in words).partition(" --")[0]
        [told] = re.findall(r"^JSON: (.*?)\.$", sections[name], re.MULTILINE)
        documented = re.findall(r"`([a-z_0-9]+)(?:\[\])?`", told)
        printed = agentscm(*words, "--json").json
        assert set(printed) <= set(documented), name
        rows = [value for value in printed.values() if isinstance(value, list) and value]
        if not name.endswith(
            "inspect"
        ):  # its lists have the members of `deferred` and `quarantine`
            assert all(set(row) <= set(documented) for value in rows for row in value), name
