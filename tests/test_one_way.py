"""One session is read in one way: found, asked about, read, asked about again."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import SessionRefused
from agentfeedback.reading.tally import Tally
from agentfeedback.sessions.engine import Engine
from tests.support import ROOT
from tests.support.machine import Machine, codex_line, meta, typed
from tests.support.plugged import GATES, READER, READERS, plugin
from tests.test_layers import SOURCES

KIT = ROOT / "plugins/pytest-agentfeedback/src/pytest_agentfeedback"
#: The conformance checks hold a reader against its laws, so they call it without an engine.
CHECKS = {KIT / "subject.py", KIT / "speed.py", *(KIT / "checks").glob("*.py")}
LOAD = ROOT / "core/src/agentfeedback/reading/load.py"


@pytest.fixture
def engine(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine over two sessions of Codex, one of which says nowhere where it ran."""
    machine.codex("x1", [meta(), typed(), typed("again")])
    machine.codex("x2", [meta(None), typed()])
    return Engine(machine.environ, host=Host(machine.environ))


def again(machine: Machine) -> Engine:
    return Engine(machine.environ, host=Host(machine.environ))


def refused(engine: Engine, ref: str, lines: list[bytes] | None = None) -> tuple[str, str]:
    """State and reason of a session that cannot be read."""
    with pytest.raises(SessionRefused) as raised:
        engine.read(
            engine.host.ref(ref), Tally(), lines=lines.extend if lines is not None else None
        )
    return raised.value.state, raised.value.reason


def test_a_session_is_read_with_its_facts_and_its_lines(engine: Engine, machine: Machine) -> None:
    """The sink received the log, and `lines` saw every line of the file."""
    seen: list[bytes] = []
    tally = Tally()
    read = engine.read(engine.host.ref("codex:x1"), tally, lines=seen.extend)
    assert read.sink is tally and read.facts.counts.prompts == 2
    assert (read.state, read.start, read.facts.cwds) == ("new", 0, ["/srv/app/shop"])
    assert b"".join(line + b"\n" for line in seen) == Path(read.session.path).read_bytes()


def test_what_the_policy_refuses_is_not_read(machine: Machine, engine: Engine) -> None:
    """Before the open nothing is seen; after the read the caller has to throw away what it got."""
    machine.codex("x3", [meta(), typed(), codex_line("turn_context", cwd="/srv/secret")])
    machine.config('[collect]\ndeny_paths = ["/srv/secret", "/srv/other"]\n')
    machine.codex("x4", [meta("/srv/other"), typed()])
    engine, lines = again(machine), []
    assert refused(engine, "codex:x4", lines) == ("denied", "deny_paths")
    assert lines == []
    assert refused(engine, "codex:x3", lines) == ("denied", "deny_paths")
    assert len(lines) == 3
    machine.config("[collect]\ndisabled = true\n")
    assert refused(again(machine), "codex:x1") == ("disabled", "disabled")


def test_a_session_without_a_directory_is_read_where_that_is_allowed(engine: Engine) -> None:
    """No policy can be asked about it, so whoever wants it says so."""
    assert refused(engine, "codex:x2") == ("unknown-project", "")
    read = engine.read(engine.host.ref("codex:x2"), Tally(), allow_unknown=True)
    assert read.state == "unknown-project" and read.facts.counts.prompts == 1


def test_a_session_that_is_not_there_is_refused(engine: Engine, machine: Machine) -> None:
    """Never there, gone since, or in a store that cannot be listed: the state says which."""
    assert refused(engine, "codex:x9") == ("absent", "no session file carries this session id")
    machine.sessions("digest", "codex:x1")
    path = next((machine.home / ".codex/sessions").rglob("*x1.jsonl"))
    path.unlink()
    with pytest.raises(SessionRefused) as raised:
        engine.read(engine.host.ref("codex:x1"), lambda start: Tally())
    assert (raised.value.state, raised.value.reason) == ("absent", "the session file is gone")


def test_a_watermark_decides_where_a_made_sink_begins(engine: Engine, machine: Machine) -> None:
    """A function of the offset gets where what is new begins, and another when the log is not what it was."""
    ref = engine.host.ref("codex:x1")
    machine.sessions("digest", ref.given)
    machine.sessions("mark", ref.given, "--outcome", "nothing")
    path = next((machine.home / ".codex/sessions").rglob("*x1.jsonl"))
    size = path.stat().st_size
    starts: list[int] = []

    def made(start: int) -> Tally:
        starts.append(start)
        return Tally()

    assert engine.read(ref, made).state == "processed"
    with path.open("ab") as file:
        file.write(typed("more") + b"\n")
    read = engine.read(ref, made)
    assert (read.state, read.reason, read.start) == ("changed", "appended", size)
    assert starts == [0, size]
    path.write_bytes(meta("/srv/app/api") + b"\n" + typed("x" * 2 * size) + b"\n")
    read = engine.read(ref, made)
    assert (read.state, read.reason, read.start) == ("changed", "rotated", 0)
    assert starts == [0, size, size, 0]
    assert engine.read(ref, Tally()).state == "changed"  # a sink of one's own gets all of it


def test_a_reader_that_raises_is_named(machine: Machine) -> None:
    """Its session is unreadable, and the warning is about the reader."""
    failing = "if line.says == 'second':\n                raise KeyError(line.says)\n            "
    code = READER.replace("timeline.entry(", f"{failing}timeline.entry(", 1)
    plugin(machine, "own", code, READERS)
    (machine.home / ".own").mkdir()
    (machine.home / ".own/s9").write_bytes(
        b'{"cwd":"/srv","says":"hello"}\n{"says":"second"}\n{"says":"third"}\n'
    )
    code = """
import os
from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import SessionRefused
from agentfeedback.reading.tally import Tally
from agentfeedback.sessions.engine import Engine
host = Host(os.environ)
try:
    Engine(os.environ, host=host).read(host.ref("own:s9"), Tally())
except SessionRefused as refused:
    print(refused.state, refused.reason)
"""
    done = machine.python(code)
    assert done.text == "unreadable reader own failed: KeyError\n", done.err
    place = f"KeyError at {machine.home}/.own/s9 line 2"
    assert done.err == f"agentfeedback: warning: plugin own failed in read: {place}\n"
    machine.environ["AGENTFEEDBACK_TRACE"] = "1"
    traced = machine.python(code).err
    assert place in traced
    assert re.search(r"^  .*:\d+ in read$", traced, re.MULTILINE)  # where in the reader's code
    assert "second" not in traced


def test_a_gate_of_a_plugin_is_asked_both_times(machine: Machine, engine: Engine) -> None:
    """What a gate answers after the read refuses as well."""
    plugin(machine, "late", "@hookimpl\ndef session_after_read():\n    return 'no'\n", GATES)
    result = machine.run("sessions", "digest", "codex:x1", "--json")
    assert [error["state"] for error in result.json["errors"]] == ["denied"]


# Nobody goes another way.


def calls(path: Path) -> list[ast.Call]:
    return [each for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Call)]


def test_readers_are_asked_to_read_in_one_place() -> None:
    """`Reader.read(log, place, sink)` is called by the loader, and by the kit's conformance checks."""
    found = {
        path
        for path in SOURCES
        for each in calls(path)
        if isinstance(each.func, ast.Attribute)
        and each.func.attr == "read"
        and len(each.args) == 3
        and not each.keywords
        and not ast.unparse(each.func.value).endswith("examiner")  # which asks the policy itself
        and "agentfeedback_change_capture" not in path.parts  # it knows nothing of sessions
    }
    assert found - CHECKS == {LOAD}
    assert found & CHECKS


def test_logs_are_loaded_under_the_policy_alone() -> None:
    """The loader is used by what asks the gates before and after: one session, and many.

    The kit's stories are of a corpus that it laid out itself: no user's policy is about that.
    """
    users = {
        f"{path.parent.name}/{path.name}": {each.name for each in node.names}
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module == "agentfeedback.reading.load"
        and {each.name for each in node.names} & {"load", "tallied"}
    }
    assert {name: names & {"load", "tallied"} for name, names in users.items()} == {
        "curation/story.py": {"load"},
        "sessions/examiner.py": {"load"},
        "sessions/scan.py": {"tallied"},
    }
