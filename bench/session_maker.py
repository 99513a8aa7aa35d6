"""What every made session has in common: lines, their counts, and the damage real logs have.

A harness is a subclass that knows its records (`harness_logs`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from invented import HALF_PAIR, Invented

_HALF_PAIR_BYTES = HALF_PAIR.encode()
_TORN = b'{"type":"assistant","message":{"content":[{"type":"text","text":"cut of'
_APPENDED = b'{"type":"system","subtype":"turn_duration","durationMs":5}'
_UNFINISHED = b'{"parentUuid":null,"type":"user","message":{"role":"user","content":"still being wr'


@dataclass
class Truth:
    """What a store holds of one harness: `bytes` and `lines` of the files, and the seven counts."""

    sessions: int = 0
    bytes: int = 0
    lines: int = 0
    entries: int = 0
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    interrupts: int = 0
    denials: int = 0
    unparsed: int = 0


@dataclass(frozen=True)
class Rates:
    """Shares of tool calls that end in an error and in a denial, and of turns that are interrupted."""

    errors: float = 0.04
    denials: float = 0.005
    interrupts: float = 0.02


class SessionMaker(ABC):
    """Makes one session: `opening` once, then a `turn` after the other until it is long enough."""

    harness: str

    def __init__(self, text: Invented, truth: Truth, rates: Rates, cwd: str) -> None:
        self.text = text
        self.truth = truth
        self.rates = rates
        self.cwd = cwd
        self.id = text.uuid()
        text.new_day()
        self.started = text.time()
        self.size = 0
        self._lines: list[bytes] = []

    @abstractmethod
    def path(self) -> str:
        """Where the log is below the home."""

    def beside(self) -> dict[str, bytes]:
        """Further files of the session, by their paths below the home."""
        return {}

    @abstractmethod
    def opening(self) -> None:
        """Add the lines a session begins with."""

    @abstractmethod
    def turn(self, goes_on: Callable[[], bool]) -> None:
        """Add a prompt and what follows; tool calls only while `goes_on`."""

    def add(self, record: dict[str, Any], *, entry: bool = True) -> None:
        line = orjson.dumps(record)
        if _HALF_PAIR_BYTES in line:
            line = line.replace(_HALF_PAIR_BYTES, b"\\ud83d")
        self._lines.append(line)
        self.size += len(line) + 1
        if entry:
            self.truth.entries += 1

    def made(self, target: int) -> bytes:
        """The log, of about `target` bytes."""
        self.opening()
        while self.size < target:
            self.turn(lambda: self.size < target)
        chance = self.text.random
        if chance.random() < 0.05:  # a write that was cut off, or that another one continued
            torn = _TORN + (_APPENDED if chance.random() < 0.5 else b"")
            self._lines.insert(chance.randrange(1, len(self._lines) + 1), torn)
            self.truth.unparsed += 1
        log = b"\n".join(self._lines) + b"\n"
        self.truth.sessions += 1
        self.truth.lines += len(self._lines)
        if chance.random() < 0.03:  # the session is still running
            log += _UNFINISHED
        self.truth.bytes += len(log)
        return log

    def drawn_outcome(self) -> str:
        """How the next tool call ends, counted: `ok`, `error` or `denied`."""
        drawn = self.text.random.random()
        if drawn < self.rates.denials:
            self.truth.denials += 1
            return "denied"
        if drawn < self.rates.denials + self.rates.errors:
            self.truth.tool_errors += 1
            return "error"
        return "ok"

    def is_interrupted(self) -> bool:
        """Whether the turn ends in an interrupt, counted."""
        if self.text.random.random() >= self.rates.interrupts:
            return False
        self.truth.interrupts += 1
        return True

    def rounds(self, mean: float) -> range:
        """How often the model calls a tool in a turn: once, and exponentially many times more."""
        return range(1 + int(self.text.random.expovariate(1 / mean)))
