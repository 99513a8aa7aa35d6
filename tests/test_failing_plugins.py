"""What happens when a plugin fails: a gate refuses everything, any other is named and left out."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.machine import Machine
from tests.support.plugged import (
    BOTH_NEW,
    GATES,
    READER,
    READERS,
    of_two_harnesses,
    plugin,
    run,
    shown,
    states,
)


@pytest.fixture
def machine(machine: Machine) -> Machine:
    return of_two_harnesses(machine)


# Gates that fail refuse everything.

FAILING_GATES = {
    "cannot be imported": "raise ImportError('gone')\n",
    "ends the process at import": "raise SystemExit(3)\n",
    "raises when asked": "@hookimpl\ndef session_before_open():\n    raise KeyError('x')\n",
    "ends the process when asked": "@hookimpl\ndef session_before_open():\n    raise SystemExit(0)\n",
    "asks for an unknown argument": "@hookimpl\ndef session_before_open(nonsense):\n    return None\n",
    "is a wrapper": "@hookimpl(wrapper=True)\ndef session_before_open():\n    yield\n    return []\n",
    "forgets the marker": "def session_before_open():\n    return None\n",
    "is marked for another project": (
        "import pluggy\n@pluggy.HookimplMarker('pytest')\ndef session_before_open():\n    return None\n"
    ),
    "holds the hook in a class": (
        "class Gate:\n    @hookimpl\n    def session_before_open(self):\n        return None\n"
    ),
    "has other hooks alone": "@hookimpl\ndef session_digested():\n    pass\n",
    "misspells the hook": "@hookimpl\ndef session_before_opening():\n    return None\n",
    "answers what has no text": (
        "class Odd:\n    def __str__(self):\n        raise ValueError\n"
        "@hookimpl\ndef session_before_open():\n    return Odd()\n"
    ),
    "is an old wrapper": "@hookimpl(hookwrapper=True)\ndef session_before_open():\n    yield\n",
}


@pytest.mark.parametrize("how", FAILING_GATES)
def test_gate_that_fails_refuses_every_session(machine: Machine, how: str) -> None:
    """Whatever is wrong with a gate, every session is denied and the gate is named."""
    plugin(machine, "broken", FAILING_GATES[how], GATES)
    assert set(states(machine).values()) == {("denied", "gate broken failed")}
    result = run(machine, "digest", "codex:x1")
    assert result.status == 1 and result.json["sessions"] == []
    assert "broken" in result.err
    assert run(machine, "digest", "--unprocessed").json["sessions"] == []


def test_gate_that_is_blocked_refuses_every_session(machine: Machine) -> None:
    """A gate cannot be left out: blocked by name it refuses every session."""
    plugin(machine, "kind", "@hookimpl\ndef session_before_open():\n    return None\n", GATES)
    assert states(machine) == BOTH_NEW
    assert set(states(machine, AGENTFEEDBACK_BLOCK="kind").values()) == {
        ("denied", "gate kind failed")
    }


@pytest.mark.parametrize("which", [0, 1])
def test_gates_of_one_name_are_both_asked(machine: Machine, which: int) -> None:
    """Of two distributions with a gate of one name neither hides the other, whichever refuses."""
    refusing = "@hookimpl\ndef session_after_read():\n    return 'no'\n"
    passing = "@hookimpl\ndef session_after_read():\n    return None\n"
    codes = [passing, passing]
    codes[which] = refusing
    for dist, code in zip(("one", "two"), codes, strict=True):
        plugin(machine, "twin", code, GATES, dist=dist)
    assert set(states(machine).values()) == {("denied", "gate twin: no")}


def test_a_distribution_whose_entry_points_cannot_be_read_is_named(machine: Machine) -> None:
    """It may have brought a plugin: every command says so, and what else is installed works."""
    plugin(machine, "good", "@hookimpl\ndef run_finished():\n    pass\n")
    for name, content in (("odd_bytes", b"[\xff]"), ("odd_kind", None)):
        file = machine.home.parent / f"site/{name}-1.0.dist-info/entry_points.txt"
        file.parent.mkdir()
        if content is None:
            file.mkdir()
        else:
            file.write_bytes(content)
    sentences = [
        "the entry points of odd-bytes cannot be read: not UTF-8",
        "the entry points of odd-kind cannot be read: is a directory",
    ]
    assert states(machine) == BOTH_NEW
    for words in (("sessions", "list"), ("plugins",)):
        err = machine.run(*words).err
        assert all(err.count(f"warning: {sentence}\n") == 1 for sentence in sentences)
    problems = machine.run("doctor", "--json").json["problems"]
    assert [text for text in problems if "odd-" in text] == [
        f"{sentence}; check its permissions, or install it again" for sentence in sentences
    ]


def test_a_plugin_with_the_name_of_the_core_is_a_plugin(machine: Machine) -> None:
    """What is the core's own is known by the object, not by a name that anyone may take."""
    plugin(
        machine,
        "agentfeedback",
        "@hookimpl\ndef digest_session():\n    raise OSError\n"
        "@hookimpl\ndef session_after_read():\n    raise OSError\n",
    )
    assert set(states(machine).values()) == {("denied", "gate agentfeedback failed")}
    plugin(machine, "agentfeedback", "@hookimpl\ndef session_before_open():\n    pass\n", GATES)
    assert run(machine, "digest", "codex:x1").json["errors"][0]["state"] == "denied"


def test_a_gate_takes_no_refusal_away(machine: Machine) -> None:
    """Whatever a gate answers, the core's own refusal stands, and its reason is the one shown."""
    machine.config('[collect]\ndeny_paths = ["/srv/app"]\n')
    plugin(
        machine,
        "soft",
        "@hookimpl(tryfirst=True)\ndef session_before_open():\n    return None\n",
        GATES,
    )
    plugin(machine, "loud", "@hookimpl\ndef session_before_open():\n    return 'mine'\n", GATES)
    assert set(states(machine).values()) == {("denied", "deny_paths")}


ODD_VERDICTS = {
    "raises": "@property\n    def reason(self):\n        raise GeneratorExit",
    "prints": "@property\n    def reason(self):\n        print('spoilt')\n        return 'mine'",
    "is not Unicode": "reason = 'a\\ud800'",
}


@pytest.mark.parametrize("how", ODD_VERDICTS)
def test_a_verdict_that_cannot_be_shown_refuses(machine: Machine, how: str) -> None:
    """Whatever the text of a refusal does, the session is refused and the rest of the run goes on."""
    code = (
        f"class Odd:\n    {ODD_VERDICTS[how]}\n"
        "@hookimpl\ndef session_after_read():\n    return Odd()\n"
    )
    plugin(machine, "odd", code, GATES)
    reason = {"raises": "gate odd failed", "prints": "gate odd: mine"}.get(how, "gate odd: a?")
    assert set(states(machine).values()) == {("denied", reason)}
    assert "spoilt" not in run(machine, "list").text


def test_a_plugin_that_does_not_come_back_is_named(machine: Machine) -> None:
    """After its patience, on standard error, once; it goes on and its answer counts."""
    code = (
        "import time\n@hookimpl\ndef session_before_open():\n    time.sleep(0.3)\n    return None\n"
    )
    plugin(machine, "slow", code, GATES)
    run(machine, "list")
    script = (
        "import sys, agentfeedback.foundation.foreign_call as call\n"
        "call.PATIENCE = 0.1\n"
        "from agentfeedback.cli.main import main\n"
        "sys.exit(main(['sessions', 'list', '--json']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", script],
        env=machine.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["sessions"]
    assert done.stderr.count("plugin slow has not come back from session_before_open after") == 1


# A store of watermarks.

JUNK = {
    "no mapping": "5",
    "odd names": "{5: None, ('codex', 'x1', 'y'): 7}",
    "odd rows": "{('codex', 'x1'): 7, ('claude-code', 'c1'): None}",
    "odd members": "{('codex', 'x1'): SessionRow('codex', 'x1', 5, 'a', None, [], processed_at='x')}",
}


@pytest.mark.parametrize("how", JUNK)
def test_a_store_that_returns_junk_is_one_error(machine: Machine, how: str) -> None:
    """It is named, and no session is shown with a mark it does not have."""
    code = (
        "from agentfeedback.plugins import WatermarkStore, SessionRow\n"
        "class Junk(WatermarkStore):\n"
        f"    def rows(self):\n        return {JUNK[how]}\n"
        "    def digested(self, marks, at): pass\n"
        "    def mark(self, names, outcome, uids, at): pass\n"
        "    def forget(self, names): return []\n"
        "    def selection(self): return None\n"
        "    def save_selection(self, selection): pass\n"
        "@hookimpl\ndef watermark_store():\n    return Junk()\n"
    )
    plugin(machine, "junk", code)
    for words in (("list",), ("digest", "--unprocessed"), ("status",)):
        result = run(machine, *words)
        assert (result.status, result.out) == (1, b""), words
        (line,) = [each for each in result.err.splitlines() if "warning" not in each]
        assert "junk" in line and "rows" in line


# Other plugins that fail are named and skipped.

FAILING_PLUGINS = {
    "cannot be imported": "raise ImportError('gone')\n",
    "ends the process at import": "raise SystemExit(3)\n",
    "has a function that is not a hook": "@hookimpl\ndef session_listed():\n    pass\n",
    "wraps a hook": "@hookimpl(wrapper=True)\ndef digest_session():\n    yield\n    return None\n",
    "raises in a registering hook": "@hookimpl\ndef register_detectors():\n    raise OSError\n",
    "ends the process in a hook": "@hookimpl\ndef run_finished():\n    raise SystemExit(3)\n",
    "ends as a generator does": "@hookimpl\ndef run_finished():\n    raise GeneratorExit\n",
    "raises what nobody catches": "@hookimpl\ndef register_detectors():\n    raise BaseException\n",
    "prints and fails": "@hookimpl\ndef run_finished():\n    print('spoilt')\n    raise OSError\n",
    "ends the process while it detects": (
        "from agentfeedback.digest.detect import Detector\n"
        "class Odd(Detector):\n"
        "    name = 'bad'\n"
        "    def find(self, timeline):\n"
        "        raise SystemExit(0)\n"
        "@hookimpl\ndef register_detectors():\n    return [Odd()]\n"
    ),
    "registers no list": "@hookimpl\ndef register_detectors():\n    return 5\n",
    "registers what is not a detector": "@hookimpl\ndef register_detectors():\n    return [5]\n",
    "registers what is not a format": "@hookimpl\ndef register_scrub_formats():\n    return ['x']\n",
    "registers a format that does not compile": (
        "from agentfeedback.scrub import Format\n"
        "@hookimpl\ndef register_scrub_formats():\n    return [Format('bad', '(')]\n"
    ),
    "supplies no store": "@hookimpl\ndef watermark_store():\n    raise OSError\n",
    "raises for a digest": "@hookimpl\ndef digest_session():\n    raise OSError\n",
    "builds no digest": "@hookimpl\ndef digest_session():\n    return {'ref': 'x'}\n",
    "finds what is not JSON": (
        "from agentfeedback.digest.detect import Detector, Finding\n"
        "class Odd(Detector):\n"
        "    name = 'bad'\n"
        "    def find(self, timeline):\n"
        "        return [Finding(timeline.entries[0], {1, 2})]\n"
        "@hookimpl\ndef register_detectors():\n    return [Odd()]\n"
    ),
}


@pytest.mark.parametrize("how", FAILING_PLUGINS)
def test_plugin_that_fails_is_named_and_the_rest_works(machine: Machine, how: str) -> None:
    """A plugin that is not a gate and fails is named once on standard error, and everything else goes on."""
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
    assert result.status == 2 and "there is no session reader" in result.err


RAISING = {
    "find": ("raise ValueError(home.path)", {}, "unreadable"),
    "place": ("raise ValueError(session.id)", {"own:s9": ("new", "")}, "present"),
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


@pytest.mark.parametrize("error", ["ValueError", "SystemExit"])
@pytest.mark.parametrize("method", RAISING)
def test_reader_that_raises_is_named_and_the_others_read(
    machine: Machine, method: str, error: str
) -> None:
    """A reader that raises, whatever it raises, fails its own sessions alone; one that raises in `place` leaves the policy unchecked."""
    raising, expected, store = RAISING[method]
    raising = f"print('spoilt'); {raising.replace('ValueError', error)}"
    expected = {
        ref: (state, reason.replace("ValueError", error))
        for ref, (state, reason) in expected.items()
    }
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
    assert f"plugin own failed in {method if method != 'open' else 'read'}: {error}" in result.err
    assert "spoilt" in result.err
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
