"""The commands that set capture up: what they read of a line, and what they print."""

from __future__ import annotations

import os
import sys

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback_change_capture.cli.output import no_more, print_result, warn
from agentfeedback_change_capture.facts import CAPTURE_MODES
from agentfeedback_change_capture.setup import capture, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback.terminal.arguments import Parsed
    from agentfeedback_change_capture.facts import CaptureMode

_LIMITS = {
    "max_records": "records",
    "max_bytes": "bytes",
    "max_artifact_bytes": "artifact_bytes",
    "replay_records": "replay_records",
    "replay_bytes": "replay_bytes",
}
_TOKEN_BYTES = 4096


def run_configure(line: Parsed) -> int:
    """`change-capture configure`."""
    import re

    from agentfeedback_change_capture.adapter import hook, managed
    from agentfeedback_change_capture.identities import recipe_digest
    from agentfeedback_change_capture.setup import bindings, claude_version, recipes, rules
    from agentfeedback_change_capture.setup.program import agentscm

    no_more(line)
    given: dict[str, Any] = {}
    limits = {name: getattr(line, flag) for flag, name in _LIMITS.items() if _has(line, flag)}
    if limits:
        given["limits"] = limits
    if line.action_rule:
        given["action_rules"] = [rule.text for rule in rules.parse_all(line.action_rule)]
    if _has(line, "worktree_id"):
        if not re.fullmatch(bindings.WORKTREE_ID, line.worktree_id, re.ASCII):
            raise UsageError("--worktree-id is malformed", "use letters, digits, . _ and -")
        given["worktree_id"] = line.worktree_id
    if _has(line, "setup_digest"):
        if not re.fullmatch(bindings.DIGEST, line.setup_digest, re.ASCII):
            raise UsageError("--setup-digest is malformed", "give 64 lower hexadecimal digits")
        given["setup_digest"] = line.setup_digest
    if _has(line, "base_ref"):
        given["base_ref"] = line.base_ref
    if _has(line, "capture_mode"):
        given["capture_mode"] = _mode(line.capture_mode, "--capture-mode")
    if _has(line, "spool"):
        given["spool"] = git.absolute(line.spool, "--spool")
    if line.no_claude_history_root:
        given["claude_history_root"] = ""
    elif _has(line, "claude_history_root"):
        given["claude_history_root"] = _history_root(line.claude_history_root)
    for path in line.recipe_file:
        git.absolute(path, "--recipe-file")
    root = _root(line)
    if _has(line, "claude_settings"):
        path = os.path.normpath(git.absolute(line.claude_settings, "--claude-settings"))
        given["claude_settings"] = "" if path == bindings.default_settings(root) else path
    if line.recipe_file:
        most = limits.get("artifact_bytes") or _saved_artifact_bytes(root)
        given["recipes"] = recipes.read_all_files(line.recipe_file, most)
    hook.compile_all()
    done = capture.configure_checkout(root, given, os.environ, program=agentscm())
    binding = done.binding
    warnings = [*done.warnings, *filter(None, [claude_version.warning()])]
    if binding.recipes and not managed.RUNNER:
        warnings.append("the recipes are registered, and this version does not run them yet")
    warn("change-capture", warnings)
    hooks = f"{done.added} hooks added, {done.unchanged} unchanged in {binding.settings_path}"
    print_result(
        line,
        {
            "root": root,
            "spool": binding.spool,
            "worktree_id": binding.worktree_id,
            "repository": binding.repository,
            "hub": binding.hub,
            "capture_mode": binding.capture_mode,
            "enabled": binding.enabled,
            "created_spool": done.created_spool,
            "hooks_added": done.added,
            "hooks_unchanged": done.unchanged,
            "recipes": [{"id": one["id"], "digest": recipe_digest(one)} for one in binding.recipes],
            "warnings": warnings,
        },
        [
            f"capture of {root} is on, {binding.capture_mode}",
            f"{'new ' if done.created_spool else ''}spool {binding.spool}",
            hooks,
        ],
    )
    return 0


def run_set_mode(line: Parsed) -> int:
    """`change-capture set-mode`."""
    no_more(line)
    mode = _mode(line.mode, "--mode")
    root = _saved(line)
    previous = capture.set_capture_mode(root, mode, os.environ)
    print_result(
        line,
        {"root": root, "capture_mode": mode, "previous": previous},
        [f"capture of {root} is {mode}" + (f", was {previous}" if previous != mode else "")],
    )
    return 0


def run_unconfigure(line: Parsed) -> int:
    """`change-capture unconfigure`."""
    no_more(line)
    root = _saved(line)
    binding, removed, warnings = capture.unconfigure(root, os.environ)
    warn("change-capture", warnings)
    print_result(
        line,
        {
            "root": root,
            "enabled": False,
            "hooks_removed": removed,
            "spool": binding.spool,
            "spool_retained": True,
        },
        [
            f"capture of {root} is off, {removed} hooks removed",
            f"the spool stays: {binding.spool}",
        ],
    )
    return 0


def run_forget(line: Parsed) -> int:
    """`change-capture forget`."""
    no_more(line)
    root = _saved(line)
    binding, removed, warnings = capture.forget(root, os.environ)
    warn("change-capture", warnings)
    print_result(
        line,
        {
            "root": root,
            "spool": binding.spool,
            "spool_retained": True,
            "exclude_lines_removed": removed,
        },
        [f"{root} is forgotten", f"the spool stays: {binding.spool}"],
    )
    return 0


def run_hook(line: Parsed) -> int:
    """`change-capture hook-claude`, when it is not called the fast way."""
    from agentfeedback_change_capture.adapter import hook

    hook.main(["--root", line.root, "--runner", line.runner])
    return 0


def run_client_setup(line: Parsed) -> int:
    """`client setup`."""
    import re

    from agentfeedback_change_capture.setup import clients, connections

    no_more(line)
    hub = clients.hub_url(line.hub)
    if not re.fullmatch(connections.REPOSITORY, line.repository):
        raise UsageError("--repository is malformed", "give the repository's name at the Hub")
    if not line.token_stdin:
        raise UsageError("there is no token", "give --token-stdin and the token on standard input")
    root = _root(line)
    if not line.unchecked:
        raise AgentFeedbackError(
            "this version cannot ask a Hub who you are",
            "give --unchecked to record the connection all the same",
        )
    made, lowered = clients.record(root, hub, line.repository, _token(), "", os.environ)
    print_result(
        line,
        {
            "root": root,
            "hub": made.hub,
            "repository": made.repository,
            "human": made.human or None,
            "role": None,
            "lowered_mode": lowered,
        },
        [
            f"{root} is connected to {made.repository} on {made.hub}; the Hub was not asked",
            *(
                ["sharing of its conversations is off until you turn it on again"]
                if lowered
                else []
            ),
        ],
    )
    return 0


def run_client_status(line: Parsed) -> int:
    """`client status`."""
    from agentfeedback_change_capture.setup import connections, private_files

    no_more(line)
    found = connections.load(private_files.config_directory(os.environ))
    if line.root:
        root = git.saved_root(line.root)
        found = [each for each in found if each.root == root]
    print_result(
        line,
        {
            "connections": [
                {
                    "root": each.root,
                    "hub": each.hub,
                    "repository": each.repository,
                    "human": each.human or None,
                    "created_at": each.created_at,
                }
                for each in found
            ]
        },
        [f"{each.root}: {each.repository} on {each.hub}" for each in found]
        or ["no checkout is connected"],
    )
    return 0


def run_client_remove(line: Parsed) -> int:
    """`client remove`."""
    from agentfeedback_change_capture.setup import clients

    no_more(line)
    root = _saved(line)
    lowered = clients.remove(root, os.environ)
    print_result(
        line,
        {"root": root, "removed": True, "lowered_mode": lowered},
        [f"{root} is not connected any more"],
    )
    return 0


def _root(line: Parsed) -> str:
    _require(line, "root")
    return git.checkout_root(line.root)


def _saved(line: Parsed) -> str:
    _require(line, "root")
    return git.saved_root(line.root)


def _require(line: Parsed, flag: str) -> None:
    if not _has(line, flag):
        raise UsageError(f"--{flag} is missing", f"give --{flag} /absolute/path")


def _has(line: Parsed, flag: str) -> bool:
    return flag in line.given or flag.replace("_", "-") in line.given


def _no_positionals(line: Parsed) -> None:
    no_more(line)


def _mode(text: str, flag: str) -> CaptureMode:
    if text not in CAPTURE_MODES:
        raise UsageError(f"{flag} is not a capture mode", f"use one of {', '.join(CAPTURE_MODES)}")
    found: CaptureMode = text  # type: ignore[assignment] # one of the three, as was just seen
    return found


def _history_root(path: str) -> str:
    git.absolute(path, "--claude-history-root")
    if os.path.realpath(path) != os.path.normpath(path) or not os.path.isdir(path):
        raise AgentFeedbackError(
            f"{path} is not a folder without links on the way", "name the folder itself"
        )
    return os.path.normpath(path)


def _saved_artifact_bytes(root: str) -> int:
    from agentfeedback_change_capture.setup import bindings, private_files
    from agentfeedback_change_capture.spool.limits import SpoolLimits

    found = bindings.of_root(bindings.load(private_files.config_directory(os.environ)), root)
    return SpoolLimits().artifact_bytes if found is None else found.limits["artifact_bytes"]


def _token() -> str:
    import re

    data = sys.stdin.buffer.read(_TOKEN_BYTES + 2) if sys.stdin is not None else b""
    text = data.strip(b" \t\r\n").decode("ascii", "replace")
    if not re.fullmatch(r"[!-~]{1,4096}", text):
        raise AgentFeedbackError(
            "standard input holds no token", "pipe the token into the command, alone on one line"
        )
    return text
