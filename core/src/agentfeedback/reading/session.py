"""One candidate of a store."""

from __future__ import annotations

from typing import Any

from attrs import frozen


@frozen(eq=False)
class Session:
    """One candidate: a session in a store, known by name and `stat` alone.

    `mtime` is in nanoseconds since the epoch, `size` in bytes (of the file as it is there; 0 for
    row stores). `unsupported` holds the reason when the format is known and not read. `detail` is
    the reader's own: what it needs to open this session.
    """

    harness: str
    id: str
    path: str
    mtime: int
    size: int = 0
    device: int = 0
    inode: int = 0
    ctime: int = 0
    unsupported: str = ""
    detail: Any = None

    @property
    def ref(self) -> str:
        return f"{self.harness}:{self.id}"

    @property
    def identity(self) -> tuple[int, int, int, int, int]:
        """Changes whenever the file was written or replaced, as far as the system shows."""
        return (self.device, self.inode, self.size, self.mtime, self.ctime)
