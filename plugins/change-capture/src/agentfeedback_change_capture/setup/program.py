"""Where this program is, as hooks have to call it."""

from __future__ import annotations

import os
import shutil
import sys

from agentfeedback.foundation.errors import AgentFeedbackError


def agentscm() -> str:
    """Return the absolute path of the running `agentscm`, else of the one beside this Python or on the path.

    Raises `AgentFeedbackError` where there is none, or where it could not stand in a settings file.
    """
    candidates = [
        os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else "",
        os.path.join(os.path.dirname(sys.executable), "agentscm"),
        shutil.which("agentscm") or "",
    ]
    for path in candidates:
        if os.path.basename(path) == "agentscm" and os.path.isfile(path):
            return _utf8(os.path.abspath(path))
    raise AgentFeedbackError(
        "the program agentscm was not found", "install agentfeedback-change-capture and run it"
    )


def _utf8(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise AgentFeedbackError(
            f"{os.fsencode(path)!r} is not UTF-8, so no settings file can name it",
            "install agentscm elsewhere",
        ) from None
    return path
