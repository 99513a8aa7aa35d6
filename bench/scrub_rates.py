"""How fast one kind of text is scrubbed, as JSON: the texts and the plain form of the rules are those of `scrub`.

    python bench/scrub_rates.py clean|dense|hostile BYTES

`rate` and `plain` are megabytes per CPU-second, with all that makes it fast and rule by rule with
the standard library's `re`. Of hostile texts: `growth` is how much longer twice the text takes (2
is linear), of the text where it is worst, and `rate` that of the slowest.
"""

from __future__ import annotations

import json
import sys
import time

import scrub

from agentfeedback.scrub import SUBMIT, Scrubber

_REPEATS = 3
#: Shorter runs than this tell more of the clock than of the scrubber; seconds.
_LEAST = 0.002
#: Runs this long need no repeat; seconds.
_ENOUGH = 0.2


def of_text(text: str) -> dict[str, float]:
    """The rate of a text, and the plain one."""
    return {
        "rate": scrub.bench(Scrubber(SUBMIT).text, [text]),
        "plain": scrub.bench(scrub.naive(SUBMIT), [text]),
    }


def of_hostile(size: int) -> dict[str, float]:
    """The slowest rate of all hostile texts of `size` bytes, and the worst growth from half of that."""
    rates, growths = [], [0.0]
    for unit in scrub.HOSTILE.values():
        text = unit * (size // len(unit))
        half, whole = _seconds(text[: size // 2]), _seconds(text)
        rates.append(len(text) / 1e6 / max(whole, 1e-9))
        if whole >= _LEAST:
            growths.append(whole / half)
    return {"rate": min(rates), "growth": max(growths)}


def _seconds(text: str) -> float:
    scrubber = Scrubber(SUBMIT)
    spent: list[float] = []
    while len(spent) < _REPEATS and sum(spent) < _ENOUGH:
        start = time.process_time()
        scrubber.text(text)
        spent.append(time.process_time() - start)
    return min(spent)


def main() -> None:
    kind, size = sys.argv[1], int(sys.argv[2])
    if kind == "hostile":
        told = of_hostile(size)
    else:
        told = of_text({"clean": scrub.clean, "dense": scrub.dense}[kind](size))
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
