"""One key of `config.toml` changed; everything else in the file stays, comments too."""

from __future__ import annotations

import os
import time
from collections.abc import MutableMapping
from typing import Any

from agentfeedback.config.keys import Key
from agentfeedback.config.toml_text import toml
from agentfeedback.foundation.errors import AgentFeedbackError, ConfigError, reason_of
from agentfeedback.foundation.files import directory, regular_bytes
from agentfeedback.foundation.folder import Folder
from agentfeedback.foundation.lock import FileLock

#: Seconds another change of the file is waited for.
_PATIENCE = 5.0
_UNSET = object()


def set_key(path: str, key: Key, value: Any) -> bool:
    """Give a key a value; whether that changed anything.

    The file is replaced as a whole by one of mode 0600, behind a link too. Raises `ConfigError` for a
    file that is not TOML, `AgentFeedbackError` where it cannot be written: it is as it was then.
    """
    return _changed(path, key, value)


def unset_key(path: str, key: Key) -> bool:
    """Take a key out; whether it was there. Raises as `set_key` does."""
    return _changed(path, key, _UNSET)


def _changed(path: str, key: Key, value: Any) -> bool:
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    try:
        if value is _UNSET and not os.path.lexists(path):
            return False
        if os.path.islink(path) and not os.path.exists(path):
            raise _refused(path, "it is a link that leads nowhere")
        directory(folder)
        lock = os.path.join(folder, ".config.toml.lock")
        with FileLock(lock, time.monotonic() + _PATIENCE) as held:
            try:
                return _rewritten(path, target, key, value)
            finally:
                held.remove()
    except TimeoutError:
        raise AgentFeedbackError(
            f"{path} is being changed by another command", "try again when it has ended"
        ) from None
    except OSError as error:
        raise AgentFeedbackError(
            f"{path} cannot be changed: {reason_of(error)}", "correct that and try again"
        ) from error


def _rewritten(path: str, target: str, key: Key, value: Any) -> bool:
    try:
        old = regular_bytes(target)
    except FileNotFoundError:
        old = b""
    try:
        before = toml(old)
        after = _applied(before, key, value)
        if after == before:
            return False
        new = _edited(old.decode(), key, value).encode()
        found = toml(new)
        # A table written by dotted keys alone is gone with the last of them.
        fits = found == after or (
            after.get(key.table) == {}
            and found == {k: v for k, v in after.items() if k != key.table}
        )
    except ValueError as error:
        raise ConfigError(
            f"config file {path} is not valid: {error}", "correct the file"
        ) from error
    if not fits:
        raise _refused(path, f"{key.name} cannot be changed in the way the file is written")
    Folder(os.path.dirname(target), locked=True).put(os.path.basename(target), new, replace=True)
    return True


def _applied(tables: dict[str, Any], key: Key, value: Any) -> dict[str, Any]:
    """The tables with the change; raises `ValueError` where something else stands in place of a table."""
    after = {name: dict(each) if isinstance(each, dict) else each for name, each in tables.items()}
    place: Any = after
    if key.table:
        if value is _UNSET and key.table not in after:
            return after
        place = after.setdefault(key.table, {})
        if not isinstance(place, dict):
            raise ValueError(f"{key.table} is not a table")
    if value is _UNSET:
        place.pop(key.short, None)
    else:
        place[key.short] = value
    return after


def _edited(text: str, key: Key, value: Any) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        place: MutableMapping[str, Any] = document
        if key.table:
            if key.table not in document:
                document[key.table] = tomlkit.table()
            table = document[key.table]
            if not isinstance(table, MutableMapping):
                raise ValueError(f"{key.table} is not a table")
            place = table
        if value is _UNSET:
            del place[key.short]
        else:
            place[key.short] = value
        return tomlkit.dumps(document)
    except TOMLKitError as error:
        raise ValueError(str(error)) from error


def _refused(path: str, reason: str) -> AgentFeedbackError:
    return AgentFeedbackError(f"{path} was left as it is: {reason}", "change it in an editor")
