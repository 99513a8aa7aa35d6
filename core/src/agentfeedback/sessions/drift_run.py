"""Reads the stores for `doctor --formats`, under the policy: what is refused is not opened, or not counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agentfeedback.reading.drift import Survey
from agentfeedback.reading.load import SessionRefused
from agentfeedback.reading.tally import Tally
from agentfeedback.wire.doctor import Drift

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from agentfeedback.plugins.host import Host
    from agentfeedback.reading.drift import Known
    from agentfeedback.reading.reader import Reader
    from agentfeedback.sessions.examiner import Examiner
    from agentfeedback.sessions.find import FoundStore


def drift(
    host: Host,
    examiner: Examiner,
    stores: Iterable[FoundStore],
    text: Callable[[str], str],
    progress: Callable[[str, int], Any],
) -> list[Drift]:
    """Per store what its reader does not know; `text` scrubs the names that are shown."""
    found = []
    for store in stores:
        known = _known(host, store.reader)
        if known is None:
            found.append(Drift(store.harness))
            continue
        whole, skipped = Survey(known), Counter[str]()
        steps = progress(f"reading {store.harness}", len(store.sessions))
        try:
            for session in store.sessions:
                survey = Survey(known)
                tally = Tally.for_reader(store.reader.rewrites)
                try:
                    examiner.read(
                        store.reader, session, tally, allow_unknown=True, lines=survey.see
                    )
                    whole.add(survey)
                except SessionRefused as refused:
                    skipped[refused.state] += 1
                steps.step()
        finally:
            steps.done()
        found.append(whole.report(store.harness, text, skipped))
    return found


def _known(host: Host, reader: Reader) -> Known | None:
    try:
        return reader.known()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the reader is named, the others are heard
        host.failed(reader.harness, "known", error)
        return None
