"""Where sessions are: the stores of harnesses and the candidates in them, by names and `stat` alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from attrs import define, field

from agentfeedback.foundation.foreign_call import ForeignCall
from agentfeedback.plugins.host import Host
from agentfeedback.reading.reader import Home, Reader, Report, Session
from agentfeedback.reading.refs import valid_id

if TYPE_CHECKING:
    from agentfeedback.policy.rules import Verdict


@define(eq=False)
class FoundStore:
    """One harness's store: what `find` reported and the candidates it gave.

    `refusal` is the policy's of every session: what the store could not list is refused with it.
    """

    reader: Reader
    report: Report
    sessions: list[Session] = field(factory=list)
    refusal: Verdict | None = None

    @property
    def harness(self) -> str:
        return self.report.harness


def find_stores(
    host: Host, home: Home, harnesses: Iterable[str], refusal: Verdict | None = None
) -> list[FoundStore]:
    """The store of each harness whose reader works; what goes wrong in one is its state, its problems or a warning."""
    found = []
    for harness in harnesses:
        reader = host.reader(harness)
        if reader is None:
            continue
        store = FoundStore(reader, Report(harness), refusal=refusal)
        try:
            with ForeignCall(partial(host.late, harness, "find")):
                for session in reader.find(home, store.report):
                    if valid_id(session.id):
                        store.sessions.append(session)
                    else:
                        store.report.problem(session.path, "its session id cannot be part of a ref")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a reader must not raise; one that does is named, the others go on
            host.failed(harness, "find", error)
            store.report.state = "unreadable"
            store.report.reason = f"reader {harness} failed: {type(error).__name__}"
        found.append(store)
    return found
