"""Failures of the provider and of hooks, as the harness records them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Written


def troubles(log: Written) -> list[tuple[str, str]]:
    return [(trouble.kind, trouble.excerpt) for trouble in log.told().troubles]


def test_an_answer_that_is_an_error_is_the_providers(log: Written) -> None:
    """The mark of the line decides, whatever the text; it is still what the assistant said."""
    text = {"type": "text", "text": "API Error: 429"}
    log.assistant(text)
    log.assistant(text, isApiErrorMessage=False)
    log.user([text], isApiErrorMessage=True)
    assert troubles(log) == []
    log.assistant({"type": "text", "text": "Prompt is too long"}, isApiErrorMessage=True)
    assert troubles(log) == [("provider", "Prompt is too long")]
    (trouble,) = log.told().troubles
    assert trouble.at is not None
    assert trouble.offset == sum(len(line) + 1 for line in log.lines[:-1])


def test_a_conversation_recorded_again_fails_once(log: Written) -> None:
    """A block that repeats earlier lines under one time repeats no failure."""
    log.line("user", parentUuid=None, message={"role": "user", "content": "go"}, timestamp="t1")
    error = {"type": "text", "text": "API Error: 429"}
    log.assistant(error, isApiErrorMessage=True, timestamp="t2")
    log.line("user", parentUuid=None, message={"role": "user", "content": "go"}, timestamp="t3")
    log.assistant(error, isApiErrorMessage=True, timestamp="t3")
    assert troubles(log) == [("provider", "API Error: 429")]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"message": "429 {}", "formatted": "429 slow down"}, "429 slow down"),
        ({"message": "Connection error."}, "Connection error."),
        ({"message": 7}, ""),
        ({}, ""),
        (None, ""),
        ("invalid_request", ""),
    ],
)
def test_a_request_that_is_tried_again_failed(log: Written, error: Any, told: str) -> None:
    """A `system` line of the subtype `api_error`, whatever its `error` is."""
    log.line("system", subtype="api_error", error=error)
    assert troubles(log) == [("provider", told)]
    assert log.told().counts().entries == 1


@pytest.mark.parametrize(
    ("errors", "told"),
    [
        ([], []),
        (["tidy: not found", "x"], ["tidy: not found", "x"]),
        (None, []),
        ("x", []),
        ([1], []),
    ],
)
def test_hooks_of_the_end_of_a_turn(log: Written, errors: Any, told: list[str]) -> None:
    """The summary lists what failed; other subtypes have no such list."""
    log.line("system", subtype="stop_hook_summary", hookErrors=errors)
    log.line("system", subtype="informational", hookErrors=errors)
    assert troubles(log) == [("hook", each) for each in told]


def test_a_hook_that_objects(log: Written) -> None:
    """Only the attachment that is named so; hooks that succeed or end the turn on purpose are none."""
    said = {"blockingError": {"blockingError": "not like this", "command": "check"}}
    for type in (
        "hook_success",
        "hook_stopped_continuation",
        "queued_command",
        "hook_blocking_error",
    ):
        log.line("attachment", attachment={"type": type, **said})
    log.line("attachment", attachment={"type": "hook_blocking_error"})
    log.line("user", attachment={"type": "hook_blocking_error", **said})
    assert troubles(log) == [("hook", "not like this"), ("hook", "")]
