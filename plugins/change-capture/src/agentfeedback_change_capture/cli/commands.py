"""The commands of this package as a table; what they do is imported when they are called.

Each group of commands has a table of its own, so that a change of one touches no other.
"""

from __future__ import annotations

from agentfeedback.terminal.arguments import Command
from agentfeedback_change_capture.cli.setup_commands import SETUP_COMMANDS
from agentfeedback_change_capture.cli.spool_commands import SPOOL_COMMANDS

COMMANDS = (
    *SETUP_COMMANDS,
    *SPOOL_COMMANDS,
    Command(
        "",
        "",
        hidden=True,
        about="""Keeps a private, bounded account of what coding agents do in a checkout. Nothing leaves this machine
without a connection to a Hub.""",
    ),
    Command(
        "change-capture",
        "",
        hidden=True,
        about="A spool is a private folder of records. Nothing in it is ever deleted automatically.",
    ),
)
