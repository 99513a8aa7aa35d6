"""Renders the template of a reader package, for `agentfeedback plugins new`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import PurePosixPath
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

#: A word that refs, detectors and distributions can be named with.
WORD = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)
#: Template files end in this, so that no tool takes them for what they will be.
_SUFFIX = ".tmpl"


def rendered(harness: str) -> Iterator[tuple[PurePosixPath, str]]:
    """The files of the package for a harness: relative path and text, in byte order of the paths.

    `harness` matches `WORD`. In paths `HARNESS` and `PACKAGE` are replaced, in texts the names of
    `string.Template`.
    """
    package = f"agentfeedback_{harness.replace('-', '_')}"
    words = {
        "harness": harness,
        "package": package,
        "name": "".join(part.capitalize() for part in harness.split("-")),
        "variable": harness.replace("-", "_").upper(),
    }
    root = files("pytest_agentfeedback") / "reader_template"
    for path, file in sorted(_files(root, PurePosixPath())):
        name = str(path).replace("HARNESS", harness).replace("PACKAGE", package)
        yield PurePosixPath(name.removesuffix(_SUFFIX)), _filled(file, words)


def _filled(file: Traversable, words: Mapping[str, str]) -> str:
    return Template(file.read_text(encoding="utf-8")).substitute(words)


def _files(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _files(item, path / item.name)
        elif item.name.endswith(_SUFFIX):
            yield path / item.name, item
