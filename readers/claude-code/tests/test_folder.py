"""How a working directory is written as the name of a project directory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading.reader import Encoding, Home, Report
from agentfeedback_claude_code.folder import encodings
from agentfeedback_claude_code.reader import ClaudeCode


def names(path: str) -> list[str]:
    return [encoding.name for encoding in encodings(path)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/w/my_app.v2", ["-w-my-app-v2"]),
        ("/a/b c@d", ["-a-b-c-d"]),
        ("/w/Ünï", ["-w--n-", "-w---n--"]),
        ("/w/🚀x", ["-w---x", "-w-----x"]),
        ("/w/П", ["-w--", "-w---"]),
    ],
)
def test_a_name_has_one_dash_per_unit_or_per_byte(path: str, expected: list[str]) -> None:
    """What is outside letters and digits is a dash for each UTF-16 unit, or for each byte."""
    assert names(path) == expected


@pytest.mark.parametrize(("length", "forms"), [(199, 1), (200, 1), (201, 3)])
def test_names_over_200_characters_are_also_given_as_cut(length: int, forms: int) -> None:
    """A name of 200 characters is whole; a longer one has a cut form and an inexact one."""
    assert len(names("/" + "a" * (length - 1))) == forms


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hello", 99_162_322),
        ("polygenelubricants", 2**31),
        ("The quick brown fox jumps over the lazy dog", 609_428_141),
        ("🚀", 0xD83D * 31 + 0xDE80),
    ],
)
def test_the_hash_is_the_known_one_of_the_whole_path(text: str, value: int) -> None:
    """The hash of a cut name has the published values of that 32-bit hash, absolute, over UTF-16 units."""
    # NUL characters add nothing to the hash and make the name long enough to be cut.
    cut = names("\0" * 200 + text)[1]
    assert cut[:201] == "-" * 201
    assert int(cut[201:], 36) == value


def test_below_a_long_directory_only_a_read_can_decide() -> None:
    """What is below a directory with a cut name has a name that matches the inexact encoding alone."""
    parent = "/srv/app/" + "long-name-" * 20
    child = next(e.name for e in encodings(parent + "/below") if len(e.name) < 210)
    matching = [e for e in encodings(parent) if child.startswith(e.name)]
    assert matching == [Encoding(child[:200], exact=False)]


@given(st.text(max_size=300))
def test_any_path_has_an_encoding_of_letters_digits_and_dashes(path: str) -> None:
    """No path raises, and no encoding holds anything a name cannot hold."""
    for name in names(path):
        assert name.replace("-", "").isalnum() or not name.replace("-", "")
        assert name.isascii()


@given(st.binary(max_size=40).filter(lambda raw: b"\0" not in raw))
def test_a_path_that_is_no_utf8_has_encodings(raw: bytes) -> None:
    """A path of undecodable bytes is encoded with a dash for each of them."""
    path = "/" + os.fsdecode(raw)
    expected = "-" + "".join(chr(b) if chr(b).isascii() and chr(b).isalnum() else "-" for b in raw)
    assert expected in names(path)


def test_real_project_directories_encode_the_directories_their_logs_record(
    real: Path, tmp_path: Path
) -> None:
    """Each real project directory is an exact encoding of the first directory its transcripts record."""
    seen = 0
    for version in sorted(real.iterdir()):
        home = Home(str(tmp_path), {"CLAUDE_CONFIG_DIR": str(version)})
        for session in ClaudeCode().find(home, Report("claude-code")):
            name = ClaudeCode().place(session, strict=True).encoded
            lines = map(json.loads, Path(session.path).read_bytes().splitlines())
            cwd = next((line["cwd"] for line in lines if "cwd" in line), None)
            if cwd is not None:
                assert Encoding(str(name)) in list(encodings(cwd))
                seen += 1
    assert seen
