"""What `sessions show` prints for people: a session with its events, or one entry with what is around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentfeedback.terminal.prose import wrapped
from agentfeedback.terminal.screen import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentfeedback.terminal.screen import Screen
    from agentfeedback.wire.show import Shown

_STYLES = {"error": "red", "denied": "magenta", "interrupted": "yellow"}


def shown_text(shown: Shown, screen: Screen) -> str:
    """A session or an entry of it as text; the notice comes first unless a person looks at a terminal."""
    if shown.entries is None:
        from agentfeedback.cli.digest_text import session_text

        body = session_text(shown.session, screen)
    else:
        body = "".join(f"{line}\n" for line in _entry(shown, screen))
    return body if screen.columns else f"{shown.notice}\n\n{body}"


def _entry(shown: Shown, screen: Screen) -> Iterator[str]:
    session: Mapping[str, Any] = shown.session
    entries: Any = shown.entries
    around: Any = shown.around or {}
    yield screen.style(visible(shown.ref), "bold")
    yield visible(f"project {session['project'] or '-'}  model {session.get('model') or '-'}")
    for name, title in (("prompt", "prompt before"), ("said_before", "said before")):
        yield from _said(title, around.get(name), screen)
    for entry in entries:
        yield ""
        if entry["type"] == "prompt":
            yield from _prompt(entry, screen)
        else:
            yield from _call(entry, screen)
    if around.get("said_after"):
        yield ""
    yield from _said("said after", around.get("said_after"), screen)


def _said(title: str, said: Mapping[str, Any] | None, screen: Screen) -> Iterator[str]:
    if said is not None:
        text = visible(" ".join(said["text"].split()))
        yield from wrapped(text, screen.columns, f"{title}: ", "  ")


def _prompt(entry: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    at = entry.get("at", "")
    yield screen.style(f"prompt  {at}".rstrip(), "bold")
    yield from _text(entry.get("text"))
    if phrases := entry.get("phrases"):
        yield visible("complains: " + ", ".join(f'"{phrase}"' for phrase in phrases))


def _call(entry: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    status = entry.get("status", "no result")
    code = f"exit {entry['exit_code']}" if "exit_code" in entry else ""
    own = "agentfeedback's own command" if entry.get("self") else ""
    parts = (entry["tool"], status, code, entry.get("at", ""), own)
    line = visible("  ".join(part for part in parts if part))
    yield screen.style(line, _STYLES.get(status, "bold"))
    if repeats := entry.get("repeats"):
        yield visible(f"repeats the failed call #{repeats}")
    if command := entry.get("command"):
        yield from _text(command, "$ ")
    if input := entry.get("input"):
        yield from _text(input)
    if result := entry.get("result"):
        yield screen.style("result:", "dim")
        yield from _text(result, "  ", "  ")


def _text(text: Mapping[str, Any] | None, first: str = "", rest: str = "") -> Iterator[str]:
    if text is None:
        return
    lines = visible(text["head"], keep_newlines=True).split("\n")
    if text.get("left_out"):
        lines.append(f"… {text['left_out']:,} bytes left out …")
    if text.get("tail"):
        lines += visible(text["tail"], keep_newlines=True).split("\n")
    for number, line in enumerate(lines):
        yield f"{rest if number else first}{line}"
