"""Failures that are Codex' own word in one tool only: another one may print them.

Literal, since a hook may put any text in the place of what a tool answered. `README.md` names the
versions.
"""

from __future__ import annotations

_AGENTS = (
    "collab spawn failed: ",
    "collab tool failed: ",
    "collab manager unavailable",
    "Full-history forked agents inherit ",
    "Agent depth limit reached.",
    "agent thread limit reached",
    "Empty message can't be sent to an agent",
    "Items can't be empty",
    "Provide either message or items, but not both",
    "Unknown model `",
    "unknown agent_type '",
    "invalid agent id ",
    "agent with id ",
    "agent ids must be non-empty",
    "timeout_ms must be ",
)
_RESOURCES = (
    "resources/list failed: ",
    "resources/read failed: ",
    "resources/templates/list failed: ",
    "unknown MCP server '",
)
_GOALS = (
    "goal objective must ",
    "goal budgets must be positive",
    "cannot create a new goal because ",
    "cannot update goal because ",
    "update_goal can only mark ",
)

FAILED_BY_TOOL = {
    "shell": ("error: ",),
    "apply_patch": ("error: ",),
    "write_stdin": ("unknown session id ", "failed to write to stdin"),
    "view_image": (
        "unable to process image",
        "unable to read image at ",
        "unable to resolve image path",
        "image path `",
        "view_image is not allowed because ",
        "Codex cannot attach image at ",
        "image content omitted because it could not be processed",
    ),
    "update_plan": ("update_plan is a TODO/checklist tool and is not allowed in ",),
    **dict.fromkeys(
        ("spawn_agent", "send_input", "wait_agent", "resume_agent", "close_agent"), _AGENTS
    ),
    **dict.fromkeys(
        ("read_mcp_resource", "list_mcp_resources", "list_mcp_resource_templates"), _RESOURCES
    ),
    **dict.fromkeys(("get_goal", "create_goal", "update_goal"), _GOALS),
}
