"""Makes a home full of invented sessions, and `truth.json` with what they hold.

    python bench/store_maker.py DIR --sessions 2000 --bytes 1GB
    python bench/store_maker.py DIR --big-session 1GB

Same arguments, same bytes: no clock, no hash order. Sizes of sessions and of their parts are
log-normal, so the mean line is several times the median one, as in real logs; a few results are
hundreds of kilobytes, a few are images of megabytes. One session in twenty has a torn line, one in
thirty an unfinished last one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from random import Random
from typing import Any

from harness_logs import HARNESSES, ClaudeCode
from invented import Invented
from session_maker import Rates, SessionMaker, Truth

#: Shares of the bytes and sessions of a store, by harness.
MIX: Mapping[str, float] = {"claude-code": 55, "codex": 28, "gemini-cli": 10, "copilot": 7}
_LEAST = 3000
_PROJECTS = 12
_BIG_LINE = 3_000_000
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_RATES = Rates()
_ALL_FAIL = Rates(errors=1.0, denials=0.0)
_NO_RATES = Rates(errors=0.0, denials=0.0, interrupts=0.0)


def make_store(
    home: str,
    sessions: int,
    size: int,
    *,
    seed: int = 1,
    mix: Mapping[str, float] = MIX,
    rates: Rates = _RATES,
    half_pairs: float = 0.0015,
) -> dict[str, Truth]:
    """Write about `size` bytes of sessions below `home`; answers the truth by harness.

    `half_pairs` is the share of results that end in half a surrogate pair.
    """
    random = Random(seed)
    text = Invented(random, half_pairs=half_pairs)
    whole = sum(mix.values())
    truths = {}
    for harness, share in mix.items():
        truth = truths[harness] = Truth()
        count = max(1, round(sessions * share / whole))
        weights = [math.exp(random.gauss(0.0, 1.2)) for _ in range(count)]
        left, budget = sum(weights), size * share / whole
        for number, weight in enumerate(weights):
            cwd = f"/srv/work/project-{number % min(count, _PROJECTS)}"
            maker = HARNESSES[harness](text, truth, rates, cwd)
            # What earlier sessions took too much, later ones give back.
            target = max(_LEAST, int(weight * max(0.0, budget - truth.bytes) / left))
            left -= weight
            _write(home, maker, target)
    return truths


def make_big_session(home: str, size: int, *, line: int = _BIG_LINE) -> dict[str, Truth]:
    """Write one Claude Code session of about `size` bytes, of tool results of `line` bytes each."""
    truth = Truth()
    maker = _Endless(Invented(Random(1)), truth, _NO_RATES, "/srv/work/project-0")
    path = os.path.join(home, maker.path())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for lines in maker.parts(size, line):
            file.write(lines)
            truth.bytes += len(lines)
            truth.lines += lines.count(b"\n")
    truth.sessions = 1
    return {maker.harness: truth}


class _Endless(ClaudeCode):
    """A session that does not fit in memory: its lines are given away as they are made."""

    def parts(self, size: int, line: int) -> Iterator[bytes]:
        self.opening()
        while self.size < size:
            self.turn(lambda: False)
            # Results alone are long: what a person types never is.
            for _ in range(8):
                id = "toolu_01" + self.text.hex(22)
                input = {"command": self.text.word()}
                block = {"type": "tool_use", "id": id, "name": "Read", "input": input}
                self._assistant("msg_01" + self.text.hex(22), block)
                self.truth.tool_calls += 1
                self._result(id, self.text.exactly(line))
            yield b"\n".join(self._lines) + b"\n"
            self._lines.clear()

    def _result(self, id: str, text: str) -> None:
        block = {"tool_use_id": id, "type": "tool_result", "content": text}
        message = {"role": "user", "content": [block]}
        self._line("user", message=message, toolUseResult={"numLines": text.count("\n")})


def write_truth(home: str, truths: Mapping[str, Truth], made_of: Mapping[str, Any]) -> None:
    """Write `truth.json`: per harness what it holds, and under `made_of` the arguments."""
    content = {
        **{harness: asdict(truth) for harness, truth in truths.items()},
        "made_of": made_of,
    }
    with open(os.path.join(home, "truth.json"), "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)


def byte_size(text: str) -> int:
    """Bytes of a size such as `50MB` or `1GB` (powers of ten)."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)B?", text.upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write it as 50MB or 1GB")
    return int(float(match[1]) * _UNITS[match[2]])


def _write(home: str, maker: SessionMaker, target: int) -> None:
    for name, content in {maker.path(): maker.made(target), **maker.beside()}.items():
        path = os.path.join(home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)


def _mix(text: str) -> dict[str, float]:
    shares = {}
    for part in text.split(","):
        harness, _, share = part.partition("=")
        if harness not in HARNESSES:
            raise argparse.ArgumentTypeError(f"{harness!r} is not one of {', '.join(HARNESSES)}")
        shares[harness] = float(share)
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a home full of invented sessions.")
    parser.add_argument("home", metavar="DIR")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--bytes", type=byte_size, default=byte_size("100MB"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mix", type=_mix, default=MIX, help="such as claude-code=60,codex=40")
    parser.add_argument("--half-pairs", type=float, default=0.0015)
    parser.add_argument("--failing", action="store_true", help="every tool call fails")
    parser.add_argument("--big-session", type=byte_size, help="one session of this size instead")
    given = parser.parse_args()
    os.makedirs(given.home, exist_ok=True)
    if given.big_session is not None:
        truths = make_big_session(given.home, given.big_session)
    else:
        truths = make_store(
            given.home,
            given.sessions,
            given.bytes,
            seed=given.seed,
            mix=given.mix,
            rates=_ALL_FAIL if given.failing else _RATES,
            half_pairs=given.half_pairs,
        )
    arguments = {name: value for name, value in vars(given).items() if name != "home"}
    write_truth(given.home, truths, {**arguments, "mix": dict(given.mix)})


if __name__ == "__main__":
    main()
