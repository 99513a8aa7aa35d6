"""Every system call of every setup command fails once: an error that names a file, and a state that is whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_change_capture.setup import bindings, capture, clients, connections
from tests.support import disk
from tests.support.faulty import fail, faulty, modules_of

SHARED = "shared-conversation"


def _root(checkout: Any) -> str:
    return str(checkout.root)


def _unconfigured(checkout: Any) -> None:
    checkout.enable()
    capture.unconfigure(_root(checkout), checkout.environ)


#: What is there before, and what is then done.
OPERATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "set-mode": (
        lambda one: one.configure(),
        lambda one: capture.set_capture_mode(_root(one), "shared-conversation", one.environ),
    ),
    "unconfigure": (
        lambda one: one.configure(),
        lambda one: capture.unconfigure(_root(one), one.environ),
    ),
    "forget": (_unconfigured, lambda one: capture.forget(_root(one), one.environ)),
    "enable": (_unconfigured, lambda one: one.enable()),
    "another connection": (
        lambda one: one.configure(capture_mode=SHARED),
        lambda one: clients.record(_root(one), "https://b.example", "x", "t", "", one.environ),
    ),
    "no connection": (
        lambda one: one.configure(capture_mode=SHARED),
        lambda one: clients.remove(_root(one), one.environ),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_call_that_fails_is_an_error_and_doing_it_again_ends_the_same(
    checkout: Any, name: str
) -> None:
    before, operation = OPERATIONS[name]
    before(checkout)
    state = disk.current(checkout.home)
    modules = modules_of("agentfeedback", "agentfeedback_change_capture")
    with faulty(modules) as system:
        operation(checkout)
    end = _result(checkout)
    assert len(system.calls) >= 20
    for at in _points(len(system.calls)):
        disk.restore(checkout.home, state)
        try:
            with faulty(modules, at, fail(errno.EIO)):
                operation(checkout)
        except AgentFeedbackError as error:
            assert str(checkout.home) in str(error), (at, system.calls[at - 1])
        # A connection never goes, and never changes, before the sharing that it allowed.
        found = connections.current(connections.load(str(checkout.config)), _root(checkout))
        binding = bindings.of_root(bindings.load(str(checkout.config)), _root(checkout))
        if "connection" in name and (found is None or found.hub != "https://hub.example"):
            assert binding is not None and binding.capture_mode != SHARED
        try:
            operation(checkout)
        except AgentFeedbackError as error:
            # It is done already: what failed was after it, or makes no difference.
            assert name in ("forget", "no connection")
            assert str(error).startswith("no ")
        assert _result(checkout) == end, (at, system.calls[at - 1])


def _points(calls: int) -> range:
    """Every call, or about thirty of them."""
    whole = os.environ.get("AGENTFEEDBACK_CRASH") == "all"
    return range(1, calls + 1, 1 if whole else max(3, calls // 30))


def _result(checkout: Any) -> Any:
    found = connections.load(str(checkout.config))
    return (
        [each.record() for each in bindings.load(str(checkout.config))],
        [(each.root, each.lineage) for each in found],
        checkout.settings.read_bytes() if checkout.settings.exists() else None,
    )


def test_every_call_of_a_hook_fails_once(checkout: Any) -> None:
    """The hook answers nothing, warns in a line of ours, and the next one finds a spool that opens."""
    checkout.configure(capture_mode="local-conversation")
    checkout.send("SessionStart", source="startup")
    state = disk.current(checkout.home)
    call = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}}
    modules = modules_of("agentfeedback", "agentfeedback_change_capture")
    with faulty(modules) as system:
        checkout.send("PreToolUse", **call)
    for number in (errno.EIO, errno.ENOSPC):
        for at in _points(len(system.calls)):
            disk.restore(checkout.home, state)
            with faulty(modules, at, fail(number)):
                answer, warnings = checkout.send("PreToolUse", **call)
            assert answer == ""
            assert len(warnings) <= 1
            assert "make" not in "".join(warnings)
            answer, warnings = checkout.send("PreToolUse", **call)
            assert (answer, warnings) == ("", []), (at, system.calls[at - 1])
            assert [event["kind"] for event in checkout.events()].count("tool_start") == 1
            assert len(checkout.actions("start")) == 1
