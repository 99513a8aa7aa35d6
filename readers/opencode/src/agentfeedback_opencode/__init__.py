"""The readers of OpenCode V1 and OpenCode 2, as a plugin of agentfeedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentfeedback.plugins import hookimpl

if TYPE_CHECKING:
    from agentfeedback.reading import Reader


@hookimpl
def register_readers() -> list[Reader]:
    from agentfeedback_opencode.reader import OpenCodeV1, OpenCodeV2

    return [OpenCodeV1(), OpenCodeV2()]
