"""Failures of the provider and of hooks, as Copilot CLI records them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Events


def troubles(log: Events) -> list[tuple[str, str]]:
    timeline = log.told()
    assert timeline.counts().entries == len(log.lines)
    return [(trouble.kind, trouble.excerpt) for trouble in timeline.troubles]


@pytest.mark.parametrize(("message", "told"), [("HTTP 429", "HTTP 429"), (None, "")])
def test_an_error_of_the_session_is_the_providers(log: Events, message: Any, told: str) -> None:
    """The event says so by its type; its message is the excerpt."""
    log.add("session.error", {"errorType": "rate_limit", "message": message, "statusCode": 429})
    log.add("session.warning", {"message": message})
    assert troubles(log) == [("provider", told)]


@pytest.mark.parametrize("error", [{"message": "exit code 1"}, {}, None])
def test_a_hook_that_did_not_succeed(log: Events, error: Any) -> None:
    """Only `success` false counts, and only of the end of a hook."""
    for success in (True, None):
        log.add("hook.end", {"hookType": "preToolUse", "success": success, "error": error})
    log.add("hook.start", {"hookType": "preToolUse", "success": False, "error": error})
    assert troubles(log) == []
    log.add("hook.end", {"hookType": "preToolUse", "success": False, "error": error})
    assert troubles(log) == [("hook", (error or {}).get("message", ""))]


def test_what_a_sub_agent_meets_is_its_own(log: Events) -> None:
    """Events of a sub-agent are entries and nothing more."""
    log.add("session.error", {"message": "x"}, agentId="a1")
    assert troubles(log) == []
