"""What of a text a person typed, and which texts are the harness's own. Pure.

Where the harness marks who wrote a text, its marks decide (`Transcript`). The fixed texts here
decide where it marks nothing.
"""

from __future__ import annotations

import re

from agentfeedback_claude_code.lines import Block, TextItem

#: The whole text of the `user` line that an interrupt leaves behind.
INTERRUPTED = "[Request interrupted by user]"
#: The same where a tool was running.
INTERRUPTED_TOOL = "[Request interrupted by user for tool use]"
MARKERS = frozenset({INTERRUPTED, INTERRUPTED_TOOL})

#: How an `isMeta` line starts that stands before what the harness answers to a command.
CAVEATS = ("Caveat: The messages below were generated", "<local-command-caveat>")

_NOTICE = re.compile(r"<task-notification>|<teammate-message[\s>]", re.ASCII)
_WRAPPERS = (
    "command-name",
    "command-message",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
)
_OPENED = tuple(f"<{name}>" for name in _WRAPPERS)
_CLOSED = tuple(f"</{name}>" for name in (*_WRAPPERS, "command-args", "command-contents"))
_UNKNOWN = re.compile(r"Unknown (?:slash command|skill): \S+\Z", re.ASCII)
_COMPACT = re.compile(r"/compact(?=\s|\Z)", re.ASCII)
#: A command of one's own or a skill, up to its words. A built-in command has its name first.
_COMMAND = re.compile(
    r"<command-message>[^<]*</command-message>\s*<command-name>/?([^<]+)</command-name>\s*<command-args>"
)
_ARGS_END = "</command-args>"
_CONTENTS, _CONTENTS_END = "<command-contents>", "</command-contents>"

#: What the harness puts before a person's words: the context of an editor, reminders, marks of images.
_BEFORE = re.compile(
    r"\s*(?:<(ide_opened_file|ide_selection|system-reminder|ci-monitor-event)>.*?</\1>|\[Image #\d+\])\s*",
    re.ASCII | re.DOTALL,
)


def typed(content: str | list[Block] | list[TextItem]) -> tuple[str, bool]:
    """What a person typed of the content of an entry, and whether they sent an image with it.

    What the harness put before their words is left out, of each text block.
    """
    if isinstance(content, str):
        return _words(content), False
    texts, image = [], False
    for block in content:
        if block.type == "text" and block.text is not None:
            texts.append(_words(block.text))
        elif block.type == "image":
            image = True
    return "\n".join(text for text in texts if text), image


def _words(text: str) -> str:
    at = 0
    while (before := _BEFORE.match(text, at)) is not None:
        at = before.end()
    return text[at:]


def is_notice(text: str) -> bool:
    """Whether the text is a message of the harness's tasks or of other agents."""
    return _NOTICE.match(text) is not None


def is_wrapper(text: str) -> bool:
    """Whether the harness wrote the text: a wrapper that is closed at its end, with no word behind it."""
    return text.startswith(_OPENED) and text.rstrip().endswith(_CLOSED)


def is_answer(text: str) -> bool:
    """Whether the text can be the harness's answer to a command it does not know."""
    return _UNKNOWN.match(text) is not None


def is_compact(text: str) -> bool:
    """Whether the text is the command that the harness writes once more, in its wrapper, behind it."""
    return _COMPACT.match(text) is not None


def command_of(text: str) -> str | None:
    """A slash command with the words typed behind it, None where the text is not such a command or has no words."""
    found = _COMMAND.match(text)
    if found is None:
        return None
    rest = text[found.end() :].rstrip()
    if rest.endswith(_CONTENTS_END):
        words, end, contents = rest.partition(_ARGS_END)
        closed = bool(end) and contents.lstrip().startswith(_CONTENTS)
    else:
        words, closed = rest.removesuffix(_ARGS_END), rest.endswith(_ARGS_END)
    words = words.strip()
    return f"/{found[1].strip()} {words}" if closed and words else None
