"""What a person needs to judge a failed call: its input, the prompt before it, and what the model said."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import SessionRefused, load
from agentfeedback.reading.reader import Home, Report
from pytest_agentfeedback.corpus import Laid
from pytest_agentfeedback.recorder import Recorder


@frozen
class Scene:
    """A call as a log has it, in whole texts; each may be empty."""

    input: str = ""
    prompt: str = ""
    said: str = ""


class Story(Recorder):
    """A recorder that keeps the inputs of calls, too."""

    def __init__(self, *, rewrites: bool = False) -> None:
        super().__init__(rewrites=rewrites)
        self._inputs: dict[tuple[str, str], str] = {}

    def call(
        self,
        id: str | None,
        tool: str,
        *,
        input: bytes | None = None,
        command: str | None = None,
        span: str | None = None,
    ) -> bool:
        told = super().call(id, tool, input=input, command=command, span=span)
        if told:
            text = command or (input or b"").decode("utf-8", "replace")
            own = self._current().span if span is None else span
            self._inputs.setdefault((own, tool), text)
        return told

    def scene(self, span: str, tool: str) -> Scene:
        """The scene of a call."""
        prompt = said = ""
        for entry in self.recording().entries:
            if entry.kind == "prompt":
                prompt, said = entry.text, ""
            said = " ".join(entry.said) or said
            if any((call.span, call.tool) == (span, tool) for call in entry.calls):
                break
        return Scene(self._inputs.get((span, tool), ""), prompt, said)


def stories(laid: Laid, environ: Mapping[str, str]) -> dict[str, Story]:
    """The stories of a corpus by session id. A policy is about a user's own sessions, so none applies."""
    reader = Host(environ).reader(laid.corpus.harness)
    found: dict[str, Story] = {}
    if reader is None:
        return found
    for session in reader.find(Home(str(laid.home)), Report(laid.corpus.harness)):
        story = Story(rewrites=reader.rewrites)
        try:
            load(reader, session, reader.place(session, strict=False), story)
        except SessionRefused:
            continue  # then it has no digest either, and `check` says why
        found[session.id] = story
    return found
