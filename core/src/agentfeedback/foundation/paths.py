"""The directories of a user, by one rule for every variable that names one; and links that lead nowhere."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def env_directory(environ: Mapping[str, str], variable: str, *default: str) -> str:
    """Return the directory that an environment variable names when its value is an absolute path.

    Any other value counts as not set, as the XDG base directory rules say: the parts of `default`
    are joined then.
    """
    value = environ.get(variable, "")
    return value if os.path.isabs(value) else os.path.join(*default)


def cache_directory(environ: Mapping[str, str], home: str) -> str:
    """Return the program's own folder of the user's cache; `home` is the user's home."""
    return os.path.join(env_directory(environ, "XDG_CACHE_HOME", home, ".cache"), "agentfeedback")


def dangling(path: str) -> str | None:
    """Return the link that leads nowhere where a missing path goes through one; None when it is simply missing."""
    # The nearest part of the path that is there at all decides whether the rest is missing or lost.
    while not os.path.lexists(path):
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    return path if os.path.islink(path) and not os.path.exists(path) else None
