"""How calls ended (README, "Shell results")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback_copilot.results import without_closing

if TYPE_CHECKING:
    from conftest import Events

CLOSED = "<shellId: 0 completed with exit code {}>"


@pytest.mark.parametrize(
    ("members", "ended"),
    [
        ({"content": "x"}, ("ok", None)),
        ({"shellExecution": {"exitCode": 0}}, ("ok", None)),
        ({"shellExecution": {"exitCode": 3}}, ("error", 3)),
        ({"shellExecution": {"exitCode": -1}}, ("error", -1)),
        ({"shellExecution": {}}, ("ok", None)),
        ({"success": False}, ("error", None)),
        ({"success": None}, ("error", None)),
        ({"success": "yes"}, ("error", None)),
        ({"success": False, "shellExecution": {"exitCode": 0}}, ("error", None)),
        ({"success": False, "error": {"code": "failure"}}, ("error", None)),
        ({"success": False, "error": {"code": "denied"}}, ("denied", None)),
        ({"success": False, "error": {"code": "rejected"}}, ("denied", None)),
        ({"success": True, "error": {"code": "denied"}}, ("ok", None)),
        ({"success": False, "error": {"code": "interrupted"}}, ("interrupted", None)),
        ({"success": False, "error": {"code": "cancelled"}}, ("interrupted", None)),
        ({"success": True, "error": {"code": "interrupted"}}, ("ok", None)),
        ({"success": False, "error": {"code": "timeout"}}, ("error", None)),
        ({"success": False, "error": {"message": "interrupted"}}, ("error", None)),
        ({"content": CLOSED.format(2)}, ("error", 2)),
        ({"content": CLOSED.format(0)}, ("ok", None)),
        ({"content": CLOSED.format(2), "shellExecution": {"exitCode": 0}}, ("ok", None)),
        ({"content": CLOSED.format(0), "shellExecution": {"exitCode": 2}}, ("error", 2)),
        ({"content": CLOSED.format(2), "shellExecution": {}}, ("error", 2)),
    ],
)
def test_how_a_shell_command_ended(
    log: Events, members: dict[str, Any], ended: tuple[str, int | None]
) -> None:
    """Success decides with the exit code; the harness's own record of it wins over the closing line."""
    log.start()
    log.complete(**members)
    call = log.call()
    assert (call.status, call.exit_code) == ended


def test_only_a_shell_has_a_closing_line(log: Events) -> None:
    """The line is read of a shell by name, of a start with `shellToolInfo`, and beside a `shellExecution`."""
    text = "out\n" + CLOSED.format(4)
    log.start("c1", "view")
    log.start("c2", "powershell")
    log.start("c3", "other", shellToolInfo={})
    log.start("c4", "read_bash")
    log.start("c5", "view", shellToolInfo=None)
    for id in ("c1", "c2", "c3", "c5"):
        log.complete(text, id)
    log.complete(text, "c4", shellExecution={"exitCode": 5})
    ended = [(call.status, call.exit_code) for call in log.calls()]
    assert ended == [("ok", None), ("error", 4), ("error", 4), ("error", 5), ("ok", None)]


def test_the_excerpt_is_what_was_printed(log: Events) -> None:
    """The closing line is not output; without output the error's message is shown."""
    log.start("c1")
    log.complete(f"boom\r\n{CLOSED.format(1)}\n", "c1")
    log.start("c2", "view")
    log.complete("", "c2", success=False, error={"message": "Path does not exist"})
    first, second = log.calls()
    assert (first.excerpt, second.excerpt) == ("boom", "Path does not exist")


def test_the_first_completion_is_the_result(log: Events) -> None:
    """A second completion changes nothing, even where the first told no text; one of no call says nothing."""
    log.complete("early", "c1", success=False)
    log.start()
    log.complete("", success=False)
    log.complete("late", shellExecution={"exitCode": 9})
    call = log.call()
    assert (call.status, call.exit_code, call.excerpt) == ("error", None, "")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("denied-by-rules", "denied"),
        ("denied-interactively-by-user", "denied"),
        ("cancelled", "interrupted"),
        ("approved", None),
        ("denied", None),
        (None, None),
        (7, None),
    ],
)
def test_a_permission_may_end_a_call(log: Events, kind: Any, status: str | None) -> None:
    """A kind that starts `denied-` denies, `cancelled` interrupts, any other lets the call run."""
    log.start()
    log.permission(kind)
    assert log.call().status == status


def test_a_result_after_a_permission_only_adds_text(log: Events) -> None:
    """The completion of a denied call fills its missing text and keeps it denied."""
    log.start()
    log.permission("denied-by-rules")
    log.complete("Permission denied", success=False)
    call = log.call()
    assert (call.status, call.excerpt) == ("denied", "Permission denied")


def test_a_permission_after_the_result_changes_nothing(log: Events) -> None:
    """The first result stays."""
    log.start()
    log.complete("fine")
    log.permission("denied-by-rules")
    log.permission("cancelled")
    assert log.call().status == "ok"


def test_a_command_the_user_ran_is_no_call(log: Events) -> None:
    """The completion of a `!` line has no start, so there is no call."""
    log.add("tool.user_requested", {"toolCallId": "c1", "toolName": "local_shell"})
    log.complete("", success=False, error={"message": ""}, isUserRequested=True)
    assert log.calls() == []


@pytest.mark.parametrize(
    ("text", "left", "code"),
    [
        (f"a\n{CLOSED.format(1)}", "a", 1),
        (f"a\n\r\n{CLOSED.format(-1)}  \n\n \n", "a", -1),
        ("a\n<detached command with shellId: x-1 completed with exit code 7>", "a", 7),
        (f"a\n{CLOSED.format(2)}\n<sandbox is active x>\n<this failure may be caused by t", "a", 2),
        (f"{CLOSED.format(9)}\n{CLOSED.format(3)}", CLOSED.format(9), 3),
        (CLOSED.format(0), "", 0),
        (f"{CLOSED.format(1)}\nmore", f"{CLOSED.format(1)}\nmore", None),
        (f"a {CLOSED.format(1)}", f"a {CLOSED.format(1)}", None),
        (CLOSED.format("1x"), CLOSED.format("1x"), None),
        ("\n \n", "\n \n", None),
        ("", "", None),
    ],
)
def test_only_the_last_line_closes(text: str, left: str, code: int | None) -> None:
    """Below the closing line stand blanks and the harness's remarks alone."""
    assert without_closing(text) == (left, code)


@given(st.text(), st.integers(-(10**9), 10**9))
def test_what_a_command_prints_is_kept(printed: str, code: int) -> None:
    """Whatever is printed, the harness's last line alone gives the exit code."""
    text = f"{printed}\n{CLOSED.format(code)}"
    assert without_closing(text) == (printed.rstrip("\r\n"), code)
