"""One run of the hook, from the bytes of a payload to the event that is kept, or to nothing."""

from __future__ import annotations

import os

from agentfeedback_change_capture.adapter import observed
from agentfeedback_change_capture.adapter import payload as read
from agentfeedback_change_capture.adapter.event import ObservedEvent
from agentfeedback_change_capture.setup import bindings, connections, private_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback_change_capture.adapter.run import Run
    from agentfeedback_change_capture.setup.bindings import Binding


def serve(run: Run, data: bytes) -> None:
    """Retain what a payload says, as far as this checkout is set up for that."""
    try:
        payload = read.decode(data)
        event = observed.event_of(payload)
        session = payload.get("session_id")
    except read.Unreadable as error:
        payload, event, session = {}, error.event, error.session
        if event not in observed.KINDS:
            return
    if event is None:
        return
    binding = _binding(run)
    if binding is None:
        return
    if not isinstance(session, str) or not read.is_session(session):
        run.warnings.append("the session id of a hook is malformed, so its event is not kept")
        return
    if not _belongs(binding, session, payload, run.environ):
        return
    ObservedEvent(run, binding, session, event, payload).serve()


def _binding(run: Run) -> Binding | None:
    """Return the enabled binding of this checkout while it is connected; None otherwise."""
    config = private_files.config_directory(run.environ)
    binding = bindings.of_root(bindings.load(config), run.root)
    if binding is None or not binding.enabled:
        return None
    connection = connections.current(connections.load(config), run.root)
    if connection is None:
        return None
    if connection.lineage != binding.lineage:
        run.warnings.append(
            "this checkout is connected to another repository or Hub than it was configured for,"
            " so nothing is kept"
        )
        return None
    return binding


def _belongs(
    binding: Binding, session: str, payload: dict[str, Any], environ: Mapping[str, str]
) -> bool:
    """Whether a session is one of this checkout; one that something is retained of is not asked again."""
    from agentfeedback.foundation.git.root import repository_root
    from agentfeedback_change_capture.identities import session_file

    if os.path.lexists(os.path.join(binding.spool, "sessions", f"{session_file(session)}.json")):
        return True
    where = environ.get("CLAUDE_PROJECT_DIR", "")
    if not os.path.isabs(where):
        given = payload.get("cwd")
        where = given if isinstance(given, str) else ""
    if not os.path.isabs(where) or "\0" in where:
        return False
    return repository_root(os.path.realpath(where)) == binding.root
