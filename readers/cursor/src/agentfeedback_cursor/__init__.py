"""The reader of Cursor sessions, as a plugin of agentfeedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentfeedback.hookspecs import hookimpl

if TYPE_CHECKING:
    from agentfeedback.reader import Reader


@hookimpl
def register_readers() -> list[Reader]:
    from .reader import Cursor

    return [Cursor()]
