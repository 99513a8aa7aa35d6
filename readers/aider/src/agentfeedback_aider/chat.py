"""What the lines of a session say (README, "What"). Pure.

The answer of a model is not marked, and may hold any line at all. So the lines go through a machine:
within an answer only those count with which Aider ends one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentfeedback.reading import dumps

if TYPE_CHECKING:
    from agentfeedback.reading import Sink, Status

_VERSION = "> Aider v"
#: Aider ends its own lines, and those of a prompt, with two blanks: a line break in Markdown.
_OWN, _TYPED, _BREAK = "> ", "#### ", "  "
_TOKENS = re.compile(r"> Tokens: \S+ sent, .*received\..*", re.ASCII)
_PROVIDER = re.compile(r"> (litellm\.\w+: .*)", re.ASCII)
_INTERRUPTED = "> ^C again to exit"
_ENOUGH = "> Only 3 reflections allowed, stopping."
_APPLIED = "> Applied edit to "
_UNMATCHED = re.compile(r"> # (\d+ .* failed to match!)", re.ASCII)
_UNMATCHED_END = "The SEARCH section must exactly match "
_LINT, _LINT_END = "> # Fix any errors below, if possible.", "> Attempt to fix lint errors?"
_TEST = re.compile(r"Added \d+ lines of output to the chat\.", re.ASCII)
_TEST_END = "> Attempt to fix test errors?"
_SHELL = re.compile(r"> (Run shell command\? .*: (\S*))", re.ASCII)
_RUNNING = "> Running "
#: What a person types for Aider or a shell; what follows `/ask` and its like is for the model.
_FOR_THE_MODEL = re.compile(r"/(?:ask|code|architect|context)[ ]+(\S.*)", re.DOTALL)
#: An answer to one of Aider's questions. After a command Aider may have asked none, and takes it for a prompt.
_ANSWER = re.compile(r"[ynad]", re.IGNORECASE | re.ASCII)
#: Characters of an answer, and of a linter's output, that are kept.
_KEPT = 64 * 1024


class Chat:
    """Reports the lines of one session to a sink, in their order."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._state = self._at_start
        self._first = 0  # the line at which the prompt or the answer begins
        self._prompt: list[str] = []
        self._twin = ""  # what stands behind `/ask` is written once more as a prompt
        self._commanded = False
        self._above = (0, "")  # Aider's line above: its number, and its text
        self._lint: int | None = None
        self._kept: list[str] = []
        self._length = 0

    def line(self, number: int, text: str) -> None:
        """One line of the history, as it is in the file; `number` counts from 1."""
        self._state(number, text)

    # -- states ------------------------------------------------------------------------------------

    def _at_start(self, number: int, text: str) -> None:
        """From the heading to Aider's version stands how it was called, in lines of any form.

        The time in the heading is in the zone of the machine of then, which nothing records.
        """
        if text.startswith(_VERSION):
            self._state = self._between

    def _between(self, number: int, text: str) -> None:
        """Between two answers: prompts, and Aider's own lines."""
        if text.startswith(_OWN):
            self._own(number, text.rstrip())
            return
        self._end_lint()
        if text.startswith(_TYPED):
            self._first, self._prompt = number, [_typed(text)]
            self._state = self._in_prompt
        elif text.strip():
            self._first, self._state = number, self._in_answer
            self._in_answer(number, text)

    def _in_prompt(self, number: int, text: str) -> None:
        if text.startswith(_TYPED):
            self._prompt.append(_typed(text))
            return
        self._end_prompt()
        self._state = self._between
        self._between(number, text)

    def _in_answer(self, number: int, text: str) -> None:
        line = text.rstrip()
        if text.startswith(_OWN) and text.endswith(_BREAK) and _ends_an_answer(line):
            self._end_answer()
            self._state = self._between
            self._own(number, line)
        else:
            self._keep(text)

    def _in_partial_answer(self, number: int, text: str) -> None:
        """Below an interruption stands what had been said until then, without an end of its own."""
        if text.startswith(_TYPED) and text.endswith(_BREAK):
            self._end_answer()
            self._state = self._between
            self._between(number, text)
        else:
            self._keep(text)

    def _in_unmatched_block(self, number: int, text: str) -> None:
        """The block that did not match stands there as the model wrote it."""
        if text.startswith(_UNMATCHED_END):
            self._state = self._between

    # -- Aider's own lines -------------------------------------------------------------------------

    def _own(self, number: int, line: str) -> None:
        (above, said), self._above = self._above, (number, line.removeprefix(_OWN))
        if self._lint is not None:
            if not line.startswith(_LINT_END):
                self._keep(line.removeprefix(">").removeprefix(" "))
                return
            self._end_lint()
        elif line.startswith(_APPLIED):
            self._edit(number, line.removeprefix(_APPLIED))
        elif (unmatched := _UNMATCHED.fullmatch(line)) is not None:
            self._call(number, "edit")
            self._sink.result(str(number), "error", unmatched[1])
            self._state = self._in_unmatched_block
        elif line == _LINT:
            self._call(number, "lint")
            self._lint = number
        elif line.startswith(_TEST_END) and _TEST.fullmatch(said):
            self._call(above, "test")
            self._sink.result(str(above), "error", said)
        elif (asked := _SHELL.fullmatch(line)) is not None:
            if asked[2].lower()[:1] not in ("y", "a"):
                self._shell(number, said, "denied", asked[1])
        elif line.startswith(_RUNNING):
            self._shell(number, line.removeprefix(_RUNNING), "ok")
        elif line == _INTERRUPTED:
            self._sink.entry(str(number))
            self._sink.interrupt()
            self._first, self._state = number + 1, self._in_partial_answer
        elif (failed := _PROVIDER.match(line)) is not None:
            self._sink.trouble("provider", failed[1])

    def _call(
        self, number: int, tool: str, *, input: bytes | None = None, command: str | None = None
    ) -> None:
        span = str(number)
        self._sink.entry(span)
        self._sink.call(span, tool, input=input, command=command, span=span)

    def _edit(self, number: int, path: str) -> None:
        self._call(number, "edit", input=dumps({"path": path}))
        self._sink.result(str(number), "ok")

    def _shell(self, number: int, command: str, status: Status, text: str = "") -> None:
        self._call(number, "shell", command=command)
        self._sink.result(str(number), status, text)

    # -- ends --------------------------------------------------------------------------------------

    def _end_prompt(self) -> None:
        typed = "\n".join(self._prompt).strip()
        twin, self._twin = self._twin, ""
        commanded, self._commanded = self._commanded, False
        self._sink.entry(str(self._first))
        asked = _FOR_THE_MODEL.fullmatch(typed)
        if typed.startswith(("/", "!")) and asked is None:
            self._commanded = True
        elif not (typed == twin or (commanded and _ANSWER.fullmatch(typed))):
            self._twin = asked[1].strip() if asked is not None else ""
            self._sink.prompt(typed)

    def _end_answer(self) -> None:
        said = "\n".join(self._kept).strip()
        self._kept, self._length = [], 0
        if said:
            self._sink.entry(str(self._first))
            self._sink.said(said)

    def _end_lint(self) -> None:
        if self._lint is not None:
            self._sink.result(str(self._lint), "error", "\n".join(self._kept).strip())
            self._lint = None
            self._kept, self._length = [], 0

    def _keep(self, text: str) -> None:
        if self._length < _KEPT:
            self._kept.append(text[:_KEPT])
            self._length += len(text)


def _typed(text: str) -> str:
    return text.removeprefix(_TYPED).removesuffix(_BREAK)


def _ends_an_answer(line: str) -> bool:
    if line in (_INTERRUPTED, _ENOUGH):
        return True
    return _TOKENS.fullmatch(line) is not None or _PROVIDER.match(line) is not None
