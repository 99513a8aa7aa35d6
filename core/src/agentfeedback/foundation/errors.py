"""The errors a caller may see. Expected conditions of a session are values (`State` and a reason), not errors.

Every message is one lower-case sentence that names the path or ref first and the remedy last
(`docs/reference/errors.md`). `exit_status` is the process status of the command line.
"""

from __future__ import annotations

import os


class AgentFeedbackError(Exception):
    """Base of all errors shown to a person: `problem` says what is wrong, `remedy` what to do next."""

    exit_status = 1

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem}; {self.remedy}" if self.remedy else self.problem


class UsageError(AgentFeedbackError):
    """The command line is wrong; nothing was read or written."""

    exit_status = 2


class ConfigError(AgentFeedbackError):
    """A configuration file cannot be read or holds a value of the wrong type."""


class StoreError(AgentFeedbackError):
    """The state database cannot be opened, read or written; nothing was changed.

    `fault` is `busy`, `unwritable`, `full` or `damaged`; empty for anything else.
    """

    fault = ""


class NewerStoreError(StoreError):
    """The store was made by a newer agentfeedback; it is left as it is."""


class PluginError(AgentFeedbackError):
    """A plugin the command cannot do without failed; the problem names the plugin."""


def reason_of(error: BaseException) -> str:
    """The bare reason of an error, lower case and without the path (`permission denied`)."""
    if isinstance(error, OSError) and error.strerror:
        text = os.strerror(error.errno) if error.errno else error.strerror
    else:
        text = str(error) or type(error).__name__
    return text[:1].lower() + text[1:]
