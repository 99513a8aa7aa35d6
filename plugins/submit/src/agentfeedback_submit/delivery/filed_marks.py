"""The marker that a session has filed a friction already: an empty file of the cache."""

from __future__ import annotations

import hashlib
import os

from agentfeedback.foundation.folder import Folder


def marker(cache: str, session_id: str) -> str:
    """The path of the marker of a session."""
    return os.path.join(cache, "filed", hashlib.sha256(session_id.encode()).hexdigest())


def leave(cache: str, session_id: str) -> None:
    """Leave the marker. Raises `OSError`."""
    folder, name = os.path.split(marker(cache, session_id))
    Folder(folder, durable=False).put(name, b"", replace=True)
