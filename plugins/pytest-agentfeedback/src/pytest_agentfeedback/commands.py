"""The commands of the kit as a table; what they do is imported when they are called."""

from __future__ import annotations

from agentfeedback.plugins import Command, Flag

COMMANDS = (
    Command(
        "plugins new",
        "write a reader package for another harness, ready to change",
        "<name>",
        flags=(
            Flag(
                "into",
                "text",
                "write it into DIR (default: the current folder)",
                "DIR",
                "directory",
            ),
            Flag("anyway", "bool", "write it although this project has a reader of that agent"),
        ),
        about="""Writes agentfeedback-NAME: a reader of an invented format, a corpus of one session with its labels and
goldens, and a test. It installs with pip and passes its tests, so that you change something that works.
The template comes with pytest-agentfeedback.

 agentfeedback plugins new goose
 agentfeedback plugins new goose --into ~/src""",
        target="pytest_agentfeedback.new_reader:run",
    ),
)
