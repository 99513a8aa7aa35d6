"""How well a report groups the failures of real logs: of one cause in one group, of two causes in two.

The causes were named by hand, from what was run and what came of it, beside the first groups of the rules.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import SessionRefused
from agentfeedback.report.timeline import ReportTimeline, Texts
from agentfeedback.sessions.engine import Engine
from tests.support import ROOT
from tests.test_real_logs import STORES

#: `(tool, word of the command, word of the error)`: failures for which all three fit have one cause. What
#: fits none is alone with what has its very command and error line. An empty word fits everything.
CAUSES = (
    # a tool that the agent has not got, in the words of each agent
    ("", "", "No such tool available"),
    ("", "", "unsupported call: "),
    ("", "", "unsupported custom tool call: "),
    ("", "", "' does not exist."),
    ("", "", '" not found. Did you mean one of'),
    ("", "", "Unknown tool: "),
    # arguments of a wrong form
    ("Bash", "", "InputValidationError"),
    ("bash", "", '"command": Required'),
    ("read", "", "Invalid tool input: Missing key"),
    ("edit", "", "Invalid tool input: Missing key"),
    # files that are not there, or not as expected
    ("Edit", "", "File has not been read yet"),
    ("Read", "", "File does not exist"),
    ("apply_patch", "", "Failed to find expected lines"),
    ("apply_patch", "docs/not-there.md", "Failed to read"),
    ("read", "", "File not found"),
    ("read_file", "", "File not found"),
    ("replace", "", "0 occurrences found"),
    ("replace", "", "Access denied: plan path"),
    ("view", "", "Path does not exist"),
    ("view_image", "", "unable to locate image"),
    ("view_image", "broken.png", ""),
    # what may not be done in a sandbox
    ("exec_command", "touch /opt/rc1-", ""),
    ("exec_command", "touch made-in-readonly", ""),
    ("exec_command", "pwd", "Failed to create"),
    # the same program failing in the same way
    ("exec_command", "kill -SEGV", ""),
    ("exec_command", "definitely-not-a-command", ""),
    ("exec_command", "sleep 3; echo dying", ""),
    ("run_shell_command", "test -f missing.txt", ""),
    ("write_stdin", "", "Unknown process id"),
    ("write_stdin", "", "dying"),
    ("invoke_agent", "generalist", "Agent stopped calling tools"),
    # one server of tools, in the words of two agents
    ("mcp__stock__broken", "", ""),
    ("mcp__stock__die", "", ""),
    ("mcp__stock__hang", "", ""),
    ("mcp__stock__reserve", "", ""),
    ("mcp__stock__count", "bogus", ""),
    ("mcp__stock__count", '{"item":"tea"}', ""),
)
#: Causes that are one where the tool is one: it is not there, in whatever words.
_NOT_THERE = range(6)


def cause(tool: str, command: str, error: str) -> object:
    for number, (name, run, said) in enumerate(CAUSES):
        if name in ("", tool) and run in command and said in error:
            return (tool, 0 if number in _NOT_THERE else number)
    return (tool, command, error)


def failures(real: Path, home: Path) -> Iterator[tuple[str, str, Texts]]:
    """Tool, group and texts of each failed call of the real logs, of all of them under one key."""
    for harness, (stores, place) in STORES.items():
        for number, store in enumerate(sorted(real.glob(stores))):
            folder = home / harness / str(number)
            shutil.copytree(store, folder / place)
            engine = Engine({"HOME": str(folder)}, host=Host({}), cache=False)
            for found in engine.stores([harness]):
                for session in found.sessions:
                    timeline = ReportTimeline(
                        engine.scrubber,
                        engine.digester.mark,
                        b"one key",
                        rewrites=found.reader.rewrites,
                    )
                    try:
                        engine.examiner.read(found.reader, session, timeline, allow_unknown=True)
                    except SessionRefused:
                        continue
                    for event, texts in timeline.events():
                        if event.kind == "error" and not event.own:
                            yield event.tool, event.group, texts


def pairs(counts: Counter[object]) -> int:
    return sum(count * (count - 1) // 2 for count in counts.values())


def quality(found: list[tuple[str, str, Texts]]) -> tuple[int, float, float]:
    """How many failures, and of pairs of them: how many of one group have one cause, and of one cause one group."""
    groups: Counter[object] = Counter(group for _, group, _ in found)
    told: Counter[object] = Counter()
    both: Counter[object] = Counter()
    for tool, group, texts in found:
        by_hand = cause(tool, texts.command, texts.error)
        told[by_hand] += 1
        both[group, by_hand] += 1
    return len(found), pairs(both) / pairs(groups), pairs(both) / pairs(told)


def test_failures_of_one_cause_are_one_group(real: Path, tmp_path: Path) -> None:
    """Precision and recall are those of the reference, and no worse."""
    number, precision, recall = quality(list(failures(real, tmp_path)))
    page = (ROOT / "docs/reference/report.md").read_text()
    said = f"{number:,} failures: precision {precision:.1%}, recall {recall:.1%}"
    assert said in " ".join(page.split()), said


def test_a_worse_grouping_is_seen() -> None:
    """The measure is of pairs: one group of everything has full recall, each alone full precision."""
    texts = [Texts("make", "no"), Texts("make", "no"), Texts("ls", "gone")]
    together = [("Bash", "g", each) for each in texts]
    alone = [("Bash", f"g{number // 2}", each) for number, each in enumerate(texts)]
    assert quality(together) == (3, pytest.approx(1 / 3), 1.0)
    assert quality(alone) == (3, 1.0, 1.0)
