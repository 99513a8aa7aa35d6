"""Lost connections to servers of tools: found in the calls that met them, and in nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.digest.build import Digester
from agentfeedback.digest.caps import Caps
from agentfeedback.digest.connections import is_lost
from agentfeedback.digest.detect import CORE_DETECTORS
from agentfeedback.reading.reader import Session
from agentfeedback.reading.sink import Status
from agentfeedback.scrub import SUBMIT, Scrubber

DIGESTER = Digester([detector() for detector in CORE_DETECTORS], Scrubber(SUBMIT))
SESSION = Session("demo", "s1", "/x/s1.jsonl", 0, 0)
CODEX = "tool call error: tool call failed for `stock/count`\n\nCaused by:\n    "
GEMINI = (
    'MCP tool \'die\' reported tool error for function call: {"name":"die","args":{"item":"tea"}} with response: '
    '[{"functionResponse":{"name":"die","response":{"error":{"message":"%s","isError":true}}}}]'
)
LOST = [
    ("mcp__stock__die", "Connection closed"),
    ("mcp__stock__die", "MCP error -32000: Connection closed"),
    ("mcp__stock__count", "Not connected"),
    (
        "mcp__stock__count",
        f'err: "{CODEX}tools/call failed: Transport closed"'.replace("\n", "\\n"),
    ),
    ("mcp__stock.count", f"{CODEX}Transport closed"),
    ("stock.count", f"{CODEX}Transport closed"),
    ("stock-die", "MCP server 'stock': McpError: MCP error -32000: Connection closed"),
    ("mcp_stock_die", GEMINI % "MCP error -32000: Connection closed"),
    ("mcp_stock_count", GEMINI % "Not connected"),
    ("stock_die", "MCP error -32000: Connection closed\n"),
]
OTHER = [
    "",
    "MCP error -32000: demo server exploded",
    "MCP error -32001: Request timed out",
    "Connection closed by 10.0.0.1 port 22",
    "the log says: Connection closed",
    "Connection closed\nConnection closed",
    f"{CODEX}Mcp error: -32000: demo server exploded",
    f'{CODEX}Transport closed"',
    GEMINI % "MCP error -32000: demo server exploded",
    (GEMINI % r"it said \"error\":{\"message\":\"Not connected\",\"isError\":true}"),
    (GEMINI % "Not connected") + " and more",
    "MCP server 'stock': McpError: MCP error -32000: nope\nConnection closed",
]


def troubles(
    tool: str, text: str, status: Status = "error", exit_code: int | None = None, start: int = 0
) -> list[dict[str, Any]]:
    """What a digest finds where a call ended so."""
    timeline = DIGESTER.timeline(start, rewrites=False)
    timeline.offset = 0
    timeline.entry("e1", "2026-01-01T00:00:00Z")
    timeline.prompt("Count the tea")
    timeline.offset = 100
    timeline.entry("e2", "2026-01-01T00:00:01Z")
    timeline.call("c1", tool)
    timeline.offset = 200
    timeline.result("c1", status, text, exit_code)
    timeline.size = 300
    digest = DIGESTER.build(SESSION, timeline, Caps()).digest
    found: list[dict[str, Any]] = digest.get("findings", {}).get("troubles", [])
    return found


@pytest.mark.parametrize(("tool", "text"), LOST)
def test_a_lost_connection_is_a_trouble(tool: str, text: str) -> None:
    """It has the time of its call's entry and the words that the call's excerpt has."""
    (trouble,) = troubles(tool, text)
    assert (trouble["kind"], trouble["at"]) == ("connection", "2026-01-01T00:00:01.000Z")
    assert trouble["excerpt"] == text.strip()


@pytest.mark.parametrize(("tool", "text"), LOST)
def test_the_same_words_of_a_command_are_not(tool: str, text: str) -> None:
    """A command that prints them: by a tool without a server's name, with an exit code, or without failing."""
    assert troubles("Bash", text) == []
    assert troubles(tool, text, exit_code=1) == []
    assert troubles(tool, text, status="ok") == []
    assert troubles(tool, text, status="denied") == []
    assert troubles(tool, text, start=250) == []


@pytest.mark.parametrize("text", OTHER)
def test_other_errors_are_not(text: str) -> None:
    """Errors of the server's own, and these words among others."""
    assert troubles("mcp__stock__die", text) == []


@given(
    st.sampled_from([text for _, text in LOST]),
    st.text(st.characters(categories=["L", "N", "P"]), min_size=1),
)
def test_words_beside_them_are_another_error(text: str, more: str) -> None:
    """Only a whole text counts, for a server's own error may quote one."""
    assert not is_lost(f"{more} {text}")
    assert not is_lost(f"{text} {more}")


def test_a_long_text_is_not_searched() -> None:
    """The time to look at a text does not grow with it."""
    assert not is_lost("MCP tool '" + "x" * 10_000_000)
    assert not is_lost('err: "' + "`" * 10_000_000)
