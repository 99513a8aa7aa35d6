"""What `sessions digest` prints as text: whole lines for scripts and agents, a shorter view for a person at a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from agentfeedback.foundation import times
from agentfeedback.terminal.prose import ago, number, wrapped
from agentfeedback.terminal.screen import Screen, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from agentfeedback.wire import records

#: How many deferred refs a person is shown.
_DEFERRED = 5
_SECOND = 1_000_000_000
_STYLES = {"error": "red", "denied": "magenta", "interrupted": "yellow"}
_COUNTED = (
    ("prompts", "prompt"),
    ("tool_calls", "call"),
    ("tool_errors", "failed call"),
    ("denials", "denial"),
    ("interrupts", "interrupt"),
)


def digest_text(
    run: records.DigestRun,
    screen: Screen | None = None,
    shorter: Callable[[str], str] = lambda ref: ref,
    *,
    marks: bool = True,
) -> str:
    """The digest as text, notice first; its errors go to standard error instead.

    A program gets every line whole. A person at a terminal gets what went wrong, wrapped, with
    times as ages and refs as `shorter` makes them, and what to do next; `marks` says that a mark would
    cover what is shown.
    """
    if screen is None or not screen.columns:
        return _text(_whole(run))
    return "".join(f"{line}\n" for line in _View(screen, shorter).run(run, marks=marks))


def session_text(session: Mapping[str, Any], screen: Screen) -> str:
    """One session of a digest as text."""
    if not screen.columns:
        return _text(_session_lines(session))
    return "".join(f"{line}\n" for line in _View(screen, lambda ref: ref).session(session))


# -- whole lines -----------------------------------------------------------------------------------


def _whole(run: records.DigestRun) -> Iterator[str]:
    yield run.notice
    yield f"(detector version {run.detector_version})"
    for session in run.sessions:
        yield ""
        yield from _session_lines(session)
    for ref in run.deferred:
        yield ""
        yield f"deferred (over the run cap; mark these, then digest again): {ref}"
    if run.clean:
        yield ""
        yield f"nothing went wrong in {number(len(run.clean), 'session')}: {' '.join(run.clean)}"


def _session_lines(session: Mapping[str, Any]) -> list[str]:
    counts = session["counts"]
    named = ("prompts", "tool_calls", "tool_errors", "interrupts", "denials")
    cut = "  (truncated)" if session["truncated"] else ""
    if dropped := session.get("dropped"):
        cut = f"  (truncated, {dropped} events left out for good)"
    ends = f"{session.get('start') or '-'} .. {session.get('end') or '-'}"
    model = session.get("model") or "-"
    lines = [
        f"== {session['ref']}  project {session['project'] or '-'}  cwd {session['cwd'] or '-'}",
        f"   {ends}  model {model}  from offset {session['from_offset']}{cut}",
        "   " + ", ".join(f"{name.replace('_', ' ')} {counts[name]}" for name in named),
    ]
    for event in session["events"]:
        lines += _event_lines(event)
    lines += [
        f"   retry #{retry['span']} of #{retry['of_span']}  {retry['tool']}"
        for retry in session["retries"]
    ]
    lines += [f'   flagged #{flag["span"]}  "{flag["phrase"]}"' for flag in session["flagged"]]
    for detector, findings in (session.get("findings") or {}).items():
        lines += [f"   finding {detector}: {_compact(finding)}" for finding in findings]
    if session.get("final_excerpt"):
        lines.append(f"   final: {_one_line(session['final_excerpt'])}")
    return lines


def _event_lines(event: Mapping[str, Any]) -> list[str]:
    code = event.get("exit_code")
    parts = [
        event.get("at"),
        event["type"],
        event.get("tool"),
        event.get("status"),
        None if code is None else f"exit {code}",
        event.get("error_class"),
        "(agentfeedback's own command)" if event.get("self") else None,
        f"#{event['span']}",
    ]
    lines = ["   " + "  ".join(part for part in parts if part)]
    if event.get("summary"):
        lines.append(f"      {event['summary']}")
    if event.get("command"):
        lines.append(f"      $ {_one_line(event['command'])}")
    if event.get("excerpt"):
        lines.append(f"      {_one_line(event['excerpt'])}")
    if event.get("tail"):
        lines.append(f"      … {_one_line(event['tail'])}")
    return lines


# -- for a person ----------------------------------------------------------------------------------


class _View:
    """A terminal, and how a digest is written on it."""

    def __init__(self, screen: Screen, shorter: Callable[[str], str]) -> None:
        self._screen = screen
        self._room = min(screen.columns, 120)
        self._shorter = shorter

    def run(self, run: records.DigestRun, *, marks: bool) -> Iterator[str]:
        yield from self._styled(wrapped(run.notice, self._room), "dim")
        fine = []
        for session in run.sessions:
            if has_problems(session):
                yield ""
                yield from self.session(session)
            else:
                fine.append(session)
        if fine or run.clean:
            yield ""
        for session in fine:
            parts = (self._name(session), "nothing went wrong")
            yield from wrapped(" · ".join(parts), self._room, "", "  ")
        if run.clean:
            clean = f"nothing went wrong in {number(len(run.clean), 'more session')}"
            yield clean if fine else clean.replace(" more", "")
        yield from self._deferred(run.deferred)
        yield from self._next(run, marks=marks)

    def session(self, session: Mapping[str, Any]) -> Iterator[str]:
        """One session: its name, its numbers, and each event with its own ref."""
        yield from self._styled(wrapped(self._name(session), self._room, "", "  "), "bold")
        counts = session["counts"]
        numbers = [number(counts[name], one) for name, one in _COUNTED if counts[name]]
        if session["truncated"]:
            numbers.append("truncated")
        if dropped := session.get("dropped"):
            numbers.append(f"{number(dropped, 'event')} left out for good")
        yield from wrapped(", ".join(numbers) or "nothing in it", self._room, "  ")
        flags: dict[str, list[str]] = {}
        for flag in session["flagged"]:
            flags.setdefault(flag["span"], []).append(flag["phrase"])
        repeated = {retry["of_span"]: retry for retry in session["retries"]}
        for event in session["events"]:
            yield from self._event(event, flags.get(event["span"], ()), repeated)
        for detector, findings in (session.get("findings") or {}).items():
            for finding in findings:
                yield from self._shown(_compact(finding), f"  {visible(detector)}: ")
        if session.get("final_excerpt"):
            yield from self._shown(session["final_excerpt"], "  final: ")

    def _event(
        self, event: Mapping[str, Any], phrases: Sequence[str], repeated: Mapping[str, Any]
    ) -> Iterator[str]:
        if event["type"] == "prompt":
            yield from self._shown(event.get("summary", ""), "  > ", "yellow" if phrases else "")
            if phrases:
                said = ", ".join(f'"{phrase}"' for phrase in phrases)
                yield from self._shown(f"complains: {said}", "    ", "yellow")
            return
        code = f"exit {event['exit_code']}" if "exit_code" in event else event["status"]
        again = "repeated" if event["span"] in repeated else ""
        own = "agentfeedback's own command" if event.get("self") else ""
        line = " · ".join(part for part in (event["tool"], code, again, own) if part)
        yield from self._shown(line, "  × ", _STYLES.get(event["status"], ""))
        if event.get("command"):
            yield from self._shown(event["command"], "      $ ")
        if event.get("excerpt"):
            yield from self._shown(event["excerpt"], "      ")
        if event.get("tail"):
            yield from self._shown(event["tail"], "      … ")
        yield f"      {self._screen.style(visible(self._shorter(event['ref'])), 'cyan')}"

    def _shown(self, text: str, first: str, style: str = "") -> list[str]:
        return self._styled(wrapped(visible(_one_line(text)), self._room, first), style)

    def _styled(self, lines: Sequence[str], style: str) -> list[str]:
        return [self._screen.style(line, style) for line in lines]

    def _name(self, session: Mapping[str, Any]) -> str:
        end = times.parse(session.get("end"))
        age = ago(time.time() - end / _SECOND) if end is not None else ""
        project = session["project"].rstrip("/").rpartition("/")[2] or session["project"]
        parts = (self._shorter(session["ref"]), project, age)
        return visible(" · ".join(part for part in parts if part))

    def _deferred(self, deferred: Sequence[str]) -> Iterator[str]:
        if not deferred:
            return
        yield ""
        yield f"{number(len(deferred), 'session')} left for the next run, once these are marked:"
        for ref in deferred[:_DEFERRED]:
            yield f"  {visible(self._shorter(ref))}"
        if more := len(deferred) - _DEFERRED:
            yield from [f"  and {more:,} more"] if more > 0 else []

    def _next(self, run: records.DigestRun, *, marks: bool) -> Iterator[str]:
        if not run.sessions:
            return
        events = [event for session in run.sessions for event in session["events"]]
        failed = next((each["ref"] for each in events if each["type"] != "prompt"), "")
        yield ""
        if failed:
            from shlex import quote

            shown = quote(visible(self._shorter(failed)))
            yield f"look closer: agentfeedback sessions show {shown}"  # whole, so that it can be pasted
            if not any(event.get("command") for event in events):
                yield "what was run, and how outputs end: add --detail"
        if marks:
            yield from wrapped(
                "when you are through: agentfeedback sessions mark --digested --outcome nothing",
                self._room,
            )


def has_problems(session: Mapping[str, Any]) -> bool:
    """Whether there is more to show of a session than prompts that do not complain."""
    failed = any(event["type"] != "prompt" for event in session["events"])
    return bool(failed or session["flagged"] or session.get("findings"))


def _compact(value: Any) -> str:
    if isinstance(value, str):
        return _one_line(value)
    from agentfeedback.wire.encode import encode

    return encode(value).decode()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(lines: Iterator[str] | Sequence[str]) -> str:
    return "".join(f"{visible(line)}\n" for line in lines)
