"""The first prompt of sessions that a person sees in a list: read for the few that are shown, under the policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentfeedback.reading.load import SessionRefused
from agentfeedback.reading.tally import Tally

if TYPE_CHECKING:
    from agentfeedback.scrub import Scrubber
    from agentfeedback.sessions.examiner import Examiner
    from agentfeedback.sessions.find import FoundStore

#: Of how many sessions the prompt is read, and up to which size of a log in bytes.
SHOWN, LARGEST = 30, 2 << 20
_BYTES = 160


class _First(Tally):
    """A tally that keeps the first prompt's first line."""

    text = ""

    def prompt(self, text: str | None) -> None:
        if text and not self.text:
            self.text = next((line for line in text.split("\n") if line.strip()), "")
        super().prompt(text)


def first_prompts(
    refs: Iterable[str], stores: Iterable[FoundStore], examiner: Examiner, scrubber: Scrubber
) -> dict[str, str]:
    """By ref the first line of what was typed first, scrubbed and cut; refused and large sessions are left out."""
    sessions = {
        each.ref: (store.reader, each)
        for store in stores
        if store.reader.digests
        for each in store.sessions
    }
    found = {}
    for ref in refs:
        reader, session = sessions.get(ref, (None, None))
        if reader is None or session is None or session.size > LARGEST:
            continue
        sink = _First.for_reader(reader.rewrites)
        try:
            examiner.read(reader, session, sink)
        except SessionRefused:
            continue
        assert isinstance(sink, _First)
        found[ref] = scrubber.clip(sink.text, _BYTES)
    return found
