"""What the commands that look at a spool print."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed


def run_inspect(line: Parsed) -> int:
    """Print what a spool holds."""
    raise NotImplementedError
