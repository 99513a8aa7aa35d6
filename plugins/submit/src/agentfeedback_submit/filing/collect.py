"""What is collected into a submission: the directory's project, the machine, the harness.

Of the environment only the variables named here are read. Never collected: the full directory
unless `[context] cwd` says so, the user's name, other processes, other files, other variables.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from attrs import define, field

from agentfeedback.config.shape import CONTEXT_TEXTS, Context
from agentfeedback.foundation.git.facts import git_facts, project_of

#: The names other programs know processors by.
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
#: The variables that name a harness, in the order they are asked; the last two name its model too.
_HARNESSES = (
    ("omp", ("PI_CODING_AGENT_DIR", "OMP_PROFILE")),
    ("pi", ("PI_CODING_AGENT",)),
    ("opencode", ("OPENCODE",)),
    ("codex", ("CODEX_SANDBOX",)),
    ("claude-code", ("CLAUDECODE",)),
    ("pi", ("PI_MODEL",)),
    ("opencode", ("OPENCODE_MODEL",)),
)
_MODELS = {"pi": "PI_MODEL", "opencode": "OPENCODE_MODEL"}
_CLAUDE = {"session_id": "CLAUDE_CODE_SESSION_ID", "effort": "CLAUDE_EFFORT"}
_COMMON = {"agent": "AI_AGENT", "session_id": "AGENT_FEEDBACK_SESSION_ID"}


@define(eq=False)
class Collected:
    """What was found; an empty text was not. `context` holds what the rules let be sent."""

    project: str = ""
    harness: str = ""
    model: str = ""
    context: dict[str, str] = field(factory=dict)


def collect(
    directory: str,
    environ: Mapping[str, str],
    *,
    home: str,
    context: Context,
    client: str,
    drop: Iterable[str] = (),
) -> Collected:
    """Everything about an absolute, existing directory that the policy allows.

    `client` is the name of this program. `drop` are the keys the directory's repositories leave out, beside the user's own.
    """
    found = Collected()
    dropped = frozenset((*context.drop, *drop))
    # The project is named after the remote even where the remote itself is dropped.
    git = git_facts(directory, home, dropped - {"git_remote"})
    folder = folder_name(directory, home)
    found.project = project_of(git.get("git_remote", "")) or folder
    found.context = {"folder": folder, **git}
    if context.cwd:
        found.context["cwd"] = directory
    machine = os.uname().machine
    found.context |= {
        "os": sys.platform,
        "arch": _ARCHITECTURES.get(machine, machine),
        "client": client,
    }
    _harness(found, environ)
    found.context |= configured(context)
    for name in dropped:
        found.context.pop(name, None)
    return found


def configured(context: Context) -> dict[str, str]:
    """The keys of `[context]` that are set, without those it drops."""
    found = {name: getattr(context, name) for name in CONTEXT_TEXTS}
    return {name: value for name, value in found.items() if value and name not in context.drop}


def folder_name(directory: str, home: str) -> str:
    """The last part of a directory; `~` for the home."""
    directory = directory.rstrip("/") or "/"
    if directory == home.rstrip("/"):
        return "~"
    return os.path.basename(directory) or directory


def machine_name() -> str:
    """This machine's name up to the first dot."""
    return os.uname().nodename.partition(".")[0]


def _harness(found: Collected, environ: Mapping[str, str]) -> None:
    for harness, variables in _HARNESSES:
        if any(environ.get(name) for name in variables):
            found.harness = harness
            found.model = environ.get(_MODELS.get(harness, ""), "")
            if harness == "claude-code":
                _take(found, environ, _CLAUDE)
            break
    _take(found, environ, _COMMON)


def _take(found: Collected, environ: Mapping[str, str], names: Mapping[str, str]) -> None:
    for key, variable in names.items():
        if value := environ.get(variable, ""):
            found.context[key] = value
