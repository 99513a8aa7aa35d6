"""The bindings of checkouts to spools, in `change-capture.json`, and which version of the file they need."""

from __future__ import annotations

import os

from agentfeedback.foundation import json_shape as shape
from agentfeedback_change_capture.facts import CAPTURE_MODES, LOCAL, METADATA_ONLY, SHARED
from agentfeedback_change_capture.setup import private_files
from agentfeedback_change_capture.setup.connections import REPOSITORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agentfeedback_change_capture.facts import CaptureMode

#: What a user gets who names a checkout that capture was not configured for.
NO_BINDING = "no capture binding for this checkout"

WORKTREE_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
DIGEST = r"[0-9a-f]{64}"
_PATH = shape.text(r"/[^\x00]*", 4096)

LIMITS = {
    "records": shape.integer(48, 65_536),
    "bytes": shape.integer(65_536),
    "artifact_bytes": shape.integer(1),
    "replay_records": shape.integer(1),
    "replay_bytes": shape.integer(1),
}
RECIPE = shape.members(
    {
        "id": shape.text(r"[a-z0-9][a-z0-9-]{0,63}"),
        "argv": shape.array(shape.text(r"[^\x00]*"), 64),
        "coverage": shape.one_of("complete", "partial", "unknown"),
        "timeout_seconds": shape.integer(1, 86_400),
        "max_output_bytes": shape.integer(1),
    }
)


def _file(version: int, modes: Sequence[str], *, settings: bool) -> shape.Check:
    optional = {
        "claude_history_root": _PATH,
        "exclude_lines": shape.array(shape.text(longest=8192), 16),
    }
    if settings:
        optional["claude_settings"] = _PATH
    binding = shape.members(
        {
            "root": _PATH,
            "enabled": shape.boolean,
            "hub": shape.text(r"https?://[!-~]+", 2048),
            "repository": shape.text(REPOSITORY),
            "spool": _PATH,
            "spool_id": shape.text(r"[0-9a-f]{32}"),
            "spool_inode": shape.integer(),
            "worktree_id": shape.text(WORKTREE_ID),
            "base_ref": shape.text(r"[^\x00-\x20\x7f-][^\x00-\x20\x7f]{0,1023}"),
            "setup_digest": shape.text(DIGEST),
            "capture_mode": shape.one_of(*modes),
            "action_rules": shape.array(shape.text(longest=1024), 256),
            "recipes": shape.array(RECIPE, 16),
            "limits": shape.members(LIMITS),
        },
        optional,
    )
    return shape.members(
        {"version": shape.exactly(version), "bindings": shape.array(binding, 4096)}
    )


_VERSION_5 = _file(5, (METADATA_ONLY, LOCAL), settings=False)
_VERSION_6 = _file(6, CAPTURE_MODES, settings=True)


class Binding:
    """What is saved of one checkout.

    `hub` and `repository` are the lineage: where the checkout was connected to when it was configured.
    `claude_settings` is empty for the default file, `claude_history_root` where none is read. `limits`
    are `records`, `bytes`, `artifact_bytes`, `replay_records` and `replay_bytes`.
    """

    __slots__ = (
        "action_rules",
        "base_ref",
        "capture_mode",
        "claude_history_root",
        "claude_settings",
        "enabled",
        "exclude_lines",
        "hub",
        "limits",
        "recipes",
        "repository",
        "root",
        "setup_digest",
        "spool",
        "spool_id",
        "spool_inode",
        "worktree_id",
    )
    _OPTIONAL = ("claude_history_root", "exclude_lines", "claude_settings")

    def __init__(
        self,
        *,
        root: str,
        enabled: bool,
        hub: str,
        repository: str,
        spool: str,
        spool_id: str,
        spool_inode: int,
        worktree_id: str,
        base_ref: str,
        setup_digest: str,
        capture_mode: CaptureMode,
        action_rules: Sequence[str],
        recipes: Sequence[dict[str, Any]],
        limits: dict[str, int],
        claude_history_root: str = "",
        exclude_lines: Sequence[str] = (),
        claude_settings: str = "",
    ) -> None:
        self.root = root
        self.enabled = enabled
        self.hub = hub
        self.repository = repository
        self.spool = spool
        self.spool_id = spool_id
        self.spool_inode = spool_inode
        self.worktree_id = worktree_id
        self.base_ref = base_ref
        self.setup_digest = setup_digest
        self.capture_mode = capture_mode
        self.action_rules = list(action_rules)
        self.recipes = list(recipes)
        self.limits = dict(limits)
        self.claude_history_root = claude_history_root
        self.exclude_lines = list(exclude_lines)
        self.claude_settings = claude_settings

    @property
    def lineage(self) -> tuple[str, str]:
        """The repository and the Hub this checkout's history belongs to."""
        return self.repository, self.hub

    @property
    def settings_path(self) -> str:
        """The Claude Code settings file that the hooks are in."""
        return self.claude_settings or default_settings(self.root)

    def record(self) -> dict[str, Any]:
        """Return the binding as it is saved; optional members that say nothing are left out."""
        found = {name: getattr(self, name) for name in Binding.__slots__}
        return {name: value for name, value in found.items() if value or name not in self._OPTIONAL}

    def replaced(self, **members: Any) -> Binding:
        """Return a copy with other values for some members."""
        return Binding(**{name: getattr(self, name) for name in Binding.__slots__} | members)

    def __eq__(self, other: object) -> bool:
        return self.record() == other.record() if isinstance(other, Binding) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def default_settings(root: str) -> str:
    """Return the settings file that hooks go into unless another one is named."""
    return os.path.join(root, ".claude", "settings.local.json")


def load(config: str) -> list[Binding]:
    """Return all bindings, disabled ones too.

    Raises `AgentFeedbackError` for a file of an unknown version, with an unknown member or a value of
    the wrong type, or one that names a root or a spool twice: nothing of it counts then.
    """
    path = os.path.join(config, private_files.BINDINGS)

    def fits(value: Any, where: str) -> str | None:
        version = value.get("version") if isinstance(value, dict) else None
        if isinstance(version, bool) or version not in (5, 6):
            return "its version is neither 5 nor 6"
        return (_VERSION_5 if version == 5 else _VERSION_6)(value, where)

    found = private_files.read_json(path, fits)
    if found is None:
        return []
    bindings = [Binding(**each) for each in found["bindings"]]
    for name in ("root", "spool"):
        if len({getattr(each, name) for each in bindings}) < len(bindings):
            raise private_files.refused(path, f"it names a {name} twice")
    return bindings


def save(config: str, bindings: Sequence[Binding]) -> None:
    """Replace all bindings; hold the lock of bindings.

    Version 6 is written only while a binding needs it, so that an older program can read the file
    otherwise; it refuses version 6 rather than drop a member it does not know.
    """
    path = os.path.join(config, private_files.BINDINGS)
    private_files.write(
        path,
        {"version": version_of(bindings), "bindings": [each.record() for each in bindings]},
    )


def version_of(bindings: Sequence[Binding]) -> int:
    """Return the version of a file that holds these bindings."""
    needs = any(each.capture_mode == SHARED or each.claude_settings for each in bindings)
    return 6 if needs else 5


def of_root(bindings: Sequence[Binding], root: str) -> Binding | None:
    """Return the binding of a checkout."""
    return next((each for each in bindings if each.root == root), None)


def with_binding(bindings: Sequence[Binding], new: Binding) -> list[Binding]:
    """Return the bindings with one in the place of the one of its root, else at the end."""
    rest = [new if each.root == new.root else each for each in bindings]
    return rest if new in rest else [*rest, new]
