"""Whether the Claude Code of this machine is one that the hooks were tried with."""

from __future__ import annotations

import os
import re

#: The oldest version whose payloads have the form that is read, and the one the hooks were tried with.
OLDEST, QUALIFIED = (2, 1, 300), (2, 1, 332)
SECONDS = 3.0
_VERSION = re.compile(r"([0-9]{1,6})\.([0-9]{1,6})\.([0-9]{1,6})")


def warning() -> str:
    """Return a sentence about an installed version that is not qualified; empty when it is, or when none is found."""
    found = _installed()
    if found is None or OLDEST <= found <= QUALIFIED:
        return ""
    shown, qualified = (".".join(map(str, each)) for each in (found, QUALIFIED))
    if found < OLDEST:
        return (
            f"Claude Code {shown} is older than the hooks were made for and may refuse a settings file"
            " that names events it does not know, and then runs no hook at all"
        )
    return f"Claude Code {shown} is newer than {qualified}, with which the hooks were tried"


def _installed() -> tuple[int, ...] | None:
    import shutil
    import subprocess

    path = shutil.which("claude")
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
            cwd=os.path.sep,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(done.stdout[:256].decode("utf-8", "replace"))
    return tuple(map(int, match.groups())) if match else None
