"""`corpus label` at a real terminal, and `corpus check`."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_agentfeedback import labels
from pytest_agentfeedback.curation.labelling import placed
from pytest_agentfeedback.labels import Label

CORPORA = Path(__file__).parents[3] / "corpus"
PATIENCE = 30.0
KEY = "q quit > "
NOTE = "note > "


class Person:
    """Somebody at a terminal: waits for what the command asks, and types."""

    def __init__(self, site, *words: str) -> None:
        self._own, theirs = pty.openpty()
        self.seen = ""
        self._at = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest_agentfeedback", "corpus", "label", *words],
            cwd=site.folder,
            env={**os.environ, "PYTHONPATH": str(site.folder), "TERM": "dumb"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)

    def asked(self, prompt: str) -> Person:
        """Wait until the command asks."""
        end = time.monotonic() + PATIENCE
        while (found := self.seen.find(prompt, self._at)) < 0:
            assert self._read(end), f"it never asked {prompt!r}:\n{self.seen}"
        self._at = found + len(prompt)
        return self

    def types(self, text: str) -> Person:
        os.write(self._own, text.encode() + b"\n")
        return self

    def presses_ctrl_c(self) -> Person:
        """Press it, and again after a second: one that comes just before the terminal is waited on is only noted."""
        end = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < end:
            self._process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
        return self

    def waits(self) -> int:
        """The exit status of the command, once it has ended."""
        end = time.monotonic() + PATIENCE
        while self._read(end):
            continue
        os.close(self._own)
        return self._process.wait(PATIENCE)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._own], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            text = os.read(self._own, 4096)
        except OSError:  # the other end is closed
            return False
        self.seen += text.decode("utf-8", "replace")
        return bool(text)


def command(site, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest_agentfeedback", "corpus", *words],
        cwd=site.folder,
        env={**os.environ, "PYTHONPATH": str(site.folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def without(site, *names: str) -> str:
    """Take labels out of the tiny corpus; gives the whole text as it was."""
    text = site.labels.read_text()
    site.labels.write_text(
        labels.dumped(each for each in labels.load(site.labels) if each.name not in names)
    )
    return text


def test_person_gives_back_what_was_taken(site):
    """Labels that are asked for again land where they were: the file is the same, byte by byte."""
    text = without(site, "s1#c2", "s2#c3")

    person = Person(site, "corpus/tiny")
    person.asked(KEY).types("r").asked(NOTE).types("the same command again")
    person.asked(KEY).types("c").asked(NOTE).types("stopped by the user")
    status = person.waits()

    assert status == 0, person.seen
    assert site.labels.read_text() == text
    assert "tiny:s1#c2  in /srv/app" in person.seen
    assert "call     shell: error with exit code 2" in person.seen
    assert "input    make docs" in person.seen
    assert "prompt   fix the build" in person.seen
    assert "the same failing call came before" in person.seen
    assert "| no rule to make target docs" in person.seen
    assert "2 labels added" in person.seen


def test_session_without_times_comes_first(site):
    """A session that records no time is labelled like any other, before those that do."""
    timed = site.corpus / "home/.tiny/s1.jsonl"
    records = [json.loads(line) for line in timed.read_text().splitlines()]
    for record in records:
        del record["time"]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    timed.with_name("s9.jsonl").write_text(lines)

    person = Person(site, "corpus/tiny")
    person.asked(KEY).types("g").asked(NOTE).types("the target is gone").asked(KEY).types("q")
    status = person.waits()

    assert status == 0, person.seen
    assert labels.load(site.labels)[0].name == "s9#c1"


def test_note_is_required_and_keys_are_checked(site):
    """A key that is none, and an empty note, are asked for once more."""
    without(site, "s1#c3")

    person = Person(site, "corpus/tiny")
    person.asked(KEY).types("x").asked("not one of these keys").asked(KEY).types("e")
    person.asked(NOTE).types("  ").asked("a label needs a note").asked(NOTE).types("a  probe ")
    assert person.waits() == 0, person.seen

    assert labels.load(site.labels)[2] == Label("s1", "c3", "expected-failure", "a probe", line=4)


def test_class_the_digest_does_not_show_is_told(site):
    """A class that the reader does not report is said to be so, and kept only on demand."""
    without(site, "s1#c3")

    person = Person(site, "corpus/tiny")
    person.asked(KEY).types("d").asked("claims denial").asked("y/N > ").types("")
    person.asked(KEY).types("d").asked("y/N > ").types("y").asked(NOTE).types("refused")
    assert person.waits() == 0, person.seen

    assert labels.load(site.labels)[2].kind == "denial"


@pytest.mark.parametrize("end", ["q", "ctrl-c"])
def test_what_was_entered_is_kept(site, end):
    """Whoever quits, or presses Ctrl-C, keeps the labels entered so far; what was skipped stays open."""
    text = without(site, "s1#c1", "s1#c2", "s1#c3")

    person = Person(site, "corpus/tiny")
    person.asked(KEY).types("g").asked(NOTE).types("the docs name a target that is gone")
    person.asked(KEY).types("s").asked(KEY)
    status = (person.types("q") if end == "q" else person.presses_ctrl_c()).waits()

    assert status == 0, person.seen
    first = [line for line in text.splitlines(keepends=True) if "c2" not in line or '"s2"' in line]
    assert site.labels.read_text() == "".join(line for line in first if '"a probe"' not in line)
    assert [path.name for path in site.corpus.iterdir() if path.name.startswith(".")] == []


def test_log_cannot_steer_the_terminal(site):
    """What a log says is shown with its control characters spelt out."""
    log = site.corpus / "home" / ".tiny" / "s1.jsonl"
    log.write_text(log.read_text().replace("no rule to", r"no \u001b[2J rule to"))
    without(site, "s1#c1")

    person = Person(site, "corpus/tiny")
    person.asked(KEY).types("q")
    assert person.waits() == 0

    assert "\x1b[2J" not in person.seen
    assert r"no \x1b[2J rule to make target docs" in person.seen


def test_label_wants_a_terminal(site):
    """Without a terminal nobody can be asked: exit 2, one line, nothing changed."""
    status, out, err = command(site, "label", "corpus/tiny")

    assert (status, out) == (2, "")
    assert "run it at a terminal" in err


@pytest.mark.parametrize("harness", sorted(path.name for path in CORPORA.iterdir()))
def test_saving_nothing_changes_no_byte(harness):
    """The labels of the project are written as `label` writes them, in the order it keeps."""
    path = CORPORA / harness / "labels.json"

    assert labels.dumped(placed(labels.load(path), [], {})) == path.read_text(encoding="utf-8")


def test_new_labels_come_in_the_order_of_sessions_and_logs():
    """New labels go where sessions and logs put them, in whatever order they were given; what was there stays so."""

    def of(session: str, span: str) -> Label:
        return Label(session, span, "genuine-friction", "why")

    spans = [(session, f"c{at}") for session in ("s1", "s2", "s3", "s4") for at in range(5)]
    order = {key: place for place, key in enumerate(spans)}
    before = [of("s3", "c1"), of("s3", "c3"), of("s1", "c4")]
    given = [of("s4", "c0"), of("s2", "c1"), of("s1", "c0"), of("s3", "c2"), of("s3", "c4")]
    given += [of("s3", "c0"), of("s2", "c0")]

    names = [each.name for each in placed(before, given, order)]

    assert names == [
        *("s3#c0", "s3#c1", "s3#c2", "s3#c3", "s3#c4", "s1#c0", "s1#c4", "s2#c0", "s2#c1", "s4#c0"),
    ]


def test_good_corpus_checks_out(site):
    """A corpus with all labels and all classes is a row of numbers, and exit 0."""
    status, out, err = command(site, "check", "corpus/tiny")

    assert (status, err) == (0, "")
    header, row = out.splitlines()
    assert header.split() == [
        "HARNESS",
        "SESSIONS",
        "LABELLED",
        "UNLABELLED",
        "BROKEN",
        *labels.CLASSES,
    ]
    assert row.split() == ["tiny", "2", "6", "0", "0", *"111111"]


def test_each_thing_to_mend_is_named(site):
    """An event without a label, a label that does not hold and a class without an example: exit 1, all named."""
    without(site, "s2#c3")
    site.labels.write_text(site.labels.read_text().replace("self-noise", "denial"))

    status, out, err = command(site, "check", "corpus/tiny")

    assert status == 1
    assert out.splitlines()[1].split() == [
        "tiny",
        "2",
        "5",
        "1",
        "1",
        *"11",
        "none",
        "1",
        "1",
        "none",
    ]
    assert "s2: without a label: c3 shell interrupted" in err
    assert "label s2#c2 claims denial" in err
    assert re.search(r"edit corpus/tiny/labels.json:\d", err)


def test_json_says_the_same(site):
    """--json is one object with the members of the table and the faults."""
    without(site, "s2#c3")

    status, out, _ = command(site, "check", "corpus/tiny", "--json")

    (found,) = json.loads(out)["corpora"]
    assert status == 1
    assert found["harness"] == "tiny"
    assert (found["labelled"], found["unlabelled"], found["broken"]) == (5, 1, 0)
    assert found["missing"] == ["cancellation"]
    assert found["faults"] == ["s2: without a label: c3 shell interrupted:"]


def test_reader_without_a_corpus_is_named(site):
    """Without folders every installed reader that makes digests must have a corpus."""
    status, out, err = command(site, "check")

    assert status == 1
    rows = {line.split()[0] for line in out.splitlines()[1:]}
    assert {"tiny", "claude-code", "codex"} <= rows
    assert "cursor" not in rows
    assert "codex: a reader is installed, and no corpus is here" in err


def test_project_has_every_class_for_every_reader(site):
    """The project's own corpora hold all six classes for each reader that makes digests, where its logs can."""
    corpora = [str(each) for each in sorted(CORPORA.iterdir()) if each.name != "aider"]
    status, out, err = command(site, "check", *corpora)
    assert status == 0, err
    assert "none" not in out
    assert len(out.splitlines()) == 1 + len(corpora)

    status, out, err = command(site, "check", str(CORPORA / "aider"))
    assert (status, out.count("none")) == (1, 1)  # its histories hold no call that was cancelled
