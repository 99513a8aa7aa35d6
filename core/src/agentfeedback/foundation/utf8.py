"""Makes sure that Python takes the names of files for UTF-8, whatever the locale says."""

from __future__ import annotations

import os
import sys

from agentfeedback.foundation.errors import AgentFeedbackError


def start_in_utf8() -> None:
    """Start the process again with UTF-8 as the encoding of file names, unless that was done or cannot be.

    Logs and policies name directories in UTF-8: in another encoding the system would not find them,
    and no link and no repository file would be seen to refuse a session.

    Raises:
        AgentFeedbackError: Python cannot be started again.
    """
    if sys.flags.utf8_mode or not sys.executable:
        return
    try:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    except OSError as error:
        raise AgentFeedbackError(
            f"Python cannot be started again with UTF-8 as the encoding of file names: {error}",
            "set PYTHONUTF8=1",
        ) from error
