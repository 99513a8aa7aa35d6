"""Notes every session log that any Python process of a run opens; the benchmark puts this folder on PYTHONPATH.

Appends the path to the file named by `BENCH_OPENED`. Worker processes inherit it, however they start.
"""

import os
import sys

_NOTES = os.environ.get("BENCH_OPENED")


def _install(notes: str) -> None:
    descriptor = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.fsdecode(arguments[0])
            if path.endswith(".jsonl"):
                os.write(descriptor, path.encode("utf-8", "surrogateescape") + b"\n")

    sys.addaudithook(hook)


if _NOTES:
    _install(_NOTES)
