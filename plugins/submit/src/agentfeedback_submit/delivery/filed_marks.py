"""The marker that a session has filed a friction already: an empty file of the cache (platform details 1.1, 2.4)."""

from __future__ import annotations

import hashlib
import os

from agentfeedback.foundation import files as owner_only


def marker(cache: str, session_id: str) -> str:
    """Where the marker of a session lies."""
    return os.path.join(cache, "filed", hashlib.sha256(session_id.encode()).hexdigest())


def leave(cache: str, session_id: str) -> None:
    """Leave the marker. Raises `OSError`."""
    path = marker(cache, session_id)
    owner_only.directory(os.path.dirname(path))
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
