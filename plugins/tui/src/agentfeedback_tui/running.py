"""Runs commands of agentfeedback: all that the view shows or does goes through them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from agentfeedback.terminal.screen import visible


@frozen
class Done:
    """What a command answered: its exit status, the JSON of its last line (None without one), and its errors."""

    status: int
    data: Any
    problem: str

    @property
    def ok(self) -> bool:
        return self.status == 0 and self.data is not None


class Commands:
    """Runs `agentfeedback` with an environment."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)

    async def run(self, *words: str) -> Done:
        """Run one command and wait for it; cancelled, it is ended."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "agentfeedback",
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environ,
        )
        try:
            out, err = await process.communicate()
        except asyncio.CancelledError:
            if process.returncode is None:
                process.terminate()
                await process.communicate()
            raise
        return Done(process.returncode or 0, _last(out), _told(err, words))


def _last(out: bytes) -> Any:
    lines = out.splitlines()
    try:
        return json.loads(lines[-1]) if lines else None
    except ValueError:
        return None


def _told(err: bytes, words: Sequence[str]) -> str:
    """The last line a command told, or that it told nothing."""
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return visible(lines[-1]) if lines else f"agentfeedback {words[0]} told no reason"
