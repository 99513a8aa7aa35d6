"""A ref names a session by its id, as a digest prints it, or by how its id begins; it never guesses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfeedback.reading.refs import Ref
from agentfeedback.scrub import SUBMIT, Scrubber
from agentfeedback.sessions.named import SHORTEST, AmbiguousRef, Names

TOKEN = "gh" + "p_" + "0123456789" * 3 + "abcdef"
OTHER = "gh" + "p_" + "9876543210" * 3 + "fedcba"
SECRET = "id-[REDACTED:github_token]"


def whole(given: str, *ids: str, harness: str = "claude-code") -> str:
    names = Names([("claude-code", id) for id in ids], Scrubber(SUBMIT).text)
    return names.whole(Ref(harness, given, f"{harness}:{given}")).id


@pytest.mark.parametrize(
    ("given", "ids", "named"),
    [
        ("s1", ("s1", "s10"), "s1"),
        ("5f0c2d7e", ("5f0c2d7e", "5f0c2d7e-1b34"), "5f0c2d7e"),
        ("5f0c2d7e", ("5f0c2d7e-1b34", "61aa0000-1b34"), "5f0c2d7e-1b34"),
        ("5f0c2d7", ("5f0c2d7e-1b34",), "5f0c2d7"),
        ("0c2d7e-1b34", ("5f0c2d7e-1b34",), "0c2d7e-1b34"),
        (SECRET, (f"id-{TOKEN}", "other"), f"id-{TOKEN}"),
        (SECRET, (SECRET, f"id-{TOKEN}"), SECRET),
        (SECRET, (f"ib-{TOKEN}",), SECRET),
        (SECRET, (f"id-{TOKEN}-2",), SECRET),
        ("id-[REDACTED:x", ("id-[REDACTED:xy]",), "id-[REDACTED:xy]"),
    ],
)
def test_a_ref_names_one_session(given: str, ids: tuple[str, ...], named: str) -> None:
    """The exact id comes first, then the printed form, then the beginning; else the ref stays as it is."""
    assert whole(given, *ids) == named


def test_sessions_of_other_harnesses_are_not_named() -> None:
    """A beginning is looked for in its own harness alone."""
    assert whole("5f0c2d7e", "5f0c2d7e-1b34", harness="codex") == "5f0c2d7e"


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ("5f0c2d7e", tuple(f"5f0c2d7e-{n:04}" for n in range(12))),
        (SECRET, (f"id-{TOKEN}", f"id-{OTHER}")),
    ],
)
def test_a_ref_that_fits_several_names_none(given: str, ids: tuple[str, ...]) -> None:
    """The error says how many there are and lists at most ten, with nothing that looks like a secret."""
    with pytest.raises(AmbiguousRef) as raised:
        whole(given, *ids)
    assert raised.value.problem == f'"claude-code:{given}" fits {len(ids)} sessions'
    assert raised.value.remedy.count("claude-code:") == min(len(ids), 10)
    assert TOKEN not in str(raised.value)


ids = st.lists(st.text("ab-", min_size=1, max_size=SHORTEST + 3), max_size=8, unique=True)


@settings(deadline=None)
@given(ids=ids, given=st.text("ab-", min_size=1, max_size=SHORTEST + 3))
def test_the_session_named_is_one_that_begins_so_and_the_only_one(
    ids: list[str], given: str
) -> None:
    """Whatever the ids: the exact one, the only one that begins so, or none."""
    fitting = [id for id in ids if id.startswith(given)] if len(given) >= SHORTEST else []
    if given in ids or not fitting:
        assert whole(given, *ids) == given
    elif len(fitting) == 1:
        assert whole(given, *ids) == fitting[0]
    else:
        with pytest.raises(AmbiguousRef):
            whole(given, *ids)


@given(st.sets(st.text("ab1-", min_size=1, max_size=14), min_size=1, max_size=12))
def test_a_short_ref_names_its_session_and_no_other(ids: set[str]) -> None:
    """Whatever ids there are, what is shown for one of them is taken for that one, with and without a span."""
    names = Names([("codex", id) for id in ids], str)
    for id in ids:
        short = names.short(f"codex:{id}")
        given = short.removeprefix("codex:")
        assert id.startswith(given) and names.whole(Ref("codex", given, short)).id == id
        assert names.short(f"codex:{id}#a#b") == f"{short}#a#b"
    assert names.short("codex:none#x") == "codex:none#x" or "none" in ids
