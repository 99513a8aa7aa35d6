"""Reads and replaces a harness's hook file: byte for byte, as a whole or not at all, mode and links kept (C93, C94)."""

from __future__ import annotations

import os
import stat

from attrs import frozen

from agentfeedback.foundation import files as owner_only
from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.foundation.files import dangling

#: The largest hook file that is edited, in bytes.
LARGEST = 4 << 20
_BOM = b"\xef\xbb\xbf"
#: What the new file is called until it takes the place of the old one.
_UNFINISHED = ".agentfeedback-new"


@frozen(eq=False)
class HookFile:
    """A hook file as it was read; `text` is None where there is none.

    `path` is the path as the harness knows it, `target` the file itself, behind any link.
    """

    path: str
    target: str
    text: str | None = None
    bom: bool = False
    status: os.stat_result | None = None


def read(path: str) -> HookFile:
    """The hook file at a path.

    Raises `AgentFeedbackError` for what must be left alone: no regular file, a link that leads
    nowhere, a read-only file, one of another user, too large, or not UTF-8.
    """
    try:
        target = os.path.realpath(path)
        descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        if (link := dangling(path)) is not None:
            raise left_alone(path, f"{link} is a link that leads nowhere") from None
        return HookFile(path, target)
    except OSError as error:
        raise left_alone(path, reason_of(error)) from error
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise left_alone(path, "it is no regular file")
        if not status.st_mode & stat.S_IWUSR:
            raise left_alone(path, "it is read-only")
        if status.st_uid != os.geteuid():
            raise left_alone(path, "it belongs to another user")
        try:
            data = file.read(LARGEST + 1)
        except OSError as error:
            raise left_alone(path, reason_of(error)) from error
    if len(data) > LARGEST:
        raise left_alone(path, f"it is larger than {LARGEST} bytes")
    bom = data.startswith(_BOM)
    try:
        text = data[len(_BOM) if bom else 0 :].decode()
    except UnicodeDecodeError:
        raise left_alone(path, "it is not UTF-8") from None
    return HookFile(path, target, text, bom, status)


def write(old: HookFile, text: str | None) -> None:
    """Put a text in the place of the file that was read; None removes it.

    Hold a lock against other installations. Raises `AgentFeedbackError` when that cannot be done
    whole, or when the file was changed since it was read: it is as it was then.
    """
    try:
        _write(old, text)
    except OSError as error:
        raise left_alone(old.path, reason_of(error)) from error


def _write(old: HookFile, text: str | None) -> None:
    folder = os.path.dirname(old.target)
    if text is None:
        _refuse_changed(old)
        os.unlink(old.path)
    else:
        owner_only.directory(folder)
        unfinished = old.target + _UNFINISHED
        if os.path.lexists(unfinished):
            os.unlink(unfinished)  # a killed installation's
        data = (_BOM if old.bom else b"") + text.encode()
        owner_only.write_new(unfinished, data, durable=True)
        try:
            if old.status is not None:
                if os.stat(unfinished).st_gid != old.status.st_gid:
                    os.chown(unfinished, -1, old.status.st_gid)
                os.chmod(unfinished, stat.S_IMODE(old.status.st_mode))
            _refuse_changed(old)
            os.replace(unfinished, old.target)
        except (OSError, AgentFeedbackError):
            os.unlink(unfinished)
            raise
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
