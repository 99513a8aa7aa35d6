"""Equal arguments have equal digests, and agentfeedback's own commands are known by their words."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.reading.args_digest import args_digest, is_own

WORDS = st.lists(st.text("ab-/.=", min_size=1, max_size=5), max_size=5)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def digest(material: bytes) -> str:
    return hashlib.sha256(material).hexdigest()[:12]


@given(WORDS, st.sampled_from([" ", "  ", "\t", "\n", " \r\n "]))
def test_white_space_of_a_command_does_not_count(words: list[str], space: str) -> None:
    """A command is its words with single spaces; its input beside it does not count."""
    expected = digest(" ".join(words).encode())
    assert args_digest(None, space.join(words)) == expected
    assert args_digest(b'{"x":1}', space + space.join(words) + space) == expected


@given(TREES)
def test_spacing_and_escapes_of_an_input_do_not_count(tree: Any) -> None:
    """An input is its compact JSON, whether it was written escaped, spaced or raw."""
    compact = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    spaced = json.dumps(tree, indent=3)
    assert args_digest(compact.encode("utf-8", "replace"), None) == args_digest(
        spaced.encode(), None
    )
    assert args_digest(compact.encode("utf-8", "replace"), None) == digest(
        compact.encode("utf-8", "replace")
    )


def test_what_is_not_json_counts_as_its_bytes() -> None:
    """No arguments at all are empty bytes; other bytes stand for themselves."""
    assert args_digest(None, None) == digest(b"") == "e3b0c44298fc"
    assert args_digest(b"{not json", None) == digest(b"{not json")
    assert args_digest(b"null", None) == digest(b"null")
    assert args_digest(None, "") == digest(b"")


def test_a_lone_surrogate_in_a_command_is_a_question_mark() -> None:
    """UTF-8 has no surrogates; the digest must not fail on one."""
    assert args_digest(None, "echo \ud800") == digest(b"echo ?")


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("mcp__agentfeedback__submit", None),
        ("AgentFeedback", None),
        ("Bash", "agentfeedback sessions list"),
        ("Bash", "/opt/bin/agentfeedback status"),
        ("Bash", "C:\\bin\\agentfeedback status"),
        ("Bash", "cd /srv && agentfeedback submit"),
        ("Bash", "make; agentfeedback submit"),
        ("Bash", "cat x | agentfeedback submit"),
        ("Bash", "make\nagentfeedback submit"),
        ("Bash", "(agentfeedback submit)"),
        ("Bash", "{ agentfeedback submit; }"),
        ("Bash", "\t\r agentfeedback submit"),
        ("Bash", "A=1 _b2=x agentfeedback submit"),
        ("Bash", "sudo agentfeedback submit"),
        ("Bash", "env A=1 B=2 agentfeedback submit"),
        ("Bash", "A=1 time agentfeedback submit"),
        ("Bash", "exec agentfeedback"),
        ("Bash", "command agentfeedback"),
    ],
)
def test_our_own_commands(tool: str, command: str | None) -> None:
    """By the tool's name, or by the first word of any piece of a command line."""
    assert is_own(tool, command) is True


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("Bash", None),
        ("Bash", ""),
        ("Bash", "make"),
        ("Bash", "grep agentfeedback README.md"),
        ("Bash", "agentfeedback-server start"),
        ("Bash", "./agentfeedback.sh"),
        ("Bash", "myagentfeedback"),
        ("Bash", "Xagentfeedback"),
        ("Bash", "/srv/agentfeedback/run"),
        ("Bash", "sudo sudo agentfeedback"),
        ("Bash", "sudo make agentfeedback"),
        ("Bash", "1A=x agentfeedback"),
        ("Bash", "A=agentfeedback"),
        ("Bash", "A=1 make agentfeedback"),
        ("Bash", "env"),
        ("Bash", "sudo # agentfeedback"),
        ("Bash", "AGENTFEEDBACK"),
    ],
)
def test_commands_that_only_mention_it(tool: str, command: str | None) -> None:
    """An argument, a path, a longer name, a value, or a second prefix do not run it."""
    assert is_own(tool, command) is False
