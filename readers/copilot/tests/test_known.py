"""What `doctor --formats` knows of Copilot CLI: all of what the verified versions write, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfeedback.drift import Survey
from agentfeedback.log import FileLog
from agentfeedback_copilot.known import KNOWN
from agentfeedback_copilot.reader import Copilot

REAL = Path(
    os.environ.get("AGENTFEEDBACK_REAL") or Path(__file__).parent / "../../../../shared/real"
)


def surveyed(content: bytes) -> Survey:
    survey = Survey(KNOWN)
    survey.see(content.split(b"\n")[:-1])
    return survey


@pytest.mark.skipif(not REAL.is_dir(), reason="the real stores are not here")
def test_real_logs_hold_nothing_unknown() -> None:
    """No record of a real log has a type or a member the reader does not know, and all versions are verified ones."""
    paths = sorted(REAL.glob("copilot/**/events.jsonl"))
    whole = Survey(KNOWN)
    for path in paths:
        log = FileLog(str(path))
        whole.add(surveyed(b"".join(log.blocks())))
        log.close()
    assert whole.records > 100
    assert (dict(whole.types), dict(whole.fields)) == ({}, {})
    assert set(whole.versions) <= set(KNOWN.verified) and whole.versions


def test_reader_says_what_it_knows() -> None:
    """The reader hands over its tables, with the versions it was verified with."""
    assert Copilot().known() is KNOWN
    assert KNOWN.verified


@pytest.mark.parametrize(
    ("line", "types", "fields"),
    [
        (
            b'{"type":"novel","data":{"x":1}}',
            ["novel"],
            [],
        ),
        (
            b'{"type":"abort","novel":1,"data":{"reason":"x","novel":1}}',
            [],
            [("abort", "novel"), ("abort", "data.novel")],
        ),
        (
            b'{"type":"tool.execution_complete","data":{"result":{"content":"x","novel":1}}}',
            [],
            [("tool.execution_complete", "data.result.novel")],
        ),
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is told by its name."""
    survey = surveyed(line + b"\n")
    assert (list(survey.types), list(survey.fields)) == (types, fields)
