"""Writes the JSON Schemas beside it from the records of the code: `python docs/reference/schemas/generate.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentfeedback.wire import schema
from agentfeedback_submit import schemas

HERE = Path(__file__).parent


def published() -> dict[str, dict[str, Any]]:
    """Every schema by the name of its file."""
    return {**schema.schemas(doctor=schemas.DOCTOR), **schemas.schemas()}


def text(shown: dict[str, Any]) -> str:
    """A schema as it is in its file."""
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write all of them, and remove what is not a schema any more."""
    found = {f"{name}.json": text(shown) for name, shown in published().items()}
    for path in HERE.glob("*.json"):
        if path.name not in found:
            path.unlink()
    for name, content in found.items():
        (HERE / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
