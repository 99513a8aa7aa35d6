"""The log of a server: one JSON object a line, of members that are chosen here.

No key, no token, no body and no path as it was asked for is ever one of them.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, TextIO

import structlog

#: The words of a level.
LEVELS = ("debug", "info", "warning", "error")


class Log:
    """Writes lines to a stream."""

    def __init__(self, logger: Any) -> None:
        self._logger = logger

    def request(self, *, status: int, **members: Any) -> None:
        """One request that was answered; a failure of this side is a warning."""
        level = logging.WARNING if status == 0 or status >= 500 else logging.INFO
        self._logger.log(level, "request", status=status, **members)

    def event(self, event: str, **members: Any) -> None:
        """Something the server did by itself."""
        self._logger.info(event, **members)

    def warning(self, event: str, **members: Any) -> None:
        """Something that an operator should know."""
        self._logger.warning(event, **members)


def log(level: str = "info", stream: TextIO | None = None) -> Log:
    """A log of at least this level, on standard error unless a stream is given."""
    number = getattr(logging, level.upper())
    return Log(
        structlog.wrap_logger(
            structlog.PrintLogger(stream or sys.stderr),
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(number),
            cache_logger_on_first_use=True,
        )
    )


def silent() -> Log:
    """A log that keeps nothing."""
    return Log(
        structlog.wrap_logger(
            None,
            processors=[_drop],
            wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        )
    )


def _drop(*_: Any) -> Any:
    raise structlog.DropEvent
