"""What `doctor --formats` knows of Codex: all of what the verified versions write, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentfeedback.drift import Survey
from agentfeedback.log import FileLog
from agentfeedback_codex.known import KNOWN
from agentfeedback_codex.reader import Codex

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
    paths = sorted(REAL.glob("codex/**/*.jsonl*"))
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
    assert Codex().known() is KNOWN
    assert KNOWN.verified


@pytest.mark.parametrize(
    ("line", "types", "fields"),
    [
        (
            b'{"type":"novel","payload":{"x":1}}',
            ["novel"],
            [],
        ),
        (
            b'{"type":"event_msg","payload":{"type":"novel","x":1}}',
            ["event_msg/novel"],
            [],
        ),
        (
            b'{"type":"response_item","novel":1,"payload":{"type":"function_call","novel":1}}',
            [],
            [("response_item", "novel"), ("response_item/function_call", "payload.novel")],
        ),
        (
            b'{"type":"session_meta","payload":{"novel":1}}',
            [],
            [("session_meta", "payload.novel")],
        ),
        (
            b'{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","changes":{"novel":1},"novel":1}}}',
            [],
            [("event_msg/item_completed/FileChange", "payload.item.novel")],
        ),
    ],
)
def test_what_is_new_is_told(line: bytes, types: list[str], fields: list[tuple[str, str]]) -> None:
    """A new type or member of a record, at every depth the reader looks into, is told by its name."""
    survey = surveyed(line + b"\n")
    assert (list(survey.types), list(survey.fields)) == (types, fields)
