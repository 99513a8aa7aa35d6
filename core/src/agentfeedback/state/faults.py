"""What an error of SQLite or the system means for a database, and what to do. Pure."""

from __future__ import annotations

import errno
import sqlite3

START_AGAIN = "run agentfeedback doctor, or move the file away to start again"
_FULL = "free some space on its disk and try again"
_PERMISSIONS = "check the permissions of the file and of its folder"
_REMEDIES = {
    sqlite3.SQLITE_BUSY: "try again when the other agentfeedback command has ended",
    sqlite3.SQLITE_CANTOPEN: _PERMISSIONS,
    sqlite3.SQLITE_CORRUPT: START_AGAIN,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: "check that its disk works and has space left",
    sqlite3.SQLITE_NOTADB: START_AGAIN,
    sqlite3.SQLITE_PERM: _PERMISSIONS,
    sqlite3.SQLITE_READONLY: _PERMISSIONS,
}
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_DENIED = dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "unwritable")
_FAULTS = {
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_LOCKED: "busy",
    sqlite3.SQLITE_CANTOPEN: "unwritable",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_ERROR: "damaged",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_PERM: "unwritable",
    sqlite3.SQLITE_READONLY: "unwritable",
}


def code(error: BaseException) -> int:
    """SQLite's primary result code; 0 for an error that is not SQLite's."""
    found: int = getattr(error, "sqlite_errorcode", 0)
    return found & 0xFF


def fault(error: BaseException) -> str:
    """The word of a `StoreError` for an error of SQLite's or the system's."""
    if isinstance(error, UnicodeError):
        return "damaged"
    if isinstance(error, OSError):
        return "full" if error.errno in _NO_ROOM else _DENIED.get(error.errno or 0, "")
    return _FAULTS.get(code(error), "")


def remedy(error: BaseException) -> str:
    if isinstance(error, PermissionError):
        return _PERMISSIONS
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return _FULL
    return _REMEDIES.get(code(error), "run agentfeedback doctor")
