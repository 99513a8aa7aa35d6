"""The reader of pi: a plugin of agentfeedback, written as a third party writes one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentfeedback.plugins import hookimpl

if TYPE_CHECKING:
    from agentfeedback.reading import Reader


@hookimpl
def register_readers() -> Iterable[Reader]:
    from .reader import Pi

    return [Pi()]
