"""Each text by which a reader decides is in a session of its corpus, so that a golden holds what it means."""

from __future__ import annotations

import importlib
import os
import re
import re._parser as parser  # the parsed form of a pattern; nothing public gives it
from collections.abc import Iterable, Iterator
from glob import glob
from pathlib import Path
from typing import Any

import pytest
import zstandard

ROOT = Path(__file__).parents[1]
#: Shorter ones are words of a format, such as a type.
SHORTEST = 8
#: By package: its modules that hold such texts, and the corpora.
PLACES = {
    "agentfeedback_claude_code": ("results typed notices", ["claude-code"]),
    "agentfeedback_codex": ("results wording ends prompts", ["codex"]),
    "agentfeedback_copilot": ("results events", ["copilot"]),
    "agentfeedback_gemini_cli": ("results typed shell conversation", ["gemini-cli"]),
    "agentfeedback_opencode": ("results v1 v2_calls", ["opencode-v1", "opencode-v2"]),
}
#: Read in no log: the name of a column that V1 never fills in a part.
NOT_IN_LOGS = {"messageID"}


@pytest.mark.parametrize("package", PLACES)
def test_the_corpus_holds_every_text_a_reader_goes_by(package: str) -> None:
    """Fixed texts and the fixed parts of patterns; a text that no session holds could change unseen."""
    modules, corpora = PLACES[package]
    log = "".join(_plain(path) for corpus in corpora for path in _files(ROOT / "corpus" / corpus))
    missing = {
        text
        for module in modules.split()
        for value in _constants(importlib.import_module(f"{package}.{module}"))
        for text in _texts(value)
        if len(text) >= SHORTEST and text not in log
    }
    assert missing <= NOT_IN_LOGS


def test_a_text_that_no_session_holds_is_seen() -> None:
    """In a tuple, a table, and each branch of a pattern."""
    pattern = re.compile(r"(?:refused by (?P<who>rule number|person)|\Anever allowed)(?:: (.*))?")
    assert set(_texts({"tool": ("one text", "another")})) == {"tool", "one text", "another"}
    assert set(_texts(pattern)) == {"refused by ", "rule number", "person", "never allowed", ": "}


def _files(folder: Path) -> list[str]:
    paths = glob("**/*", root_dir=folder, recursive=True, include_hidden=True)
    return [str(folder / path) for path in sorted(paths) if os.path.isfile(folder / path)]


def _plain(path: str) -> str:
    """What a log says, without the escapes of JSON and SQL."""
    data = Path(path).read_bytes()
    if path.endswith(".zst"):
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    text = data.decode("utf-8", "replace").replace("\\n", "\n").replace("''", "'")
    for _ in range(2):  # a script or an argument is JSON inside JSON
        text = text.replace('\\"', '"').replace("\\\\", "\\")
    return text


def _constants(module: Any) -> Iterator[object]:
    """The tables and patterns of a module; a plain text is a query or a message of the reader's own."""
    for name, value in vars(module).items():
        if not name.startswith("__") and not isinstance(value, str):
            yield value


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield from _fixed_parts(parser.parse(value.pattern, value.flags & ~re.UNICODE))
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _texts(pair)
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _texts(each)


def _fixed_parts(tree: Iterable[Any]) -> Iterator[str]:
    """The runs of literal characters in a parsed pattern, those of its branches and groups too."""
    run = ""
    for code, argument in tree:
        if code is parser.LITERAL:
            run += chr(argument)
            continue
        if run:
            yield run
        run = ""
        if code is parser.BRANCH:
            for branch in argument[1]:
                yield from _fixed_parts(branch)
        elif code is parser.SUBPATTERN:
            yield from _fixed_parts(argument[3])
        elif code in (parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT):
            yield from _fixed_parts(argument[2])
        elif code is parser.ATOMIC_GROUP:
            yield from _fixed_parts(argument)
    if run:
        yield run
