"""The completion scripts offer what the command tables hold."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentfeedback.cli.main import main
from agentfeedback.foundation.entry_points import INSTALLERS, entry_points
from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins.harnesses import HARNESSES
from agentfeedback.reading.refs import OUTCOMES
from agentfeedback.terminal.arguments import Command, Flag
from agentfeedback.terminal.completion import SHELLS, VOCABULARIES, script

JSON = Flag("json", "bool", "print JSON, don't print a table")
COMMANDS = (
    Command(
        "sessions list",
        "every session's state",
        flags=(
            Flag("harness", "text", "one harness", "name", "harness"),
            Flag("since", "text", "from when", "time"),
            Flag("home", "text", "another home", "dir", "directory"),
            Flag("config", "text", "a file", "file", "file"),
            JSON,
        ),
    ),
    Command(
        "sessions mark",
        "record an outcome",
        flags=(Flag("outcome", "text", "what came of it", "word", ("filed", "nothing")), JSON),
    ),
    Command("sessions sweep", "hidden", hidden=True),
    Command("plugins new", "start a plugin", flags=(JSON,)),
    Command("plugins", "what is installed", flags=(JSON,)),
    Command("completion", "print a script", "bash|zsh|fish"),
    Command("install", "wire hooks", "<harness>...", flags=(JSON,), choices="installer"),
)
BASH = shutil.which("bash")


def complete(*words: str, cwd: Path | None = None, options: str = "-eu") -> list[str]:
    """What bash offers for the last of the words that follow the program's name."""
    driver = (
        'source "$0"; COMP_WORDS=(agentfeedback "$@"); COMP_CWORD=$#; _agentfeedback;'
        ' [[ ${#COMPREPLY[@]} -eq 0 ]] || printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert BASH is not None
    path = Path(os.environ["COMPLETION_SCRIPT"])
    done = subprocess.run(
        [BASH, "--norc", options, "-c", driver, str(path), *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
        timeout=30,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.fixture
def _bash_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if BASH is None:
        pytest.skip("bash is not installed")
    path = tmp_path / "completion.bash"
    path.write_text(script("bash", COMMANDS), encoding="utf-8")
    monkeypatch.setenv("COMPLETION_SCRIPT", str(path))


@pytest.mark.usefixtures("_bash_script")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ([""], ["sessions", "plugins", "completion", "install"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["completion", "z"], ["zsh"]),
        (["install", ""], [*VOCABULARIES["installer"]]),
        (["install", "codex", "--json", "cu"], ["cursor"]),
        (["se"], ["sessions"]),
        (["sessions", ""], ["list", "mark"]),
        (["sessions", "nope"], []),
        (["plugins", ""], ["new"]),
        (["plugins", "-"], ["--json", "--help"]),
        (["plugins", "new", "--"], ["--json", "--help"]),
        (
            ["sessions", "list", "-"],
            ["--harness", "--since", "--home", "--config", "--json", "--help"],
        ),
        (["sessions", "list", "--json", "--har"], ["--harness"]),
        (["sessions", "list", ""], []),
        (["sessions", "list", "--harness", ""], [*HARNESSES]),
        (["sessions", "list", "-harness", "op"], ["opencode-v1", "opencode-v2"]),
        (["sessions", "list", "--harness", "=", "ge"], ["gemini-cli"]),
        (["sessions", "list", "--harness", "="], [*HARNESSES]),
        (["sessions", "list", "--harness=ge"], ["--harness=gemini-cli"]),
        (["sessions", "list", "--since", ""], []),
        (["sessions", "mark", "codex:s1", "--outcome", "n"], ["nothing"]),
        (["sessions", "list", "--", "--"], []),
        (["--"], ["--help"]),
    ],
)
def test_bash_offers_what_may_follow(words: list[str], offered: list[str]) -> None:
    """Bash offers commands, flags and values by where the cursor stands, and nothing hidden."""
    assert complete(*words) == offered


@pytest.mark.usefixtures("_bash_script")
def test_bash_offers_paths_whatever_their_name(tmp_path: Path) -> None:
    """A directory flag offers directories alone, a file flag files too, names with blanks whole."""
    place = tmp_path / "place"
    (place / "a b * c").mkdir(parents=True)
    (place / "another").write_text("")
    assert complete("sessions", "list", "--home", "a", cwd=place) == ["a b * c"]
    found = complete("sessions", "list", "--config", "a", cwd=place)
    assert sorted(found) == ["a b * c", "another"]


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_hold_every_shown_command_and_flag(shell: str) -> None:
    """No command or flag is missing for any shell, and hidden commands are in none."""
    text = script(shell, COMMANDS)
    for word in ("list", "mark", "plugins", "harness", "outcome", "config", *HARNESSES, "filed"):
        assert word in text
    assert "sweep" not in text


@pytest.mark.parametrize("shell", SHELLS)
def test_installed_readers_can_be_offered(shell: str) -> None:
    """A caller's own words take the place of the built-in ones."""
    text = script(shell, COMMANDS, {"harness": ("aider",)})
    assert "aider" in text
    assert "gemini-cli" not in text


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_valid_in_their_shell(shell: str, tmp_path: Path) -> None:
    """Each shell that is installed accepts the syntax of its script."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script(shell, COMMANDS), encoding="utf-8")
    subprocess.run([program, "-n", str(path)], check=True, timeout=30)


def test_the_words_are_those_of_the_program() -> None:
    """What is offered unasked is what the commands accept."""
    wired = {point.name for point in entry_points({INSTALLERS})}
    assert wired.issuperset(VOCABULARIES["installer"])
    others = {name: words for name, words in VOCABULARIES.items() if name != "installer"}
    assert others == {"harness": HARNESSES, "outcome": OUTCOMES}


def test_quotes_in_summaries_are_escaped() -> None:
    """A summary with an apostrophe does not end a word of the script early."""
    assert "don'\\''t" in script("zsh", COMMANDS)
    assert "don\\'t" in script("fish", COMMANDS)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`completion <shell>` prints a script for the program's own commands; it wants one shell."""
    assert main(["completion", shell]) == 0
    assert "unprocessed" in capsys.readouterr().out
    assert main(["completion"]) == 2
    assert capsys.readouterr().out == ""


def test_an_unknown_shell_is_a_usage_error() -> None:
    """A shell without a script is named together with those that have one."""
    with pytest.raises(UsageError, match="bash, zsh, fish"):
        script("tcsh", COMMANDS)
