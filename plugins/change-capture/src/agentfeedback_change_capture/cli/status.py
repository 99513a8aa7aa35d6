"""`change-capture status`: how capture of checkouts is set, and how full their spools are."""

from __future__ import annotations

import os

from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.foundation.lock import FileLock
from agentfeedback_change_capture.cli.output import no_more, print_result, warn
from agentfeedback_change_capture.setup import (
    bindings,
    claude_settings,
    claude_version,
    connections,
    git,
    private_files,
)
from agentfeedback_change_capture.setup.capture import Setting
from agentfeedback_change_capture.spool import inspection, layout
from agentfeedback_change_capture.spool.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agentfeedback.terminal.arguments import Parsed
    from agentfeedback_change_capture.setup.bindings import Binding
    from agentfeedback_change_capture.setup.connections import Connection

#: The share of a limit from which on there is a warning.
_NEARLY_FULL = 0.8
_NO_BINDING = (
    *("capture_mode", "spool", "worktree_id", "claude_settings", "hooks", "spool_state"),
    *("records", "bytes", "pending", "deferred", "quarantined", "open_actions", "attempts"),
    "paused",
)


def run_status(line: Parsed) -> int:
    """Print how capture of one checkout, or of all, is set."""
    no_more(line)
    config = private_files.config_directory(os.environ)
    saved, connected = bindings.load(config), connections.load(config)
    roots = [git.saved_root(line.root)] if line.root else sorted(each.root for each in saved)
    warnings: list[str] = []
    rows = [
        _checkout(
            root,
            bindings.of_root(saved, root),
            connections.current(connected, root),
            warnings,
        )
        for root in roots
    ]
    if any(row["enabled"] for row in rows) and (said := claude_version.warning()):
        warnings.append(said)
    warn("change-capture", warnings)
    print_result(line, {"checkouts": rows}, _text(rows))
    return 0


def _checkout(
    root: str, binding: Binding | None, connection: Connection | None, warnings: list[str]
) -> dict[str, Any]:
    setting = Setting(binding, connection)
    row: dict[str, Any] = {
        "root": root,
        "configured": setting.configured,
        "enabled": setting.enabled,
        "capture_mode": setting.mode or None,
        "lineage_mismatch": setting.lineage_mismatch,
        "repository": setting.repository,
        "hub": setting.hub,
    }
    if binding is None:
        return row | dict.fromkeys(_NO_BINDING)
    row |= {
        "spool": binding.spool,
        "worktree_id": binding.worktree_id,
        "claude_settings": binding.settings_path,
        "hooks": _hooks(binding, warnings),
    }
    return row | _spool(binding, warnings)


def _hooks(binding: Binding, warnings: list[str]) -> str:
    try:
        return claude_settings.state(binding.settings_path, binding.root)
    except AgentFeedbackError as error:
        warnings.append(error.problem)
        return "missing"


def _spool(binding: Binding, warnings: list[str]) -> dict[str, Any]:
    limits = {name: binding.limits[name] for name in ("records", "bytes")}
    try:
        files = Snapshot(binding.spool)
        found = inspection.inspect(binding.spool, limit=0)
    except AgentFeedbackError:
        nothing = dict.fromkeys(_NO_BINDING[_NO_BINDING.index("pending") :], 0)
        none = {name: {"used": 0, "limit": most} for name, most in limits.items()}
        return {"spool_state": "absent", **none, **nothing, "paused": False}
    used = {name: {"used": found["usage"][name], "limit": most} for name, most in limits.items()}
    for name, each in used.items():
        if each["used"] >= _NEARLY_FULL * each["limit"]:
            warnings.append(
                f"{binding.spool} holds {each['used']} of {each['limit']} {name};"
                " compact it or configure larger limits"
            )
    paused = any(_is_paused(files, name) for name in files.known(layout.SESSIONS))
    if paused:
        warnings.append(
            f"capture into {binding.spool} is paused; compact it or configure larger limits"
        )
    same = found["identity"]["spool_id"] == binding.spool_id
    safe = found["classification"] == "committed_v4" and same
    counts = found["omitted"]
    receipts = files.known(layout.ACTIONS)
    finished = {name[:32] for name in receipts if name.endswith(".finish.json")}
    return {
        "spool_state": _lock_state(binding, warnings) if safe else "refused",
        **used,
        "pending": counts["pending"],
        "deferred": counts["deferred"],
        "quarantined": counts["quarantine"],
        "open_actions": sum(
            name.endswith(".start.json") and name[:32] not in finished for name in receipts
        ),
        "attempts": counts["attempts"],
        "paused": paused,
    }


def _lock_state(binding: Binding, warnings: list[str]) -> str:
    lock = FileLock(os.path.join(binding.spool, layout.SPOOL_LOCK), 0, create=False)
    try:
        lock.acquire()
    except TimeoutError:
        return "locked"
    except OSError as error:
        warnings.append(f"{lock.path}: {reason_of(error)}")
        return "refused"
    lock.release()
    return "ok"


def _is_paused(files: Snapshot, name: str) -> bool:
    record = files.record(layout.SESSIONS, name)
    native = None if record is None else record.get("native")
    pause = None if native is None else native.get("pause")
    return pause is not None and bool(pause["open"])


def _text(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "capture is configured for no checkout"
    for row in rows:
        if not row["configured"]:
            yield f"{row['root']}: capture is not configured"
            continue
        state = row["capture_mode"] if row["enabled"] else "off"
        yield f"{row['root']}: {state}, hooks {row['hooks']}"
        if row["lineage_mismatch"]:
            yield "  nothing is kept: the connection it was configured for is not there"
        yield f"  spool {row['spool']}: {row['spool_state']}{', paused' if row['paused'] else ''}"
        for name in ("records", "bytes"):
            yield f"  {row[name]['used']} of {row[name]['limit']} {name}"
        yield (
            f"  {row['pending']} pending, {row['deferred']} deferred,"
            f" {row['open_actions']} open actions, {row['quarantined']} quarantined"
        )
