"""`corpus check`: what `pytest corpus/…` says, as one table."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field

from agentfeedback.plugins.host import Host
from agentfeedback.terminal.screen import Screen, note, write
from agentfeedback.terminal.table import Column, table
from pytest_agentfeedback import labels
from pytest_agentfeedback.corpus import Bench, CorpusError


@define(eq=False)
class Standing:
    """What a corpus holds. `classes` counts the labels that hold; `faults` are sentences about the rest."""

    harness: str
    sessions: int = 0
    labelled: int = 0
    broken: int = 0
    unlabelled: int = 0
    classes: dict[str, int] = field(factory=lambda: dict.fromkeys(labels.CLASSES, 0))
    faults: list[str] = field(factory=list)

    @property
    def missing(self) -> list[str]:
        """The classes without an example."""
        return [name for name, count in self.classes.items() if not count]

    @property
    def good(self) -> bool:
        return not self.faults and not self.missing

    def record(self) -> dict[str, Any]:
        """The members of its object in `--json`."""
        return {
            "harness": self.harness,
            "sessions": self.sessions,
            "labelled": self.labelled,
            "unlabelled": self.unlabelled,
            "broken": self.broken,
            "classes": self.classes,
            "missing": self.missing,
            "faults": self.faults,
        }


def check(folders: Sequence[Path], environ: Mapping[str, str], *, as_json: bool) -> int:
    """Print the table (or one JSON object); 1 when anything is unlabelled, does not hold or has no example.

    Without folders: all corpora below `corpus`, and every installed reader whose sessions have a
    digest must have one.
    """
    bench = Bench(Path.cwd())
    try:
        found = [standing(bench, folder) for folder in folders or corpora(Path("corpus"))]
    finally:
        bench.close()
    if not folders:
        have = {each.harness for each in found}
        found += [
            Standing(harness, faults=[f"{harness}: a reader is installed, and no corpus is here"])
            for harness in readers(environ)
            if harness not in have
        ]
    if as_json:
        write(json.dumps({"corpora": [each.record() for each in found]}, ensure_ascii=False) + "\n")
    else:
        write(_table(found))
        for each in found:
            for fault in each.faults:
                for line in fault.split("\n"):
                    note(line)
    return 0 if found and all(each.good for each in found) else 1


def corpora(folder: Path) -> list[Path]:
    """The corpora below a folder, in order."""
    return sorted(each.parent for each in folder.glob("*/home"))


def readers(environ: Mapping[str, str]) -> list[str]:
    """The harnesses whose installed readers tell enough for a digest."""
    host = Host(environ)
    known = ((harness, host.reader(harness)) for harness in host.harnesses())
    return [harness for harness, reader in known if reader is not None and reader.digests]


def standing(bench: Bench, folder: Path) -> Standing:
    """What one corpus holds; what is wrong with it is in its `faults`."""
    result = Standing(folder.resolve().name)
    try:
        found = labels.load(folder / "labels.json")
        laid = bench.laid(folder)
        result.sessions = len(laid.sessions)
        digests, failed = laid.digests, laid.failed
    except (labels.LabelsError, CorpusError, OSError) as error:
        result.faults.append(str(error))
        return result
    result.faults += [f"{folder / 'labels.json'}: {each}" for each in labels.duplicates(found)]
    result.faults += failed.values()
    result.labelled = len(found)
    for label in found:
        if why := labels.broken(label, digests.get(label.session)):
            result.broken += 1
            result.faults.append(f"{why}\nedit {folder / 'labels.json'}:{label.line}")
        else:
            result.classes[label.kind] += 1
    for id, digest in digests.items():
        if digest["truncated"]:
            result.faults.append(f"{id}: its digest is truncated, so not all of it can be labelled")
        missing = labels.unlabelled(found, digest)
        result.unlabelled += len(missing)
        result.faults += [f"{id}: without a label: {each}" for each in missing]
    return result


def _table(found: Sequence[Standing]) -> str:
    columns = [
        Column(title)
        for title in ("HARNESS", "SESSIONS", "LABELLED", "UNLABELLED", "BROKEN", *labels.CLASSES)
    ]
    cells = [
        [
            each.harness,
            *map(str, (each.sessions, each.labelled, each.unlabelled, each.broken)),
            *(str(count) if count else "none" for count in each.classes.values()),
        ]
        for each in found
    ]
    return table(columns, cells, Screen.of(sys.stdout, os.environ))
