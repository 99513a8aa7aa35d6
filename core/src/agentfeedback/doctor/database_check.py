"""Whether the data-directory database can be used, found by means that write nothing in or beside it."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile

from agentfeedback.foundation.errors import StoreError, reason_of
from agentfeedback.state.database import Database
from agentfeedback.state.faults import START_AGAIN
from agentfeedback.state.state_store import WHAT

_TRIES = 3
#: In place of a remedy that names the command that is running.
_REMEDY = "move the file away to start again"


def database_problem(path: str) -> StoreError | None:
    """What keeps the database at `path` from being used; None when nothing does.

    Where there is none, the nearest existing parent folder must be writable.

    A private copy is opened and checked, since an open may write a journal or migrate.
    """
    database = Database(path, WHAT)
    try:
        if not database.exists():
            return _unwritable(path)
    except StoreError as error:
        return error
    found: StoreError | None = None
    for _ in range(_TRIES):  # a copy taken while another process writes may be torn
        with tempfile.TemporaryDirectory(prefix="agentfeedback-doctor-") as folder:
            found = _checked(database, os.path.join(folder, "copy.db"))
        if found is None:
            return _unwritable(path)
        if found.remedy != START_AGAIN:
            return found
    assert found is not None
    return StoreError(found.problem, _REMEDY)


def _unwritable(path: str) -> StoreError | None:
    """What may not be written of the file and its folder, or of the nearest folder that is there."""
    file = os.path.realpath(path)
    folder = os.path.dirname(file)
    while not os.path.lexists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    refused = []
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        refused.append(folder)
    if os.path.lexists(file) and not os.access(file, os.W_OK):
        refused.append(file)
    if not refused:
        return None
    return StoreError(
        f"the local database {path} cannot be written: no permission to write {refused[0]}",
        "check the permissions of the file and of its folder",
    )


def _checked(database: Database, copy: str) -> StoreError | None:
    path = os.path.realpath(database.path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return StoreError(
                f"the local database {database.path} cannot be opened: it is not a regular file",
                "move it away",
            )
        shutil.copyfile(path, copy)
        if os.path.exists(f"{path}-wal"):
            shutil.copyfile(f"{path}-wal", f"{copy}-wal")
    except OSError as error:
        return StoreError(
            f"the local database {database.path} cannot be read: {reason_of(error)}",
            "check the permissions of the file and of its folder",
        )
    try:
        with Database(copy, WHAT).reading() as connection:
            if connection is None:
                return None
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except StoreError as error:
        return StoreError(error.problem.replace(copy, database.path), error.remedy)
    return None if found == "ok" else database.failure("it is damaged")
