"""What authors of readers import; everything else of this package may change without notice.

Name by name in `docs/reference/reader-api.md`.
"""

from __future__ import annotations

from agentfeedback.foundation.lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.foundation import times as times
    from agentfeedback.foundation.errors import (
        AgentFeedbackError as AgentFeedbackError,
    )
    from agentfeedback.foundation.errors import (
        reason_of as reason_of,
    )
    from agentfeedback.foundation.files import (
        open_regular as open_regular,
    )
    from agentfeedback.foundation.files import (
        small_file as small_file,
    )
    from agentfeedback.reading.drift import (
        Fields as Fields,
    )
    from agentfeedback.reading.drift import (
        Known as Known,
    )
    from agentfeedback.reading.log import (
        FileLog as FileLog,
    )
    from agentfeedback.reading.log import (
        Log as Log,
    )
    from agentfeedback.reading.log import (
        RowLog as RowLog,
    )
    from agentfeedback.reading.log import (
        UnreadableLog as UnreadableLog,
    )
    from agentfeedback.reading.log import (
        first_line as first_line,
    )
    from agentfeedback.reading.reader import (
        Encoding as Encoding,
    )
    from agentfeedback.reading.reader import (
        Home as Home,
    )
    from agentfeedback.reading.reader import (
        Place as Place,
    )
    from agentfeedback.reading.reader import (
        Reader as Reader,
    )
    from agentfeedback.reading.reader import (
        Report as Report,
    )
    from agentfeedback.reading.reader import (
        Session as Session,
    )
    from agentfeedback.reading.reader import (
        StoreState as StoreState,
    )
    from agentfeedback.reading.reader import (
        declared_paths as declared_paths,
    )
    from agentfeedback.reading.record import (
        INVALID as INVALID,
    )
    from agentfeedback.reading.record import (
        Raw as Raw,
    )
    from agentfeedback.reading.record import (
        Record as Record,
    )
    from agentfeedback.reading.record import (
        conform as conform,
    )
    from agentfeedback.reading.record import (
        decoder as decoder,
    )
    from agentfeedback.reading.record import (
        dumps as dumps,
    )
    from agentfeedback.reading.record import (
        loads as loads,
    )
    from agentfeedback.reading.record import (
        value as value,
    )
    from agentfeedback.reading.refs import (
        valid_id as valid_id,
    )
    from agentfeedback.reading.sink import (
        Sink as Sink,
    )
    from agentfeedback.reading.sink import (
        Status as Status,
    )
    from agentfeedback.reading.sqlite.database import (
        CHANGED as CHANGED,
    )
    from agentfeedback.reading.sqlite.database import (
        Snapshot as Snapshot,
    )
    from agentfeedback.reading.sqlite.database import (
        SqliteSnapshots as SqliteSnapshots,
    )
    from agentfeedback.reading.sqlite.database import (
        Stale as Stale,
    )

_MODULES = {
    "AgentFeedbackError": "agentfeedback.foundation.errors",
    "CHANGED": "agentfeedback.reading.sqlite.database",
    "Encoding": "agentfeedback.reading.reader",
    "Fields": "agentfeedback.reading.drift",
    "FileLog": "agentfeedback.reading.log",
    "Home": "agentfeedback.reading.reader",
    "INVALID": "agentfeedback.reading.record",
    "Known": "agentfeedback.reading.drift",
    "Log": "agentfeedback.reading.log",
    "Place": "agentfeedback.reading.reader",
    "Raw": "agentfeedback.reading.record",
    "Reader": "agentfeedback.reading.reader",
    "Record": "agentfeedback.reading.record",
    "Report": "agentfeedback.reading.reader",
    "RowLog": "agentfeedback.reading.log",
    "Session": "agentfeedback.reading.reader",
    "Sink": "agentfeedback.reading.sink",
    "Snapshot": "agentfeedback.reading.sqlite.database",
    "SqliteSnapshots": "agentfeedback.reading.sqlite.database",
    "Stale": "agentfeedback.reading.sqlite.database",
    "Status": "agentfeedback.reading.sink",
    "StoreState": "agentfeedback.reading.reader",
    "UnreadableLog": "agentfeedback.reading.log",
    "conform": "agentfeedback.reading.record",
    "declared_paths": "agentfeedback.reading.reader",
    "decoder": "agentfeedback.reading.record",
    "dumps": "agentfeedback.reading.record",
    "first_line": "agentfeedback.reading.log",
    "loads": "agentfeedback.reading.record",
    "open_regular": "agentfeedback.foundation.files",
    "reason_of": "agentfeedback.foundation.errors",
    "small_file": "agentfeedback.foundation.files",
    "times": "agentfeedback.foundation.times",
    "valid_id": "agentfeedback.reading.refs",
    "value": "agentfeedback.reading.record",
}
__all__ = [
    "CHANGED",
    "INVALID",
    "AgentFeedbackError",
    "Encoding",
    "Fields",
    "FileLog",
    "Home",
    "Known",
    "Log",
    "Place",
    "Raw",
    "Reader",
    "Record",
    "Report",
    "RowLog",
    "Session",
    "Sink",
    "Snapshot",
    "SqliteSnapshots",
    "Stale",
    "Status",
    "StoreState",
    "UnreadableLog",
    "conform",
    "declared_paths",
    "decoder",
    "dumps",
    "first_line",
    "loads",
    "open_regular",
    "reason_of",
    "small_file",
    "times",
    "valid_id",
    "value",
]
__getattr__ = lazy_names(__name__, _MODULES)
