"""What a report of 2,000 sessions costs: CPU, bytes of its page, and how many logs it opens.

`python bench/report.py` makes the sessions in a temporary home, as the pictures of README.md have them,
and makes the page twice: from nothing, and from a warm cache. Nothing is asserted.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from agentfeedback.plugins.host import Host
from agentfeedback.report.page import page
from agentfeedback.sessions import examiner
from agentfeedback.sessions.engine import Engine

sys.path.insert(0, str(Path(__file__).parent.parent / "docs/pictures"))
import make

SESSIONS, DAYS = 2000, 30
#: Logs count as settled when they were written this long ago, in nanoseconds.
_LATER = 10_000_000_000


def main() -> int:
    """Print one line for each run."""
    opened: list[str] = []
    load = examiner.load

    def counted(reader: Any, session: Any, *more: Any) -> Any:
        opened.append(session.ref)
        return load(reader, session, *more)

    examiner.load = counted
    with tempfile.TemporaryDirectory() as folder:
        make.invented(Path(folder), sessions=SESSIONS, days=DAYS)
        environ = {"HOME": folder}
        now = time.time_ns() + _LATER
        since = now - 2 * DAYS * 86_400 * 1_000_000_000
        for name in ("cold", "warm"):
            opened.clear()
            began = time.process_time()
            engine = Engine(environ, host=Host(environ), now=lambda: now)
            data = engine.report_page(since)
            size = len(page(data))
            took = time.process_time() - began
            count = data.report.totals.sessions
            print(
                f"{name}: {count:,} sessions, {took:.2f} s CPU, page of {size:,} bytes, "
                f"{len(opened):,} logs opened"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
