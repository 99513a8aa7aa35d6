"""The kit holds readers of documents and of many files to the same laws as those of lines."""

from __future__ import annotations

import json
import textwrap

import pytest

_DOCUMENT = '''
"""Tiny again, with each session in one JSON document."""

from agentfeedback.reading import DocumentLog, Place

from .reader import Tiny


class Whole(Tiny):
    def find(self, home, report):
        store = home.directory("TINY_HOME", ".tiny")
        report.store(store)
        for file in report.files(store, root=True):
            if file.name.endswith(".json"):
                session = report.session(file, file.name.removesuffix(".json"))
                if session is not None:
                    yield session

    def place(self, session, *, strict):
        return Place()

    def open(self, session):
        return DocumentLog(session.path, lambda found: found if isinstance(found, list) else [])
'''
_MANY = '''
"""Tiny again, with each session in a folder of files."""

import os

from agentfeedback.reading import ManyFilesLog, Place, Session, reason_of

from .reader import Tiny


class Whole(Tiny):
    def find(self, home, report):
        store = home.directory("TINY_HOME", ".tiny")
        report.store(store)
        for folder in report.directories(store, root=True):
            session = report.session(folder, folder.name)
            if session is not None:
                yield session

    def place(self, session, *, strict):
        return Place()

    def open(self, session):
        names = sorted(os.listdir(session.path))
        paths = [os.path.join(session.path, name) for name in names]
        return ManyFilesLog(paths, whole=True)
'''
_TEST = """
from pytest_agentfeedback import ReaderConformance


class TestTiny(ReaderConformance):
    harness = "tiny"
    corpus = "corpus/tiny"
    examples = 5
    row_store = True
"""


def shape(site, source, lay) -> None:
    """Give the tiny harness another shape of log: its reader, its corpus and its test."""
    package = site.folder / "agentfeedback_tiny"
    (package / "whole.py").write_text(textwrap.dedent(source))
    plugin = package / "__init__.py"
    plugin.write_text(
        plugin.read_text().replace(".reader import Tiny", ".whole import Whole as Tiny")
    )
    (site.folder / "test_tiny.py").write_text(_TEST)
    for log in sorted((site.corpus / "home" / ".tiny").iterdir()):
        lines = log.read_text().splitlines()
        log.unlink()
        lay(log.with_suffix(""), lines)


def in_one_document(path, lines) -> None:
    path.with_suffix(".json").write_text("[" + ",\n ".join(lines) + "]\n")


def in_a_folder(path, lines) -> None:
    path.mkdir()
    for number, line in enumerate(lines):
        (path / f"{number:03}.json").write_text(json.dumps(json.loads(line), indent=1))


@pytest.mark.parametrize(
    ("source", "lay"),
    [(_DOCUMENT, in_one_document), (_MANY, in_a_folder)],
    ids=["document", "many"],
)
def test_the_laws_hold_for_this_shape(site, source, lay):
    """A reader of this shape passes the whole kit with the public helpers alone, and its labels hold."""
    shape(site, source, lay)
    wrote, output = site.pytest("--snapshot-update", "-k", "goldens")
    assert wrote == 0, output

    status, output = site.pytest()

    assert status == 0, output
    assert "tiny: 6 labelled, 0 unlabelled, 6/6 classes" in output
