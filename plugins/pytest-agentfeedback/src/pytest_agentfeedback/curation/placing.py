"""What a session becomes in a corpus: its files by path below `home`, renamed, without secrets, and checked again."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from typing import Any

from attrs import define, field

from agentfeedback.foundation.errors import AgentFeedbackError
from pytest_agentfeedback.curation import rows, shed
from pytest_agentfeedback.curation.filler import Filler
from pytest_agentfeedback.curation.names import Names
from pytest_agentfeedback.curation.rewriting import Rewriting, is_json, padded
from pytest_agentfeedback.curation.taking import Taken

_SQL = ".sql"
_ZST = ".zst"


@define(eq=False)
class Placing:
    """Makes the corpus files of one session. With `whole` nothing but what `drop` names is left out."""

    taken: Taken
    names: Names
    filler: Filler
    drop: Collection[str] = ()
    whole: bool = False
    #: Records of the log that were left out, and lines that grew by bytes.
    left_out: int = 0
    grown: int = 0
    #: Old names that are still inside words, by file.
    remains: dict[str, set[str]] = field(factory=dict)

    def files(self) -> dict[str, bytes]:
        """The files by path relative to `home`; raises AgentFeedbackError when a secret would be among them."""
        taken = self.taken
        path = self._path(taken.session.path)
        if taken.rows:
            stem, extension = os.path.splitext(path)
            path = f"{stem}-{taken.session.id}{extension}{_SQL}"
            return {path: self._database(path).encode()}
        content = b"".join(
            line + b"\n"
            for number, raw in enumerate(taken.lines, 1)
            if (line := self._line(path, number, raw)) is not None
        )
        if not content:
            raise AgentFeedbackError(
                f"{taken.session.ref}: none of its records is left", "see --whole and --drop"
            )
        found = {path: _compressed(content) if path.endswith(_ZST) else content}
        for beside, text in taken.beside.items():
            name = self._path(beside)
            found[name] = self._rewriting.line(text)
            self._checked(name, 1, found[name].decode("utf-8", "replace"))
        return found

    @property
    def _rewriting(self) -> Rewriting:
        return Rewriting(self._text, self.filler.empties)

    def _text(self, name: str | None, text: str) -> str:
        renamed = self.names.text(text)
        return self.filler.text(renamed) if name is None else self.filler.member(name, renamed)

    def _path(self, path: str) -> str:
        taken = self.taken
        relative = os.path.relpath(path, taken.store)
        if relative == ".":  # the store is this one file
            relative = os.path.basename(path)
        parts = os.path.normpath(os.path.join(taken.default_store, relative)).split(os.sep)
        # The id names the session: it stays, whatever it is made of.
        return os.path.join(
            *(part if taken.session.id in part else self.names.text(part) for part in parts)
        )

    def _line(self, path: str, number: int, raw: bytes) -> bytes | None:
        kept = self._kept(raw)
        if kept is None:
            self.left_out += 1
            return None
        line = self._rewriting.line(kept)
        self._checked(path, number, line.decode("utf-8", "replace"))
        if self.taken.by_offset and kept == raw:
            line = padded(line, len(raw))
            self.grown += len(line) > len(raw)
        return line

    def _kept(self, raw: bytes) -> bytes | None:
        """What stays of a record: its own bytes, unless something of it goes."""
        text = raw.decode("utf-8", "replace")
        if not is_json(text):
            return raw
        record = json.loads(text)
        if shed.dropped(record, self.drop):
            return None
        if self.whole:
            return raw
        kept = shed.shed(self.taken.session.harness, record)
        if kept is None:
            return None
        return raw if kept == json.loads(text) else _dumped(kept).encode("utf-8", "replace")

    def _database(self, path: str) -> str:
        taken = self.taken
        wanted = None if self.whole else shed.COLUMNS.get(taken.session.harness)
        number = 0

        def change(table: str, row: dict[str, object]) -> dict[str, object] | None:
            nonlocal number
            number += 1
            kept = {name: self._value(name, value) for name, value in row.items()}
            if table in self.drop or any(
                value is None and row[name] for name, value in kept.items()
            ):
                self.left_out += 1
                return None
            for value in kept.values():
                if isinstance(value, str):
                    self._checked(path, number, value)
            if self.filler.finds_in(kept):
                raise _secret(path, number)
            return kept

        return rows.sql(taken.session.path, taken.session.id, wanted, change, taken.session.id)

    def _value(self, name: str, value: object) -> object:
        """A value of a column; None in place of one drops the row."""
        if not isinstance(value, str):
            return value
        if not is_json(value):
            return self._text(name, value)
        kept = self._kept(value.encode("utf-8", "surrogateescape"))
        return None if kept is None else self._rewriting.line(kept).decode()

    def _checked(self, path: str, number: int, text: str) -> None:
        value: Any = json.loads(text) if is_json(text) else text
        if self.filler.finds_in(value):
            raise _secret(path, number)
        if left := self.names.left(text):
            self.remains.setdefault(path, set()).update(left)


def _secret(path: str, number: int) -> AgentFeedbackError:
    return AgentFeedbackError(
        f"{path}: record {number} still looks as if it held a secret, so nothing was written",
        "leave the record out with --drop, or write the session by hand",
    )


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _compressed(content: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_content_size=True).compress(content)
