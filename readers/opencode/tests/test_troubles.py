"""Failures of the provider, as messages of OpenCode record them."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"name": "APIError", "data": {"message": "HTTP 429"}}, ["HTTP 429"]),
        ({"name": "ContextOverflowError", "data": {}}, ["ContextOverflowError"]),
        ({"name": "ProviderAuthError", "data": None}, ["ProviderAuthError"]),
        ({"name": "MessageOutputLengthError"}, ["MessageOutputLengthError"]),
        ({"name": "UnknownError", "data": {"message": "APIError"}}, []),
        ({"name": "MessageAbortedError", "data": {"message": "Aborted"}}, []),
        ({"name": None}, []),
        (None, []),
        ("APIError", []),
    ],
)
def test_v1_names_the_error_of_a_message(store: Any, error: Any, told: list[str]) -> None:
    """The name decides; the excerpt is its message, else the name. A user's message has no error."""
    database = store.database()
    database.session()
    database.message("m1", {"role": "user", "error": error})
    database.part("p1", "m1", {"type": "text", "text": "go"})
    database.assistant("m2", error=error)
    timeline = store.read()
    assert [(each.kind, each.excerpt) for each in timeline.troubles] == [
        ("provider", each) for each in told
    ]
    assert timeline.counts().entries == 2


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"type": "provider.rate-limit", "message": "HTTP 429"}, ["HTTP 429"]),
        ({"type": "provider.auth"}, ["provider.auth"]),
        ({"type": "unknown", "message": "provider.auth"}, []),
        (
            {"type": "unknown", "message": "Provider request failed with HTTP 401: x"},
            ["Provider request failed with HTTP 401: x"],
        ),
        ({"type": "unknown", "message": "it says Provider request failed with HTTP 401"}, []),
        ({"type": "unknown", "message": "Provider turn interrupted"}, []),
        ({"type": "aborted", "message": "Session interrupted by user"}, []),
        ({"type": None}, []),
        (None, []),
    ],
)
def test_v2_types_the_error_of_a_message(store: Any, error: Any, told: list[str]) -> None:
    """The type decides; the excerpt is its message, else the type."""
    database = store.database(sql="v2.sql")
    database.session(table="session_v2", title=None)
    database.message_v2("m1", "user", 1, text="go", error=error)
    done = {"created": 1, "completed": 2}
    database.message_v2("m2", "assistant", 2, content=[], finish="error", error=error, time=done)
    timeline = store.read(harness="opencode-v2")
    assert [(each.kind, each.excerpt) for each in timeline.troubles] == [
        ("provider", each) for each in told
    ]
    assert timeline.counts().entries == 2
