"""What `doctor --formats` knows of OpenCode: the types of the rows that the verified version writes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from agentfeedback.drift import Known, Survey
from agentfeedback.reader import Home, Report
from agentfeedback.tally import Tally
from agentfeedback_opencode.known import V1, V2
from agentfeedback_opencode.reader import OpenCodeV1, OpenCodeV2

REAL = (
    Path(os.environ.get("AGENTFEEDBACK_REAL") or Path(__file__).parent / "../../../../shared/real")
    / "opencode-v1"
)


@pytest.mark.skipif(not REAL.is_dir(), reason="the real stores are not here")
def test_real_databases_hold_nothing_unknown(tmp_path: Path) -> None:
    """No row of a real database has a type the reader does not know."""
    reader, whole = OpenCodeV1(), Survey(V1)
    for store in sorted(REAL.iterdir()):
        home = tmp_path / store.name
        shutil.copytree(store, home / ".local/share/opencode")
        for session in reader.find(
            Home(str(home), {}, str(home / ".cache")), Report("opencode-v1")
        ):
            survey = Survey(V1)
            log = reader.open(session)
            log.watch = survey.see
            reader.read(log, reader.place(session, strict=False), Tally())
            log.close()
            whole.add(survey)
    assert whole.records > 100
    assert (dict(whole.types), dict(whole.fields)) == ({}, {})


def test_readers_say_what_they_know() -> None:
    """Each reader hands over the table of its own format."""
    assert OpenCodeV1().known() is V1
    assert OpenCodeV2().known() is V2


@pytest.mark.parametrize(
    ("known", "line", "types"),
    [
        (V1, b'{"kind":"message","role":"novel"}', ["message/novel"]),
        (V1, b'{"kind":"part","type":"novel"}', ["part/novel"]),
        (V1, b'{"kind":"part","type":"tool","state":{"novel":1}}', []),
        (V2, b'{"kind":"message","type":"novel"}', ["message/novel"]),
        (V2, b'{"kind":"part","item":{"type":"novel"}}', ["part/novel"]),
        (
            V2,
            b'{"kind":"message","type":"assistant","content":[{"type":"novel"},{"type":"text"}]}',
            ["message/assistant/novel"],
        ),
    ],
)
def test_new_types_are_told(known: Known, line: bytes, types: list[str]) -> None:
    """A new type of message, part or content is told by its name."""
    survey = Survey(known)
    survey.see([line])
    assert (list(survey.types), list(survey.fields)) == (types, [])
