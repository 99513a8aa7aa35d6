"""The table of `agentfeedback sessions browse`; textual is imported when it is called."""

from __future__ import annotations

from agentfeedback.plugins import Command, Flag

COMMANDS = (
    Command(
        "sessions browse",
        "look through sessions, open what went wrong, mark and file it",
        flags=(
            Flag("harness", "text", "only sessions of this harness", "HARNESS", "harness"),
            Flag("since", "text", "only sessions since T, such as 7d or yesterday", "T"),
        ),
        about="""Sessions are on the left, what went wrong in one on the right. Each action is a command of agentfeedback
that is run for you, under the same policy; the keys are at the bottom of the screen.

 agentfeedback sessions browse
 agentfeedback sessions browse --since yesterday""",
        target="agentfeedback_tui.app:run",
    ),
)
