"""`corpus add`: takes a session from a store into a corpus."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError, reason_of
from agentfeedback.terminal.screen import note as say
from agentfeedback.terminal.screen import visible, write
from pytest_agentfeedback import labels
from pytest_agentfeedback.corpus import Corpus, CorpusError, Laid
from pytest_agentfeedback.curation.filler import Filler
from pytest_agentfeedback.curation.names import Names, pairs
from pytest_agentfeedback.curation.placing import Placing
from pytest_agentfeedback.curation.taking import Taken, take

_COMPARED = ("prompts", "tool_calls", "tool_errors", "interrupts", "denials")
#: A session of more records is hard to read in a corpus.
_SHORT = 40


@frozen
class Wish:
    """What a maintainer asked for: the flags of `corpus add`."""

    ref: str
    home: str | None = None
    to: str = "corpus"
    rename: Sequence[str] = ()
    drop: Sequence[str] = ()
    whole: bool = False
    allow_unknown: bool = False


def add(wish: Wish, environ: Mapping[str, str]) -> int:
    """Take the session, write its files, and tell what is to be labelled; raises AgentFeedbackError."""
    try:
        given = pairs(wish.rename)
    except ValueError as error:
        raise UsageError(str(error), "give the old and the new name") from None
    taken = take(wish.ref, environ, home=wish.home, allow_unknown=wish.allow_unknown)
    names = _names(taken, given, environ)
    placing = Placing(taken, names, Filler(taken.formats), wish.drop, wish.whole)
    files = placing.files()
    corpus = Corpus(Path(wish.to, taken.session.harness))
    with tempfile.TemporaryDirectory(prefix="agentfeedback-") as name:
        folder = Path(os.path.realpath(name))
        _refuse_second(corpus, taken, files, folder)
        digest = _staged(taken, files, folder)
    _write(corpus, files)
    _notes(placing, digest)
    shown = [f"{corpus.home / path}\n" for path in files]
    missing = labels.unlabelled([], digest)
    if missing:
        shown += ["\nwithout a label:\n", *(f"  {visible(each)}\n" for each in missing)]
    word = "label" if missing else "check"
    write(
        "".join((*shown, f"\nnext: python -m pytest_agentfeedback corpus {word} {corpus.folder}\n"))
    )
    return 0


def _names(taken: Taken, given: Sequence[tuple[str, str]], environ: Mapping[str, str]) -> Names:
    encodings = taken.place.encodings
    host = socket.gethostname()
    return Names(
        home=taken.home,
        own=taken.own_home,
        directories=[*taken.place.paths, *taken.facts.cwds],
        user=environ.get("USER", "") or environ.get("LOGNAME", ""),
        hosts=[host, host.partition(".")[0]],
        given=given,
        encoded=(lambda path: (each.name for each in encodings(path))) if encodings else None,
    )


def _refuse_second(corpus: Corpus, taken: Taken, files: Mapping[str, bytes], folder: Path) -> None:
    """A corpus never loses what it has: no file of it is overwritten, and no session comes twice."""
    log = next(iter(files))
    for path, content in files.items():
        there = corpus.home / path
        # Sessions of one project may share what is beside them.
        if os.path.lexists(there) and (path == log or there.read_bytes() != content):
            raise AgentFeedbackError(
                f"{there}: it is there already", "remove it first, or use another --rename"
            )
    if corpus.home.is_dir():
        try:
            sessions = Laid(corpus, folder / "there").sessions
        except CorpusError as error:
            raise AgentFeedbackError(f"{corpus.folder}: {error}") from None
        if taken.session.id in sessions:
            raise AgentFeedbackError(
                f"{corpus.folder}: it has a session {taken.session.id} already", "remove it first"
            )


def _staged(taken: Taken, files: Mapping[str, bytes], folder: Path) -> dict[str, Any]:
    """The digest of the session as a corpus of its own: proof that its reader finds and reads it."""
    corpus = Corpus(folder / taken.session.harness)
    for path, content in files.items():
        there = corpus.home / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
    id = taken.session.id
    try:
        laid = Laid(corpus, folder / "laid")
        digest, why = laid.digests.get(id), laid.failed.get(id, "its reader does not find it")
    except CorpusError as error:
        digest, why = None, str(error)
    if digest is None:
        raise AgentFeedbackError(
            f"{taken.session.ref}: as a corpus session it has no digest: {why}",
            "use another --rename, or add it by hand",
        )
    return digest


def _write(corpus: Corpus, files: Mapping[str, bytes]) -> None:
    """Write all files or none; a `labels.json` without labels where there is none."""
    made: list[Path] = []
    wanted = {corpus.home / path: content for path, content in files.items()}
    if not corpus.labels.exists():
        wanted[corpus.labels] = labels.dumped([]).encode()
    try:
        for there, content in wanted.items():
            if there.exists():  # what sessions of one project share
                continue
            there.parent.mkdir(parents=True, exist_ok=True)
            with there.open("xb") as file:
                made.append(there)
                file.write(content)
    except OSError as error:
        for there in made:
            there.unlink(missing_ok=True)
        raise AgentFeedbackError(f"{error.filename}: {reason_of(error)}") from error


def _notes(placing: Placing, digest: Mapping[str, Any]) -> None:
    """Tell on standard error what was changed, and what a person should look at."""
    taken = placing.taken
    for (old, new), times in sorted(placing.names.counts.items()):
        note(f"renamed {old} to {new} ({times})")
    if placing.filler.count:
        note(f"made {placing.filler.count} secrets inert")
    if placing.left_out:
        note(f"left out {placing.left_out} records; --whole keeps all but those of --drop")
        if taken.by_offset:
            note("spans that are byte offsets have moved; --whole keeps them")
    if placing.grown:
        note(f"warning: {placing.grown} lines grew, so spans that are byte offsets have moved")
    for path, left in sorted(placing.remains.items()):
        note(f"warning: {path} still holds {', '.join(sorted(left))}; see --rename")
    for name in _COMPARED:
        before, after = getattr(taken.facts.counts, name), digest["counts"][name]
        if before != after:
            note(f"warning: {name.replace('_', ' ')}: {before} in the store, {after} in the corpus")
    if digest["truncated"]:
        note("warning: its digest is truncated, so not all of it can be labelled; shorten it")
    elif (records := len(taken.lines) - placing.left_out) > _SHORT:
        note(f"it has {records} records; shorten what is long, and its outputs, by hand")


def note(sentence: str) -> None:
    """One line on standard error."""
    say(f"corpus add: {visible(sentence)}")
