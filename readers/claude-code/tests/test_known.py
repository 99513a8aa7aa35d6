"""What `doctor --formats` knows of Claude Code: all of what the verified versions write, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfeedback.drift import Survey
from agentfeedback.log import FileLog
from agentfeedback_claude_code.known import KNOWN
from agentfeedback_claude_code.reader import ClaudeCode

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
    paths = sorted(REAL.glob("claude-code/*/projects/*/*.jsonl"))
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
    assert ClaudeCode().known() is KNOWN
    assert KNOWN.verified


@pytest.mark.parametrize(
    ("line", "types", "fields"),
    [
        (
            b'{"type":"novel","x":1}',
            ["novel"],
            [],
        ),
        (
            b'{"type":"system","subtype":"novel"}',
            ["system/novel"],
            [],
        ),
        (
            b'{"type":"user","uuid":"u","novel":1}',
            [],
            [("user", "novel")],
        ),
        (
            b'{"type":"attachment","attachment":{"type":"file","novel":1}}',
            [],
            [("attachment/file", "attachment.novel")],
        ),
        (
            b'{"type":"assistant","message":{"content":[{"type":"novel"},{"type":"text","novel":1}]}}',
            ["assistant/novel"],
            [("assistant/text", "message.content.novel")],
        ),
        (
            b'{"type":"user","toolUseResult":{"novel":1},"message":{"content":[{"type":"tool_result","content":[{"type":"text","novel":1}]}]}}',
            [],
            [("user/tool_result/text", "message.content.content.novel")],
        ),
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is told by its name."""
    survey = surveyed(line + b"\n")
    assert (list(survey.types), list(survey.fields)) == (types, fields)
