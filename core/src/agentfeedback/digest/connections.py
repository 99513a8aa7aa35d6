"""Which failed calls say that the connection to a server of tools was lost. Pure.

No harness records a lost connection by itself; each hands the words of its MCP client to the model
as the error of the call that met it. The forms were seen in Claude Code 2.0.60 and 2.1.290, Codex
0.110.0 to 0.171.0, Copilot CLI 1.0.64, Gemini CLI 0.54.4 and OpenCode 1.3.2.
"""

from __future__ import annotations

import re

#: The words of MCP clients written in TypeScript: the server ended during the call, or before it.
_CLOSED = r"(?:(?:MCP\ error\ -32000:\ )?Connection\ closed|Not\ connected)"
#: A whole error text. What a server answers itself is a result of its own form, so only one that
#: sends these very words as its error is taken for lost.
_LOST = re.compile(
    rf"""
    {_CLOSED}                                                     # Claude Code, OpenCode
    | MCP\ server\ '[^'\n]*':\ McpError:\ {_CLOSED}               # Copilot CLI
    | (?P<quoted>err:\ ")?tool\ call\ error:\ tool\ call\ failed\ for\ `[^`\n]*`   # Codex
      (?:\n|\\n){{2}}Caused\ by:(?:\n|\\n)\ {{4}}(?:tools/call\ failed:\ )?Transport\ closed(?(quoted)")
    """,
    re.VERBOSE,
)
#: Gemini CLI shows the call's arguments first; quotation marks inside of them are escaped.
_GEMINI_START = "MCP tool '"
_GEMINI_END = re.compile(
    rf"""
    .*\ with\ response:\ \[\{{"functionResponse":\{{"name":"[^"\\]*","response":
    \{{"error":\{{"message":"{_CLOSED}","isError":true\}}\}}\}}\}}\]\Z
    """,
    re.VERBOSE | re.DOTALL,
)
#: Characters of the longest text that is compared as a whole, and of the end that is.
_LONGEST = 512
#: Tools of a server have its name in theirs: `mcp__stock__count`, `stock-count`, `stock_count`.
_NAMED = re.compile(r"[^\W_]+(?:__|[-_.]).*[^\W_]", re.DOTALL)


def is_lost(text: str) -> bool:
    """Whether the text of a failed result is what an MCP client says of a lost connection, and nothing else."""
    text = text.strip()
    if text.startswith(_GEMINI_START):
        return _GEMINI_END.match(text[-_LONGEST:]) is not None
    return len(text) <= _LONGEST and _LOST.fullmatch(text) is not None


def may_be_a_servers(tool: str, exit_code: int | None) -> bool:
    """Whether a call can be one of a server's: a command that prints such words has an exit code, or a shorter name."""
    return exit_code is None and _NAMED.fullmatch(tool) is not None
