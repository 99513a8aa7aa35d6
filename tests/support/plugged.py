"""A machine whose plugins are found by their entry points, and what it shows of them."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

from tests.support.machine import Machine, Result, call, failed, meta, prompt, typed

GATES, READERS = "agentfeedback.gates", "agentfeedback.readers"
HEAD = "from agentfeedback.plugins.hookspecs import hookimpl\n"
#: A reader whose parts a test may replace.
READER = """
import os
from agentfeedback.reading.reader import Home, Place, Reader, Report
from agentfeedback.reading.record import Record
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


def of_two_harnesses(machine: Machine) -> Machine:
    """The machine with a session of each of two harnesses."""
    machine.claude("c1", [prompt("u1"), call("a1", "t1"), failed("u2", "t1")])
    machine.codex("x1", [meta(), typed("run it")])
    return machine


def plugin(
    machine: Machine, name: str, code: str, group: str = "agentfeedback.plugins", dist: str = ""
) -> None:
    machine.plugin(name, HEAD + dedent(code), group=group, dist=dist)


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
