"""The files below `<config>/agentscm/`: read only while they are the user's own and nobody else's to read."""

from __future__ import annotations

import os
import stat
import time

from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.foundation.files import (
    NotRegularError,
    TooLargeError,
    directory,
    open_regular,
    read_all,
)
from agentfeedback.foundation.paths import env_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback.foundation.json_shape import Check
    from agentfeedback.foundation.lock import FileLock

#: The largest configuration file that is read, in bytes.
LARGEST = 4 << 20
#: Seconds to wait for another process that changes the configuration.
PATIENCE = 5.0
CONNECTIONS = "connections.json"
CONNECTIONS_LOCK = "connections.lock"
BINDINGS = "change-capture.json"
BINDINGS_LOCK = "change-capture.lock"


def config_directory(environ: Mapping[str, str]) -> str:
    """Return the folder of agentscm's configuration: below `$XDG_CONFIG_HOME`, else `~/.config`.

    Raises `AgentFeedbackError` where neither is an absolute path.
    """
    home = environ.get("HOME", "")
    above = env_directory(environ, "XDG_CONFIG_HOME", home, ".config")
    if not os.path.isabs(above):
        raise AgentFeedbackError(
            "$HOME is not set to an absolute path", "set it to your home directory"
        )
    return os.path.join(above, "agentscm")


def read(path: str, limit: int = LARGEST) -> bytes | None:
    """Return the bytes of one of our files; None where there is none.

    Raises `AgentFeedbackError` for a file that is not regular, of another user, readable or writable by
    others, or larger than `limit` bytes: it is refused, and its mode is not changed.
    """
    try:
        descriptor = open_regular(path)
        try:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid():
                raise refused(path, "it belongs to another user")
            if stat.S_IMODE(found.st_mode) & 0o077:
                raise refused(path, "others may read or write it", f"run chmod 600 {path}")
            return read_all(descriptor, limit)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except (NotRegularError, TooLargeError) as error:
        raise refused(path, f"it is {error}") from None
    except OSError as error:
        raise refused(path, reason_of(error)) from error


def read_json(path: str, shape: Check) -> Any:
    """Return what is in one of our JSON files; None where there is none. Raises as `read` does, and for another shape."""
    data = read(path)
    if data is None:
        return None
    import json

    try:
        value = json.loads(data.decode(), object_pairs_hook=_members)
    except (ValueError, RecursionError):
        raise refused(path, "it is not strict JSON") from None
    wrong = shape(value, "")
    if wrong is not None:
        raise refused(path, wrong)
    return value


def write(path: str, value: Any) -> None:
    """Replace one of our JSON files, durably; hold its lock. Raises `AgentFeedbackError`."""
    from agentfeedback.foundation.canonical import canonical
    from agentfeedback.foundation.folder import Folder

    folder, name = os.path.split(path)
    try:
        Folder(folder, locked=True).put(name, canonical(value) + b"\n", replace=True)
    except OSError as error:
        raise AgentFeedbackError(
            f"{path} cannot be written: {reason_of(error)}",
            "check the permissions of its folder and the room on its disk",
        ) from error


def lock(config: str, name: str) -> FileLock:
    """Take the lock of one of our files, waiting at most `PATIENCE` seconds; raises `AgentFeedbackError`.

    The order is connections, then bindings, never the other way. A folder that is not the user's own,
    or open to others, is refused too.
    """
    from agentfeedback.foundation.lock import FileLock

    path = os.path.join(config, name)
    found = FileLock(path, time.monotonic() + PATIENCE)
    try:
        directory(config)
        folder = os.stat(config)
        if folder.st_uid != os.geteuid() or stat.S_IMODE(folder.st_mode) & 0o077:
            raise refused(config, "others may use it", f"run chmod 700 {config}")
        found.acquire()
    except TimeoutError:
        raise AgentFeedbackError(
            f"{path} is held by another agentscm", "try again once that one is done"
        ) from None
    except OSError as error:
        raise AgentFeedbackError(
            f"{path} cannot be locked: {reason_of(error)}",
            "check the permissions of its folder and the room on its disk",
        ) from error
    return found


def refused(path: str, reason: str, remedy: str = "") -> AgentFeedbackError:
    """Return the error for a file of ours that is left as it is, and why."""
    return AgentFeedbackError(
        f"{path} was left as it is: {reason}", remedy or "correct that and run the command again"
    )


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member is named twice")
    return found
