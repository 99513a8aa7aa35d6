"""Runs the real command line of agentfeedback in this process, with an environment of its own."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen


@frozen
class Outcome:
    """What a command line did: its exit status, its exact standard output, its standard error."""

    status: int
    stdout: bytes
    stderr: str


def environment(caller: Path) -> dict[str, str]:
    """The variables of a caller whose home, configuration, data and cache are all below `caller`."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(caller),
        "XDG_CACHE_HOME": str(caller / "cache"),
        "XDG_CONFIG_HOME": str(caller / "config"),
        "XDG_DATA_HOME": str(caller / "data"),
    }


def run(words: Sequence[str], environ: Mapping[str, str]) -> Outcome:
    """Run `agentfeedback <words>`; nothing of the real environment but `PATH` and `LANG` may reach it."""
    from agentfeedback.cli.main import main

    stdout, stderr = _stream(), _stream()
    with _only(environ), _streams(stdout, stderr):
        status = main(words)
    return Outcome(status, _bytes(stdout), _bytes(stderr).decode("utf-8", "replace"))


@contextmanager
def _only(environ: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _streams(stdout: io.TextIOWrapper, stderr: io.TextIOWrapper) -> Iterator[None]:
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = stdout, stderr
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _bytes(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue()
