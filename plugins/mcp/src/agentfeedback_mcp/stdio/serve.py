"""`agentfeedback mcp`: the tools on the low-level server of the MCP SDK, until the input ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import anyio
from anyio import CapacityLimiter, to_thread
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from agentfeedback import __version__
from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.plugins import Parsed
from agentfeedback.plugins.host import Host
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names
from agentfeedback_mcp.instructions import INSTRUCTIONS
from agentfeedback_mcp.local import filing, sessions
from agentfeedback_mcp.local.backing import LocalBacking
from agentfeedback_mcp.protocol.messages import listed, result
from agentfeedback_mcp.protocol.verbatim import unwrapped
from agentfeedback_mcp.stdio.progress import Progress
from agentfeedback_mcp.stdio.transport import StdioTransport, standard
from agentfeedback_mcp.tools import submissions
from agentfeedback_mcp.tools.call import answer, warn, working_directory
from agentfeedback_submit.context import SubmitContext

TOOLS = {tool.name: tool for tool in (*sessions.TOOLS, filing.TOOL, *submissions.TOOLS)}


def run(line: Parsed) -> int:
    """Serve until the input ends; the exit status is 0, or that of the signal that ended it."""
    no_names(line, "mcp")
    if screen.is_terminal(sys.stdin):
        screen.note("agentfeedback mcp: waiting for an MCP client on standard input.")
    with standard() as transport, _ended_by_signals(transport) as received:
        _start()
        anyio.run(_serve, transport)
    return 128 + received[0] if received else 0


def _start() -> None:
    """What every command of local mode does first: reports that wait for this machine are filed."""
    try:
        here = SubmitContext(os.environ, Host(os.environ, warn), working_directory())
        if here.server() is None:
            here.start()
    except AgentFeedbackError as error:  # every call will tell it, too
        warn(str(error))


@contextmanager
def _ended_by_signals(transport: StdioTransport) -> Iterator[list[int]]:
    """SIGINT and SIGTERM end the input; a second one ends the process. Yields the signals received."""
    received: list[int] = []
    owner = os.getpid()

    def ended(number: int, frame: FrameType | None) -> None:
        if os.getpid() != owner:  # a process that reads logs for this one, and is no longer needed
            os._exit(128 + number)
        received.append(number)
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        transport.stop()

    before = {number: signal.signal(number, ended) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _serve(transport: StdioTransport) -> None:
    # Each may read whole stores on every core, and forks to do so: one at a time.
    alone = CapacityLimiter(1)

    async def list_tools(context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[listed(tool) for tool in TOOLS.values()])

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name}")
        text = unwrapped(params.arguments)
        progress = partial(Progress, context.session.report_progress)
        asked = partial(answer, tool, text, os.environ, LocalBacking, progress)
        return result(await to_thread.run_sync(asked, limiter=alone if tool.alone else None))

    server: Server[Any] = Server(
        "agentfeedback",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with transport.streams() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
