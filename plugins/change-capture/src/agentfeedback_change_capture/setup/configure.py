"""`configure`: binds a checkout to a spool and puts the hooks in place; one code path for every surface.

The order makes each crash harmless: hooks without a binding do nothing, and a spool without a binding
is adopted by the next configure.
"""

from __future__ import annotations

import os
import time

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.errors import AgentFeedbackError, UsageError, reason_of
from agentfeedback.foundation.lock import FileLock
from agentfeedback_change_capture.setup import bindings, claude_settings, exclude, git
from agentfeedback_change_capture.setup.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from agentfeedback_change_capture.setup.connections import Connection
    from agentfeedback_change_capture.spool.limits import SpoolLimits

#: What has to be given the first time a checkout is configured.
REQUIRED = ("spool", "worktree_id", "base_ref", "setup_digest")
#: Seconds to wait for a process that holds the spool.
_SPOOL_PATIENCE = 5.0


class Configured:
    """What configuring did; `created_spool` says whether the spool is a new one."""

    __slots__ = ("added", "binding", "created_spool", "unchanged", "warnings")

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.created_spool = False
        self.added = 0
        self.unchanged = 0
        self.warnings: list[str] = []


def install(
    config: str,
    saved: Sequence[Binding],
    connection: Connection,
    given: Mapping[str, Any],
    *,
    program: str,
    one_step: bool = False,
) -> Configured:
    """Configure a checkout with what is given over what is saved; hold the locks of connections and bindings.

    `given` has members of `Binding`; `limits` in it may name some limits only. `one_step` is for a
    surface that asked for nothing but the checkout: a settings file that it creates is hidden from
    `git status`.

    Raises `AgentFeedbackError` and `UsageError`: nothing was bound then.
    """
    before = bindings.of_root(saved, connection.root)
    if before is not None and before.lineage != connection.lineage:
        raise lineage_error(before, connection)
    binding = _wanted(before, connection, given)
    limits = _limits(before, given.get("limits", {}))
    binding.limits = limits.record()
    _check(saved, binding)
    change = claude_settings.adding(binding.settings_path, binding.root, program)
    configured = Configured(binding)
    _prepare_spool(saved, before, configured, limits)
    if before is not None and before.settings_path != binding.settings_path:
        _remove_hooks(before)
    change.apply(keep_old=True)
    configured.added, configured.unchanged = change.added, change.unchanged
    if binding != before:
        bindings.save(config, bindings.with_binding(saved, binding))
    if one_step and change.created:
        _hide(config, configured)
    return configured


def lineage_error(binding: Binding, connection: Connection) -> AgentFeedbackError:
    """Return the error for a checkout that is connected elsewhere than its history belongs to."""
    return AgentFeedbackError(
        f"capture of {binding.root} was configured for {binding.repository} on {binding.hub},"
        f" and this checkout is now connected to {connection.repository} on {connection.hub}",
        "to start fresh, run agentscm change-capture unconfigure and then forget",
    )


def _wanted(before: Binding | None, connection: Connection, given: Mapping[str, Any]) -> Binding:
    members = {name: value for name, value in given.items() if name != "limits"}
    members |= {
        "root": connection.root,
        "enabled": True,
        "hub": connection.hub,
        "repository": connection.repository,
    }
    if before is not None:
        return before.replaced(**members)
    missing = [name for name in REQUIRED if not members.get(name)]
    if missing:
        flags = ", ".join("--" + name.replace("_", "-") for name in missing)
        raise UsageError(f"this checkout is not configured yet: {flags} missing", "give them once")
    defaults: dict[str, Any] = {
        "capture_mode": "metadata-only",
        "action_rules": [],
        "recipes": [],
        "limits": {},
        "spool_id": "",
        "spool_inode": 0,
    }
    return Binding(**defaults | members)


def _limits(before: Binding | None, given: Mapping[str, int]) -> SpoolLimits:
    from agentfeedback_change_capture.spool.limits import SpoolLimits

    saved = {} if before is None else before.limits
    wanted = {**saved, **given}
    if "artifact_bytes" not in wanted and "bytes" in wanted:
        wanted["artifact_bytes"] = min(SpoolLimits().artifact_bytes, wanted["bytes"])
    try:
        limits = SpoolLimits(**wanted)
        if before is None or limits.admits_all_of(SpoolLimits(**saved)):
            return limits
    except ValueError as error:
        raise AgentFeedbackError(f"these limits do not fit: {error}", "raise them") from None
    raise AgentFeedbackError(
        f"the limits of {before.spool} would shrink", "limits of a spool only grow"
    )


def _check(saved: Sequence[Binding], binding: Binding) -> None:
    git.absolute(binding.spool, "--spool")
    binding.spool = os.path.join(
        os.path.realpath(os.path.dirname(binding.spool)), os.path.basename(binding.spool)
    )
    others = [each for each in saved if each.root != binding.root]
    if any(each.spool == binding.spool for each in others):
        raise AgentFeedbackError(
            f"{binding.spool} is the spool of another checkout", "name a spool of its own"
        )
    if not git.is_ref(binding.root, binding.base_ref):
        raise UsageError("--base-ref is not the name of a reference", "use origin/main or the like")


def _prepare_spool(
    saved: Sequence[Binding], before: Binding | None, configured: Configured, limits: SpoolLimits
) -> None:
    from agentfeedback_change_capture.facts import Namespace
    from agentfeedback_change_capture.spool.initialise import initialise
    from agentfeedback_change_capture.spool.spool import Spool

    binding = configured.binding
    namespace = Namespace(binding.hub, binding.repository, binding.worktree_id)
    if before is not None:
        _check_identity_may_hold(before, binding)
    elif _is_absent_or_empty(binding.spool):
        try:
            initialise(binding.spool, namespace, limits, created_at=int(time.time()))
        except OSError as error:
            raise _cannot(binding.spool, error) from error
        configured.created_spool = True
    try:
        deadline = time.monotonic() + _SPOOL_PATIENCE
        with Spool.open(binding.spool, namespace, deadline, thorough=True) as spool:
            binding.spool_id = spool.spool_id
            binding.spool_inode = os.stat(binding.spool).st_ino
            _check_identity(saved, before, binding)
            _probe_lock(binding.spool)
            spool.set_limits(limits)
            checkout = os.stat(binding.root)
            spool.bind_checkout(binding.root, checkout.st_dev, checkout.st_ino)
            for recipe in binding.recipes:
                spool.keep_artifact(canonical(recipe))
    except ValueError as error:
        raise AgentFeedbackError(
            f"{binding.spool}: {error}", "name limits that are as high or higher"
        ) from None
    except OSError as error:
        raise _cannot(binding.spool, error) from error


def _check_identity_may_hold(before: Binding, binding: Binding) -> None:
    """A moved spool is taken at its new path only when nothing is left at the old one."""
    if before.spool != binding.spool and os.path.lexists(before.spool):
        raise AgentFeedbackError(
            f"this checkout's spool is {before.spool}",
            "a checkout keeps its spool; move it there yourself, or unconfigure and forget",
        )


def _check_identity(saved: Sequence[Binding], before: Binding | None, binding: Binding) -> None:
    if before is not None:
        same = (before.spool_id, before.spool_inode) == (binding.spool_id, binding.spool_inode)
        if not same:
            raise AgentFeedbackError(
                f"{binding.spool} is not the spool that this checkout was configured with",
                "restore that one by moving it, or unconfigure and forget",
            )
    elif any(each.spool_id == binding.spool_id for each in saved):
        raise AgentFeedbackError(
            f"{binding.spool} is the spool of another checkout", "name a spool of its own"
        )


def _probe_lock(path: str) -> None:
    """Refuse a file system whose locks do not exclude; hold the spool's lock."""
    second = FileLock(os.path.join(path, "spool.lock"), 0, create=False)
    try:
        second.acquire()
    except TimeoutError:
        return
    second.release()
    raise AgentFeedbackError(
        f"{path} is on a file system without working locks", "name a spool on a local disk"
    )


def _is_absent_or_empty(path: str) -> bool:
    try:
        return not os.listdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _remove_hooks(binding: Binding) -> int:
    """Take the hooks of a binding out of its settings file; return how many there were."""
    change = claude_settings.removing(binding.settings_path, binding.root)
    change.apply(keep_old=False)
    return change.added


def _hide(config: str, configured: Configured) -> None:
    binding = configured.binding
    try:
        lines = exclude.add(binding.root, binding.settings_path)
    except exclude.ExcludeError as error:
        configured.warnings.append(
            f"{binding.settings_path} shows up as an untracked file: {error}"
        )
        return
    if lines and lines != binding.exclude_lines:
        configured.binding = binding.replaced(exclude_lines=lines)
        bindings.save(config, bindings.with_binding(bindings.load(config), configured.binding))


def _cannot(path: str, error: OSError) -> AgentFeedbackError:
    return AgentFeedbackError(
        f"{path}: {reason_of(error)}", "check its permissions and the room on its disk"
    )
