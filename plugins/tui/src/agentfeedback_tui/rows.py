"""What the view shows of sessions and events, as rows of plain text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from agentfeedback.foundation import times
from agentfeedback.terminal.screen import visible

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


@frozen
class SessionRow:
    """One session: the cells of its row, and the words a filter looks in."""

    ref: str
    cells: tuple[str, ...]
    words: str


@frozen
class EventRow:
    """One event of a session: the cells of its row, and its ref."""

    ref: str
    cells: tuple[str, ...]
    words: str


def session_row(item: Mapping[str, Any], now: int) -> SessionRow:
    """A session of `sessions list --json`; `now` is in nanoseconds since the epoch."""
    counts = item.get("counts") or {}
    project = visible(str(item.get("project", ""))).rstrip("/")
    cells = (
        visible(str(item.get("harness", ""))),
        age(str(item.get("end", "")), now),
        project.rpartition("/")[2] or "-",
        troubles(counts),
        visible(str(item.get("state", ""))),
    )
    ref = str(item.get("ref", ""))
    return SessionRow(ref, cells, " ".join((*cells, project, ref)).lower())


def event_row(event: Mapping[str, Any], ref: str) -> EventRow:
    """An event of a digest of the session `ref`."""
    kind = "prompt" if event.get("type") == "prompt" else str(event.get("status", ""))
    if event.get("exit_code") is not None:
        kind = f"exit {event['exit_code']}"
    what = event.get("summary") or event.get("command") or event.get("tool") or ""
    cells = (visible(kind), visible(str(what)), visible(str(event.get("excerpt", ""))))
    own = str(event.get("ref") or f"{ref}#{event.get('span', '')}")
    return EventRow(own, cells, " ".join(cells).lower())


def troubles(counts: Mapping[str, Any]) -> str:
    """Failures, denials and interrupts; empty where there was none."""
    parts = (("tool_errors", "failed"), ("denials", "denied"), ("interrupts", "stopped"))
    return ", ".join(f"{counts[name]} {word}" for name, word in parts if counts.get(name))


def age(end: str, now: int) -> str:
    """How long ago a time is, in its largest unit."""
    at = times.parse(end)
    if at is None:
        return "-"
    seconds = max(0, (now - at) // 1_000_000_000)
    return next((f"{seconds // size}{unit}" for size, unit in _UNITS if seconds >= size), "now")


def entry_text(shown: Mapping[str, Any]) -> str:
    """One entry of `sessions show REF#SPAN --json`, to be read: what was run, what it answered, what was said around it."""
    around = shown.get("around") or {}
    parts = [_around("Prompt before", around.get("prompt"))]
    parts += [_around("Said before", around.get("said_before"))]
    for entry in shown.get("entries") or ():
        if entry.get("type") == "prompt":
            parts.append(_part("Prompt", _whole(entry.get("text"))))
            continue
        status = entry.get("status", "no result")
        code = f", exit {entry['exit_code']}" if entry.get("exit_code") is not None else ""
        parts.append(f"{entry.get('tool', '')}: {status}{code}")
        parts.append(_part("Command", _whole(entry.get("command") or entry.get("input"))))
        parts.append(_part("Result", _whole(entry.get("result"))))
    parts.append(_around("Said after", around.get("said_after")))
    return visible("\n\n".join(part for part in parts if part), keep_newlines=True)


def _whole(text: Mapping[str, Any] | None) -> str:
    if not text:
        return ""
    left = f"\n… {text['left_out']} bytes left out …\n" if text.get("left_out") else ""
    return f"{text.get('head', '')}{left}{text.get('tail', '')}"


def _around(title: str, said: Mapping[str, Any] | None) -> str:
    return _part(title, str(said.get("text", ""))) if said else ""


def _part(title: str, text: str) -> str:
    return f"{title}:\n{text}" if text else ""
