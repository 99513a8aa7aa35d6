"""A corpus on disk and the copies tests work on.

`<corpus>/home/…` is what a reader's `find` sees as the home, `<corpus>/labels.json` says what each
failure in it is; the folder is named as the harness. A copy has the same names, bytes and links;
`X.sql` becomes the SQLite database `X` that this SQL text builds, so that a corpus stays text. All
times are fixed, in byte order of the paths: a checkout's own times never change an outcome.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_agentfeedback import command

#: The time of the first file of a copy (2026-01-05T09:00:00Z), in nanoseconds; each next one is a minute later.
FIRST_TIME = 1_767_603_600 * 1_000_000_000
_MINUTE = 60 * 1_000_000_000
#: What goldens say in place of the copy's home.
SHOWN_HOME = "/home/user"
_SQL = ".sql"


class Corpus:
    """The corpus in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.harness = folder.name
        self.home = folder / "home"
        self.labels = folder / "labels.json"


class Laid:
    """A copy of a corpus below `base`, with a caller's home of its own beside it.

    What commands print about it is kept: the copy is not to be changed once one was run.
    """

    def __init__(self, corpus: Corpus, base: Path) -> None:
        self.corpus = corpus
        self.base = base
        self.home = base / "home"
        self.caller = base / "caller"
        self.caller.mkdir(parents=True)
        if not corpus.home.is_dir():
            raise CorpusError(
                f"{corpus.folder}: a corpus has a folder `home`, which is missing here"
            )
        lay_out(corpus.home, self.home)

    def run(self, *words: str) -> command.Outcome:
        """One command line about this copy (`--home` is added)."""
        return command.run([*words, "--home", str(self.home)], command.environment(self.caller))

    def configure(self, text: str) -> None:
        """Write the caller's `config.toml`."""
        folder = self.caller / "config" / "agentfeedback"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text, encoding="utf-8")

    def shown(self, stdout: bytes) -> bytes:
        """Standard output with the home of this copy named `/home/user`, so that no machine's path is in it."""
        return stdout.replace(_in_json(str(self.home)), _in_json(SHOWN_HOME))

    @cached_property
    def listing(self) -> bytes:
        """What `sessions list --harness … --json` prints, with the home as `shown`."""
        outcome = self.run("sessions", "list", "--harness", self.corpus.harness, "--json")
        if outcome.status:
            raise CorpusError(f"sessions list exits {outcome.status}: {outcome.stderr.strip()}")
        return self.shown(outcome.stdout)

    @cached_property
    def sessions(self) -> list[str]:
        """The ids of the listed sessions, in the order of the list."""
        return [session["session_id"] for session in json.loads(self.listing)["sessions"]]

    def digest(self, id: str) -> bytes:
        """What `sessions digest <ref> --json` prints for one session, with the home as `shown`."""
        return self.shown(self.run("sessions", "digest", self._ref(id), "--json").stdout)

    @cached_property
    def digests(self) -> dict[str, dict[str, Any]]:
        """The digest of every session by id, made by as few command lines as the run cap allows."""
        return self._digested[0]

    @cached_property
    def failed(self) -> dict[str, str]:
        """Why a session that should have a digest has none, by id."""
        return self._digested[1]

    @cached_property
    def _digested(self) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        found: dict[str, dict[str, Any]] = {}
        failed: dict[str, str] = {}
        refs = [self._ref(id) for id in self.sessions]
        while refs:
            outcome = self.run("sessions", "digest", *refs, "--json", "--allow-unknown-project")
            if not outcome.stdout:
                raise CorpusError(
                    f"sessions digest exits {outcome.status}: {outcome.stderr.strip()}"
                )
            run = json.loads(outcome.stdout)
            found.update((digest["session_id"], digest) for digest in run["sessions"])
            for error in run["errors"]:
                if error["state"] == "unreadable":
                    failed[error["ref"].partition(":")[2]] = error["message"]
            refs = run["deferred"] if run["sessions"] else []
        return found, failed

    def _ref(self, id: str) -> str:
        return f"{self.corpus.harness}:{id}"


class CorpusError(Exception):
    """A corpus that commands cannot work on; the text says what they answered."""


class Bench:
    """Temporary copies of the corpora of one test run, and where goldens and corpora are relative to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._laid: dict[Path, Laid] = {}
        self._made = 0

    @cached_property
    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="agentfeedback-", ignore_cleanup_errors=True)

    def fresh(self) -> Path:
        """A new empty folder that goes when the run ends."""
        self._made += 1
        folder = Path(os.path.realpath(self._folder.name), str(self._made))
        folder.mkdir()
        return folder

    def laid(self, folder: Path) -> Laid:
        """The copy of a corpus that all share who change nothing in it."""
        if folder not in self._laid:
            self._laid[folder] = self.lay(folder)
        return self._laid[folder]

    def lay(self, folder: Path) -> Laid:
        """A copy of a corpus of one's own."""
        return Laid(Corpus(folder), self.fresh())

    def close(self) -> None:
        """Remove what was made."""
        if "_folder" in self.__dict__:
            self._folder.cleanup()


def lay_out(source: Path, home: Path) -> None:
    """Copy a corpus home, build its databases, and fix all times."""
    shutil.copytree(source, home, symlinks=True)
    for text in sorted(home.rglob(f"*{_SQL}")):
        _build(text)
    fix_times(home)


def fix_times(home: Path) -> None:
    """Give all files below `home` fixed times in byte order of their paths, and directories the first of them."""
    files: list[str] = []
    for folder, directories, names in os.walk(home):
        files += (os.path.join(folder, name) for name in names)
        for directory in directories:
            _stamp(os.path.join(folder, directory), FIRST_TIME)
    for index, path in enumerate(sorted(files, key=os.fsencode)):
        _stamp(path, FIRST_TIME + index * _MINUTE)


def _stamp(path: str, moment: int) -> None:
    os.utime(path, ns=(moment, moment), follow_symlinks=os.utime not in os.supports_follow_symlinks)


def _build(text: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(text.with_suffix(""))) as database:
        database.executescript(text.read_text(encoding="utf-8"))
        database.commit()
    text.unlink()


def _in_json(path: str) -> bytes:
    return json.dumps(path, ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")
