"""One call of a tool: what it gets, and how everything that can go wrong becomes an answer."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, Protocol

from attrs import field, frozen

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.plugins.host import Host
from agentfeedback.terminal import screen
from agentfeedback_mcp.tools.arguments import Argument, read, schema
from agentfeedback_submissions.queries import Query
from agentfeedback_submissions.response import ApiError, ApiResponse, request_id


class Api(Protocol):
    """The API over submissions, as far as tools ask it."""

    def list(self, query: Query) -> ApiResponse: ...
    def get(self, name: str) -> ApiResponse: ...
    def stats(self, query: Query) -> ApiResponse: ...
    def mark_all(self, body: bytes) -> ApiResponse: ...
    def schema(self, kind: str, version: str) -> ApiResponse: ...


class Backing(Protocol):
    """Where submissions are: this machine or a server."""

    def api(self) -> Api:
        """The API to ask. Raises `AgentFeedbackError` where it cannot be used as it is configured."""
        ...

    def scrubbed(self, tree: Any) -> Any:
        """A tree of JSON without secrets of known formats."""
        ...


#: Shows how far a call is: of a label and a total it makes what has `step()` and `done()`.
Progress = Callable[[str, int], Any]
#: Makes what a call is backed by.
Backed = Callable[[Mapping[str, str], Host], Backing]


@frozen(eq=False, slots=False)
class Call:
    """What a tool gets: the arguments that were given, read, and their JSON as it was written.

    Everything else is made for each call, so that policy and configuration are those of now.
    """

    environ: Mapping[str, str]
    host: Host
    given: Mapping[str, Any]
    text: bytes
    backed: Backed
    progress: Progress | None = None

    @cached_property
    def backing(self) -> Backing:
        """Where submissions are for this call."""
        return self.backed(self.environ, self.host)


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


def answer(
    tool: Tool,
    text: bytes | None,
    environ: Mapping[str, str],
    backed: Backed,
    progress: Progress | None = None,
) -> ApiResponse:
    """What a tool answers to arguments as they were written; never raises."""
    id = request_id()
    try:
        host = Host(environ, warn)
        given = read(tool.arguments, text, host, open=tool.open)
        reply = tool.run(Call(environ, host, given, text or b"{}", backed, progress))
    except ApiError as refusal:
        return refusal.reply(id)
    except AgentFeedbackError as error:
        return ApiError("unavailable", str(error)).reply(id)
    except BaseException as error:  # noqa: BLE001 - the client gets the error, and the server goes on
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
