"""A program of any name finds its commands, introduces its groups, and says what is wrong with a line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.terminal.program import Program, table

TABLE = """
from agentfeedback.plugins import AgentFeedbackError, Command, Flag, UsageError
COMMANDS = (
    Command("", "", hidden=True, about="Captures changes."),
    Command("hub", "", hidden=True, about="Serves a team."),
    Command("hub serve", "serve the hub", flags=(Flag("port", "number", "where", "N"),), target="{name}:serve"),
    Command("hub token add", "add a token", "<name>", target="{name}:add"),
    Command("hub token drop", "drop a token", target="{name}:add"),
    Command("capture", "capture a change", target="{name}:capture"),
    Command("secret", "not shown", hidden=True, target="{name}:capture"),
)
def serve(line):
    print("serving", line.port)
    return 0
def add(line):
    print("adding", *line.positionals)
    return 7
def capture(line):
    if line.positionals == ["stop"]:
        raise KeyboardInterrupt
    if line.positionals == ["gone"]:
        raise BrokenPipeError
    raise AgentFeedbackError("nothing to capture.", "change something.")
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """A second program, whose table is a module of its own."""
    (tmp_path / "second_table.py").write_text(TABLE.replace("{name}", "second_table"))
    monkeypatch.syspath_prepend(tmp_path)
    yield Program("agentscm", "agentscm.commands", "second_table", version="9.8")
    sys.modules.pop("second_table", None)


@pytest.mark.parametrize(
    ("line", "status", "out"),
    [
        ("hub serve --port 8", 0, "serving 8\n"),
        ("hub token add a b", 7, "adding a b\n"),
        ("--version", 0, "agentscm 9.8\n"),
        ("version", 0, "agentscm 9.8\n"),
    ],
)
def test_a_line_calls_its_command(
    program: Program, capsys: pytest.CaptureFixture[str], line: str, status: int, out: str
) -> None:
    """The target gets the words behind the command's name, and its status is the program's."""
    assert program.main(line.split()) == status
    assert capsys.readouterr().out == out


def test_version_loads_no_table(program: Program) -> None:
    """What prints the version alone does not wait for the commands."""
    sys.modules.pop("second_table", None)
    assert program.main(["-V"]) == 0
    assert "second_table" not in sys.modules


@pytest.mark.parametrize(
    ("line", "status", "error"),
    [
        ("hub srve", 2, 'agentscm hub: there is no command "hub srve"; did you mean agentscm hub serve? the commands of hub are serve, token.'),
        ("hub token x", 2, 'agentscm hub: there is no command "hub token x"; the commands of hub token are add, drop.'),
        ("captur", 2, 'agentscm: there is no command "captur"; did you mean agentscm capture? the commands are hub, capture.'),
        ("hub serve --prt 1", 2, "agentscm hub: unknown flag --prt; did you mean --port? agentscm hub serve --help shows how it is used."),
        ("capture", 1, "agentscm capture: nothing to capture; change something."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(
    program: Program, capsys: pytest.CaptureFixture[str], line: str, status: int, error: str
) -> None:
    """An error is named after the command's first word and says what to do next, with the program's own name."""
    assert program.main(line.split()) == status
    assert capsys.readouterr() == ("", error + "\n")


def test_groups_and_the_program_are_introduced(
    program: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    """Help of the program and of a group shows its introduction and its commands, and nothing hidden."""
    assert (
        program.main([])
        == program.main(["hub", "--help"])
        == program.main(["help", "hub", "token"])
        == 0
    )
    whole, hub, token = capsys.readouterr().out.split("usage: ")[1:]
    assert whole.startswith(
        "agentscm <command> [flags]\n\nCaptures changes.\n\ncommands:\n  hub serve"
    )
    assert "secret" not in whole and "Run agentscm <command> -h" in whole
    assert hub.startswith("agentscm hub <command> [flags]\n\nServes a team.\n\ncommands:\n  serve ")
    assert "capture" not in hub
    assert "  add   add a token\n" in token


def test_the_end_of_a_line_is_a_status(program: Program) -> None:
    """Ctrl-C is 130, as shells have it; a hidden command runs."""
    assert program.main(["capture", "stop"]) == 130
    assert program.main(["secret", "stop"]) == 130


def refuse() -> None:
    from agentfeedback.foundation.errors import AgentFeedbackError

    raise AgentFeedbackError("cannot start", "try again")


@pytest.mark.parametrize("before", [None, refuse])
def test_what_comes_before_a_line_may_end_it(
    program: Program, capsys: pytest.CaptureFixture[str], before: Callable[[], None] | None
) -> None:
    """A start that fails is an error of the program, of no command."""
    status = program.main(["hub", "serve"], before)
    shown = capsys.readouterr()
    assert (status, shown.err) == (
        (1, "agentscm: cannot start; try again.\n") if before else (0, "")
    )


@pytest.mark.parametrize(
    "body", ["COMMANDS = None", "COMMANDS = ('x',)", "COMMANDS = [Command('x', '', target='y:z')]", "COMMANDS = (Command('x', ''),)"]
)  # fmt: skip
def test_a_table_is_a_tuple_of_commands_that_can_be_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """Anything else is refused as a whole, since help and completion could not show it."""
    (tmp_path / "odd_table.py").write_text(f"from agentfeedback.plugins import Command\n{body}\n")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        with pytest.raises(TypeError, match="odd_table"):
            table("odd_table")
    finally:
        sys.modules.pop("odd_table", None)


WORDS = st.sampled_from(
    ["hub", "serve", "token", "add", "drop", "capture", "secret", "-h", "help", "--", "x", ""]
)


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_the_longest_name_is_found(words: list[str]) -> None:
    """Of all commands a line begins with, the one with the most words is meant, and no word gets lost."""
    import types

    namespace: dict[str, object] = {}
    exec(TABLE, namespace)
    module = types.ModuleType("second_in_memory")
    module.__dict__.update(namespace)
    sys.modules["second_in_memory"] = module
    try:
        program = Program("agentscm", "agentscm.commands", "second_in_memory")
        command, rest = program.find(words)
        names = [each.name.split() for each in table("second_in_memory") if each.target]
    finally:
        del sys.modules["second_in_memory"]
    fitting = [name for name in names if words[: len(name)] == name]
    assert (command is None) == (not fitting)
    if command is not None:
        assert command.name.split() == max(fitting, key=len)
        assert [*command.name.split(), *rest] == words
    else:
        assert rest == words
