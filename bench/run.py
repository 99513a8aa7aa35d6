"""Measures what is slow when it is slow: list, digest, scrubbing and starting, beside the floors of the same run.

    python bench/run.py             # 1 GB in 2,000 sessions
    python bench/run.py --quick     # 50 MB in 100 sessions, under 20 s
    python bench/run.py --only store,start --size 100MB --record

Exit status 1 when a listing counts anything else than what the store was made of. How it measures
and how to read it: docs/reference/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from glob import glob
from typing import Any

from measure import Failed
from scenarios import GROUPS, Bench, Miscounted
from store_maker import byte_size, make_big_session, make_store, write_truth
from table import Row, as_markdown, as_text

_HERE = os.path.dirname(os.path.abspath(__file__))
_RESULTS = os.path.join(_HERE, "results")
_BEGIN, _END = "<!-- bench: begin -->", "<!-- bench: end -->"


def main() -> int:
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench-") as work:
        bench = Bench(
            work,
            store=given.store or os.path.join(work, "store"),
            big_store=os.path.join(work, "big"),
            sessions=given.sessions,
            rounds=given.rounds,
            start_rounds=5 if given.quick else 15,
            scrub_bytes=1 << 17 if given.quick else 1 << 20,
            captured_calls=20 if given.quick else 100,
        )
        _make(bench, given)
        rows: list[Row] = []
        try:
            for name in given.only:
                _note(f"measuring: {name}")
                rows += GROUPS[name](bench)
        except (Miscounted, Failed) as error:
            _note(str(error))
            return 1
    _report(rows, given)
    return 0


def _make(bench: Bench, given: argparse.Namespace) -> None:
    """Make the stores the groups read, unless a kept one was made of the same."""
    if "store" in given.only:
        made_of = {"sessions": given.sessions, "bytes": given.size}
        if _is_made_of(bench.store, made_of):
            _note("the store is there")
        else:
            _note(f"making {given.size / 1e6:.0f} MB in {given.sessions} sessions")
            os.makedirs(bench.store, exist_ok=True)
            write_truth(bench.store, make_store(bench.store, given.sessions, given.size), made_of)
    if "big" in given.only:
        os.makedirs(bench.big_store)
        truths = make_big_session(bench.big_store, given.size)
        write_truth(bench.big_store, truths, {"big_session": given.size})


def _is_made_of(home: str, made_of: dict[str, int]) -> bool:
    path = os.path.join(home, "truth.json")
    if not os.path.exists(path):
        if os.path.isdir(home) and os.listdir(home):
            raise SystemExit(f"{home} is neither empty nor a made store")
        return False
    with open(path, encoding="utf-8") as file:
        if json.load(file)["made_of"] != made_of:
            raise SystemExit(f"{home} was made of something else: remove it first")
    return True


def _report(rows: Sequence[Row], given: argparse.Namespace) -> None:
    setting = {"size": given.size, "sessions": given.sessions}
    last = _last(setting)
    result = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": _machine(),
        **setting,
        "rows": [row.as_json() for row in rows],
    }
    if given.json:
        print(json.dumps(result, indent=1))
    else:
        print(as_text(rows, last))
    if given.markdown:
        heading = (
            f"{result['date']}, {result['machine']}; {given.size / 1e6:.0f} MB in "
            f"{given.sessions} sessions, least of {given.rounds} runs."
        )
        _replace(given.markdown, f"{heading}\n\n{as_markdown(rows, last)}")
    if given.record:
        os.makedirs(_RESULTS, exist_ok=True)
        path = os.path.join(_RESULTS, time.strftime("%Y-%m-%dT%H-%M-%S") + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)


def _last(setting: dict[str, int]) -> dict[str, float]:
    """The CPU time of every row when it was last recorded with the same sizes."""
    found: dict[str, float] = {}
    for path in sorted(glob(os.path.join(_RESULTS, "*.json"))):
        with open(path, encoding="utf-8") as file:
            result: dict[str, Any] = json.load(file)
        if all(result[name] == value for name, value in setting.items()):
            found |= {row["name"]: row["cpu"] for row in result["rows"] if "cpu" in row}
    return found


def _machine() -> str:
    load = os.getloadavg()[1] / (os.cpu_count() or 1)
    python = platform.python_version()
    return f"{os.cpu_count()} cores (load {load:.1f} each), {platform.system()}, Python {python}"


def _replace(path: str, text: str) -> None:
    """Put the text between the two marks of a Markdown file."""
    with open(path, encoding="utf-8") as file:
        before, begin, rest = file.read().partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise SystemExit(f"{path} lacks the lines {_BEGIN} and {_END}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{_BEGIN}\n\n{text}\n\n{_END}{after}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure agentfeedback beside its floors.")
    parser.add_argument("--size", type=byte_size, help="bytes of each store (1GB)")
    parser.add_argument("--sessions", type=int, help="sessions of the store (2000)")
    parser.add_argument("--rounds", type=int, help="runs of each command (3)")
    parser.add_argument("--quick", action="store_true", help="50MB, 100 sessions, 2 runs")
    parser.add_argument("--only", type=_groups, default=[*GROUPS], help=",".join(GROUPS))
    parser.add_argument("--store", metavar="DIR", help="make the store here and keep it")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--record", action="store_true", help="keep it below bench/results")
    parser.add_argument("--markdown", metavar="FILE", help="put the table into this file")
    given = parser.parse_args()
    size, sessions, rounds = ("50MB", 100, 2) if given.quick else ("1GB", 2000, 3)
    given.size = given.size or byte_size(size)
    given.sessions = given.sessions or sessions
    given.rounds = given.rounds or rounds
    return given


def _groups(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in GROUPS:
            raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(GROUPS)}")
    return names


def _note(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
