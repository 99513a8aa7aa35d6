"""The table of `agentfeedback mcp`; what it does, and the SDK, are imported when it is called."""

from __future__ import annotations

from agentfeedback.plugins import Command

COMMANDS = (
    Command(
        "mcp",
        "serve sessions and reports to a model, over MCP on standard input and output",
        about="""Speaks the Model Context Protocol on standard input and output, for an agent that starts it, until its
input ends. Its tools list, digest and mark sessions, and file, list and mark reports, under the same policy
and in the same database as the commands do. What a tool answers reaches the provider of the model.

 claude mcp add agentfeedback -- agentfeedback mcp
 codex mcp add agentfeedback -- agentfeedback mcp""",
        target="agentfeedback_mcp.stdio.serve:run",
    ),
)
