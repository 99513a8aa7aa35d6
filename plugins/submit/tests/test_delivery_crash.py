"""Killed before and after every write of submit, flush, ingest and a change of the configuration: no report is lost, none doubled."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.config.edit import set_key
from agentfeedback.config.keys import KEYS
from agentfeedback.config.toml_text import toml
from agentfeedback.state.database import Database
from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions
from agentfeedback_submit.delivery.deliver import deliver
from agentfeedback_submit.delivery.destination import Local
from agentfeedback_submit.delivery.flush import FlushRun
from agentfeedback_submit.delivery.inbox import Inbox
from agentfeedback_submit.delivery.outcome_log import Line
from agentfeedback_submit.delivery.spool import CLAIM, Spool
from agentfeedback_submit.delivery.spool_entry import SpoolEntry, read
from agentfeedback_submit.filing.body import Body
from tests.support import killing

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def body(key: str) -> Body:
    return Body(
        b'{"kind":"note","key":"%s","summary":"s","payload":{}}' % key.encode(), "note", key
    )


class Elsewhere(Local):
    """A server whose database is written in this process, so that its commits are points to be killed at, too."""

    name = "https://x.example"

    def send(self, body: Body) -> ApiResponse:
        """Refuse what is called refused, be down for what is called down, take the rest."""
        if b"refused" in body.data:
            return ApiResponse(400, {"error": "bad_request", "message": "no"})
        if b"down" in body.data:
            return ApiResponse(503, {"error": "unavailable", "message": "not now"})
        return super().send(body)


class Scene:
    """A data folder and a server; each run gets a copy of both as they were before."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self.before = room / "before"
        self.now = self.before
        self.before.mkdir()
        self.late = 0
        self.there.send(body("other"))
        self.run = 0

    @property
    def there(self) -> Elsewhere:
        return Elsewhere(
            Service(SqliteSubmissions(Database(str(self.now / "server.db"), "submissions")))
        )

    @property
    def data(self) -> str:
        return str(self.now / "data")

    @property
    def spool(self) -> Spool:
        return Spool(self.data, now=lambda: time.time_ns() + self.late)

    def fresh(self) -> None:
        """The state before, in a folder of its own."""
        self.run += 1
        self.late = 0
        self.now = self.room / f"run-{self.run}"
        shutil.copytree(self.before, self.now)

    def flush(self) -> None:
        FlushRun(self.spool, self.there, _untold).run()

    def flush_later(self) -> None:
        """What a later pass does, when claims are stale and waits over."""
        self.late += 4000 * 10**9 + CLAIM
        self.flush()

    def keys(self) -> list[str]:
        """The reports the server has, but the one it had before."""
        listed = self.there.service.list([]).body["submissions"]
        return sorted(record["key"] for record in listed if record["key"] != "other")

    def files(self, folder: str) -> list[Path]:
        return sorted(path for path in (self.now / "data").glob(f"{folder}/af1-*"))

    def at_each_write(self, run: Callable[[Callable[[str], None]], None]) -> Iterator[bytes]:
        """Run in forks, each killed before the next write; yields what it had told by then.

        What is on the disk after one write is what is there before the next, and after the last
        one the run ends: so these are all states there are. The tracer stops before and after each.
        """
        for at in killing.points(2):
            self.fresh()

            def child(tell: int) -> None:
                run(lambda word: os.write(tell, word.encode()) and None)

            status, told, stops = killing.traced(child, at, calls=killing.CHANGING)
            yield told
            shutil.rmtree(self.now)
            if status != signal.SIGKILL:
                break
        assert status == 0 and told
        assert at - 2 * killing.STRIDE <= stops < at and stops > 8


def _untold(line: Line) -> None:
    pass


@pytest.fixture
def scene() -> Iterator[Scene]:
    killing.require_tracing()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="agentfeedback-", dir=memory) as folder:
        yield Scene(Path(folder))


def test_submit_that_is_delivered(scene: Scene) -> None:
    """From the first file on the report is delivered in the end, once; one that was announced is there at once."""

    def run(tell: Callable[[str], None]) -> None:
        tell(deliver(body("k"), scene.there, scene.spool).outcome)

    ends = set()
    for told in scene.at_each_write(run):
        assert told in (b"", b"submitted")
        assert not told or scene.keys() == ["k"]
        written, delivered = bool(scene.files("spool")), scene.keys() == ["k"]
        scene.flush_later()
        assert scene.keys() == (["k"] if written or delivered else [])
        assert scene.files("spool") == []
        ends.add((written, bool(told), tuple(scene.keys())))
        assert deliver(body("k"), scene.there, scene.spool).outcome in ("submitted", "duplicate")
        assert scene.keys() == ["k"]
    assert {(False, False, ()), (True, False, ("k",)), (False, True, ("k",))} <= ends


def test_submit_that_is_kept(scene: Scene) -> None:
    """A report that was announced as spooled is in the spool; so is one that was written and not announced."""

    def run(tell: Callable[[str], None]) -> None:
        tell(deliver(body("down"), scene.there, scene.spool).outcome)

    for told in scene.at_each_write(run):
        assert told in (b"", b"spooled")
        files = scene.files("spool")
        assert len(files) == 1 if told else len(files) <= 1
        for path in files:
            assert read(path.read_bytes()).body.data == body("down").data
        scene.flush_later()
        assert len(scene.files("spool")) == len(files)


def test_submit_that_is_refused(scene: Scene) -> None:
    """It is in rejected/ in the end, once, whenever it was written at all."""

    def run(tell: Callable[[str], None]) -> None:
        tell(deliver(body("refused"), scene.there, scene.spool).outcome)

    for told in scene.at_each_write(run):
        written = len(
            {path.name[:40] for path in (*scene.files("spool"), *scene.files("rejected"))}
        )
        assert written == 1 if told else written <= 1
        scene.flush_later()
        assert (len(scene.files("rejected")), scene.files("spool")) == (written, [])


def test_submit_into_the_database_of_this_machine_that_fails(scene: Scene) -> None:
    """A report for this machine that cannot be stored is in the spool when that was announced."""

    def run(tell: Callable[[str], None]) -> None:
        local = Local(Service(SqliteSubmissions(Database(str(scene.now), "submissions"))))
        tell(deliver(body("k"), local, scene.spool).outcome)

    for told in scene.at_each_write(run):
        files = scene.files("spool")
        assert len(files) == 1 if told else len(files) <= 1
        scene.late = 4000 * 10**9 + CLAIM
        here = Local(scene.there.service)
        FlushRun(scene.spool, here, _untold).run()
        assert scene.keys() == ["k"] * len(files) and scene.files("spool") == []


def test_flush(scene: Scene) -> None:
    """Whatever each of several entries comes to, it comes to that once, whether a pass was killed or not."""
    spool = scene.spool
    for key in ("a", "b", "refused", "down"):
        spool.release(spool.hold(SpoolEntry(body(key), scene.there.name, time.time_ns())))
    old = SpoolEntry(
        Body(b'{"kind":"friction","key":"old"}', "friction", "old"), scene.there.name, 10**18
    )
    spool.release(spool.hold(old))
    Path(spool.folder, "af1-20260101T000000.000000000Z-00000000.json").write_bytes(b'{"v":1')

    def run(tell: Callable[[str], None]) -> None:
        scene.flush()
        tell("done")

    for told in scene.at_each_write(run):
        if told:
            assert scene.keys() == ["a", "b"]
            assert (len(scene.files("spool")), len(scene.files("rejected"))) == (1, 3)
        scene.flush_later()
        assert scene.keys() == ["a", "b"]
        (left,) = scene.files("spool")
        assert b'"key":"down"' in left.read_bytes()
        assert len(scene.files("rejected")) == 3


def test_ingest(scene: Scene) -> None:
    """Every dropped file is filed once, or put aside once with its reason, whether a pass was killed or not."""
    inbox = scene.before / "data/inbox"
    inbox.mkdir(parents=True)
    for name, text in (
        ("a", '{"kind":"note","summary":"a"}'),
        ("b", '{"kind":"note","key":"b"}'),
        ("c", "{"),
        ("d", '{"kind":"note","key":"refused"}'),
    ):
        (inbox / f"{name}.json").write_text(text)
        os.utime(inbox / f"{name}.json", (0, 0))

    def ingest() -> None:
        Inbox(scene.data, scene.there, _untold).run()

    def run(tell: Callable[[str], None]) -> None:
        ingest()
        tell("done")

    def names(folder: str) -> list[str]:
        return sorted(path.name for path in (scene.now / "data/inbox" / folder).glob("[!.]*.*"))

    ends = (["2-a.json", "3-b.json"], ["c.json", "c.json.reason", "d.json", "d.json.reason"])
    for told in scene.at_each_write(run):
        assert not told or (names("done"), names("rejected")) == ends
        kept = {
            name.rpartition("-")[2] for name in (*names(""), *names("done"), *names("rejected"))
        }
        assert {"a.json", "b.json", "c.json", "d.json"} <= kept
        ingest()
        assert len(scene.keys()) == 2 and names("") == []
        assert (names("done"), names("rejected")) == ends


def test_change_of_the_configuration(scene: Scene) -> None:
    """The file is the old one or the new one, whole, and the next change finds its way."""
    path = scene.before / "config.toml"
    old = "# mine\n[sessions]\nquiet = '1h' # long\n"
    path.write_text(old)

    def change(value: str) -> None:
        set_key(str(scene.now / "config.toml"), KEYS["sessions.quiet"], value)

    def run(tell: Callable[[str], None]) -> None:
        change("2h")
        tell("done")

    change_in_this_process: Any = sys.modules.get("tomlkit")
    if change_in_this_process is None:  # its import writes no file then
        import tomlkit  # noqa: F401
    seen = set()
    for told in scene.at_each_write(run):
        text = (scene.now / "config.toml").read_text()
        seen.add(text)
        assert text in (old, old.replace("'1h'", '"2h"')) and (not told or text != old)
        change("3h")
        assert toml((scene.now / "config.toml").read_bytes()) == {"sessions": {"quiet": "3h"}}
    assert len(seen) == 2
