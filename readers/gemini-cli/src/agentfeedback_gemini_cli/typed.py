"""Which words of a `user` message a person typed (README, "Prompts"). Pure."""

from __future__ import annotations

import re

#: Starts of messages that the harness wrote itself.
_HARNESS_WROTE = ("I ran the following shell command:\n```sh", "- **Workspace Directories:**\n")
_SLASH_COMMAND = re.compile(r"\s*/[A-Za-z][A-Za-z0-9_-]*(?!\S)", re.ASCII)
#: What the harness says to the model by itself, as a text of its own.
_HARNESS_SAYS = re.compile(
    r"System: Please continue\."
    r"|System: Potential loop detected\. Details: .* Please take a step back .*"
    r"|Background execution update:\n<background_output>\n.*\n</background_output>\n\n"
    r"A previously backgrounded execution has completed\. .*",
    re.DOTALL,
)
#: How the harness passes on what a person typed while the model was busy.
_STEERING = re.compile(
    r"User (?:steering update|hints):\n<user_input>\n(?P<typed>.*)\n</user_input>\n{1,2}"
    r"Internal instruction: .*",
    re.DOTALL,
)


def typed_text(parts: list[str]) -> str:
    """What a person typed of the texts of a message; empty where nobody did."""
    text = "\n".join(words for part in parts if (words := _typed(part)) is not None)
    if text.startswith(_HARNESS_WROTE) or _SLASH_COMMAND.match(text) is not None:
        return ""
    return text


def _typed(part: str) -> str | None:
    if _HARNESS_SAYS.fullmatch(part) is not None:
        return None
    steering = _STEERING.fullmatch(part)
    return part if steering is None else steering["typed"]
