"""One engine and two tables that take secrets of known formats out of texts and object trees.

`SUBMIT` is the table of digests, lists and submissions, `CAPTURE` the one of
change capture. Formats of plugins come in as `Scrubber(..., extra=)`.
"""

from typing import TYPE_CHECKING

from agentfeedback.scrub.cuts import cut
from agentfeedback.scrub.engine import MAX_DEPTH, Scrubber
from agentfeedback.scrub.formats import Format, Table
from agentfeedback.scrub.submit import SUBMIT

if TYPE_CHECKING:
    from agentfeedback.scrub.capture import CAPTURE

__all__ = ["CAPTURE", "MAX_DEPTH", "SUBMIT", "Format", "Scrubber", "Table", "cut"]


def __getattr__(name: str) -> Table:
    # Table B has many patterns, and commands that capture no changes need none of them.
    if name == "CAPTURE":
        from agentfeedback.scrub.capture import CAPTURE

        return CAPTURE
    raise AttributeError(name)
