"""Makes a checkout whose changes are captured, so that the cost of its hook can be measured."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any
from unittest import mock

#: The program as Claude Code starts it.
AGENTSCM = os.path.join(os.path.dirname(sys.executable), "agentscm")
_SESSION = "5e551014-0000-4000-8000-0000000000d1"


class _Hub:
    """Knows one Work for every session; nothing is sent."""

    def resolve(self, observed: str, worktree_id: str, deadline: float) -> Any:
        from agentfeedback_change_capture.delivery.hub import Resolution
        from agentfeedback_change_capture.facts import Target

        return Resolution(Target("wrk_bench", 1, observed))


def make_checkout(root: str, environ: Mapping[str, str]) -> None:
    """Make a checkout, connect and configure it; nothing is left of one that was made before."""
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(environ["XDG_CONFIG_HOME"], ignore_errors=True)
    os.makedirs(os.path.join(root, ".git"))
    with open(os.path.join(root, ".git", "HEAD"), "w", encoding="utf-8") as head:
        head.write("ref: refs/heads/main\n")
    subprocess.run(["git", "init", "-q", root], env=dict(environ), check=True)
    spool = os.path.join(root, "..", "spool")
    shutil.rmtree(spool, ignore_errors=True)
    connect = ("--hub", "https://hub.example", "--repository", "demo/app", "--token-stdin")
    configure = (
        *("--spool", os.path.abspath(spool), "--worktree-id", "w", "--base-ref", "main"),
        *("--setup-digest", "a" * 64, "--action-rule", "Bash=execution:partial:process_exit_code"),
    )
    for words in (
        ["client", "setup", "--root", root, *connect, "--unchecked"],
        ["change-capture", "configure", "--root", root, *configure],
    ):
        subprocess.run(
            [AGENTSCM, *words],
            env=dict(environ),
            input=b"token",
            stdout=subprocess.DEVNULL,
            check=True,
        )


def payload(root: str, event: str, **members: Any) -> bytes:
    """Return a hook's payload."""
    value = {"session_id": _SESSION, "cwd": root, "hook_event_name": event, **members}
    return json.dumps(value).encode()


def fill(root: str, environ: Mapping[str, str], calls: int) -> None:
    """Retain so many calls of a tool, in this process and without waiting for the disk."""
    from agentfeedback_change_capture.adapter.hook import serve

    words = ["--root", root]
    with mock.patch.dict(os.environ, environ), mock.patch("os.fsync"):
        for at in range(calls):
            call = {"tool_name": "Bash", "tool_use_id": f"call-{at}", "tool_input": {"n": at}}
            ended = call | {"tool_response": {"stdout": "x"}}
            for event, members in (("PreToolUse", call), ("PostToolUse", ended)):
                data = payload(root, event, **members)
                _, warnings = serve(words, time.monotonic(), data=data, hub=_Hub())
                if warnings:
                    raise RuntimeError(f"the hook of the benchmark warns: {warnings[0]}")
