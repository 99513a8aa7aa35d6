"""Invented text with the sizes, escapes and line shapes of real session logs. Deterministic: one seed, one text."""

from __future__ import annotations

import base64
import math
from random import Random

_PROSE = """the a of to and in for with from this that when not is are was be read write file line
session test error value index parser record offset watermark digest result command output return
build check module function class import path json bytes string list dict state count entry prompt
tool call status exit code denied interrupt user assistant model token cache server client store
commit branch merge diff patch review release version config option default argument flag"""
_CODE = """self cls ctx request result config buffer item row key pos end start size path name data
handler parser reader writer stream session store index total count limit offset"""
_WORDS, _NAMES = _PROSE.split(), _CODE.split()
_UNUSUAL = ["→", "✓", "—", "é", "│", "├──", "…", "🎉", "日本語"]
_LINES = 40_000
_BLOB = 3_200_000
_DAY_MS = 86_400_000

#: Stands in text for half a surrogate pair, which only the encoder of a record can write.
HALF_PAIR = "\ue123"


class Invented:
    """A source of invented text, ids and rising times, all drawn from one random generator."""

    def __init__(self, random: Random, *, half_pairs: float = 0.0) -> None:
        self.random = random
        self._half_pairs = half_pairs
        self._text = "\n".join(_line(random) for _ in range(_LINES))
        self._blob = base64.b64encode(random.randbytes(_BLOB)).decode()
        self._now = 0

    def text(self, median: float, sigma: float, most: int) -> str:
        """Text of a log-normal length in characters, at most `most`."""
        return self.exactly(
            min(most, max(8, int(median * math.exp(self.random.gauss(0.0, sigma)))))
        )

    def exactly(self, length: int) -> str:
        """Text of this many characters."""
        whole = self._text
        if length >= len(whole):
            whole *= length // len(whole) + 2
        start = self.random.randrange(len(whole) - length)
        return whole[start : start + length]

    def typed(self) -> str:
        """A prompt: it begins with a word, so that no reader takes it for a text of a harness."""
        return "please " + self.text(220, 1.1, 20_000)

    def result(self) -> str:
        """What a tool answered: mostly short, 0.8 % of 80 to 600 KB."""
        if self.random.random() < 0.008:
            return self.exactly(self.random.randrange(80_000, 600_000))
        text = self.text(700, 1.5, 60_000)
        return text + HALF_PAIR if self.random.random() < self._half_pairs else text

    def opaque(self, median: float, sigma: float) -> str:
        """Base64 without meaning: signatures and encrypted parts."""
        length = min(len(self._blob), 4 * int(median * math.exp(self.random.gauss(0.0, sigma))))
        return self._blob[:length]

    def image(self) -> str:
        """An image of 0.8 to 3 MB in base64."""
        return self._blob[: self.random.randrange(800_000, 3_000_000) & ~3]

    def word(self) -> str:
        return self.random.choice(_WORDS)

    def hex(self, digits: int) -> str:
        return f"{self.random.getrandbits(4 * digits):0{digits}x}"

    def uuid(self) -> str:
        digits = self.hex(32)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def new_day(self) -> None:
        """Move to the start of another session, somewhere within 300 days."""
        self._now = self.random.randrange(300 * _DAY_MS)

    def time(self) -> str:
        """The next time, 0.2 to 20 s after the last; RFC 3339 with milliseconds."""
        self._now += self.random.randrange(200, 20_000)
        days, rest = divmod(self._now, _DAY_MS)
        month, day = divmod(days, 28)
        seconds, milliseconds = divmod(rest, 1000)
        minutes, second = divmod(seconds, 60)
        hour, minute = divmod(minutes, 60)
        date = f"2026-{month % 12 + 1:02d}-{day + 1:02d}"
        return f"{date}T{hour:02d}:{minute:02d}:{second:02d}.{milliseconds:03d}Z"


def _line(random: Random) -> str:
    kind = random.random()
    if kind < 0.40:
        return _code(random)
    if kind < 0.60:
        indent = "    " * random.randrange(4)
        return f"{random.randrange(1, 2000):6d}\t{indent}{_some(random, _NAMES, 2, 9)}"
    if kind < 0.75:
        level = random.choice(["INFO", "DEBUG", "WARNING", "ERROR"])
        where = f"src/{random.choice(_WORDS)}/{random.choice(_NAMES)}.py:{random.randrange(900)}"
        at = f"2026-01-{random.randrange(1, 29):02d} 10:{random.randrange(60):02d}:00,125"
        return f"{at} {level} {where} {_some(random, _WORDS, 3, 14)}"
    if kind < 0.97:
        return _some(random, _WORDS, 6, 22) + "."
    colour = ' \x1b[32m"ok"\x1b[0m \\n' if random.random() < 0.3 else ""
    return f"{random.choice(_UNUSUAL)} {_some(random, _WORDS, 3, 10)}{colour}"


def _code(random: Random) -> str:
    indent = "    " * random.randrange(5)
    a, b, c = random.choice(_NAMES), random.choice(_NAMES), random.choice(_WORDS)
    forms = (
        f'{indent}{a}.{b}({c!r}, "{random.choice(_WORDS)}")',
        f"{indent}if {a} is not None and {b} > {random.randrange(999)}:",
        f'{indent}return {{"{a}": {b}, "{c}": {random.randrange(10**6)}}}',
        f"{indent}{a} = [{b} for {b} in {random.choice(_NAMES)} if {b}.{c}]",
        f"{indent}# {_some(random, _WORDS, 3, 11)}",
        f'{indent}def {c}_{a}(self, {a}: int, {b}: str = "{c}") -> None:',
        "",
    )
    return random.choice(forms)


def _some(random: Random, words: list[str], least: int, below: int) -> str:
    return " ".join(random.choices(words, k=random.randrange(least, below)))
