"""Two system calls that Python does not offer: a rename that never replaces, and clearing an access list."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache

_NOREPLACE = 1  # RENAME_NOREPLACE of Linux
_EXCL = 4  # RENAME_EXCL of macOS
_ACL_EXTENDED = 0x100
_FIRST_ENTRY = 0


class UnsupportedError(OSError):
    """The system or the file system cannot rename without replacing."""

    def __init__(self) -> None:
        super().__init__(
            errno.ENOTSUP, "this file system cannot rename without replacing another file"
        )


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def rename_exclusive(name: str, above: int, new: str, to: int) -> None:
    """Rename an entry of one folder to a name of another that nothing has.

    Raises:
        FileExistsError: Something has that name; nothing was changed.
        UnsupportedError: It cannot be done here; nothing was changed.
        OSError: The system refused it.
    """
    call, flag = ("renameatx_np", _EXCL) if sys.platform == "darwin" else ("renameat2", _NOREPLACE)
    function = getattr(_libc(), call, None)
    if function is None:
        raise UnsupportedError
    function.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    if function(above, os.fsencode(name), to, os.fsencode(new), flag) == 0:
        return
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        raise UnsupportedError
    raise OSError(number, os.strerror(number), new)


def clear_access_list(descriptor: int) -> None:
    """Remove the extended access list of an open folder on macOS, and read it again; nothing elsewhere.

    On Linux the mode that a folder is made with bounds what an inherited default list can allow.

    Raises:
        OSError: It cannot be removed, or is still there.
    """
    if sys.platform != "darwin":
        return
    library = _libc()
    library.acl_init.restype = ctypes.c_void_p
    library.acl_get_fd_np.restype = ctypes.c_void_p
    empty = library.acl_init(1)
    if not empty:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    try:
        if library.acl_set_fd_np(descriptor, ctypes.c_void_p(empty), _ACL_EXTENDED) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        library.acl_free(ctypes.c_void_p(empty))
    ctypes.set_errno(0)
    left = library.acl_get_fd_np(descriptor, _ACL_EXTENDED)
    if not left:
        if ctypes.get_errno() == errno.ENOENT:  # there is no list at all
            return
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    try:
        entry = ctypes.c_void_p()
        if library.acl_get_entry(ctypes.c_void_p(left), _FIRST_ENTRY, ctypes.byref(entry)) == 0:
            raise OSError(errno.EPERM, "the access list of the archive's folder cannot be cleared")
    finally:
        library.acl_free(ctypes.c_void_p(left))
