"""What the lines of a log say, reported to a timeline in their order (README, "What counts")."""

from __future__ import annotations

from agentfeedback.reading import Sink, decoder
from agentfeedback_gemini_cli.lines import (
    Arguments,
    Line,
    Part,
    Set,
    ToolCall,
    only_responses,
    texts,
)
from agentfeedback_gemini_cli.results import outcome, succeeded
from agentfeedback_gemini_cli.typed import typed_text

#: How the part of a `user` message starts and ends that the harness puts before the conversation.
_CONTEXT = ("<session_context>\n", "</session_context>")
_SUBAGENT = "subagent"
#: Stands in ids of calls, where no decoded text can hold it: unpaired surrogates are replaced.
_APART = "\ud800"

_arguments = decoder(Arguments)


class Conversation:
    """Tells one log, line by line, and remembers what later lines are judged by."""

    def __init__(self, timeline: Sink) -> None:
        self._timeline = timeline
        #: Directories the log lists, in their order; recorded after all lines.
        self._directories: dict[str, None] = {}
        self._last_directory: str | None = None
        #: Hashes of the texts of all `user` messages so far.
        self._known: set[int] = set()
        #: The harness is recording the conversation again.
        self._recording_again = False
        #: False in a sub-agent's log: what is said there are the parent model's words.
        self._typed = True
        #: Calls without a result.
        self._open: set[str] = set()

    def tell(self, line: Line) -> None:
        """Tell what a line says. Only messages are entries."""
        if line.set is not None:
            self._set(line.set)
        elif line.rewind_to is not None or line.patch is not None:
            pass  # what is taken back happened all the same
        elif line.type is not None:
            if line.id:
                self._message(line, line.id, line.type)
            else:
                self._timeline.unparsed()
        elif line.session_id:
            self._timeline.note(line.start_time)
            if line.kind == _SUBAGENT:
                self._typed = False
            self._list(line.directories)
        else:
            self._timeline.unparsed()

    def finish(self) -> None:
        """Record the directories that the log listed; the one listed last is the current one."""
        for directory in self._directories:
            self._timeline.note(cwd=directory)
        self._timeline.note(cwd=self._last_directory)

    def _set(self, changes: Set) -> None:
        self._list(changes.directories)
        if changes.messages is not None:
            self._recording_again = False
            for message in changes.messages:
                if message.type == "user":
                    self._known.update(map(hash, texts(message.content)))

    def _list(self, directories: list[str] | None) -> None:
        if directories:
            self._directories.update(dict.fromkeys(directories))
            self._last_directory = directories[-1]

    def _message(self, line: Line, id: str, kind: str) -> None:
        if kind == "user":
            self._user(line, id)
        elif kind == "gemini":
            self._gemini(line, id)
        else:
            self._recording_again = False
            self._entry(line, id)

    def _entry(self, line: Line, id: str, model: str | None = None) -> None:
        """Make the message's entry the current one: its first, where the id was seen before."""
        if not self._timeline.rewrite(id, line.timestamp, model):
            self._timeline.entry(id, line.timestamp, None, model)

    def _user(self, line: Line, id: str) -> None:
        parts = texts(line.content)
        copied = self._is_copy_of_user(line.content, parts)
        self._known.update(map(hash, parts))
        self._entry(line, id)
        if not copied and not only_responses(line.content) and self._typed:
            self._timeline.prompt(typed_text(parts))

    def _is_copy_of_user(self, content: str | list[Part] | None, parts: list[str]) -> bool:
        if any(part.startswith(_CONTEXT[0]) and part.endswith(_CONTEXT[1]) for part in parts):
            self._recording_again = True
        elif self._recording_again and not only_responses(content):
            self._recording_again = all(hash(part) in self._known for part in parts)
        return self._recording_again

    def _gemini(self, line: Line, id: str) -> None:
        content = line.content
        # While it is live a message holds its text as a string.
        if self._recording_again and isinstance(content, list):
            self._entry(line, id)
            return
        self._recording_again = False
        self._entry(line, id, line.model)
        calls = line.tool_calls
        if self._timeline.keeps_texts:
            text = content if isinstance(content, str) else "\n".join(texts(content))
            if text and (calls or not text.isspace()):
                self._timeline.said(text)
        if calls:
            for position, call in enumerate(calls):
                self._call(f"{id}{_APART}{call.id or position}", call)

    def _call(self, key: str, call: ToolCall) -> None:
        tool = call.name or ""
        if self._timeline.keeps_texts:
            given = bytes(call.args)
            known = _arguments(given) if given.startswith(b"{") else None
            command = known.command if known is not None else None
            told = self._timeline.call(key, tool, input=given or None, command=command)
        else:
            told = self._timeline.call(key, tool)
        if not told and key not in self._open:
            return  # the first result stays
        if not self._timeline.keeps_texts and succeeded(call):
            self._open.discard(key)
            self._timeline.result(key, "ok")
            return
        result = outcome(call)
        if result is None:
            self._open.add(key)
        else:
            self._open.discard(key)
            self._timeline.result(key, result.status, result.content, result.exit_code)
