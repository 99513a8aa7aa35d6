"""Failures of the provider, as Codex records them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Rollout


def troubles(rollout: Rollout, *lines: bytes) -> list[tuple[str, str]]:
    timeline = rollout.read(rollout.meta(), *lines)
    assert timeline.counts().entries == 1 + len(lines)
    return [(trouble.kind, trouble.excerpt) for trouble in timeline.troubles]


@pytest.mark.parametrize("type", ["error", "stream_error"])
@pytest.mark.parametrize(("message", "told"), [("limit reached", "limit reached"), (None, "")])
def test_an_event_of_an_error_is_the_providers(
    rollout: Rollout, type: str, message: Any, told: str
) -> None:
    """The event says so by its type; its message is the excerpt."""
    assert troubles(rollout, rollout.event(type, message=message)) == [("provider", told)]


def test_other_records_are_no_failures(rollout: Rollout) -> None:
    """Neither other events, nor response items of that type, nor what a command printed."""
    printed = rollout.output('{"type":"event_msg","payload":{"type":"error"}}')
    others = (
        rollout.event("warning", message="error"),
        rollout.event("agent_message", message="stream_error"),
        rollout.line("response_item", {"type": "error", "message": "limit reached"}),
        rollout.line("error", {"type": "stream_error", "message": "limit reached"}),
        rollout.aborted(),
        rollout.call(),
        printed,
    )
    assert troubles(rollout, *others) == []
