"""What the lines of a transcript say, told to a timeline in their order (README, "What counts")."""

from __future__ import annotations

from agentfeedback.record import decoder, value
from agentfeedback.teller import Status, Teller

from .lines import Attachment, Block, Input, Line, Message, TextItem, joined
from .results import INTERRUPT, REFUSAL, REJECTED, exit_code_of, failure_of, was_interrupted

#: The model of entries the harness wrote itself (D23), and the text of those it adds on a resume.
_SYNTHETIC = "<synthetic>"
_FILLER = "No response requested."

#: Starts of `user` texts the harness wrote itself, in versions that mark no origin.
_WRAPPERS = (
    "<command-name>",
    "<command-message>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<teammate-message>",
)
_PERSON = "human"
_TYPED = (None, "typed", "queued", "sdk")

_CONTENT = str | list[TextItem] | None

_known_input = decoder(Input)


class _Call:
    """What is kept of a call for the results that come later."""

    __slots__ = ("message_id", "status", "tool")

    def __init__(self, tool: str, message_id: str | None) -> None:
        self.tool = tool
        self.message_id = message_id
        self.status: Status | None = None


class Transcript:
    """Tells one log, line by line."""

    def __init__(self, timeline: Teller) -> None:
        self._timeline = timeline
        self._calls: dict[str, _Call] = {}
        #: Calls denied with `User rejected tool use`, by the API message that made them.
        self._rejected: dict[str, list[str]] = {}
        #: The user refused a call and nothing went on since: a marker may follow that is no interrupt.
        self._refused = False

    def tell(self, line: Line) -> None:
        """Tell what a line says. Every line is an entry."""
        kind, message = line.type, line.message
        if kind == "assistant" and message is not None:
            model = message.model
            synthetic = model == _SYNTHETIC
            self._timeline.entry(
                line.uuid or "", line.timestamp, line.cwd, None if synthetic else model
            )
            if not (synthetic or line.is_sidechain):
                self._refused = False
            self._assistant(message, synthetic=synthetic)
            return
        self._timeline.entry(line.uuid or "", line.timestamp, line.cwd)
        if kind == "user" and message is not None:
            content = message.content
            if isinstance(content, str):
                self._user(line, content)
            elif content:
                results = [block for block in content if block.type == "tool_result"]
                for block in results:
                    self._result(line, block)
                if not results:
                    self._user(line, joined(content))
        elif kind == "attachment" and line.attachment is not None:
            self._attachment(line, line.attachment)

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
            told = self._timeline.call(id, tool, input=given, command=command)
        else:
            told = self._timeline.call(id, tool)
        if told and id is not None:
            self._calls[id] = _Call(tool, message_id)

    def _result(self, line: Line, block: Block) -> None:
        id = block.tool_use_id
        call = self._calls.get(id) if id is not None else None
        if id is None or call is None:
            return
        status: Status = "ok"
        text = ""
        if block.is_error or was_interrupted(line):
            content = value(block.content, _CONTENT)
            text = content if isinstance(content, str) else joined(content) if content else ""
            status = failure_of(line, text, call.tool)
        # An interrupted call never changes back; a result that says the same again says nothing.
        if call.status not in (status, "interrupted"):
            call.status = status
            self._timeline.refine(id, status, text, exit_code_of(status, text, call.tool))
        rejected = line.tool_use_result == REJECTED
        self._refused = call.status == "denied" and (rejected or text.startswith(REFUSAL))
        if rejected and call.status == "denied" and call.message_id is not None:
            self._rejected.setdefault(call.message_id, []).append(id)

    def _user(self, line: Line, text: str) -> None:
        if line.is_meta:
            return
        if text.lstrip().startswith(INTERRUPT):
            self._marker(line.interrupted_message_id)
        elif not line.is_sidechain and _is_typed(line, text):
            self._refused = False
            self._timeline.prompt(text)

    def _marker(self, message_id: str | None) -> None:
        """An interrupt by the user, unless it only follows a refusal in a dialog (D23)."""
        if message_id is not None:
            for id in self._rejected.pop(message_id, ()):
                call = self._calls[id]
                if call.status == "denied":
                    call.status = "interrupted"
                    self._timeline.refine(id, call.status)
        elif self._refused:
            return
        self._timeline.interrupt()

    def _attachment(self, line: Line, attachment: Attachment) -> None:
        """A prompt typed while the harness was busy reaches the model as an attachment."""
        if attachment.type != "queued_command" or attachment.command_mode != "prompt":
            return
        if line.is_sidechain or line.is_meta or attachment.is_meta:
            return
        if attachment.origin is not None and attachment.origin.kind not in (None, _PERSON):
            return
        prompt = attachment.prompt
        if prompt:
            self._timeline.prompt(prompt if isinstance(prompt, str) else joined(prompt))


def _is_typed(line: Line, text: str) -> bool:
    """Whether a `user` text is a person's: by the harness's marks, without any by its wrappers."""
    if line.is_compact_summary or line.is_visible_in_transcript_only:
        return False
    kind = line.origin.kind if line.origin is not None else None
    if kind is None and line.prompt_source is None:
        return not text.startswith(_WRAPPERS)
    return kind in (None, _PERSON) and line.prompt_source in _TYPED
