"""Bodies without secrets of known formats, for a server that takes none. Pure.

The hash of what is stored is that of the scrubbed body, so a report filed before under its key is a mismatch.
"""

from __future__ import annotations

from agentfeedback.foundation.canonical import compact
from agentfeedback.foundation.json_text import NotJson, parse
from agentfeedback.scrub import SUBMIT, Scrubber


def scrubbed(body: bytes) -> bytes:
    """The body with every secret replaced; the same bytes where there is none, or where it is not JSON."""
    try:
        tree = parse(body).value
    except NotJson:
        return body  # whoever reads it next refuses it
    scrubber = Scrubber(SUBMIT)
    clean = scrubber.tree(tree)
    return compact(clean) if scrubber.count else body
