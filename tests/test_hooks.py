"""Plugins found by their entry points: what each hook does, and what happens when a plugin fails."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from tests.conftest import Machine, Result, call, failed, meta, prompt, typed

GATES, READERS = "agentfeedback.gates", "agentfeedback.readers"
HEAD = "from agentfeedback.hookspecs import hookimpl\n"
#: A reader whose parts a test may replace.
READER = """
import os
from agentfeedback.reader import Home, Place, Reader, Report
from agentfeedback.record import Record
class Line(Record):
    cwd: str | None = None
    says: str | None = None
class Own(Reader):
    harness, format = "own", "own-jsonl"
    def find(self, home, report):
        root = os.path.join(home.path, ".own")
        report.store(root)
        return [report.session(file, file.name) for file in report.files(root, root=True)]
    def read(self, log, place, timeline):
        for line in log.records(Line, timeline):
            timeline.entry(None, None, line.cwd)
            timeline.prompt(line.says or "")
@hookimpl
def register_readers():
    return [Own()]
"""


@pytest.fixture
def machine(machine: Machine) -> Machine:
    """A machine with a session of each of two harnesses."""
    machine.claude("c1", [prompt("u1"), call("a1", "t1"), failed("u2", "t1")])
    machine.codex("x1", [meta(), typed("run it")])
    return machine


def plugin(machine: Machine, name: str, code: str, group: str = "agentfeedback.plugins") -> None:
    machine.plugin(name, HEAD + dedent(code), group=group)


def run(machine: Machine, *words: str, **environ: str) -> Result:
    result = machine.run("sessions", *words, "--json", **environ)
    assert "Traceback" not in result.err
    return result


def states(machine: Machine, **environ: str) -> dict[str, tuple[str, str]]:
    result = run(machine, "list", **environ)
    assert result.status == 0, result.err
    return {
        item["ref"]: (item["state"], item.get("reason", "")) for item in result.json["sessions"]
    }


def shown(machine: Machine, name: str) -> dict[str, Any]:
    """The row of a plugin in `agentfeedback plugins`; an installer is named as its harness's reader is."""
    (row,) = [
        each
        for each in machine.run("plugins", "--json").json["plugins"]
        if each["name"] == name and each["kind"] != "installer"
    ]
    return row


BOTH_NEW = {"claude-code:c1": ("new", ""), "codex:x1": ("new", "")}

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
    from agentfeedback.detect import Detector, Finding
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
    from agentfeedback.watermark import NotDigested, Row
    class Pickled:
        def __init__(self):
            self.path = os.environ["HOME"] + "/pickle"
            self.kept = pickle.load(open(self.path, "rb")) if os.path.exists(self.path) else {}
        def rows(self):
            return dict(self.kept)
        def row(self, harness, session_id):
            return self.kept.get((harness, session_id))
        def digested(self, marks, at):
            for m in marks:
                self.kept[m.harness, m.session_id] = Row(m.harness, m.session_id, m.path, m.mtime, m.size, m.head, at)
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


# Once a session.


def test_hook_session_verdict(machine: Machine) -> None:
    """A gate refuses before the open or after the read; its text is the reason, and a digest is refused as well."""
    code = """
    @hookimpl
    def session_verdict(session, place, stage):
        if session.harness == "codex" and stage == "before-open":
            assert place.paths == ("/srv/app/shop",)
            return "not this one"
        if stage == "after-read" and "/srv/app/shop" in place.paths:
            return "seen too much"
    """
    plugin(machine, "place", code, GATES)
    assert states(machine) == {
        "claude-code:c1": ("denied", "gate place: seen too much"),
        "codex:x1": ("denied", "gate place: not this one"),
    }
    listed = run(machine, "list").json["sessions"]
    assert all({"project", "counts", "start"}.isdisjoint(item) for item in listed)
    result = run(machine, "digest", "codex:x1")
    assert result.status == 1
    assert result.json["errors"][0]["state"] == "denied"


def test_hook_digest_session(machine: Machine) -> None:
    """A plugin's digest takes the place of the core's, is scrubbed and bounded, and None leaves it to the core."""
    secret = "gh" + "p_" + "Zz09" * 9
    code = f"""
    from agentfeedback.digest import Built
    @hookimpl
    def digest_session(session, timeline, start, caps):
        if session.harness == "codex":
            return Built({{"ref": session.ref, "said": "{secret}", "start": start}}, 1, timeline.size)
        if session.id == "big":
            return Built({{"ref": session.ref, "said": "x" * caps.session}}, 1, 5)
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


# Gates that fail refuse everything.

FAILING_GATES = {
    "cannot be imported": "raise ImportError('gone')\n",
    "ends the process at import": "raise SystemExit(3)\n",
    "raises when asked": "@hookimpl\ndef session_verdict():\n    raise KeyError('x')\n",
    "ends the process when asked": "@hookimpl\ndef session_verdict():\n    raise SystemExit(0)\n",
    "asks for an unknown argument": "@hookimpl\ndef session_verdict(nonsense):\n    return None\n",
    "is a wrapper": "@hookimpl(wrapper=True)\ndef session_verdict():\n    yield\n    return []\n",
    "is an old wrapper": "@hookimpl(hookwrapper=True)\ndef session_verdict():\n    yield\n",
}


@pytest.mark.parametrize("how", FAILING_GATES)
def test_gate_that_fails_refuses_every_session(machine: Machine, how: str) -> None:
    """Whatever is wrong with a gate, every session is denied and the gate is named (D19)."""
    plugin(machine, "broken", FAILING_GATES[how], GATES)
    assert set(states(machine).values()) == {("denied", "gate broken failed")}
    result = run(machine, "digest", "codex:x1")
    assert result.status == 1 and result.json["sessions"] == []
    assert "broken" in result.err
    assert run(machine, "digest", "--unprocessed").json["sessions"] == []


def test_gate_that_is_blocked_refuses_every_session(machine: Machine) -> None:
    """A gate cannot be left out: blocked by name it refuses every session."""
    plugin(machine, "kind", "@hookimpl\ndef session_verdict():\n    return None\n", GATES)
    assert states(machine) == BOTH_NEW
    assert set(states(machine, AGENTFEEDBACK_BLOCK="kind").values()) == {
        ("denied", "gate kind failed")
    }


def test_a_gate_takes_no_refusal_away(machine: Machine) -> None:
    """Whatever a gate answers, the core's own refusal stands, and its reason is the one shown."""
    machine.config('[collect]\ndeny_paths = ["/srv/app"]\n')
    plugin(
        machine,
        "soft",
        "@hookimpl(tryfirst=True)\ndef session_verdict():\n    return None\n",
        GATES,
    )
    plugin(machine, "loud", "@hookimpl\ndef session_verdict():\n    return 'mine'\n", GATES)
    assert set(states(machine).values()) == {("denied", "deny_paths")}


# Other plugins that fail are named and skipped.

FAILING_PLUGINS = {
    "cannot be imported": "raise ImportError('gone')\n",
    "ends the process at import": "raise SystemExit(3)\n",
    "has a function that is no hook": "@hookimpl\ndef session_listed():\n    pass\n",
    "wraps a hook": "@hookimpl(wrapper=True)\ndef digest_session():\n    yield\n    return None\n",
    "raises in a registering hook": "@hookimpl\ndef register_detectors():\n    raise OSError\n",
    "ends the process in a hook": "@hookimpl\ndef run_finished():\n    raise SystemExit(3)\n",
    "registers no list": "@hookimpl\ndef register_detectors():\n    return 5\n",
    "registers what is no detector": "@hookimpl\ndef register_detectors():\n    return [5]\n",
    "registers what is no format": "@hookimpl\ndef register_scrub_formats():\n    return ['x']\n",
    "registers a format that does not compile": (
        "from agentfeedback.scrub import Format\n"
        "@hookimpl\ndef register_scrub_formats():\n    return [Format('bad', '(')]\n"
    ),
    "supplies no store": "@hookimpl\ndef watermark_store():\n    raise OSError\n",
    "raises for a digest": "@hookimpl\ndef digest_session():\n    raise OSError\n",
    "builds no digest": "@hookimpl\ndef digest_session():\n    return {'ref': 'x'}\n",
    "finds what is no JSON": (
        "from agentfeedback.detect import Detector, Finding\n"
        "class Odd(Detector):\n"
        "    name = 'bad'\n"
        "    def find(self, timeline):\n"
        "        return [Finding(timeline.entries[0], {1, 2})]\n"
        "@hookimpl\ndef register_detectors():\n    return [Odd()]\n"
    ),
}


@pytest.mark.parametrize("how", FAILING_PLUGINS)
def test_plugin_that_fails_is_named_and_the_rest_works(machine: Machine, how: str) -> None:
    """A plugin that is no gate and fails is named once on standard error, and everything else goes on."""
    plugin(machine, "bad", FAILING_PLUGINS[how])
    plugin(
        machine,
        "good",
        "import sys\n@hookimpl\ndef run_finished():\n    print('told', file=sys.stderr)\n",
    )
    result = run(machine, "digest", "--unprocessed")
    assert result.status == 0
    assert [item["ref"] for item in result.json["sessions"]] == list(BOTH_NEW)
    assert [item["counts"]["prompts"] for item in result.json["sessions"]] == [1, 1]
    assert "told" in result.err
    assert result.err.count("plugin bad ") == 1


FAILING_READERS = {
    "cannot be imported": "raise ImportError('gone')\n",
    "registers nothing": "\n",
    "registers None": "@hookimpl\ndef register_readers():\n    return None\n",
    "registers no list": "@hookimpl\ndef register_readers():\n    return 5\n",
    "registers another harness": READER.replace('"own"', '"other"'),
    "registers no readers": "@hookimpl\ndef register_readers():\n    return [1]\n",
    "raises when registering": "@hookimpl\ndef register_readers():\n    raise OSError\n",
}


@pytest.mark.parametrize("how", FAILING_READERS)
def test_reader_that_cannot_be_had_is_named_and_the_others_read(machine: Machine, how: str) -> None:
    """A reader that cannot be loaded is named, its harness left out, its refs answered; the others work."""
    plugin(machine, "own", FAILING_READERS[how], READERS)
    assert states(machine) == BOTH_NEW
    assert "plugin own" in run(machine, "list").err
    result = run(machine, "digest", "own:s1", "codex:x1")
    assert result.status == 0
    assert [(error["ref"], error["state"]) for error in result.json["errors"]] == [
        ("own:s1", "unreadable")
    ]
    assert "error" in shown(machine, "own")


def test_blocked_reader_is_left_out(machine: Machine) -> None:
    """AGENTFEEDBACK_BLOCK leaves a reader out by name, without an import and without a warning but for an unknown name."""
    result = run(machine, "list", AGENTFEEDBACK_BLOCK="codex,nothing")
    assert result.err == (
        "agentfeedback sessions: warning: AGENTFEEDBACK_BLOCK names nothing, which is not installed\n"
    )
    assert run(machine, "list", AGENTFEEDBACK_BLOCK="codex").err == ""
    assert states(machine, AGENTFEEDBACK_BLOCK="codex, nothing") == {"claude-code:c1": ("new", "")}
    result = run(machine, "list", "--harness", "codex", AGENTFEEDBACK_BLOCK="codex")
    assert result.status == 2 and "no session reader" in result.err


RAISING = {
    "find": ("raise ValueError(home.path)", {}, "unreadable"),
    "place": ("raise ValueError(home.path)", {"own:s9": ("new", "")}, "present"),
    "open": (
        "raise ValueError(1)",
        {"own:s9": ("unreadable", "reader own failed: ValueError")},
        "present",
    ),
    "read": (
        "raise ValueError(1)",
        {"own:s9": ("unreadable", "reader own failed: ValueError")},
        "present",
    ),
}


@pytest.mark.parametrize("method", RAISING)
def test_reader_that_raises_is_named_and_the_others_read(machine: Machine, method: str) -> None:
    """A reader that raises fails its own sessions alone; one that raises in `place` leaves the policy unchecked."""
    raising, expected, store = RAISING[method]
    signature = {
        "find": "home, report",
        "place": "session, *, strict",
        "open": "session",
        "read": "log, place, timeline",
    }[method]
    code = READER.replace(
        "@hookimpl",
        f"def raising(self, {signature}):\n    {raising}\nOwn.{method} = raising\n@hookimpl",
    )
    plugin(machine, "own", code, READERS)
    (machine.home / ".own").mkdir()
    (machine.home / ".own/s9").write_bytes(b'{"cwd":"/srv","says":"hello"}\n')
    assert states(machine) == BOTH_NEW | expected
    result = run(machine, "list")
    assert f"plugin own failed in {method if method != 'open' else 'read'}: " in result.err
    assert {each["harness"]: each["state"] for each in result.json["stores"]}["own"] == store
    if method == "place":  # nothing is read unchecked where the policy names paths
        machine.config('[collect]\ndeny_paths = ["/nowhere"]\n')
        assert states(machine)["own:s9"][0] == "denied"
        assert states(machine)["claude-code:c1"] == ("new", "")


def test_plugins_shows_what_is_installed(machine: Machine) -> None:
    """`agentfeedback plugins` names each plugin with kind, dist, version, hooks, and why one cannot be used."""
    plugin(machine, "fine", "@hookimpl\ndef run_finished():\n    pass\n")
    plugin(machine, "broken", "raise ValueError('why')\n")
    assert shown(machine, "fine") == {
        "name": "fine",
        "kind": "plugin",
        "dist": "x-agentfeedback-plugins-fine",
        "version": "1.0",
        "hooks": ["run_finished"],
    }
    assert shown(machine, "broken")["error"] == "ValueError: why"
    assert shown(machine, "codex")["hooks"] == ["register_readers"]


def test_hook_doctor_sections(machine: Machine) -> None:
    """A section stands in the JSON and the text with its problems; a failing plugin is a problem and hides nobody else's."""
    code = """
        from agentfeedback.checkup import Section
        @hookimpl
        def doctor_sections(checkup):
            return [Section("queue", {"pending": 2}, text="2 pending", problems=(("it is full", "empty it"),))]
    """
    plugin(machine, "spooler", code)
    plugin(
        machine,
        "failing",
        "@hookimpl\ndef doctor_sections(checkup):\n    raise OSError(checkup.paths.home)\n",
    )
    plugin(
        machine,
        "taking",
        """
        from agentfeedback.checkup import Section
        @hookimpl
        def doctor_sections(checkup):
            return [Section("database", {})]
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
