"""Commands of other distributions: in the help and the completion, with their own errors and their own help."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
import tomllib

from agentfeedback.cli.main import ELSEWHERE
from agentfeedback.foundation.entry_points import load
from agentfeedback.terminal.program import table
from tests.support import ROOT
from tests.support.machine import Machine

GROUP = "agentfeedback.commands"
TABLE = """
from agentfeedback.plugins import Command, Flag
COMMANDS = (
    Command("greet", "say hello", flags=(Flag("loud", "bool", "with a voice"),), target="greeting:run"),
    Command("stranger", "not of this entry point", target="greeting:run"),
)
"""
TARGET = """
import os
from agentfeedback.plugins import UsageError
os.write(2, b"TARGET")
def run(line):
    if line.positionals:
        raise UsageError("nobody is greeted", "leave them out")
    print("HELLO" if line.loud else "hello")
    return 3
"""
LONGER = """
from agentfeedback.plugins import Command
COMMANDS = (
    Command("plugins", "not ours to change", target="greeting:run"),
    Command("plugins prune", "drop what nobody uses", target="greeting:prune"),
    Command("plugins prune all", "drop everything", target="greeting:everything"),
)
"""


def installed(machine: Machine, code: str, name: str = "greet", target: str = TARGET) -> Machine:
    machine.plugin(name, code, group=GROUP)
    (machine.home.parent / "site/greeting.py").write_text(target)
    return machine


def test_an_installed_command_is_part_of_the_program(machine: Machine) -> None:
    """Its line stands in the help, its flags in the completion, its status is the program's."""
    installed(machine, TABLE)
    overview = machine.run("--help")
    assert (
        "\n  greet " in overview.text
        and "say hello" in overview.text
        and "stranger" not in overview.text + overview.err
        and "TARGET" not in overview.err
    )
    assert "--loud" in machine.run("completion", "bash").text
    done = machine.run("greet", "--loud")
    assert (done.status, done.text) == (3, "HELLO\n")
    assert machine.run("gret").err.startswith(
        'agentfeedback: there is no command "gret"; did you mean agentfeedback greet?'
    )


def test_its_errors_and_its_help_look_like_the_program_s(machine: Machine) -> None:
    """The command is named before the problem; its help is a result, exit 0."""
    installed(machine, TABLE, target=TARGET.replace('os.write(2, b"TARGET")', ""))
    wrong = machine.run("greet", "x")
    assert (wrong.status, wrong.err) == (
        2,
        "agentfeedback greet: nobody is greeted; leave them out.\n",
    )
    asked = machine.run("greet", "-h")
    assert asked.status == 0 and asked.text.startswith("usage: agentfeedback greet [flags]\n")
    flag = machine.run("greet", "--lout")
    assert flag.status == 2 and "did you mean --loud? agentfeedback greet --help" in flag.err


def test_a_longer_name_goes_beside_the_program_s_own(machine: Machine) -> None:
    """A plugin adds words to a command of the core, the longest name is meant, and the core's own stays what it is."""
    targets = "def prune(line):\n    print(line.positionals)\n    return 0\ndef everything(line):\n    return 4\n"
    installed(machine, LONGER, "plugins", targets)
    assert machine.run("plugins", "prune", "x").text == "['x']\n"
    assert machine.run("plugins", "prune", "all").status == 4
    own = machine.run("plugins", "--json")
    assert own.status == 0 and own.json["plugins"]
    lines = machine.run("--help").text.splitlines()
    at = next(number for number, each in enumerate(lines) if each.startswith("  plugins "))
    assert "what is installed" in lines[at] and "not ours" not in "".join(lines)
    longer = [each for each in lines[at + 1 :] if each.startswith("  plugins ")]
    assert {each.split()[1] for each in longer} == {"new", "prune"}


def test_a_table_with_a_fault_is_named_and_the_rest_works(machine: Machine) -> None:
    """One bad plugin takes nothing away from the help; its word says what is wrong, exit 1.

    What else a table may do is in core/tests/terminal/test_foreign.py, without a process for each.
    """
    installed(machine, TABLE)
    file = next((machine.home.parent / "site").glob("x_*.py"))
    for code, kind in {
        "raise SystemExit(0)\n": "SystemExit",
        "COMMANDS = ()\n": "LookupError",
    }.items():
        file.write_text(code)
        shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)
        overview = machine.run("--help")
        assert overview.status == 0
        assert re.search(rf"^  greet +cannot be loaded: {kind}$", overview.text, re.MULTILINE)
        assert "\n  submit " in overview.text
        assert machine.run("completion", "fish").status == 0
        called = machine.run("greet")
        assert called.status == 1 and called.out == b""
        assert called.err.startswith(
            f"agentfeedback greet: command greet could not be loaded: {kind}"
        )
        assert "update or uninstall x-agentfeedback-commands-greet" in called.err
        assert called.err.count("\n") == 1


def test_a_fault_beside_the_program_s_own_command_is_named_there(machine: Machine) -> None:
    """A failing table of `plugins` leaves `plugins` and `plugins new` as they are."""
    installed(machine, "raise RuntimeError('no')\n", "plugins")
    assert machine.run("plugins", "--json").status == 0
    wrong = machine.run("plugins", "new")
    assert wrong.status == 2 and "plugins new takes one name" in wrong.err
    assert "warning: a command of x-agentfeedback-commands-plugins could not be loaded" in wrong.err


def test_what_a_table_prints_is_not_the_program_s_output(machine: Machine) -> None:
    """A table that prints while it is imported cannot spoil what a script reads."""
    installed(machine, "print('noise')\n" + TABLE)
    done = machine.run("completion", "bash")
    assert "noise" not in done.text and "noise" in done.err


def test_a_target_that_cannot_be_imported_is_named(machine: Machine) -> None:
    """What a command needs may be missing: the help still works, the call says what is wrong."""
    installed(machine, TABLE, target="import nothing_of_that_name\n")
    assert machine.run("greet", "-h").status == 0
    done = machine.run("greet")
    assert done.status == 1 and done.err.startswith(
        "agentfeedback greet: command greet could not be loaded: ModuleNotFoundError"
    )


def test_other_commands_load_none_of_them(machine: Machine) -> None:
    """Whoever lists sessions does not wait for a plugin's commands."""
    installed(machine, "import os\nos.write(2, b'LOADED')\n" + TABLE)
    for words in (("sessions", "list"), ("--version",), ("demo", "-h"), ("plugins", "new", "-h")):
        assert "LOADED" not in machine.run(*words).err
    assert "LOADED" in machine.run("--help").err


def test_a_command_that_is_not_installed_names_its_distribution() -> None:
    """With the core alone each command that another distribution of this project brings says how to get it."""
    code = (
        # re2 is the core's own dependency: an error is scrubbed before it is shown.
        "import re2, sys\n"
        "own = [each for each in sys.path if 'site-packages' not in each and '/src' not in each]\n"
        "sys.path[:] = own\n"
        f"sys.path.append({str(ROOT / 'core/src')!r})\n"
        "from agentfeedback.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    )
    for name, dist in ELSEWHERE.items():
        words = [*name.split(), "goose", "--into", "x"]
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"agentfeedback {name.split()[0]}: {name} comes with {dist}, which is not installed;"
            f" run pip install {dist} first.\n"
        )


def test_the_distributions_named_are_those_of_the_workspace() -> None:
    """The core knows by name what the plugins of this repository add to it."""
    brought = {}
    for path in ROOT.glob("plugins/*/pyproject.toml"):
        project = tomllib.loads(path.read_text())["project"]
        points = project.get("entry-points", {}).get(GROUP, {})
        for word, value in points.items():
            names = [each.name for each in table(value) if re.match(rf"{word}\b", each.name)]
            assert names
            brought.update(dict.fromkeys(names, project["name"]))
    assert brought == ELSEWHERE


def test_every_target_is_a_function_of_its_own_distribution() -> None:
    """A target is a text that no tool follows: each is there, takes the line, and is of the package of its table."""
    values = {"agentfeedback.cli.commands"}
    for path in ROOT.glob("plugins/*/pyproject.toml"):
        project = tomllib.loads(path.read_text())["project"]
        values |= set(project.get("entry-points", {}).get(GROUP, {}).values())
    assert len(values) >= 4
    for value in values:
        for command in table(value):
            if command.target:
                assert command.target.partition(".")[0] == value.partition(".")[0], command.name
                assert len(inspect.signature(load(command.target)).parameters) == 1, command.name
