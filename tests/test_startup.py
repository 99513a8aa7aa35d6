"""What each command loads before it answers: counted in modules, not in seconds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support import ROOT
from tests.support.machine import Machine, meta, prompt, typed

_LOADED = """
import json, os, sys
from agentfeedback.cli.main import main
status = main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    json.dump(sorted(sys.modules), file)
sys.exit(status)
"""
DECODERS = {"attrs", "cattrs", "msgspec", "orjson", "pluggy", "re2", "zstandard"}
SLOW = {
    "argparse",
    "asyncio",
    "concurrent.futures",
    "multiprocessing",
    "unittest",
    "urllib.request",
    "http.client",
    "shtab",
    "wcwidth",
}


def loaded(machine: Machine, *words: str) -> set[str]:
    """The modules in memory when the command ended."""
    target = machine.home.parent / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, str(target), *words],
        env=machine.environ,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(target.read_text()))


@pytest.mark.parametrize(
    "words", [("--version",), ("--help",), ("sessions", "--help"), ("sessions", "list", "-h")]
)
def test_version_and_help_load_nothing_but_the_command_line(
    machine: Machine, words: tuple[str, ...]
) -> None:
    """What only prints a text loads neither the engine nor any dependency."""
    modules = loaded(machine, *words)
    assert modules & (DECODERS | SLOW | {"typing", "importlib.metadata", "sqlite3"}) == set()
    # Of other distributions that bring commands, the tables of those commands alone.
    own = {name for name in modules if name.startswith("agentfeedback.")}
    bring = ("agentfeedback_", "pytest_agentfeedback.")
    others = {name.partition(".")[2] for name in modules if name.startswith(bring)}
    assert others <= {"", "cli", "cli.commands", "commands"}
    assert {name.split(".")[1] for name in own - {"agentfeedback.plugins"}} <= {
        "cli",
        "foundation",
        "terminal",
    }


@pytest.mark.parametrize("words", [("list",), ("status",)])
def test_an_empty_home_loads_no_more_than_its_answer_needs(
    machine: Machine, words: tuple[str, ...]
) -> None:
    """With no session there is nothing to read, digest, scrub, keep or open, nor TOML to test for."""
    modules = loaded(machine, "sessions", *words)
    assert modules & {"re2", "zstandard", "tomllib", "msgspec", "orjson", "sqlite3", *SLOW} == set()
    packages = ("agentfeedback.scrub", "agentfeedback.digest.", "agentfeedback.reading.log")
    assert [name for name in modules if name.startswith(packages)] == []


def test_readers_find_without_what_reads_logs(machine: Machine) -> None:
    """In a home without logs each reader is there, and none of its format's records."""
    modules = loaded(machine, "sessions", "status")
    readers = {path.name for path in ROOT.glob("readers/*/src/*")}
    assert readers <= modules
    parts = {"lines", "layout", "transcript", "rollout", "conversation", "events", "results"}
    parts |= {"entries", "chat", "history"}
    assert [name for name in modules if name.split(".")[-1] in parts] == []


def test_only_the_reader_of_the_named_harness_is_loaded(machine: Machine) -> None:
    """`--harness` and refs load the reader they name and no other."""
    machine.codex("s1", [meta(), typed()])
    readers = {path.name for path in ROOT.glob("readers/*/src/*")}
    for words in (
        ("list", "--harness", "codex"),
        ("digest", "codex:s1"),
        ("digest", "--unprocessed", "--harness", "codex"),
    ):
        modules = {name.partition(".")[0] for name in loaded(machine, "sessions", *words)}
        assert modules & readers == {"agentfeedback_codex"}


def test_commands_about_stored_rows_load_no_reader(machine: Machine) -> None:
    """`mark` and `forget` look at no log, so they load no reader, no decompressor and no secret formats."""
    machine.codex("s1", [meta(), typed()])
    machine.sessions("digest", "codex:s1")
    for words in (("mark", "codex:s1", "--outcome", "nothing"), ("forget", "codex:s1")):
        modules = loaded(machine, "sessions", *words)
        assert not [
            name
            for name in modules
            if name.startswith(("agentfeedback_codex", "agentfeedback_claude"))
        ]
        assert modules & {"re2", "zstandard"} == set()


def test_refused_sessions_load_no_decompressor(machine: Machine) -> None:
    """A listing in which all is refused reads nothing, so it loads nothing to read compressed logs with."""
    machine.config("[collect]\ndisabled = true\n")
    machine.claude("s1", [prompt("u1")])
    path = machine.codex("s2", [meta(), typed()])
    path.rename(path.with_name(path.name + ".zst"))
    assert "zstandard" not in loaded(machine, "sessions", "list")
    assert {item["state"] for item in machine.sessions("list")["sessions"]} == {"disabled"}
