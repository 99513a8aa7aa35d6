"""The reference names every tool with its arguments and hints, as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentfeedback_mcp.stdio.serve import TOOLS

PAGE = (Path(__file__).parents[3] / "docs/reference/mcp.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
HINTS = {
    "reads": "read-only, idempotent",
    "adds": "not read-only",
    "sets": "not read-only, idempotent",
}


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_documented(name: str) -> None:
    """Its section has a row for each argument, in order, with its type and whether it must be given."""
    shown = TOOLS[name].input_schema
    rows = []
    for argument, schema in shown["properties"].items():
        many = schema["type"] == "array"
        type = f"array of {schema['items']['type']}s" if many else schema["type"]
        rows.append(
            (argument, type + (", required" if argument in shown.get("required", ()) else ""))
        )
    assert re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", SECTIONS[f"`{name}`"], re.MULTILINE) == rows
    row = rf"^\| \[`{name}`\]\(#{name}\) \| [^|]+ \| {HINTS[TOOLS[name].effect]} \|$"
    assert re.search(row, PAGE, re.MULTILINE)
