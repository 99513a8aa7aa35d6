"""Error texts that no rule of the reader knows, for `agentfeedback doctor --formats`: a new version may have a new way to say no."""

from __future__ import annotations

import re

from agentfeedback.reading import decoder, value
from agentfeedback_claude_code.lines import CONTENT, Block, Line, text_of
from agentfeedback_claude_code.results import Failure, is_ruled

#: The harness's own tools. Errors of a server's tools are the server's words.
_TOOLS = frozenset(
    {
        "Agent",
        "AskUserQuestion",
        "Bash",
        "BashOutput",
        "Edit",
        "EnterPlanMode",
        "ExitPlanMode",
        "Glob",
        "Grep",
        "KillShell",
        "LS",
        "MultiEdit",
        "NotebookEdit",
        "NotebookRead",
        "PowerShell",
        "Read",
        "Skill",
        "SlashCommand",
        "StructuredOutput",
        "Task",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TodoRead",
        "TodoWrite",
        "ToolSearch",
        "WebFetch",
        "WebSearch",
        "Write",
    }
)
#: How the errors of tools that failed or never ran start, with and without the wrapper around them.
_ERRORS = re.compile(
    r"""
    (?:<tool_use_error>)?
    (?: Error:\ No\ such\ tool\ available | InputValidationError | Sibling\ tool\ call\ errored
      | Cancelled:\ parallel\ tool\ call | File\ does\ not\ exist\. | File\ has\ not\ been\ read\ yet
      | File\ has\ been\ unexpectedly\ modified | File\ content\ \( | File\ has\ an\ image\ extension
      | Found\ \d+\ matches\ of\ the\ string | No\ changes\ to\ make | String\ to\ replace\ not\ found
      | Unable\ to\ resize\ image | Unable\ to\ verify\ if\ domain | Unknown\ skill:
      | No\ task\ found\ with\ ID | Output\ does\ not\ match\ required\ schema
      | Agent\ type\ '.*'\ not\ found | E[A-Z0-9]{2,}:\ )
    """,
    re.ASCII | re.VERBOSE,
)
#: The most calls whose tools are remembered.
_MOST = 1 << 16


class UnknownTexts:
    """Names the failed results of a transcript, line after line, whose text no rule of the reader knows."""

    def __init__(self) -> None:
        self._tools: dict[str, str] = {}

    def __call__(self, line: bytes) -> str:
        record = decoder(Line)(line)
        message = record.message if record is not None else None
        if record is None or message is None or not isinstance(message.content, list):
            return ""
        for block in message.content:
            kind = (record.type, block.type)
            if kind == ("assistant", "tool_use") and block.id and len(self._tools) < _MOST:
                self._tools[block.id] = block.name or ""
            elif kind == ("user", "tool_result") and (tool := self._unknown(record, block)):
                return f"user/tool_result/text of {tool}"
        return ""

    def _unknown(self, line: Line, block: Block) -> str:
        """The tool of a failed result whose text is not known, else empty."""
        tool = self._tools.get(block.tool_use_id or "", "")
        if not block.is_error or tool not in _TOOLS:
            return ""
        text = text_of(value(block.content, CONTENT))
        known = not text.strip() or is_ruled(Failure.of(line, text), tool) or _ERRORS.match(text)
        return "" if known else tool
