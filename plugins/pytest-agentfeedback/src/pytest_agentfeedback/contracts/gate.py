"""What a gate promises: it only ever refuses, and answers whatever it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pluggy
import pytest

from agentfeedback.plugins import hookspecs
from agentfeedback.policy.rules import Verdict
from agentfeedback.reading.reader import Place, Session

#: Directories no store should record, and that some do.
ODD = (
    "",
    "relative/path",
    "/nul\0byte",
    "/surrogate\ud800",
    "/new\nline",
    "/srv/../../..",
    "//srv",
    "~/home",
    "C:\\Users\\x",
    "/" + "deep/" * 4000,
    "/" + "x" * 100_000,
)


class GateContract:
    """Every promise of a plugin with `session_before_open` or `session_after_read`, as a test.

    ```python
    class TestTeamGate(GateContract):
        allowed = ("/srv/app/shop",)
        refused = ("/srv/clients/x",)

        def gate(self):
            return agentfeedback_team.gate
    ```
    """

    #: Absolute directories in which sessions may be read.
    allowed: tuple[str, ...] = ()
    #: Absolute directories in which none may. Empty only for a gate that does not ask for directories.
    refused: tuple[str, ...] = ()

    def gate(self) -> Any:
        """The plugin: a module or object with functions marked `@hookimpl`; a fresh one for each call."""
        raise NotImplementedError

    def session(self) -> Session:
        """The session that is asked about."""
        return Session("codex", "s1", "/logs/s1.jsonl", 1_700_000_000_000_000_000, 100)

    def answers(self, gate: Any, directories: Sequence[str], **place: Any) -> list[Any]:
        """What the gate's hooks answer about a session that ran in these directories, as the host asks them."""
        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        manager.register(gate)
        session = self.session()
        found: list[Any] = []
        if manager.hook.session_before_open.get_hookimpls():
            found += manager.hook.session_before_open(
                session=session, place=Place(paths=tuple(directories), **place)
            ) or [None]
        if manager.hook.session_after_read.get_hookimpls():
            found += manager.hook.session_after_read(
                session=session, directories=tuple(directories)
            ) or [None]
        assert found, "the plugin has neither of the hooks that refuse a session"
        return found

    def refuses(self, directories: Sequence[str], **place: Any) -> list[bool]:
        """For each hook of a fresh gate, whether it refuses."""
        return [answer is not None for answer in self.answers(self.gate(), directories, **place)]

    def test_what_is_allowed_passes(self) -> None:
        """No hook refuses a session in the directories that are allowed."""
        assert self.allowed, "name at least one directory in `allowed`"
        for directory in self.allowed:
            assert not any(self.refuses([directory])), directory

    def test_what_is_refused_is_refused_by_each_hook(self) -> None:
        """What the log records is refused as what the store declares: either may be all there is."""
        for directory in self.refused:
            assert all(self.refuses([directory])), directory

    def test_one_refused_directory_is_enough(self) -> None:
        """Wherever it stands among others: a session that also ran elsewhere is refused."""
        for directory in self.refused:
            for others in (self.allowed, self.allowed * 50):
                assert all(self.refuses([directory, *others])), directory
                assert all(self.refuses([*others, directory])), directory

    def test_a_refusal_says_why(self) -> None:
        """It is a `Verdict` or a text, with a reason that is one line: it is shown in listings."""
        for directory in self.refused:
            for answer in self.answers(self.gate(), [directory]):
                assert isinstance(answer, (Verdict, str)), answer
                reason = answer.reason if isinstance(answer, Verdict) else answer
                assert reason.strip(), "the reason is empty"
                assert reason.isprintable(), "the reason is more than one line of text"

    def test_the_same_question_has_the_same_answer(self) -> None:
        """Asked again, in another order, after anything else, a gate answers as before."""
        gate = self.gate()
        questions = [[each] for each in (*self.allowed, *self.refused)]
        first = [self.answers(gate, question) for question in questions]
        again = [self.answers(gate, question) for question in reversed(questions)]
        assert [[each is None for each in answer] for answer in first] == [
            [each is None for each in answer] for answer in reversed(again)
        ]

    @pytest.mark.parametrize("directory", ODD, ids=lambda text: ascii(text[:20]))
    def test_no_directory_makes_it_raise(self, directory: str) -> None:
        """A gate that raises refuses: one odd record would hide a session for ever, and say nothing."""
        self.answers(self.gate(), [directory])

    def test_it_answers_where_nothing_is_known(self) -> None:
        """No directory at all, or a store that could not say one."""
        self.answers(self.gate(), [])
        self.answers(self.gate(), [], failed=True)
        self.answers(self.gate(), [], encoded="-srv-app-shop")
