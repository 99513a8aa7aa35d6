"""`agentfeedback config`: what is shown, and how little of the file a change touches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from agentfeedback.config.keys import KEYS
from agentfeedback.config.toml_text import toml

FILE = """# mine
url = "https://x.example" # the server
api_key = "hunter2-hunter2"
future = [1, 2] # of a newer version

[sessions] # about sessions
# how long
quiet = "1h"   # an hour

[collect]
deny_paths = [
  "~/private", # never
]
"""


def path_of(machine: Any) -> Path:
    found: Path = machine.home / ".config/agentfeedback/config.toml"
    return found


def shown(machine: Any, **environ: str) -> dict[str, dict[str, Any]]:
    result = machine.call("config", "--json", **environ)
    assert result.status == 0, result.err
    return {item["key"]: item for item in json.loads(result.text)["settings"]}


def test_every_key_is_shown_with_value_and_source(machine: Any) -> None:
    """Environment before file before default; an empty variable counts as unset."""
    found = shown(machine)
    assert list(found) == list(KEYS)
    assert found["sessions.quiet"] == {
        "key": "sessions.quiet",
        "editable": True,
        "source": "",
        "value": "30m",
    }
    machine.config(FILE + "[detect]\nnudge = false\n")
    found = shown(
        machine,
        AGENT_FEEDBACK_MODEL="opus",
        AGENT_FEEDBACK_HARNESS="",
        AGENT_FEEDBACK_URL="http://u:hunter2@y.example",
    )
    sources = {
        key: (item.get("value"), item["source"]) for key, item in found.items() if item["source"]
    }
    assert sources == {
        "url": ("http://y.example", "env"),
        "api_key": (None, "config"),
        "model": ("opus", "env"),
        "collect.deny_paths": (["~/private"], "config"),
        "detect.nudge": (False, "config"),
        "sessions.quiet": ("1h", "config"),
    }
    assert found["api_key"] == {
        "key": "api_key",
        "editable": False,
        "source": "config",
        "set": True,
    }
    assert {key for key, item in found.items() if item["editable"]} == {
        "machine", "model", "harness",
        *(key for key in KEYS if key.startswith(("detect.", "sessions."))),
    }  # fmt: skip
    for words in ((), ("--json",)):
        result = machine.call("config", *words, AGENT_FEEDBACK_URL="http://u:hun/hunter2@y.example")
        assert "hunter2" not in result.text + result.err


def test_change_touches_one_key(machine: Any) -> None:
    """Comments, order and spacing stay; taken out again, the file is what it was."""
    machine.config(FILE)
    path = path_of(machine)
    os.chmod(path, 0o644)
    assert (
        machine.call("config", "set", "sessions.quiet", "2h").text == "sessions.quiet is now 2h\n"
    )
    assert path.read_text() == FILE.replace('"1h"', '"2h"')
    assert path.stat().st_mode & 0o777 == 0o600
    assert machine.call("config", "set", "machine", "box").status == 0
    assert toml(path.read_bytes())["machine"] == "box"
    assert machine.call("config", "unset", "machine").text == "machine is no longer set\n"
    assert path.read_text().split() == FILE.replace('"1h"', '"2h"').split()
    assert machine.call("config", "unset", "machine").text == "machine was not set\n"
    assert (
        machine.call("config", "set", "sessions.quiet", "2h").text
        == "sessions.quiet is already 2h\n"
    )
    assert os.listdir(path.parent) == ["config.toml"]


def test_first_change_makes_the_file(machine: Any) -> None:
    """Owner-only, in a folder of the owner's; taking out of no file makes none."""
    path = path_of(machine)
    assert machine.call("config", "unset", "detect.nudge").status == 0 and not path.exists()
    assert machine.call("config", "set", "detect.nudge", "false").status == 0
    assert path.read_text() == "[detect]\nnudge = false\n"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("set", "sessions.quite", "1h"), "did you mean sessions.quiet"),
        (("set", "nothing", "1"), "config shows all"),
        (("set", "api_key", "hunter2"), "not changed by command"),
        (("set", "url", "https://x.example"), "not changed by command"),
        (("set", "collect.disabled", "false"), "not changed by command"),
        (("unset", "collect.deny_paths"), "not changed by command"),
        (("set", "sessions.quiet", "soon"), "a time like"),
        (("set", "sessions.quiet", "0m"), "a time like"),
        (("set", "sessions.quiet", "1.5h"), "a time like"),
        (("set", "sessions.push_batch", "0"), "a whole number from 1 on"),
        (("set", "detect.same_tool", "three"), "a whole number"),
        (("set", "detect.nudge", "yes"), "true or false"),
        (("set", "machine", ""), "one line of text"),
        (("set", "machine", "a\nb"), "one line of text"),
        (("set", "machine", "x" * 201), "one line of text"),
        (("set", "machine"), "config set <key> <value>"),
        (("set", "machine", "a", "b"), "config set <key> <value>"),
        (("unset",), "config unset <key>"),
        (("get", "machine"), 'there is no command "config'),
    ],
)
def test_wrong_change_is_a_wrong_command_line(
    machine: Any, words: tuple[str, ...], told: str
) -> None:
    """Exit 2, and the file stays as it is."""
    machine.config(FILE)
    result = machine.call("config", *words)
    assert (result.status, result.text) == (2, "") and told in result.err
    assert path_of(machine).read_text() == FILE


def test_file_that_is_no_toml_is_left_alone(machine: Any) -> None:
    """Exit 1 for showing and changing alike."""
    for text in ("[sessions\n", "sessions = 3\n", "[[sessions]]\nquiet = '1h'\n"):
        machine.config(text)
        for words in ((), ("set", "sessions.quiet", "1h")):
            result = machine.call("config", *words)
            assert (result.status, result.text) == (1, "") and "not valid" in result.err
        assert path_of(machine).read_text() == text


def test_wrong_value_in_the_file_is_named_and_can_be_mended(machine: Any) -> None:
    """The error names the command that takes it out."""
    machine.config("[sessions]\nquiet = 5 # minutes\n")
    result = machine.call("config")
    assert result.status == 1 and "config unset sessions.quiet" in result.err
    assert machine.call("config", "set", "sessions.quiet", "5m").status == 0
    assert path_of(machine).read_text() == '[sessions]\nquiet = "5m" # minutes\n'


def test_file_behind_a_link_is_changed_where_it_lies(machine: Any, tmp_path: Path) -> None:
    """The link stays; one that leads nowhere is an error."""
    path = path_of(machine)
    path.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.toml"
    path.symlink_to(real)
    assert machine.call("config", "set", "machine", "box").status == 1 and not real.exists()
    real.write_text("# mine\n")
    assert machine.call("config", "set", "machine", "box").status == 0
    assert path.is_symlink() and real.read_text() == '# mine\nmachine = "box"\n'


def test_variable_that_goes_before_the_file_is_told(machine: Any) -> None:
    """A change that has no effect now says so."""
    result = machine.call("config", "set", "model", "opus", AGENT_FEEDBACK_MODEL="sonnet")
    assert (
        result.status == 0 and "AGENT_FEEDBACK_MODEL is set and goes before the file" in result.err
    )


def test_changes_at_once_are_all_kept(machine: Any) -> None:
    """Each process changes the file the one before it left."""
    machine.config(FILE)
    keys = [key for key, item in KEYS.items() if item.form == "count" and item.editable]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "agentfeedback", "config", "set", key, "7"],
            env={**machine.environ, "PATH": os.environ["PATH"]},
            stdout=-1,
        )
        for key in keys
    ]
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    tables = toml(path_of(machine).read_bytes())
    assert all(tables[key.split(".")[0]][key.split(".")[1]] == 7 for key in keys)
    assert "# never" in path_of(machine).read_text()


values = (
    st.booleans()
    | st.integers(-9, 99)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
    | st.lists(st.integers(0, 9), max_size=3)
)
names = st.sampled_from(["quiet", "push_batch", "same_tool", "other", "x y"])
tables = st.dictionaries(
    st.sampled_from(["machine", "model", "future"]) | st.just("z"), values, max_size=3
)
