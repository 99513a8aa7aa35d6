"""Owner-only files in the cache directory, one for a store: written by rename, never trusted when read."""

from __future__ import annotations

import hashlib
import os
import re
from typing import TypeVar

import msgspec

from agentfeedback import __version__
from agentfeedback.foundation.files import open_regular, read_all
from agentfeedback.foundation.folder import Folder

_File = TypeVar("_File")

_LARGEST = 256 << 20
#: Files of stores that nobody asked for so long (nanoseconds) are removed.
_FORGOTTEN = 30 * 86_400 * 1_000_000_000
SUFFIX = ".msgpack"
_OURS = re.compile(r".*-[0-9a-f]{24}\.msgpack(?:\.unfinished-[0-9a-f]+)?", re.DOTALL)
VERSION = f"1/{__version__}"


class CacheFile:
    """The file of one store in a folder of the cache directory."""

    def __init__(self, folder: str, harness: str, location: str) -> None:
        name = hashlib.sha256(f"{harness}\0{location}".encode("utf-8", "replace")).hexdigest()[:24]
        self.folder = folder
        self.name = f"{harness}-{name}{SUFFIX}"

    def read(self, kind: type[_File]) -> _File | None:
        """What the file holds, as `read` says."""
        return read(os.path.join(self.folder, self.name), kind)

    def write(self, value: object, now: int) -> None:
        """Write the file, and remove those nobody used for long; a cache that cannot be written costs time alone."""
        try:
            folder = Folder(self.folder, durable=False)
            folder.put(self.name, msgspec.msgpack.encode(value), replace=True)
            _forget(self.folder, now)
        except OSError:
            return


def read(path: str, kind: type[_File]) -> _File | None:
    """What a file of the cache holds; None when it is missing, damaged or not ours alone to write."""
    try:
        descriptor = open_regular(path)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            return None
        return msgspec.msgpack.decode(read_all(descriptor, _LARGEST), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    finally:
        os.close(descriptor)


def _forget(folder: str, now: int) -> None:
    """Remove caches nobody used for long, and what killed runs left; the folder may be a link to one of other files."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not _OURS.fullmatch(entry.name) or not entry.is_file(follow_symlinks=False):
                continue
            if now - entry.stat(follow_symlinks=False).st_mtime_ns > _FORGOTTEN:
                os.unlink(entry.path)
