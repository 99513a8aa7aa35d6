"""The reader of Cline logs, as a plugin of agentfeedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentfeedback.plugins import hookimpl

if TYPE_CHECKING:
    from agentfeedback.reading import Reader


@hookimpl
def register_readers() -> list[Reader]:
    from agentfeedback_cline.reader import Cline

    return [Cline()]
