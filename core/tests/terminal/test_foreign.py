"""What another distribution's code does while it is imported: named, kept off our output, and ended in time."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from agentfeedback.terminal import foreign
from agentfeedback.terminal.foreign import ForeignError, ForeignImport, described
from agentfeedback.terminal.program import Program

OWN = """
from agentfeedback.terminal.arguments import Command
COMMANDS = (Command("own", "Does what is ours.", target="own_table:run"),)
def run(line):
    print("ours")
    return 0
"""
FOREIGN = OWN.replace("own", "other").replace("ours", "theirs")
#: What a table does before it holds its commands, and how that is named; None: its commands work.
IMPORTS = {
    "prints": ("print('noise')", None),
    "writes to descriptor 1": ("import os\nos.write(1, b'noise')", None),
    "lets a child process write": ("import os\nos.system('echo noise')", None),
    "closes descriptor 1": ("import os\nos.close(1)", None),
    "raises": ("raise ValueError('no')", "ValueError: no"),
    "ends the process": ("raise SystemExit(0)", "SystemExit: 0"),
    "raises as Ctrl-C does": ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
    "raises as a closed pipe does": ("raise BrokenPipeError", "BrokenPipeError: "),
    "raises what is not an Exception": ("class Odd(BaseException): pass\nraise Odd('x')", "Odd: x"),
    "never ends": ("import time\ntime.sleep(60)", "TimeoutError: not imported within 0.2 s"),
    "never ends, whatever it catches": (
        "import time\nfor _ in range(60):\n    try:\n        time.sleep(1)\n    except Exception:\n        break",
        "TimeoutError: not imported within 0.2 s",
    ),
}


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A program of its own, beside a distribution that brings the command `other`."""
    (tmp_path / "own_table.py").write_text(OWN)
    (tmp_path / "other_table.py").write_text(FOREIGN)
    info = tmp_path / "other_dist-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[second.commands]\nother = other_table\n")
    (info / "METADATA").write_text("Name: other-dist\nVersion: 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("own_table", "other_table"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(foreign, "TABLE_LIMIT", 0.2)
    return Program("second", "second.commands", "own_table")


@pytest.mark.parametrize("how", IMPORTS)
def test_a_table_is_named_and_the_rest_works(
    program: Program, tmp_path: Path, capfd: pytest.CaptureFixture[str], how: str
) -> None:
    """Help shows the program's own commands and nothing else, and the other command says what is wrong."""
    code, named = IMPORTS[how]
    (tmp_path / "other_table.py").write_text(f"{code}\n{FOREIGN}")
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    assert program.main([]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("usage: ") and "Does what is ours." in out and "noise" not in out
    assert ("cannot be loaded: " in out) == (named is not None)
    assert program.main(["own"]) == 0
    assert capfd.readouterr().out == "ours\n"
    sys.modules.pop("other_table", None)  # each line is a process of its own
    status = program.main(["other"])
    out, err = capfd.readouterr()
    if named is None:
        assert (status, out) == (0, "theirs\n")
    else:
        assert (status, out) == (1, "")
        assert f"second other: command other could not be loaded: {named}".rstrip() in err
        assert "update or uninstall other-dist" in err
    os.write(1, b"still open\n")
    assert capfd.readouterr().out == "still open\n"
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM))
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("", "AttributeError: "),
        ("COMMANDS = ()", "LookupError: no command of other_table begins with it"),
        ("COMMANDS = [1]", "TypeError: COMMANDS of other_table is not a tuple of Command"),
        (FOREIGN.replace(', target="other_table:run"', ""), "TypeError: the command other of"),
    ],
)
def test_a_table_that_holds_no_such_command_is_named(
    program: Program, tmp_path: Path, capfd: pytest.CaptureFixture[str], code: str, named: str
) -> None:
    """An entry point promises a command of its name that can be called."""
    (tmp_path / "other_table.py").write_text(code)
    assert program.main(["other"]) == 1
    assert f"command other could not be loaded: {named}" in capfd.readouterr().err


@pytest.mark.parametrize("error", ["SystemExit(0)", "KeyboardInterrupt", "GeneratorExit"])
def test_a_command_whose_module_ends_the_process_is_named(
    program: Program, tmp_path: Path, capfd: pytest.CaptureFixture[str], error: str
) -> None:
    """The table is good and the module of its command is not: an error, and no silent end."""
    table = FOREIGN.replace("other_table:run", "other_command:run")
    (tmp_path / "other_table.py").write_text(table)
    (tmp_path / "other_command.py").write_text(f"print('noise')\nraise {error}\n")
    assert program.main(["other"]) == 1
    out, err = capfd.readouterr()
    assert out == "" and f"command other could not be loaded: {error.partition('(')[0]}" in err


def test_ctrl_c_ends_the_program(
    program: Program, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the user interrupts is interrupted, whatever the foreign code makes of it."""
    code = "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\nexcept KeyboardInterrupt:\n    pass\n"
    (tmp_path / "other_table.py").write_text(code + FOREIGN)
    assert program.main([]) == 130
    assert capfd.readouterr().err == ""


def test_handlers_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that ignores Ctrl-C or has a timer of its own goes on doing so."""
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    alarms: list[int] = []
    own = signal.signal(signal.SIGALRM, lambda number, _: alarms.append(number))
    try:
        with ForeignImport(0.01):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGALRM)
    finally:
        signal.signal(signal.SIGINT, ignored)
        signal.signal(signal.SIGALRM, own)
    assert alarms == [signal.SIGALRM]


def test_another_thread_has_no_limit(capfd: pytest.CaptureFixture[str]) -> None:
    """Signals are the main thread's: elsewhere the import is only kept off the output and named."""
    errors: list[str] = []

    def load() -> None:
        try:
            with ForeignImport(0.01):
                os.write(1, b"noise")
                raise SystemExit(4)
        except ForeignError as error:
            errors.append(described(error))

    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
    assert errors == ["SystemExit: 4"] and capfd.readouterr() == ("", "noise")


def test_a_closed_standard_error_takes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Without descriptor 2 what foreign code writes goes nowhere, and descriptor 1 is as it was."""
    kept = os.dup(2)
    os.close(2)
    try:
        with ForeignImport():
            os.write(1, b"noise")
    finally:
        os.dup2(kept, 2)
        os.close(kept)
    os.write(1, b"ours")
    assert capfd.readouterr() == ("ours", "")
