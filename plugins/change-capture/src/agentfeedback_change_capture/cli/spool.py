"""The commands that look at a spool or tidy it."""

from __future__ import annotations

import os
import time

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback_change_capture.cli.output import absolute, limit, no_more, print_result
from agentfeedback_change_capture.spool import inspection, layout
from agentfeedback_change_capture.spool.snapshot import Snapshot
from agentfeedback_change_capture.spool.spool import Spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agentfeedback.terminal.arguments import Parsed

#: How long a command waits for a hook that holds the spool, in seconds.
LOCK_WAIT = 5.0


def run_inspect(line: Parsed) -> int:
    """Print what a spool holds."""
    no_more(line)
    found = inspection.inspect(absolute(line, "spool"), limit(line))
    print_result(line, found, _inspected(found))
    return 0


def run_deferred(line: Parsed) -> int:
    """Print the facts that were kept without a target."""
    no_more(line)
    files = Snapshot(absolute(line, "spool"))
    rows = [row for row in inspection.deferred(files) if row["receipt_order"] > line.after]
    most = limit(line)
    shown, omitted = rows[:most], max(0, len(rows) - most)
    print_result(line, {"records": shown, "omitted": omitted}, _listed(shown, omitted))
    return 0


def run_quarantine(line: Parsed) -> int:
    """Print what was set aside."""
    no_more(line)
    rows = list(inspection.quarantine(Snapshot(absolute(line, "spool"))))
    shown, omitted = rows[:_MOST], max(0, len(rows) - _MOST)
    print_result(line, {"entries": shown, "omitted": omitted}, _listed(shown, omitted))
    return 0


def run_prune(line: Parsed) -> int:
    """Delete named files from the quarantine; status 1 where some of them were missing."""
    names = line.positionals
    if not names:
        raise UsageError("no name is given", "name files as quarantine shows them")
    if not all(layout.is_known(layout.QUARANTINE, name) for name in names):
        raise UsageError("not a name of a quarantined file", "name files as quarantine shows them")
    with Spool.open(absolute(line, "spool"), None, _deadline(), thorough=True) as spool:
        pruned, missing = spool.prune(list(dict.fromkeys(names)))
    result = {"pruned": pruned, "missing": missing}
    print_result(line, result, _words(result))
    return 1 if missing else 0


def run_compact(line: Parsed) -> int:
    """Compact a spool."""
    no_more(line)
    if bool(line.spool) == bool(line.root):
        raise UsageError("either --spool or --root is needed", "name one of them")
    path = absolute(line, "spool") if line.spool else _spool_of(absolute(line, "root"))
    with Spool.open(path, None, _deadline(), thorough=True) as spool:
        result = spool.compact()
    print_result(line, result, _words(result))
    return 0


def run_export(line: Parsed) -> int:
    """Copy a spool into an archive."""
    from agentfeedback_change_capture.spool.export import export

    no_more(line)
    source, destination = absolute(line, "spool"), absolute(line, "destination")
    result = export(source, destination, _deadline())
    print_result(line, result, _words(result))
    return 0


_MOST = 10_000


def _spool_of(root: str) -> str:
    """Return the spool that a checkout is bound to."""
    from agentfeedback_change_capture.setup import bindings, private_files

    saved = bindings.load(private_files.config_directory(os.environ))
    binding = bindings.of_root(saved, root)
    if binding is None:
        raise AgentFeedbackError("no capture binding for this checkout", "configure it first")
    return binding.spool


def _deadline() -> float:
    return time.monotonic() + LOCK_WAIT


def _inspected(found: dict[str, Any]) -> Iterator[str]:
    used, bounds = found["usage"], found["limits"] or {}
    yield f"{found['path']}: {found['classification']}"
    yield (
        f"{used['records']} of {bounds.get('records', '?')} records,"
        f" {used['bytes']} of {bounds.get('bytes', '?')} bytes"
    )
    for name in ("pending", "deferred", "quarantine", "attempts", "issues"):
        total = len(found[name]) + found["omitted"][name]
        yield f"{name}: {total}"
        for row in found[name]:
            yield "  " + _row(row)
        if found["omitted"][name]:
            yield f"  and {found['omitted'][name]} more"


def _listed(rows: list[dict[str, Any]], omitted: int) -> Iterator[str]:
    for row in rows:
        yield _row(row)
    if omitted:
        yield f"and {omitted} more"


def _row(row: dict[str, Any]) -> str:
    known = ((name, value) for name, value in row.items() if value not in (None, False))
    return "  ".join(f"{name} {_short(value)}" for name, value in known)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(str(each) for each in value.values())
    return str(value)


def _words(result: dict[str, Any]) -> Iterator[str]:
    for name, value in result.items():
        shown = ", ".join(value) if isinstance(value, list) else str(value)
        yield f"{name.replace('_', ' ')}: {shown or 'none'}"
