"""One at a time: an operating-system lock, waited for until a deadline.

The lock is gone with its holder, however that one ended; a lock file left behind means nothing.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_SHORTEST, _LONGEST = 0.001, 0.02
_OPEN = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class FileLock:
    """Holds the lock file at `path` for a `with` block, or from `acquire` to `release`.

    The file is made owner-only where it is missing, unless `create` is false. `deadline` is a time of
    `time.monotonic`, in seconds. With `shared` any number of holders may read at once, and nobody may
    write. A relative path is taken from the folder with the descriptor `above`. Raises `TimeoutError`
    when another holds the lock until the deadline (at once when it has passed), and other `OSError`s.
    """

    def __init__(
        self,
        path: str,
        deadline: float,
        *,
        create: bool = True,
        shared: bool = False,
        above: int | None = None,
    ) -> None:
        self.path = path
        self._deadline = deadline
        self._flags = _OPEN | os.O_CREAT if create else _OPEN
        self._kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        self._above = above
        self._descriptor = -1

    def __enter__(self) -> FileLock:  # noqa: PYI034 - importing typing costs too much start-up time in a hook
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Wait for the lock."""
        while self._descriptor < 0:
            descriptor = os.open(self.path, self._flags, 0o600, dir_fd=self._above)
            try:
                self._wait(descriptor)
                # The file may have been removed, or replaced, while this process waited for it.
                if self._is_at_path(descriptor):
                    self._descriptor = descriptor
            finally:
                if self._descriptor < 0:
                    os.close(descriptor)

    def release(self) -> None:
        """Let the next one have it; nothing was written here, so an error of closing loses nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        try:
            os.close(descriptor)
        except OSError:
            return

    def remove(self) -> None:
        """Remove the lock file while it is held; who waits for it makes a new one."""
        os.unlink(self.path, dir_fd=self._above)

    def _wait(self, descriptor: int) -> None:
        pause = _SHORTEST
        while True:
            try:
                fcntl.flock(descriptor, self._kind | fcntl.LOCK_NB)
                return
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT), self.path)
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST)

    def _is_at_path(self, descriptor: int) -> bool:
        try:
            there = os.stat(self.path, dir_fd=self._above, follow_symlinks=False)
            return os.path.samestat(os.fstat(descriptor), there)
        except FileNotFoundError:
            return False
