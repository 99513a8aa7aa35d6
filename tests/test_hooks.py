"""What each hook does, for a plugin found by its entry point."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.support.machine import Machine, prompt
from tests.support.plugged import (
    BOTH_NEW,
    GATES,
    READER,
    READERS,
    of_two_harnesses,
    plugin,
    run,
    states,
)


@pytest.fixture
def machine(machine: Machine) -> Machine:
    return of_two_harnesses(machine)


# Once a run.


def test_hook_register_readers(machine: Machine) -> None:
    """A reader of another distribution is found by its name, and its sessions live as any others."""
    plugin(machine, "own", READER, READERS)
    (machine.home / ".own").mkdir()
    (machine.home / ".own/s9").write_bytes(b'{"cwd":"/srv","says":"hello"}\n')
    assert states(machine) == BOTH_NEW | {"own:s9": ("new", "")}
    digest = run(machine, "digest", "own:s9").json["sessions"][0]
    assert digest["events"][0]["summary"] == "hello"
    assert run(machine, "mark", "own:s9", "--outcome", "nothing").status == 0
    assert states(machine)["own:s9"] == ("processed", "")
    stores = run(machine, "list").json["stores"]
    assert [store["harness"] for store in stores][-1] == "own"  # after the project's own


def test_hook_register_scrub_formats(machine: Machine) -> None:
    """A plugin's format is hidden beside the core's, in digests and in lists."""
    code = """
    from agentfeedback.scrub import Format
    @hookimpl
    def register_scrub_formats():
        return [Format("badge", r"BADGE-[0-9]+", needles=("BADGE-",))]
    """
    plugin(machine, "badges", code)
    core = "gh" + "p_" + "a1B2" * 9
    machine.claude("c2", [prompt("u1", f"BADGE-77 and {core}", cwd="/srv/BADGE-78")])
    digest = run(machine, "digest", "claude-code:c2").json["sessions"][0]
    assert digest["events"][0]["summary"] == "[REDACTED:badge] and [REDACTED:github_token]"
    assert digest["project"] == "/srv/[REDACTED:badge]"
    assert b"BADGE-7" not in run(machine, "list").out


def test_hook_register_detectors(machine: Machine) -> None:
    """What a plugin's detector finds stands under `findings` by its name; one that raises finds nothing."""
    assert "findings" not in run(machine, "digest", "codex:x1").json["sessions"][0]
    code = """
    from agentfeedback.digest.detect import Detector, Finding
    class Loud(Detector):
        name = "loud"
        def mark(self, kind, text):
            return [kind] if "run" in text else []
        def find(self, timeline):
            for entry in timeline.entries:
                for word in entry.marks.get("loud", ()):
                    yield Finding(entry, {"span": entry.span, "word": word})
    class Failing(Detector):
        name = "failing"
        def find(self, timeline):
            raise RuntimeError("no")
    @hookimpl
    def register_detectors():
        return [Loud(), Failing()]
    """
    plugin(machine, "loud", code)
    result = run(machine, "digest", "codex:x1", "claude-code:c1")
    codex, claude = result.json["sessions"]
    span = codex["events"][0]["span"]
    assert codex["findings"] == {"loud": [{"span": span, "word": "prompt"}], "failing": []}
    assert claude["findings"] == {"loud": [], "failing": []}
    assert "plugin failing failed in find: RuntimeError" in result.err


def test_hook_watermark_store(machine: Machine) -> None:
    """Another store keeps the watermarks and the selection, and the core's database is not made."""
    code = """
    import pickle, os
    from agentfeedback.state.watermark import NotDigested, SessionRow
    class Pickled:
        def __init__(self):
            self.path = os.environ["HOME"] + "/pickle"
            self.kept = pickle.load(open(self.path, "rb")) if os.path.exists(self.path) else {}
        def rows(self):
            return dict(self.kept)
        def digested(self, marks, at):
            for m in marks:
                self.kept[m.harness, m.session_id] = SessionRow(m.harness, m.session_id, m.path, m.mtime, m.size, m.head, at)
            self.save()
        def mark(self, names, outcome, uids, at):
            from attrs import evolve
            for name in names:
                row = self.kept[name]
                self.kept[name] = evolve(row, processed_at=at, processed_size=row.size, processed_head=row.head)
            self.save()
        def selection(self):
            return None
        def save(self):
            with open(self.path, "wb") as file:
                pickle.dump(self.kept, file)
    @hookimpl
    def watermark_store(config):
        assert config.collect is not None
        return Pickled()
    """
    plugin(machine, "pickled", code)
    assert len(run(machine, "digest", "--unprocessed").json["sessions"]) == 2
    assert run(machine, "mark", "codex:x1", "--outcome", "nothing").status == 0
    assert states(machine) == {"claude-code:c1": ("new", ""), "codex:x1": ("processed", "")}
    assert not machine.database.exists()


def test_a_trace_has_a_line_for_each_call_and_no_content(machine: Machine) -> None:
    """With AGENTFEEDBACK_TRACE=1 hook, plugin, microseconds and the kind of result go to standard error, nothing else."""
    code = """
    @hookimpl
    def session_before_open(session):
        return "PRIVATE" if session.harness == "codex" else None
    @hookimpl
    def register_detectors():
        return []
    @hookimpl
    def digest_session(session):
        raise KeyError("PRIVATE")
    """
    plugin(machine, "team", code, GATES)
    quiet = run(machine, "digest", "--unprocessed")
    traced = run(machine, "digest", "--unprocessed", AGENTFEEDBACK_TRACE="1")
    assert traced.out == quiet.out
    assert "PRIVATE" not in traced.err and "trace" not in quiet.err
    rows = [
        re.fullmatch(r"agentfeedback: trace: (\w+) ([\w-]+) [0-9]+ us (\w+)", text)
        for text in traced.err.splitlines()
        if "trace" in text
    ]
    found = Counter(row.groups() if row else () for row in rows)
    assert {
        ("register_readers", "codex", "1"),
        ("register_detectors", "team", "0"),
        ("watermark_store", "agentfeedback", "StateStore"),
        ("session_before_open", "team", "denied"),
        ("session_before_open", "team", "None"),
        ("session_after_read", "agentfeedback", "None"),
        ("digest_session", "team", "KeyError"),
        ("digest_session", "agentfeedback", "BuiltDigest"),
    } <= found.keys()
    assert run(machine, "list", AGENTFEEDBACK_TRACE="0").err == ""


# Once a session.


def test_hook_session_before_open(machine: Machine) -> None:
    """A gate refuses by the declared place; its text is the reason, nothing is read, and a digest is refused as well."""
    code = """
    @hookimpl
    def session_before_open(session, place):
        if session.harness == "codex":
            assert place.paths == ("/srv/app/shop",)
            return "not this one"
    """
    plugin(machine, "place", code, GATES)
    assert states(machine) == BOTH_NEW | {"codex:x1": ("denied", "gate place: not this one")}
    result = run(machine, "digest", "codex:x1")
    assert result.status == 1
    assert result.json["errors"][0]["state"] == "denied"


def test_hook_session_after_read(machine: Machine) -> None:
    """A gate refuses by the directories a log records: nothing of it is shown, and a digest is refused as well."""
    code = """
    @hookimpl
    def session_after_read(session, directories):
        if "/srv/app/shop" in directories:
            return "seen too much"
    """
    plugin(machine, "place", code, GATES)
    assert states(machine) == dict.fromkeys(BOTH_NEW, ("denied", "gate place: seen too much"))
    listed = run(machine, "list").json["sessions"]
    assert all({"project", "counts", "start"}.isdisjoint(item) for item in listed)
    result = run(machine, "digest", "codex:x1")
    assert result.status == 1
    assert result.json["errors"][0]["state"] == "denied"


def test_hook_digest_session(machine: Machine) -> None:
    """A plugin's digest takes the place of the core's, is scrubbed and bounded, and None leaves it to the core."""
    secret = "gh" + "p_" + "Zz09" * 9
    code = f"""
    from agentfeedback.digest.build import BuiltDigest
    @hookimpl
    def digest_session(session, timeline, start, caps):
        if session.harness == "codex":
            return BuiltDigest({{"ref": session.ref, "said": "{secret}", "start": start}}, timeline.size)
        if session.id == "big":
            return BuiltDigest({{"ref": session.ref, "said": "x" * caps.session}}, 5)
    """
    plugin(machine, "terse", code)
    machine.claude("big", [prompt("u1")])
    run_ = run(machine, "digest", "codex:x1", "claude-code:c1", "claude-code:big").json
    assert run_["sessions"][0] == {"ref": "codex:x1", "said": "[REDACTED:github_token]", "start": 0}
    assert run_["sessions"][1]["counts"]["tool_errors"] == 1
    assert [(error["ref"], error["state"]) for error in run_["errors"]] == [
        ("claude-code:big", "unreadable")
    ]


def test_hook_session_digested(machine: Machine) -> None:
    """Listeners hear of each digested session once its watermark is stored; one that raises is named, the rest hear."""
    code = """
    import sqlite3, os, sys
    @hookimpl
    def session_digested(digest, watermark):
        path = os.environ["XDG_DATA_HOME"] + "/agentfeedback/agentfeedback.db"
        size = sqlite3.connect(path).execute(
            "SELECT size FROM sessions_seen WHERE session_id = ?", (watermark.session_id,)).fetchone()[0]
        print("heard", digest["ref"], size == watermark.size, file=sys.stderr)
    """
    plugin(machine, "listener", code)
    plugin(machine, "deaf", "@hookimpl\ndef session_digested():\n    raise OSError('no')\n")
    result = run(machine, "digest", "--unprocessed")
    assert result.status == 0
    heard = [line for line in result.err.splitlines() if line.startswith("heard")]
    assert heard == ["heard claude-code:c1 True", "heard codex:x1 True"]
    assert result.err.count("plugin deaf failed in session_digested: OSError") == 1


def test_hook_session_marked(machine: Machine) -> None:
    """Listeners hear ref, outcome and uids of each marked session, and nothing of a refused mark."""
    code = """
    import sys
    @hookimpl
    def session_marked(ref, outcome, uids):
        print("heard", ref, outcome, list(uids), file=sys.stderr)
    """
    plugin(machine, "listener", code)
    uid = "01234567-89ab-7def-8123-456789abcdef"
    refused = run(machine, "mark", "codex:x1", "--outcome", "filed", "--ref", uid)
    assert refused.status == 1 and "heard" not in refused.err
    run(machine, "digest", "codex:x1")
    result = run(machine, "mark", "codex:x1", "--outcome", "filed", "--ref", uid)
    assert f"heard codex:x1 filed ['{uid}']" in result.err


def test_hook_run_finished(machine: Machine) -> None:
    """Each command tells once that it finished, with its name and its numbers."""
    code = """
    import json, sys
    @hookimpl
    def run_finished(summary):
        print("heard", json.dumps(summary), file=sys.stderr)
    """
    plugin(machine, "listener", code)
    machine.claude("empty", [])

    def heard(*words: str) -> str:
        (line,) = [
            each for each in run(machine, *words).err.splitlines() if each.startswith("heard")
        ]
        return line

    assert heard("list") == 'heard {"command": "list", "listed": 3}'
    assert heard("status") == 'heard {"command": "status"}'
    assert heard("digest", "codex:x1", "claude-code:empty") == (
        'heard {"command": "digest", "digested": 1, "refused": 1, "deferred": 0}'
    )
    assert (
        heard("mark", "codex:x1", "--outcome", "skipped")
        == 'heard {"command": "mark", "marked": 1}'
    )


def test_hook_doctor_sections(machine: Machine) -> None:
    """A section stands in the JSON and the text with its problems; a failing plugin is a problem and hides nobody else's."""
    code = """
        from agentfeedback.plugins.doctor_section import DoctorSection
        @hookimpl
        def doctor_sections(context):
            return [DoctorSection("queue", {"pending": 2}, text="2 pending", problems=(("it is full", "empty it"),))]
    """
    plugin(machine, "spooler", code)
    plugin(
        machine,
        "failing",
        "@hookimpl\ndef doctor_sections(context):\n    raise OSError(context.paths.home)\n",
    )
    plugin(
        machine,
        "taking",
        """
        from agentfeedback.plugins.doctor_section import DoctorSection
        @hookimpl
        def doctor_sections(context):
            return [DoctorSection("database", {})]
        """,
    )
    done = machine.run("doctor", "--json")
    assert done.status == 1
    assert done.json["queue"] == {"pending": 2}
    assert done.json["database"]["path"] == str(machine.database)
    assert sorted(done.json["problems"]) == [
        "it is full; empty it",
        "plugin failing failed in doctor_sections: OSError; update or uninstall it",
        "plugin taking failed in doctor_sections: ValueError; update or uninstall it",
    ]
    assert "queue      2 pending\n" in machine.run("doctor").text
