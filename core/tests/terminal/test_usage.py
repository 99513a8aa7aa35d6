"""Help: what a command takes, and which commands there are, at any width."""

from __future__ import annotations

import pytest

from agentfeedback.terminal.arguments import (
    Command,
    Flag,
    members,
)
from agentfeedback.terminal.screen import width
from agentfeedback.terminal.usage import help_for, overview

FLAGS = (
    Flag("harness", "text", "only the sessions of this harness", "name", "harness"),
    Flag("limit", "number", "at most this many sessions", "n"),
    Flag("ref", "many", "a uid that was filed", "uid"),
    Flag("allow-unknown-project", "bool", "also sessions that record no directory"),
    Flag("json", "bool", "print JSON"),
)
ABOUT = """\
Shows what went wrong in past sessions. This paragraph is long enough that it has to be wrapped
somewhere, whatever the terminal.

  agentfeedback sessions digest --unprocessed   # new and changed ones
  agentfeedback sessions digest codex:s1 codex:s2 --json
"""
DIGEST = Command(
    "sessions digest", "digests of sessions", "<harness:id>...", FLAGS, ABOUT, "module:function"
)
COMMANDS = (
    Command("sessions list", "every session with its state"),
    DIGEST,
    Command("sessions sweep", "what hooks start", hidden=True),
    Command("plugins", "what is installed"),
)
INTRODUCED = Command("", "", hidden=True, about="Reads session logs.")


def test_help_shows_flags_and_examples() -> None:
    """The help of a command has its usage, its text, its examples word for word and every flag."""
    text = help_for("agentfeedback", DIGEST)
    assert text == (
        "usage: agentfeedback sessions digest <harness:id>... [flags]\n"
        "\n"
        "Digests of sessions.\n"
        "\n"
        "Shows what went wrong in past sessions. This paragraph is long enough that it\n"
        "has to be wrapped somewhere, whatever the terminal.\n"
        "\n"
        "  agentfeedback sessions digest --unprocessed   # new and changed ones\n"
        "  agentfeedback sessions digest codex:s1 codex:s2 --json\n"
        "\n"
        "flags:\n"
        "  --harness <name>         only the sessions of this harness\n"
        "  --limit <n>              at most this many sessions\n"
        "  --ref <uid>              a uid that was filed; may be repeated\n"
        "  --allow-unknown-project  also sessions that record no directory\n"
        "  --json                   print JSON\n"
        "  -h, --help               this text\n"
    )


def test_examples_stay_copyable_on_a_narrow_terminal() -> None:
    """An example too wide for the terminal continues as a shell continues it, its comment apart."""
    lines = help_for("agentfeedback", DIGEST, 40).splitlines()
    at = lines.index("  # new and changed ones")
    assert lines[at + 1 : at + 3] == ["  agentfeedback sessions digest \\", "    --unprocessed"]


@pytest.mark.parametrize("columns", [0, 30, 40, 60, 79, 80, 300])
def test_help_fits_the_terminal(columns: int) -> None:
    """No line of a help text is wider than the terminal, nor than 80 cells."""
    for text in (
        help_for("agentfeedback", DIGEST, columns),
        overview("agentfeedback", COMMANDS, "", columns),
    ):
        assert max(map(width, text.splitlines())) <= min(columns or 80, 80)
        assert all(line == line.rstrip() for line in text.splitlines())


def test_overviews_name_what_may_follow() -> None:
    """The top level lists all commands but hidden ones, a group its own by their last word."""
    assert overview("agentfeedback", (INTRODUCED, *COMMANDS)) == (
        "usage: agentfeedback <command> [flags]\n"
        "\n"
        "Reads session logs.\n"
        "\n"
        "commands:\n"
        "  sessions list    every session with its state\n"
        "  sessions digest  digests of sessions\n"
        "  plugins          what is installed\n"
        "\n"
        "Run agentfeedback <command> -h for what a command does, its flags and examples.\n"
    )
    assert "\n  list    every session" in overview("agentfeedback", COMMANDS, "sessions")
    assert "plugins" not in overview("agentfeedback", COMMANDS, "sessions")
    assert members("", COMMANDS) == ["sessions", "plugins"]
    assert members("sessions", COMMANDS) == ["list", "digest"]
