"""What killed runs leave of the databases that they copied: removed by the next run, whatever it reads.

Apart from the copying, which imports SQLite: each run sweeps, and few copy.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.foundation.lock import FileLock

#: The folder of all copies, below the cache; a run's own folder there has this lock beside it.
FOLDER, LOCK = "snapshots", ".lock"


def sweep(cache: str) -> None:
    """Remove the folders of runs that are gone: those whose lock can be had. Raises OSError."""
    root = os.path.join(cache, FOLDER)
    try:
        found = os.lstat(root)
        names = os.listdir(root)
    except (FileNotFoundError, NotADirectoryError):
        return
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
        return
    for name in names:
        if name.endswith(LOCK):
            from agentfeedback.foundation.lock import FileLock

            lock = FileLock(os.path.join(root, name), 0, create=False)
            with suppress(TimeoutError, FileNotFoundError):
                lock.acquire()
                remove(os.path.join(root, name.removesuffix(LOCK)), lock)


def remove(path: str, lock: FileLock) -> None:
    """Remove the folder of a run whose lock is held."""
    import shutil

    # The folder first: one without a lock file would be nobody's.
    shutil.rmtree(path, ignore_errors=True)
    with suppress(FileNotFoundError):
        lock.remove()
    lock.release()
