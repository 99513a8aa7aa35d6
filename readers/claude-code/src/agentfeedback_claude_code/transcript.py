"""What the lines of a transcript say, reported to a timeline in their order (README, "What counts")."""

from __future__ import annotations

from agentfeedback.reading import Sink, decoder, value
from agentfeedback_claude_code.calls import Calls
from agentfeedback_claude_code.history import History
from agentfeedback_claude_code.lines import (
    ApiError,
    Attachment,
    Block,
    BlockingError,
    Input,
    Line,
    Message,
    Progress,
    text_of,
)
from agentfeedback_claude_code.notices import failed_task
from agentfeedback_claude_code.queue import ATTACHED_SINCE, Bringer, Once, Queue
from agentfeedback_claude_code.typed import (
    CAVEATS,
    INTERRUPTED_TOOL,
    MARKERS,
    command_of,
    is_answer,
    is_compact,
    is_notice,
    is_wrapper,
    typed,
)
from agentfeedback_claude_code.versions import numbers

#: The model of entries the harness wrote itself, and the text of those it adds on a resume.
_SYNTHETIC = "<synthetic>"
_FILLER = "No response requested."

_PERSON = "human"
_TYPED = (None, "typed", "queued", "sdk")

_TEXT = str | None
_PROGRESS = Progress | None
_API_ERROR = ApiError | None
_ERRORS = list[str] | None

_known_input = decoder(Input)


class Transcript:
    """Reports one log, line by line."""

    def __init__(self, timeline: Sink) -> None:
        self._timeline = timeline
        self._calls = Calls(timeline)
        self._history = History()
        self._queue = Queue()
        self._once = Once()
        self._version: str | None = None
        #: The `user` line before was the harness's word on what it answers to a command.
        self._caveat = False

    def tell(self, line: Line) -> None:
        """Report what a line says. Every line is an entry."""
        kind, message = line.type, line.message
        if line.version is not None:
            self._version = line.version
        if self._history.time is not None:
            self._history.pass_line(line)
        if kind == "assistant" and message is not None:
            model = message.model
            synthetic = model == _SYNTHETIC
            self._timeline.entry(
                line.uuid or None, line.timestamp, line.cwd, None if synthetic else model
            )
            self._once.forget()
            self._calls.assistant_went_on(
                message.id, of_the_model=not (synthetic or line.is_sidechain)
            )
            self._assistant(message, synthetic=synthetic)
            if line.is_api_error_message and self._history.time is None:
                self._timeline.trouble("provider", text_of(message.content), line.timestamp)
            return
        self._timeline.entry(line.uuid or None, line.timestamp, line.cwd)
        if kind == "user" and message is not None:
            content = message.content
            if content is None:
                return
            results = (
                [] if isinstance(content, str) else [b for b in content if b.type == "tool_result"]
            )
            for block in results:
                self._calls.result(line, block, repeated=self._history.time is not None)
            if results:
                self._caveat = False
            else:
                self._user(line, content)
        elif kind == "attachment" and line.attachment is not None:
            self._attachment(line, line.attachment)
        elif kind == "queue-operation":
            self._operation(line)
        elif kind == "system":
            self._system(line)
        elif kind == "progress":
            progress = value(line.data, _PROGRESS)
            if progress is not None and progress.type == "agent_progress":
                self._calls.began(line.parent_tool_use_id)

    def _assistant(self, message: Message, *, synthetic: bool) -> None:
        content = message.content
        if isinstance(content, str):
            texts = [content]
        elif content:
            texts = []
            for block in content:
                if block.type == "text" and block.text is not None:
                    texts.append(block.text)
                elif block.type == "tool_use":
                    self._call(block, message.id)
        else:
            return
        if not self._timeline.keeps_texts:
            return
        text = "\n".join(text for text in texts if text and not text.isspace())
        if text and not (synthetic and text == _FILLER):
            self._timeline.said(text)

    def _call(self, block: Block, message_id: str | None) -> None:
        id, tool = block.id or None, block.name or ""
        if self._timeline.keeps_texts:
            given = bytes(block.input) or None
            known = _known_input(given) if given is not None else None
            command = known.command if known is not None else None
            new = self._timeline.call(id, tool, input=given, command=command)
        else:
            new = self._timeline.call(id, tool)
        if new and id is not None:
            self._calls.add(id, tool, message_id)

    def _user(self, line: Line, content: str | list[Block]) -> None:
        text = text_of(content)
        answers, self._caveat = self._caveat, bool(line.is_meta) and text.startswith(CAVEATS)
        repeated = self._history.repeats(line, text)
        marker = text in MARKERS and _is_unmarked(line) and not line.is_meta
        self._calls.user_line(interrupted_tool=marker and text == INTERRUPTED_TOOL)
        if marker:
            if not repeated and self._calls.interrupts(line.interrupted_message_id):
                self._timeline.interrupt()
        elif not (line.is_sidechain or repeated):
            prompt = _prompt_of(line, content, answers=answers)
            if prompt is not None:
                self._prompt(prompt, "user")
            elif not line.is_compact_summary:
                self._notice(text)

    def _system(self, line: Line) -> None:
        """The harness's notes: a request that failed and is tried again, hooks of a turn's end that failed."""
        if line.subtype == "api_error":
            error = value(line.error, _API_ERROR) or ApiError()
            self._timeline.trouble(
                "provider", error.formatted or error.message or "", line.timestamp
            )
        elif line.subtype == "stop_hook_summary":
            for failure in value(line.hook_errors, _ERRORS) or ():
                self._timeline.trouble("hook", failure, line.timestamp)

    def _attachment(self, line: Line, attachment: Attachment) -> None:
        """What was typed while the harness was busy reaches the model as an attachment; so do notices."""
        content, mode = attachment.prompt, attachment.command_mode
        if attachment.type == "hook_blocking_error":
            objection = attachment.blocking_error or BlockingError()
            self._timeline.trouble("hook", objection.blocking_error or "", line.timestamp)
        if attachment.type != "queued_command" or not content or line.is_sidechain:
            return
        if mode == "task-notification":
            self._notice(text_of(content))
        elif mode == "prompt" and not (line.is_meta or attachment.is_meta):
            kind = attachment.origin.kind if attachment.origin is not None else None
            text, image = typed(content)
            own = kind is None and (is_notice(text) or is_wrapper(text))
            if kind in (None, _PERSON) and not own and (image or not _is_blank(text)):
                self._prompt(text, "attachment")

    def _operation(self, line: Line) -> None:
        """Texts wait in a queue while the harness is busy; before there were attachments it alone has them."""
        operation, content = line.operation, value(line.content, _TEXT)
        if operation == "enqueue" and content is not None:
            self._notice(content)
        delivered = self._queue.operate(operation, content)
        version = numbers(self._version)
        if delivered is not None and version is not None and version < ATTACHED_SINCE:
            text, _ = typed(delivered)
            if not _is_blank(text):
                self._prompt(text, "queue")

    def _prompt(self, text: str, by: Bringer) -> None:
        self._calls.user_went_on()
        if self._once.is_new(text, by):
            self._timeline.prompt(None if _is_blank(text) else text)

    def _notice(self, text: str) -> None:
        task = failed_task(text)
        if task is not None:
            self._calls.failed(task)


def _is_unmarked(line: Line) -> bool:
    """Whether the harness left open who wrote the text of a line."""
    return (line.origin is None or line.origin.kind is None) and line.prompt_source is None


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _prompt_of(line: Line, content: str | list[Block], *, answers: bool) -> str | None:
    """What a person typed in a `user` line, empty for an image alone; None where nobody typed anything.

    `answers`: the harness may answer a command it does not know with this line.
    """
    if line.is_meta or line.is_compact_summary or line.is_visible_in_transcript_only:
        return None
    text, image = typed(content)
    if _is_blank(text):
        return "" if image and _may_be_typed(line) else None
    if not _is_unmarked(line):
        return text if _may_be_typed(line) else None
    if is_wrapper(text):
        return command_of(text)
    if is_notice(text) or is_compact(text) or (answers and is_answer(text)):
        return None
    return text


def _may_be_typed(line: Line) -> bool:
    """Whether the harness's marks, where there are any, say that a person typed the text."""
    kind = line.origin.kind if line.origin is not None else None
    return kind in (None, _PERSON) and line.prompt_source in _TYPED
