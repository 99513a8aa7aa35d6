"""A tool, and what it answers, as the SDK's messages."""

from __future__ import annotations

from mcp_types import CallToolResult, TextContent, ToolAnnotations
from mcp_types import Tool as ListedTool

from agentfeedback_mcp.protocol.verbatim import structured
from agentfeedback_mcp.tools.call import Tool
from agentfeedback_submissions.response import ApiResponse


def listed(tool: Tool) -> ListedTool:
    """A tool as clients see it."""
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.input_schema,
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.effect == "reads",
            destructive_hint=False,
            idempotent_hint=tool.effect != "adds",
            open_world_hint=False,
        ),
    )


def result(reply: ApiResponse) -> CallToolResult:
    """An answer of the API as a result: its JSON as structured content, and the same as text."""
    text = reply.encoded()
    return CallToolResult(
        content=[TextContent(type="text", text=text.decode())],
        structured_content=structured(text),
        is_error=not reply.ok,
    )
