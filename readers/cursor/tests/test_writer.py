"""Transcripts as Cursor's own writer makes them: written again after each step, with nothing that fails in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentfeedback.reading.drift import Survey
from agentfeedback_cursor.reader import Cursor

PROMPT = (
    '{"role":"user","message":{"content":[{"type":"text","text":"<user_query>go</user_query>"}]}}'
)
CALL = '{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Shell","input":{}}]}}'
ENDED = '{"type":"turn_ended","status":"%s"}'
#: One session after each write: the end of an earlier turn is gone.
WRITES = (
    [PROMPT, CALL],
    [PROMPT, CALL, ENDED % "success"],
    ['{"type":"metadata","metadata":{"overview":"x"}}', PROMPT, CALL, PROMPT],
    [PROMPT, CALL, PROMPT, CALL, ENDED % "aborted"],
    [PROMPT],
)


def shown(session):
    """What a listing shows of a session, but for its times."""
    return {name: value for name, value in session.items() if name not in ("start", "end")}


def test_a_rewritten_transcript_is_listed_the_same(machine):
    """Whatever stands in the file, longer or shorter than before: the session is new, uncounted and unmarked."""
    path = machine.session("c1")
    before = shown(machine.listed()["c1"])
    assert ("new", None) == (before["state"], before.get("counts"))
    for lines in WRITES:
        path.write_text("".join(line + "\n" for line in lines))
        assert before == shown(machine.listed()["c1"])
        assert [] == list(machine.listed("--unprocessed"))
        assert [] == machine.sessions("digest", "--unprocessed", "--harness", "cursor")["sessions"]


@pytest.fixture
def writer(real: Path) -> list[bytes]:
    """A transcript of the vendor's writer, after each of its writes and at its end."""
    files = sorted((real / "cursor-writer").rglob("*.jsonl*"))
    assert len(files) == 5
    return [file.read_bytes() for file in files]


def test_the_vendors_own_files(machine, writer):
    """The same holds of what the vendor's writer wrote; every line of it is known."""
    id = "0b6f2b1e-1111-4222-8333-944444444401"
    path = machine.session(id)
    survey = Survey(Cursor().known())
    for content in writer:
        path.write_bytes(content)
        session = machine.listed()[id]
        assert ("new", None) == (session["state"], session.get("counts"))
        survey.see(content.splitlines())
    assert (survey.records, dict(survey.types), dict(survey.fields)) == (22, {}, {})


@pytest.mark.parametrize(
    ("line", "types", "fields"),
    [
        (PROMPT, [], []),
        (CALL, [], []),
        (ENDED % "error", [], []),
        (ENDED % "novel", [], [("turn_ended", "status=novel")]),
        ('{"type":"novel"}', ["novel"], []),
        ('{"role":"novel"}', ["novel"], []),
        (
            '{"role":"user","message":{"content":[{"type":"tool_result"}]}}',
            ["user/tool_result"],
            [],
        ),
        ('{"role":"user","novel":1}', [], [("user", "novel")]),
    ],
)
def test_what_is_new_is_told(line, types, fields):
    """A kind of line or block, a member or a word that the writer was not seen to write is reported."""
    survey = Survey(Cursor().known())
    survey.see([line.encode()])
    assert (list(survey.types), list(survey.fields)) == (types, fields)


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("c1", "c1"),
        ("a b", "a_20b"),
        ("é%", "_C3_A9_25"),
        ("x" * 210, "x" * 200),
        ("it's(1)!~*", "it's(1)!~*"),
    ],
)
def test_a_transcript_is_named_as_the_writer_names_it(machine, id, name):
    """An id is spelled as in a URL, with `_` for `%`, and cut; any other name is ignored."""
    path = machine.transcript(name)
    roots = {"workspace_roots": [str(machine.project)]}
    machine.hook(conversation_id=id, transcript_path=str(path.with_name(f"{name}x.jsonl")), **roots)
    assert "transcript_path" not in machine.kept(id)
    machine.hook(conversation_id=id, transcript_path=str(path), **roots)
    assert {id: str(path)} == {key: each["path"] for key, each in machine.listed().items()}
    assert json.dumps(id) in json.dumps(machine.kept(id))
