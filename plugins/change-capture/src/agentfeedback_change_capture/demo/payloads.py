"""The payloads of the demonstration: invented, in the form that Claude Code sends them. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SESSION = "5e551014-0000-4000-8000-0000000000d1"
#: Words of the session that a spool without text must not hold anywhere.
WORDS = ("teapot", "kettle")
# Made of two parts, so that no scanner takes this file for a leak.
_SECRET = "correct-" + "horse-battery"


def payloads(root: str) -> list[tuple[str, dict[str, Any]]]:
    """Return what happens, each with one line that says it; `root` is the checkout."""
    common = {
        "session_id": SESSION,
        "transcript_path": f"{root}/.transcript/{SESSION}.jsonl",
        "cwd": root,
    }
    turn = common | {"prompt_id": "a-prompt-1", "permission_mode": "default"}
    effort = {"effort": {"level": "medium"}}

    def tool(event: str, name: str, id: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {
            **turn,
            **effort,
            "hook_event_name": event,
            "tool_name": name,
            "tool_input": given,
            "tool_use_id": id,
            **more,
        }

    test = {"command": "make test", "description": "Run the tests"}
    deploy = {"command": f"DB_PASSWORD={_SECRET} make deploy", "description": "Deploy"}
    edit = {"file_path": f"{root}/teapot.py", "old_string": "kettle", "new_string": "teapot"}
    returned = {"stdout": "2 passed", "stderr": "", "interrupted": False}
    return [
        (
            "the session starts",
            {**common, "hook_event_name": "SessionStart", "source": "startup", "model": "model-1"},
        ),
        (
            "a prompt",
            {
                **turn,
                "hook_event_name": "UserPromptSubmit",
                "prompt": "Make the teapot short and stout",
            },
        ),
        ("the tests are run", tool("PreToolUse", "Bash", "call-1", test)),
        (
            "and fail",
            tool(
                "PostToolUseFailure", "Bash", "call-1", test, error="Exit code 1\nkettle.py: boom"
            ),
        ),
        ("a file is edited", tool("PreToolUse", "Edit", "call-2", edit)),
        (
            "and that is done",
            tool("PostToolUse", "Edit", "call-2", edit, tool_response={"ok": True}),
        ),
        ("the tests again", tool("PreToolUse", "Bash", "call-3", test)),
        ("return", tool("PostToolUse", "Bash", "call-3", test, tool_response=returned)),
        (
            "the same hook runs twice",
            tool("PostToolUse", "Bash", "call-3", test, tool_response=returned),
        ),
        ("a command that a person refuses", tool("PreToolUse", "Bash", "call-4", deploy)),
        (
            "the answer is shown",
            {
                **turn,
                "hook_event_name": "MessageDisplay",
                "turn_id": "a-turn-1",
                "message_id": "a-message-1",
                "index": 0,
                "final": True,
                "delta": "The teapot is short and stout.",
            },
        ),
        ("the turn ends", {**turn, **effort, "hook_event_name": "Stop", "stop_hook_active": False}),
        (
            "a background task reports",
            {
                **turn,
                "hook_event_name": "UserPromptSubmit",
                "prompt": "<task-notification>the kettle is done</task-notification>",
            },
        ),
        ("the context is compacted", {**turn, "hook_event_name": "PreCompact", "trigger": "auto"}),
        ("and goes on", {**common, "hook_event_name": "SessionStart", "source": "compact"}),
        ("", {**turn, "hook_event_name": "Stop", "stop_hook_active": False}),
        (
            "the session ends",
            {**turn, "hook_event_name": "SessionEnd", "reason": "prompt_input_exit"},
        ),
    ]


#: The index of the payload that arrives while no Hub answers.
AWAY = 15
