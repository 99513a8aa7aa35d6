"""The readers of other shapes than files of lines that the how-to shows keep the same laws, with public helpers alone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

HOW_TO = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "read-other-logs.md"
#: By shape: the reader that the how-to shows.
SOURCES = dict(re.findall(r"```python (\w+)\n(.*?)```", HOW_TO.read_text(), re.DOTALL))
_TEST = """
from pytest_agentfeedback import ReaderConformance


class TestTiny(ReaderConformance):
    harness = "tiny"
    corpus = "corpus/tiny"
    examples = 5
    row_store = True
"""


def shape(site, source, lay, rows=True) -> None:
    """Give the tiny harness another shape of log: its reader, its corpus and its test."""
    package = site.folder / "agentfeedback_tiny"
    (package / "whole.py").write_text(source)
    plugin = package / "__init__.py"
    plugin.write_text(
        plugin.read_text().replace(".reader import Tiny", ".whole import Whole as Tiny")
    )
    (site.folder / "test_tiny.py").write_text(_TEST if rows else _TEST.replace("row_store", "_"))
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


def in_a_database(path, lines) -> None:
    """As text: the kit makes a database of `tiny.db.sql` where it lays the corpus out."""
    target = path.with_name("tiny.db.sql")
    if not target.exists():
        target.write_text(
            "CREATE TABLE session (id TEXT, cwd TEXT);\n"
            "CREATE TABLE message (session TEXT, seq INTEGER, data TEXT);\n"
        )
    cwd = json.loads(lines[0])["cwd"]
    with target.open("a") as file:
        file.write(f"INSERT INTO session VALUES ('{path.name}', '{cwd}');\n")
        for number, line in enumerate(lines):
            quoted = line.replace("'", "''")
            file.write(f"INSERT INTO message VALUES ('{path.name}', {number}, '{quoted}');\n")


def in_a_text(path, lines) -> None:
    """`key=value` words in place of JSON, which is what the tiny text format is."""
    path.with_suffix(".txt").write_text("".join(f"tiny {line}\n" for line in lines))


def in_a_project(path, lines) -> None:
    folder = path.parent.parent / path.name
    folder.mkdir()
    (folder / ".tiny.log.jsonl").write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("name", "lay"),
    [
        ("document", in_one_document),
        ("many", in_a_folder),
        ("sqlite", in_a_database),
        ("text", in_a_text),
        ("projects", in_a_project),
    ],
)
def test_the_laws_hold_for_this_shape(site, name, lay):
    """The how-to's reader of this shape passes the whole kit, and its labels hold."""
    shape(site, SOURCES[name], lay, rows=name != "projects")
    wrote, output = site.pytest("--snapshot-update", "-k", "goldens")
    assert wrote == 0, output

    status, output = site.pytest()

    assert status == 0, output
    assert "tiny: 6 labelled, 0 unlabelled, 6/6 classes" in output


def test_the_how_to_counts_its_lines():
    """It says how many lines each reader has."""
    counts = [len([line for line in source.splitlines() if line]) for source in SOURCES.values()]
    assert f"{min(counts)} to {max(counts)} lines" in HOW_TO.read_text().replace("\n", " ")
