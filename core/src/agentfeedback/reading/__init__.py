"""What authors of readers import; everything else of this package may change without notice.

Name by name in `docs/reference/readers.md`.
"""

from __future__ import annotations

from agentfeedback.foundation.lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.foundation import times
    from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
    from agentfeedback.foundation.files import open_regular, small_file
    from agentfeedback.reading.blocks import UnreadableLog
    from agentfeedback.reading.document import DocumentLog, ManyFilesLog
    from agentfeedback.reading.drift import Fields, Known
    from agentfeedback.reading.log import FileLog, Log, RowLog, first_line
    from agentfeedback.reading.reader import (
        Encoding,
        Home,
        Place,
        Reader,
        Report,
        Session,
        StoreState,
        declared_paths,
    )
    from agentfeedback.reading.record import (
        INVALID,
        Raw,
        Record,
        conform,
        decoder,
        dumps,
        last_line,
        lines_above,
        loads,
        value,
    )
    from agentfeedback.reading.refs import valid_id
    from agentfeedback.reading.sink import Sink, Status, TroubleKind
    from agentfeedback.reading.sqlite.database import CHANGED, Snapshot, SqliteSnapshots, Stale
    from agentfeedback.reading.sqlite.rows import SqliteLog
    from agentfeedback.reading.text import TextLine, TextLog, text_lines

_MODULES = {
    "AgentFeedbackError": "agentfeedback.foundation.errors",
    "CHANGED": "agentfeedback.reading.sqlite.database",
    "DocumentLog": "agentfeedback.reading.document",
    "Encoding": "agentfeedback.reading.reader",
    "Fields": "agentfeedback.reading.drift",
    "FileLog": "agentfeedback.reading.log",
    "Home": "agentfeedback.reading.reader",
    "INVALID": "agentfeedback.reading.record",
    "Known": "agentfeedback.reading.drift",
    "Log": "agentfeedback.reading.log",
    "ManyFilesLog": "agentfeedback.reading.document",
    "Place": "agentfeedback.reading.reader",
    "Raw": "agentfeedback.reading.record",
    "Reader": "agentfeedback.reading.reader",
    "Record": "agentfeedback.reading.record",
    "Report": "agentfeedback.reading.reader",
    "RowLog": "agentfeedback.reading.log",
    "Session": "agentfeedback.reading.reader",
    "Sink": "agentfeedback.reading.sink",
    "Snapshot": "agentfeedback.reading.sqlite.database",
    "SqliteLog": "agentfeedback.reading.sqlite.rows",
    "SqliteSnapshots": "agentfeedback.reading.sqlite.database",
    "TextLine": "agentfeedback.reading.text",
    "TextLog": "agentfeedback.reading.text",
    "text_lines": "agentfeedback.reading.text",
    "Stale": "agentfeedback.reading.sqlite.database",
    "Status": "agentfeedback.reading.sink",
    "TroubleKind": "agentfeedback.reading.sink",
    "StoreState": "agentfeedback.reading.reader",
    "UnreadableLog": "agentfeedback.reading.blocks",
    "conform": "agentfeedback.reading.record",
    "declared_paths": "agentfeedback.reading.reader",
    "decoder": "agentfeedback.reading.record",
    "dumps": "agentfeedback.reading.record",
    "first_line": "agentfeedback.reading.log",
    "last_line": "agentfeedback.reading.record",
    "lines_above": "agentfeedback.reading.record",
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
    "DocumentLog",
    "Encoding",
    "Fields",
    "FileLog",
    "Home",
    "Known",
    "Log",
    "ManyFilesLog",
    "Place",
    "Raw",
    "Reader",
    "Record",
    "Report",
    "RowLog",
    "Session",
    "Sink",
    "Snapshot",
    "SqliteLog",
    "SqliteSnapshots",
    "Stale",
    "Status",
    "StoreState",
    "TextLine",
    "TextLog",
    "TroubleKind",
    "UnreadableLog",
    "conform",
    "declared_paths",
    "decoder",
    "dumps",
    "first_line",
    "last_line",
    "lines_above",
    "loads",
    "open_regular",
    "reason_of",
    "small_file",
    "text_lines",
    "times",
    "valid_id",
    "value",
]
__getattr__ = lazy_names(__name__, _MODULES)
