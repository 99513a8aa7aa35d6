"""The harnesses there are readers for, their names and distributions."""

from __future__ import annotations

#: The harnesses of this project, in the order of every output.
HARNESSES = (
    "claude-code",
    "codex",
    "copilot",
    "gemini-cli",
    "opencode-v1",
    "opencode-v2",
    "cursor",
    "pi",
    "qwen-code",
    "cline",
    "aider",
)


#: What a harness may also be called on input.
ALIASES = {"opencode": "opencode-v1"}


#: The dist that brings the reader of a harness, where it is not `agentfeedback-<harness>`.
_DISTS = {"opencode-v1": "agentfeedback-opencode", "opencode-v2": "agentfeedback-opencode"}


CORE = "agentfeedback"


def dist_of(harness: str) -> str:
    """The distribution that brings the reader of a harness."""
    return _DISTS.get(harness, f"agentfeedback-{harness}")
