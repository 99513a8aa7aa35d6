"""One engine and two tables that take secrets of known formats out of texts and object trees.

`SUBMIT` is the table of digests, lists and submissions (sessions-details 12), `CAPTURE` the one of
change capture (change-capture-details 11). Formats of plugins come in as `Scrubber(..., extra=)`.
"""

from .capture import CAPTURE
from .engine import MAX_DEPTH, Scrubber, cut
from .formats import Format, Table
from .submit import SUBMIT

__all__ = ["CAPTURE", "MAX_DEPTH", "SUBMIT", "Format", "Scrubber", "Table", "cut"]
