"""Reads and replaces a harness's hook file: byte for byte, as a whole or not at all, mode and links kept."""

from __future__ import annotations

import os
import stat

from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.foundation.files import NotRegularError, TooLargeError, open_regular, read_all
from agentfeedback.foundation.folder import Folder
from agentfeedback.foundation.paths import dangling

#: The largest hook file that is edited, in bytes.
LARGEST = 4 << 20
_BOM = b"\xef\xbb\xbf"


class HookFile:
    """A hook file as it was read; `text` is None where the file does not exist.

    `path` is the path as the harness knows it, `target` the file itself, behind any link.
    """

    __slots__ = ("bom", "path", "status", "target", "text")

    def __init__(
        self,
        path: str,
        target: str,
        text: str | None = None,
        *,
        bom: bool = False,
        status: os.stat_result | None = None,
    ) -> None:
        self.path = path
        self.target = target
        self.text = text
        self.bom = bom
        self.status = status


def read(path: str) -> HookFile:
    """The hook file at a path.

    Raises `AgentFeedbackError` for what must be left alone: no regular file, a link that leads
    nowhere, a read-only file, one of another user, too large, or not UTF-8.
    """
    try:
        target = os.path.realpath(path)
        descriptor = open_regular(target)
        try:
            status = os.fstat(descriptor)
            if not status.st_mode & stat.S_IWUSR:
                raise left_alone(path, "it is read-only")
            if status.st_uid != os.geteuid():
                raise left_alone(path, "it belongs to another user")
            data = read_all(descriptor, LARGEST)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        if (link := dangling(path)) is not None:
            raise left_alone(path, f"{link} is a link that leads nowhere") from None
        return HookFile(path, target)
    except (NotRegularError, TooLargeError) as error:
        raise left_alone(path, f"it is {error}") from None
    except OSError as error:
        raise left_alone(path, reason_of(error)) from error
    bom = data.startswith(_BOM)
    try:
        text = data[len(_BOM) if bom else 0 :].decode()
    except UnicodeDecodeError:
        raise left_alone(path, "it is not UTF-8") from None
    return HookFile(path, target, text, bom=bom, status=status)


def write(old: HookFile, text: str | None, folder: type[Folder] = Folder) -> None:
    """Put a text in the place of the file that was read; None removes it.

    Hold a lock against other installations. `folder` says under which name the new file is written
    before it is put in place. Raises `AgentFeedbackError` when that cannot be done whole, or when the
    file was changed since it was read: it is as it was then.
    """
    try:
        _write(old, text, folder)
    except OSError as error:
        raise left_alone(old.path, reason_of(error)) from error


def encoded(file: HookFile, text: str) -> bytes:
    """Return a text as the bytes of the file, with the mark at its beginning where the file has one."""
    return (_BOM if file.bom else b"") + text.encode()


def _write(old: HookFile, text: str | None, folder: type[Folder]) -> None:
    path, name = os.path.split(old.target)
    settings = folder(path, locked=True)
    if text is None:
        _refuse_changed(old)
        settings.delete(name)
    else:
        found = old.status
        settings.put(
            name,
            encoded(old, text),
            replace=True,
            mode=0o600 if found is None else stat.S_IMODE(found.st_mode),
            group=None if found is None else found.st_gid,
            check=lambda: _refuse_changed(old),
        )


def _refuse_changed(old: HookFile) -> None:
    try:
        now = os.lstat(old.target)
    except FileNotFoundError:
        same = old.status is None
    else:
        same = old.status is not None and _identity(now) == _identity(old.status)
    if not same:
        raise left_alone(old.path, "it was changed at the same time")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def left_alone(path: str, reason: str) -> AgentFeedbackError:
    """The error for a hook file that is not edited, and why."""
    return AgentFeedbackError(
        f"{path} was left as it is: {reason}", "correct that and run the command again"
    )
