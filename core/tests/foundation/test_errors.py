"""Errors as a person sees them, and as a worker hands them back."""

from __future__ import annotations

import errno
import pickle

import pytest

from agentfeedback.foundation.errors import (
    AgentFeedbackError,
    ConfigError,
    NewerStoreError,
    PluginError,
    StoreError,
    UsageError,
    reason_of,
)

KINDS = (AgentFeedbackError, ConfigError, NewerStoreError, PluginError, StoreError, UsageError)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_one_line_and_survives_a_worker(kind: type[AgentFeedbackError]) -> None:
    """The problem, then the remedy where there is one; only a wrong command line ends with 2."""
    assert str(kind("x is gone")) == "x is gone"
    error = pickle.loads(pickle.dumps(kind("x is gone", "make it again")))
    assert type(error) is kind and str(error) == "x is gone; make it again"
    assert error.exit_status == (2 if kind is UsageError else 1)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/home/jane/x"), "permission denied"),
        (OSError(errno.ENOSPC, "odd words of a file system"), "no space left on device"),
        (OSError("Disk gone"), "disk gone"),
        (ValueError("Embedded null byte"), "embedded null byte"),
        (ValueError(), "valueError"),
        (RecursionError("X"), "x"),
    ],
)
def test_a_reason_names_no_path(error: BaseException, reason: str) -> None:
    """The system's own word for the error, in lower case, whatever file it was about."""
    assert reason_of(error) == reason
