"""The records that commands print with `--json`, member by member in the order printed.

`plain` turns a record into the object that is printed, `encode` into the bytes: one compact line.
A member declared with `omitted()` is left out when it is empty; all others are always there, so
the JSON never changes shape by accident. The JSON Schemas are generated from these classes.

A record is imported when it is first asked for, so that a command loads what it prints.
"""

from __future__ import annotations

from agentfeedback.foundation.lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.wire.digest import (
        About,
        Digest,
        DigestError,
        DigestRun,
        Event,
        Flagged,
        Retry,
        Trouble,
    )
    from agentfeedback.wire.installed import InstalledPlugin, Plugins, Wiring
    from agentfeedback.wire.listing import (
        STATES,
        Counts,
        HarnessStatus,
        Listed,
        Listing,
        Selection,
        State,
        Status,
        Store,
    )
    from agentfeedback.wire.marks import Forgotten, LeftOut, Marked

_MODULES = {
    "About": "agentfeedback.wire.digest",
    "Counts": "agentfeedback.wire.listing",
    "Digest": "agentfeedback.wire.digest",
    "DigestError": "agentfeedback.wire.digest",
    "DigestRun": "agentfeedback.wire.digest",
    "Event": "agentfeedback.wire.digest",
    "Flagged": "agentfeedback.wire.digest",
    "Forgotten": "agentfeedback.wire.marks",
    "HarnessStatus": "agentfeedback.wire.listing",
    "InstalledPlugin": "agentfeedback.wire.installed",
    "LeftOut": "agentfeedback.wire.marks",
    "Listed": "agentfeedback.wire.listing",
    "Listing": "agentfeedback.wire.listing",
    "Marked": "agentfeedback.wire.marks",
    "Plugins": "agentfeedback.wire.installed",
    "Retry": "agentfeedback.wire.digest",
    "STATES": "agentfeedback.wire.listing",
    "Selection": "agentfeedback.wire.listing",
    "State": "agentfeedback.wire.listing",
    "Status": "agentfeedback.wire.listing",
    "Store": "agentfeedback.wire.listing",
    "Trouble": "agentfeedback.wire.digest",
    "Wiring": "agentfeedback.wire.installed",
}
__all__ = [
    "STATES",
    "About",
    "Counts",
    "Digest",
    "DigestError",
    "DigestRun",
    "Event",
    "Flagged",
    "Forgotten",
    "HarnessStatus",
    "InstalledPlugin",
    "LeftOut",
    "Listed",
    "Listing",
    "Marked",
    "Plugins",
    "Retry",
    "Selection",
    "State",
    "Status",
    "Store",
    "Trouble",
    "Wiring",
]
__getattr__ = lazy_names(__name__, _MODULES)
