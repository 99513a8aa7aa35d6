"""The `--home` of a command line: the directory that stands for the home."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentfeedback.foundation.errors import UsageError

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed


def home_of(line: Parsed) -> str | None:
    """The absolute path of `--home DIR`, None without that flag; raises `UsageError` when it is not a directory."""
    if "home" not in line.given:
        return None
    remedy = "name the directory that holds the stores"
    if not line.home:  # an empty variable of a script, not the current directory
        raise UsageError("--home is empty", remedy)
    home: str = os.path.abspath(line.home)
    if not os.path.isdir(home):
        raise UsageError(f"--home {line.home} is not a directory", remedy)
    return home
