"""How events, actions, occurrences and envelopes are named; pure.

An identity is made of the session that a hook observed, never of the session that a Hub's alias
stands for, and never of a body or of a time of receipt: a hook that runs twice names a thing twice
the same. The observation scope is in most of them, so that they cannot be guessed and two spools
never share one.
"""

from __future__ import annotations

import hashlib

from agentfeedback.foundation.canonical import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def digest(value: Any) -> str:
    """Return the lower hexadecimal SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value)).hexdigest()


def bytes_digest(data: bytes) -> str:
    """Return the lower hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def session_file(session: str) -> str:
    """Return the name, without its suffix, of a session's file: the id itself may be long or odd."""
    return bytes_digest(session.encode())[:32]


def native_ref(scope: str, observed: str) -> str:
    """Return the only form in which the id of an observed session leaves the machine."""
    return f"nat_{digest([scope, observed])[:32]}"


def occurrence_id(observed: str, tool_use_id: str) -> str:
    """Return the name of one call of a tool, whatever became of it."""
    return digest(["occurrence/1", observed, tool_use_id])


def occurrence_file(occurrence: str) -> str:
    """Return the name, without its suffix, of an occurrence's claim."""
    return occurrence[:32]


def shared_occurrence(occurrence: str, scope: str) -> str:
    """Return the form of an occurrence that may leave the machine."""
    return digest([occurrence, scope])


def action_id(observed: str, tool_use_id: str) -> str:
    """Return the name of a call's action; neither target nor command nor time is in it."""
    return f"act_{digest(['action/1', observed, tool_use_id])}"


def action_file(action: str) -> str:
    """Return the beginning of the names of an action's receipts."""
    return bytes_digest(action.encode())[:32]


def provided_event(scope: str, observed: str, event: str, identity: tuple[str | int, ...]) -> str:
    """Return the id of an event that its provider identifies, as by `(tool_use_id, "start")`."""
    return f"evt_{digest(['event/1', scope, observed, event, *identity])}"


def timed_event(
    scope: str, observed: str, event: str, timestamp: str, facts: dict[str, Any]
) -> str:
    """Return the id of an event that has nothing but its provider's timestamp, as spelled."""
    return f"evt_{digest(['event/1', scope, observed, event, 'ts', timestamp, facts])}"


def numbered_event(scope: str, observed: str, event: str, number: int) -> str:
    """Return the id of an event with neither: the n-th of its name in this session, from 1 on."""
    return f"evt_{digest(['event/1', scope, observed, event, 'n', number])}"


def gap_event(scope: str, stream: str, kind: str, cause: str | None, key: Any) -> str:
    """Return the id of a gap.

    `stream` is the session whose sequence it is in; `key` is the id of the event it qualifies, the
    number of a pause, or the receipt orders of an outage.
    """
    return f"evt_{digest(['gap/1', scope, stream, kind, cause, key])}"


def native_recipe_digest(tool: str, tool_input: Any) -> str:
    """Return the digest of what a tool was asked."""
    return digest({"input": tool_input, "tool": tool})


def recipe_digest(recipe: dict[str, Any]) -> str:
    """Return the digest of a registered recipe, all of its execution semantics included."""
    names = ("argv", "coverage", "id", "max_output_bytes", "timeout_seconds")
    return digest({name: recipe[name] for name in names})


def fingerprint(payload: dict[str, Any]) -> str:
    """Return the private digest of what a payload says about one phase of a call.

    Command, tool, input, result and error facts are in it, and no time: a hook that runs twice for
    one phase has one fingerprint. The payload is as `json_text.parse` reads it: numbers count as they
    are spelled.
    """
    facts = {name: payload[name] for name in _FINGERPRINTED if name in payload}
    return digest({"event": payload["hook_event_name"], **facts})


def envelope_id(envelope: dict[str, Any]) -> str:
    """Return the id of an envelope: of all its other members."""
    rest = {name: value for name, value in envelope.items() if name != "envelope_id"}
    return f"env_{digest(rest)}"


def fence(work: str, root: str, repository: str, worktree: str, recipe: str) -> str:
    """Return the name of what a managed run is alone in."""
    return digest(["fence/1", work, root, repository, worktree, recipe])


_FINGERPRINTED = (
    *("session_id", "tool_use_id", "tool_name", "tool_input"),
    *("tool_response", "error", "is_interrupt", "mcp_server"),
)
