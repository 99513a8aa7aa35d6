"""Commands of other distributions: in the help and the completion, with their own errors and their own help."""

from __future__ import annotations

from tests.conftest import Machine

TABLES = """
from agentfeedback.terminal.arguments import Command, Flag, parse
from agentfeedback.foundation.errors import UsageError
GREET = Command("greet", "say hello", flags=(Flag("loud", "bool", "with a voice"),))
COMMANDS = (GREET, Command("stranger", "not of this entry point"))
def run(argv):
    line = parse(GREET, argv)
    if line.positionals:
        raise UsageError("nobody is greeted", "leave them out")
    print("HELLO" if line.loud else "hello")
    return 3
"""


def installed(machine: Machine, code: str) -> Machine:
    machine.plugin("greet", code, group="agentfeedback.commands")
    folder = machine.home.parent / "site"
    for info in folder.glob("*.dist-info"):
        points = info / "entry_points.txt"
        points.write_text(points.read_text().rstrip() + ":run\n")
    return machine


def test_an_installed_command_is_part_of_the_program(machine: Machine) -> None:
    """Its line stands in the help, its flags in the completion, its status is the program's."""
    installed(machine, TABLES)
    overview = machine.run("--help")
    assert (
        "\n  greet " in overview.err
        and "say hello" in overview.err
        and "stranger" not in overview.err
    )
    assert "--loud" in machine.run("completion", "bash").text
    done = machine.run("greet", "--loud")
    assert (done.status, done.text) == (3, "HELLO\n")
    assert machine.run("gret").err.startswith(
        'agentfeedback: unknown command "gret"; did you mean greet?'
    )


def test_its_errors_and_its_help_look_like_the_program_s(machine: Machine) -> None:
    """The command is named before the problem; its help is on standard error with exit 0."""
    installed(machine, TABLES)
    wrong = machine.run("greet", "x")
    assert (wrong.status, wrong.err) == (
        2,
        "agentfeedback greet: nobody is greeted; leave them out.\n",
    )
    asked = machine.run("greet", "-h")
    assert asked.status == 0 and asked.err.startswith("usage: agentfeedback greet [flags]\n")


def test_a_command_without_tables_or_with_a_fault_is_shown_by_its_name(machine: Machine) -> None:
    """One bad plugin takes nothing away from the help."""
    installed(machine, "def run(argv):\n    return 0\n")
    assert "\n  greet " in machine.run("--help").err
    for module in (machine.home.parent / "site").glob("*.py"):
        module.write_text("raise RuntimeError('no')\n")
    overview = machine.run("--help")
    assert overview.status == 0 and "cannot be loaded: RuntimeError" in overview.err
    assert machine.run("completion", "fish").status == 0
    assert machine.run("greet").status == 1


def test_other_commands_load_none_of_them(machine: Machine) -> None:
    """Whoever lists sessions does not wait for a plugin's commands."""
    installed(machine, "import os\nos.write(2, b'LOADED')\ndef run(argv):\n    return 0\n")
    for words in (("sessions", "list"), ("--version",), ("demo", "-h")):
        assert "LOADED" not in machine.run(*words).err
    assert "LOADED" in machine.run("--help").err
