"""One call of a tool: what it gets, and how everything that can go wrong becomes an answer (platform details 5)."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal

from attrs import field, frozen

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.plugins.host import Host
from agentfeedback.terminal import screen
from agentfeedback_mcp.tools.arguments import Argument, read, schema
from agentfeedback_submissions.response import ApiError, ApiResponse, request_id
from agentfeedback_submit.context import SubmitContext


@frozen(eq=False, slots=False)
class Call:
    """What a tool gets: the arguments that were given, read, and their JSON as it was written.

    Everything else is made anew for each call, so that policy and configuration are those of now.
    """

    environ: Mapping[str, str]
    host: Host
    given: Mapping[str, Any]
    text: bytes

    @cached_property
    def run(self) -> SubmitContext:
        """Configuration, policy, database and destination."""
        return SubmitContext(self.environ, self.host, working_directory())


@frozen(eq=False)
class Tool:
    """A tool as it is listed, and what it does.

    `alone`: no two calls of such tools run at a time. `effect` says what a call does to what is
    stored: nothing, add to it, or set it, which done twice is done once.
    """

    name: str
    title: str
    about: str
    arguments: tuple[Argument, ...]
    run: Callable[[Call], ApiResponse]
    effect: Literal["reads", "adds", "sets"] = "reads"
    open: bool = False
    alone: bool = field(default=False)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The arguments as JSON Schema."""
        return schema(self.arguments, open=self.open)


def answer(tool: Tool, text: bytes | None, environ: Mapping[str, str]) -> ApiResponse:
    """What a tool answers to arguments as they were written; never raises."""
    id = request_id()
    try:
        host = Host(environ, warn)
        given = read(tool.arguments, text, host, open=tool.open)
        reply = tool.run(Call(environ, host, given, text or b"{}"))
    except ApiError as refusal:
        return refusal.reply(id)
    except AgentFeedbackError as error:
        return ApiError("unavailable", str(error)).reply(id)
    except Exception as error:  # noqa: BLE001 - the client is told, and the server goes on
        # Neither the answer nor the log has the error's text, which may quote a session.
        where = "".join(traceback.format_tb(error.__traceback__))
        screen.tell(f"{where}agentfeedback mcp: {tool.name} failed: {type(error).__name__}.\n")
        message = f"{tool.name} failed: {type(error).__name__}"
        return ApiError("internal_error", message).reply(id)
    return reply


def working_directory() -> str:
    """Where this process runs; empty where that is gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def warn(sentence: str) -> None:
    """One warning, on standard error."""
    if sys.stderr is not None:
        screen.note(f"agentfeedback mcp: warning: {sentence}")
