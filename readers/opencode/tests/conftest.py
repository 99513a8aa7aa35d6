"""Databases of a few rows for the tests, built from the SQL beside this file, and what the readers tell of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.reading.log import Log
from agentfeedback.reading.reader import Home, Place, Reader, Report, Session
from agentfeedback.reading.tally import Tally
from agentfeedback.reading.timeline import Timeline
from agentfeedback.wire.encode import plain
from agentfeedback_opencode.reader import OpenCodeV1, OpenCodeV2

#: 2026-03-01T10:00:00Z in milliseconds; what is built later gets later times.
T0 = 1_772_359_200_000


class Database:
    """A database being written as OpenCode does it: in WAL mode, each row committed by itself."""

    def __init__(self, path: Path, sql: str = "v1.sql") -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA wal_autocheckpoint = 0")
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.executescript((Path(__file__).parent / sql).read_text())
        self.clock = T0

    def put(self, table: str, **columns: Any) -> None:
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        self.connection.execute(
            f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", tuple(columns.values())
        )

    def session(self, id: Any = "ses_1", directory: Any = "/srv/app", **more: Any) -> None:
        columns = {"id": id, "slug": "s", "directory": directory, "version": "1"}
        columns |= {"time_created": T0, "time_updated": T0 + 5000, "project_id": "p", "title": "t"}
        self.put(more.pop("table", "session"), **columns | more)

    def message(self, id: str, data: Any, session: str = "ses_1", created: int = 0) -> None:
        self.clock += 1000
        times = {"time_created": created or self.clock, "time_updated": self.clock}
        self.put("message", id=id, session_id=session, **times, data=text(data))

    def part(self, id: str, message: str, data: Any, session: str = "ses_1") -> None:
        times = {"time_created": self.clock, "time_updated": self.clock}
        row = {"id": id, "message_id": message, "session_id": session, "data": text(data)}
        self.put("part", **row, **times)

    def user(self, id: str, *said: str) -> None:
        self.message(id, {"role": "user", "time": {"created": T0 + 1}})
        for number, words in enumerate(said):
            self.part(f"prt_{id}_{number}", id, {"type": "text", "text": words})

    def assistant(self, id: str, *parts: dict[str, Any], done: bool = True, **more: Any) -> None:
        time = {"created": T0 + 2} | ({"completed": T0 + 3} if done else {})
        message = {"role": "assistant", "time": time, "modelID": "m-1", "path": {"cwd": "/srv/app"}}
        self.message(id, message | more)
        for number, part in enumerate(parts):
            self.part(f"prt_{id}_{number}", id, part)

    def message_v2(self, id: str, type: str, seq: int, session: str = "ses_1", **data: Any) -> None:
        row = {"id": id, "session_id": session, "type": type, "seq": seq}
        data.setdefault("time", {"created": T0 + seq})
        self.put("session_message", **row, time_created=T0, time_updated=T0, data=text(data))

    def rest(self) -> None:
        """Close it: the write-ahead log goes into the database, and away."""
        self.connection.close()


def text(data: Any) -> Any:
    return json.dumps(data, separators=(",", ":")) if isinstance(data, (dict, list)) else data


def tool(status: str = "completed", name: str = "bash", **state: Any) -> dict[str, Any]:
    state = {"status": status, "input": {"command": "make"}, "time": {"start": T0 + 9}} | state
    return {"type": "tool", "tool": name, "callID": "call_1", "state": state}


class Store:
    """The data directory of OpenCode below a temporary home, read as the engine does."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cache = home.parent / f"{home.name}-cache"
        self.directory = home / ".local" / "share" / "opencode"
        self.open: list[Database] = []

    def database(self, name: str = "opencode.db", sql: str = "v1.sql") -> Database:
        self.open.append(Database(self.directory / name, sql))
        return self.open[-1]

    def find(
        self, harness: str = "opencode-v1", environ: dict[str, str] | None = None
    ) -> tuple[dict[str, Session], Report]:
        return self.find_in(Home(str(self.home), environ or {}, str(self.cache)), harness)

    def find_in(self, home: Home, harness: str) -> tuple[dict[str, Session], Report]:
        report = Report(harness)
        return {s.id: s for s in READERS[harness].find(home, report)}, report

    def lines_of(self, session: Session) -> list[bytes]:
        return lines(session)

    def told(self, session: Session) -> Timeline:
        return told(session)

    def lines(self, id: str = "ses_1", harness: str = "opencode-v1") -> list[bytes]:
        return lines(self.find(harness)[0][id])

    def read(self, id: str = "ses_1", harness: str = "opencode-v1") -> Timeline:
        return told(self.find(harness)[0][id])


READERS: dict[str, Reader] = {"opencode-v1": OpenCodeV1(), "opencode-v2": OpenCodeV2()}


def lines(session: Session) -> list[bytes]:
    log = READERS[session.harness].open(session)
    try:
        return list(log.complete_lines())
    finally:
        log.close()


def told(session: Session, start: int = 0) -> Timeline:
    """What a session tells; the two kinds of timeline agree on every count."""
    timeline, tally = Timeline(clip=lambda text, size: text[:size], start=start), Tally()
    reader = READERS[session.harness]
    for sink in (timeline, tally):
        log = reader.open(session)
        try:
            reader.read(log, reader.place(session, strict=True), sink)
        finally:
            log.close()
    if not start:
        assert plain(timeline.counts()) == plain(tally.counts())
    return timeline


def told_of(log: Log, harness: str = "opencode-v1", start: int = 0) -> Timeline:
    timeline = Timeline(clip=lambda text, size: text[:size], start=start)
    READERS[harness].read(log, Place(paths=("/srv/app",)), timeline)
    return timeline


def view(timeline: Timeline) -> list[tuple[Any, ...]]:
    """All a timeline tells of entries and calls."""
    shown: list[tuple[Any, ...]] = []
    for entry in timeline.entries:
        shown.append((entry.offset, entry.span, entry.at, entry.kind, entry.summary))
        for call in entry.calls:
            result = (call.status, call.result_offset, call.exit_code, call.excerpt)
            shown.append((call.offset, call.span, call.tool, call.args_digest, *result))
    return shown


class OpenCode:
    """What tests of laws need, independent of a temporary folder."""

    T0 = T0
    Database = Database
    Store = Store
    lines = staticmethod(lines)
    told = staticmethod(told)
    place = staticmethod(lambda s: READERS[s.harness].place(s, strict=True))
    told_of = staticmethod(told_of)
    tool = staticmethod(tool)
    view = staticmethod(view)


@pytest.fixture(scope="session")
def opencode() -> type[OpenCode]:
    return OpenCode


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "home")
    yield made
    for database in made.open:
        database.rest()


@pytest.fixture(scope="session")
def real(real: Path) -> Path:
    """The folder of databases OpenCode wrote, with what truly happened."""
    return real / "opencode-v1"
