"""The completion scripts offer what the command tables hold: run in bash, zsh and fish."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentfeedback.cli.main import main
from agentfeedback.foundation.errors import UsageError
from agentfeedback.terminal.arguments import Command, Flag
from agentfeedback.terminal.completion import SHELLS, script

#: Set where every shell has to be there: a missing one is then a failure, not a skip.
REQUIRED = "AGENTFEEDBACK_TEST_ALL_SHELLS"
WORDS = {
    "harness": ("claude-code", "codex", "gemini-cli", "opencode-v1", "opencode-v2"),
    "installer": ("claude-code", "codex", "cursor"),
    "outcome": ("filed", "nothing", "skipped"),
}
JSON = Flag("json", "bool", "print JSON, don't print [a] table: 100% `id` $(id)")
COMMANDS = (
    Command("", "", hidden=True, about="Introduces the program."),
    Command("sessions", "", hidden=True, about="Introduces the group."),
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
        "<harness:id>...",
        flags=(
            Flag("outcome", "text", "what came of it", "word", ("filed", "nothing")),
            Flag("ref", "many", "a uid", "uid"),
            JSON,
        ),
        choices="ref",
    ),
    Command("sessions sweep", "hidden", hidden=True),
    Command("plugins new", "start a plugin", "<name>", flags=(JSON,)),
    Command("plugins", "what is installed", flags=(JSON,)),
    Command("completion", "print a script", "bash|zsh|fish"),
    Command("install", "wire hooks", "<harness>...", flags=(JSON,), choices="installer"),
)
#: A line as words, the last one unfinished, and what may stand there.
LINES = [
    ([""], ["sessions", "plugins", "completion", "install"]),
    (["se"], ["sessions"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
    (["completion", "z"], ["zsh"]),
    (["install", ""], [*WORDS["installer"]]),
    (["install", "cl"], ["claude-code"]),
    (["install", "codex", "--json", "cu"], ["cursor"]),
    (["sessions", ""], ["list", "mark"]),
    (["sessions", "nope", "x"], []),
    (["plugins", ""], ["new"]),
    (["plugins", "--"], ["--json", "--help"]),
    (["plugins", "new", "--"], ["--json", "--help"]),
    (
        ["sessions", "list", "--"],
        ["--harness", "--since", "--home", "--config", "--json", "--help"],
    ),
    (["sessions", "list", "--json", "--har"], ["--harness"]),
    (["sessions", "list", "--harness", ""], [*WORDS["harness"]]),
    (["sessions", "list", "--harness", "op"], ["opencode-v1", "opencode-v2"]),
    (["sessions", "list", "--harness=ge"], ["--harness=gemini-cli"]),
    (["sessions", "list", "--since=7d", "--har"], ["--harness"]),
    (["sessions", "list", "--since", ""], []),
    (["sessions", "mark", "codex:s1", "--outcome", "n"], ["nothing"]),
    (["sessions", "mark", "codex:s1", "codex:s2", "--outcome", "n"], ["nothing"]),
    (["sessions", "mark", "--ref", "a", "codex:s1", "--re"], ["--ref"]),
    (["sessions", "mark", ""], ["codex:s1", "codex:s2", "claude-code:5f0c2d7e"]),
    (["sessions", "mark", "cl"], ["claude-code:5f0c2d7e"]),
    (["sessions", "mark", "codex:s1", "--json", "co"], ["codex:s1", "codex:s2"]),
    (["sessions", "mark", "--ref", "co"], []),
    (["sessions", "list", "co"], []),
    (["sessions", "list", "--", "--"], []),
    (["--"], ["--help"]),
]

Complete = Callable[..., list[str]]


def needed(shell: str) -> str:
    """The path of a shell; the test is skipped, or fails where every shell has to be there."""
    path = shutil.which(shell)
    if path is None and os.environ.get(REQUIRED):
        pytest.fail(f"{shell} is not installed, and {REQUIRED} is set")
    if path is None:
        pytest.skip(f"{shell} is not installed")
    return path


#: What stands for the program: the refs it knows.
PROGRAM = """#!/bin/sh
[ "$1 $2 $3" = "sessions refs --" ] || exit 3
for ref in codex:s1 codex:s2 claude-code:5f0c2d7e; do
  case "$ref" in "$4"*) echo "$ref" ;; esac
done
"""


def done(argv: list[str], home: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    stub = home / "bin/agentfeedback"
    if not stub.exists():
        stub.parent.mkdir()
        stub.write_text(PROGRAM)
        stub.chmod(0o755)
    environ = {
        "PATH": f"{stub.parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
    }
    environ |= {f"XDG_{each}_HOME": str(home) for each in ("CONFIG", "DATA", "CACHE", "STATE")}
    return subprocess.run(
        argv, env=environ, cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Complete:
    """What bash offers for the last of some words; each of `=` alone is one that bash parted."""
    program, home = needed("bash"), tmp_path_factory.mktemp("bash")
    (home / "script").write_text(script("bash", "agentfeedback", COMMANDS, WORDS, "sessions refs"))
    driver = (
        'source "$0"; COMP_WORDS=(agentfeedback "$@"); COMP_CWORD=$#; _agentfeedback agentfeedback;'
        ' [[ ${#COMPREPLY[@]} -eq 0 ]] || printf "%s\\n" "${COMPREPLY[@]}"'
    )

    def complete(*words: str, cwd: Path = home) -> list[str]:
        # Strict, so that no variable is used before it is set and no failure is passed over.
        argv = [program, "--norc", "-eu", "-c", driver, str(home / "script"), *words]
        ran = done(argv, home, cwd)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout.splitlines()

    return complete


ZSH = """
zmodload zsh/zpty
zpty shell "exec zsh -f -i"
zpty -w shell "source ${(q)1}/setup"
zpty -w -n shell "$2"$'\\t'
repeat 3000; do
  zpty -r -t shell out 2>/dev/null
  [[ -e $1/done ]] && break
  sleep 0.02
done
zpty -d shell
[[ -e $1/done ]]
"""
# Every candidate that zsh would insert passes through `compadd`, which here also writes it down.
ZSH_SETUP = """
PROMPT=
unsetopt beep
cd ${(q)CWD}
fpath=(${HOME}/functions $fpath)
autoload -Uz compinit
compinit -u -d ${HOME}/dump
bindkey '^I' complete-word
zstyle ':completion:*' insert-tab false
compadd () {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then
    builtin compadd "$@"; return
  fi
  local -a hits
  local hit
  builtin compadd -A hits "$@"
  for hit in "${hits[@]}"; do print -r -- "$IPREFIX$hit" >> ${HOME}/hits; done
  builtin compadd "$@"
}
finish () { : > ${HOME}/done; exit }
comppostfuncs=(finish)
"""


@pytest.fixture(scope="module")
def zsh(tmp_path_factory: pytest.TempPathFactory) -> Complete:
    """What an interactive zsh offers, which loads the script as its help says."""
    program, home = needed("zsh"), tmp_path_factory.mktemp("zsh")
    (home / "functions").mkdir()
    text = script("zsh", "agentfeedback", COMMANDS, WORDS, "sessions refs")
    (home / "functions/_agentfeedback").write_text(text)
    (home / "driver").write_text(ZSH)

    def complete(*words: str, cwd: Path = home) -> list[str]:
        for name in ("hits", "done"):
            (home / name).unlink(missing_ok=True)
        (home / "setup").write_text(ZSH_SETUP.replace("${(q)CWD}", f"'{cwd}'"))
        line = " ".join(("agentfeedback", *words))
        ran = done([program, "-f", str(home / "driver"), str(home), line], home, cwd)
        assert ran.returncode == 0, ran.stderr
        hits = home / "hits"
        return list(dict.fromkeys(hits.read_text().splitlines())) if hits.exists() else []

    return complete


@pytest.fixture(scope="module")
def fish(tmp_path_factory: pytest.TempPathFactory) -> Complete:
    """What fish offers."""
    program, home = needed("fish"), tmp_path_factory.mktemp("fish")
    (home / "script").write_text(script("fish", "agentfeedback", COMMANDS, WORDS, "sessions refs"))

    def complete(*words: str, cwd: Path = home) -> list[str]:
        line = " ".join(("agentfeedback", *words))
        code = f"source {home}/script; complete -C '{line}'"
        ran = done([program, "--no-config", "-c", code], home, cwd)
        assert (ran.returncode, ran.stderr) == (0, "")
        return [each.partition("\t")[0] for each in ran.stdout.splitlines()]

    return complete


@pytest.mark.parametrize(("words", "offered"), LINES, ids=lambda each: " ".join(each) or "nothing")
@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_offers_what_may_follow(
    shell: str, words: list[str], offered: list[str], request: pytest.FixtureRequest
) -> None:
    """Commands, flags and values are offered by where the cursor stands, and nothing hidden."""
    found = request.getfixturevalue(shell)(*words)
    assert sorted(found) == sorted(offered)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_one_dash_is_as_good_as_two(shell: str, request: pytest.FixtureRequest) -> None:
    """A flag with one dash, which the program also takes, has its values."""
    complete = request.getfixturevalue(shell)
    assert complete("sessions", "list", "-harness", "op") == ["opencode-v1", "opencode-v2"]
    assert complete("sessions", "list", "-json", "--harness", "ge") == ["gemini-cli"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sessions", "list", "--harness", "=", "ge"], ["gemini-cli"]),
        (["sessions", "list", "--harness", "="], [*WORDS["harness"]]),
        (["sessions", "list", "--since", "=", "7d", "--har"], ["--harness"]),
        (["sessions", "list", "-"], ["--harness", "--since", "--home", "--config", "--json", "--help"]),
    ],
)  # fmt: skip
def test_bash_parts_words_at_equals_signs(
    bash: Complete, words: list[str], offered: list[str]
) -> None:
    """Bash makes three words of `--flag=value`; the value is completed all the same."""
    assert bash(*words) == offered


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sessions", "mark", "codex", ":", "s"], ["s1", "s2"]),
        (["sessions", "mark", "codex", ":"], ["s1", "s2"]),
        (["sessions", "mark", "codex:s1", "claude-code", ":", "5f"], ["5f0c2d7e"]),
    ],
)
def test_bash_parts_refs_at_their_colon(
    bash: Complete, words: list[str], offered: list[str]
) -> None:
    """What is before the colon stays on the line, so only what is behind it is offered."""
    assert bash(*words) == offered


def test_without_the_program_no_ref_is_offered() -> None:
    """A program that has no such words gets a script that asks for nothing."""
    for shell in SHELLS:
        assert "_ref" not in script(shell, "agentfeedback", COMMANDS, WORDS)


@pytest.mark.parametrize("shell", SHELLS)
def test_paths_are_offered_whatever_their_name(
    shell: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A directory flag offers directories alone, a file flag files too, names with blanks whole."""
    complete = request.getfixturevalue(shell)
    place = tmp_path / "place"
    (place / "a b * c").mkdir(parents=True)
    (place / "another").write_text("")

    def found(flag: str) -> list[str]:
        offered = complete("sessions", "list", flag, "a", cwd=place)
        return sorted({each.rstrip("/").replace("\\", "") for each in offered})

    assert found("--home") == ["a b * c"]
    assert found("--config") == ["a b * c", "another"]


@pytest.mark.parametrize("shell", SHELLS)
def test_words_of_a_caller_are_offered(shell: str) -> None:
    """The sets are the caller's: what it does not name is not offered, and what a shell would read is left out."""
    text = script(shell, "agentfeedback", COMMANDS, {"harness": ("aider", "$(id)", "a b", "x;y")})
    assert "aider" in text and "gemini-cli" not in text
    assert "x;y" not in text and "sweep" not in text


@pytest.mark.parametrize("shell", SHELLS)
def test_a_second_program_has_its_own_script(shell: str) -> None:
    """Nothing of a script is named after another program than its own."""
    text = script(shell, "agent-scm", COMMANDS, WORDS, "refs")
    assert "agent-scm" in text and "agentfeedback" not in text


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_valid_in_their_shell(shell: str, tmp_path: Path) -> None:
    """Each shell accepts the syntax of its script."""
    path = tmp_path / "script"
    path.write_text(
        script(shell, "agentfeedback", COMMANDS, WORDS, "sessions refs"), encoding="utf-8"
    )
    subprocess.run([needed(shell), "-n", str(path)], check=True, timeout=60)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`completion <shell>` prints a script for every command that is installed; it wants one shell."""
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    for word in ("unprocessed", "claude-code", "opencode-v2", "skipped", "new", "processed"):
        assert word in text
    assert main(["completion"]) == 2
    assert capsys.readouterr().out == ""


def test_an_unknown_shell_is_a_usage_error() -> None:
    """A shell without a script is named together with those that have one."""
    with pytest.raises(UsageError, match="bash, zsh, fish"):
        script("tcsh", "agentfeedback", COMMANDS, WORDS, "sessions refs")
