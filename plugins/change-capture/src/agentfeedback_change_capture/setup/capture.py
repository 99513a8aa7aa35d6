"""Capture of a checkout as every surface sees and changes it: the command line, the page and the tray.

Consent is bound to what was shown: `expected` is the repository and the Hub that a surface displayed,
and a checkout that is connected elsewhere by now is never shared there.
"""

from __future__ import annotations

import os

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_change_capture.facts import CAPTURE_MODES, METADATA_ONLY, SHARED
from agentfeedback_change_capture.setup import (
    bindings,
    claude_settings,
    configure,
    connections,
    exclude,
    git,
    private_files,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback.foundation.lock import FileLock
    from agentfeedback_change_capture.facts import CaptureMode
    from agentfeedback_change_capture.setup.bindings import Binding
    from agentfeedback_change_capture.setup.connections import Connection

    #: The repository and the Hub that a surface displayed.
    Expected = tuple[str, str] | None

DEFAULT_RULES = ("Bash=execution:partial:process_exit_code",)


class Setting:
    """How capture of a checkout is set; `mode` is empty without a binding.

    `repository` and `hub` are those of the current connection, `bound_repository` and `bound_hub` those
    the binding was saved for; `lineage_mismatch` says that they differ, or that there is no connection.
    """

    __slots__ = (
        *("bound_hub", "bound_repository", "configured", "enabled", "hub"),
        *("lineage_mismatch", "mode", "repository"),
    )

    def __init__(self, binding: Binding | None, connection: Connection | None) -> None:
        self.configured = binding is not None
        self.enabled = binding is not None and binding.enabled
        self.mode = "" if binding is None else binding.capture_mode
        self.repository = None if connection is None else connection.repository
        self.hub = None if connection is None else connection.hub
        self.bound_repository = None if binding is None else binding.repository
        self.bound_hub = None if binding is None else binding.hub
        self.lineage_mismatch = binding is not None and (
            connection is None or connection.lineage != binding.lineage
        )


class Locks:
    """The locks of the configuration, in their one order: connections, then bindings."""

    def __init__(self, config: str, *, connections: bool) -> None:
        self._config = config
        names = [private_files.CONNECTIONS_LOCK] if connections else []
        self._names = [*names, private_files.BINDINGS_LOCK]
        self._held: list[FileLock] = []

    def __enter__(self) -> Locks:  # noqa: PYI034 - importing typing costs start-up time
        try:
            for name in self._names:
                self._held.append(private_files.lock(self._config, name))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        while self._held:
            self._held.pop().release()


def capture_setting(root: str, environ: Mapping[str, str]) -> Setting:
    """Return how capture of a checkout is set; `root` is its saved root."""
    config = private_files.config_directory(environ)
    binding = bindings.of_root(bindings.load(config), root)
    return Setting(binding, connections.current(connections.load(config), root))


def configure_checkout(
    root: str, given: Mapping[str, Any], environ: Mapping[str, str], *, program: str
) -> configure.Configured:
    """Configure a checkout with members of `Binding`, over what is saved. Raises `AgentFeedbackError`."""
    config = private_files.config_directory(environ)
    with Locks(config, connections=True):
        connection = _connected(config, root)
        return configure.install(config, bindings.load(config), connection, given, program=program)


def enable_capture(
    root: str,
    environ: Mapping[str, str],
    *,
    program: str,
    expected: Expected = None,
    mode: CaptureMode = "shared-conversation",
) -> configure.Configured:
    """Turn capture of a checkout on in a mode: whatever is missing for that is set up with defaults.

    An enabled binding only changes its mode; a disabled one comes back with everything it saved.

    Raises `AgentFeedbackError`; nothing is changed then.
    """
    config = private_files.config_directory(environ)
    with Locks(config, connections=True):
        connection = _connected(config, root)
        _expect(connection, expected)
        saved = bindings.load(config)
        binding = bindings.of_root(saved, root)
        if binding is not None and binding.lineage != connection.lineage:
            raise configure.lineage_error(binding, connection)
        if binding is not None and binding.enabled:
            changed = binding.replaced(capture_mode=mode)
            if changed != binding:
                bindings.save(config, bindings.with_binding(saved, changed))
            return configure.Configured(changed)
        given: dict[str, Any] = {"capture_mode": mode}
        if binding is None:
            given |= _defaults(config, root)
        return configure.install(config, saved, connection, given, program=program, one_step=True)


def set_capture_mode(
    root: str, mode: CaptureMode, environ: Mapping[str, str], *, expected: Expected = None
) -> CaptureMode:
    """Change the mode of an enabled binding, and nothing else; return the one before.

    Lowering needs no connection and never opens the spool. Raises `AgentFeedbackError`.
    """
    config = private_files.config_directory(environ)
    raises = False
    while True:
        with Locks(config, connections=raises):
            saved = bindings.load(config)
            binding = bindings.of_root(saved, root)
            if binding is None:
                raise no_binding()
            if not binding.enabled:
                raise AgentFeedbackError(
                    "capture of this checkout is off", "run agentscm change-capture configure first"
                )
            if CAPTURE_MODES.index(mode) > CAPTURE_MODES.index(binding.capture_mode):
                if not raises:
                    raises = True  # again, with the lock that comes before this one
                    continue
                connection = _connected(config, root)
                _expect(connection, expected)
                if binding.lineage != connection.lineage:
                    raise configure.lineage_error(binding, connection)
            if mode != binding.capture_mode:
                changed = binding.replaced(capture_mode=mode)
                bindings.save(config, bindings.with_binding(saved, changed))
            return binding.capture_mode


def unconfigure(root: str, environ: Mapping[str, str]) -> tuple[Binding, int, list[str]]:
    """Remove the hooks of a checkout and disable its binding; return it, how many hooks went, and warnings.

    Nothing else of the binding is forgotten, and the spool stays. Of a checkout that is gone nothing is
    touched: its hooks went with it. Hooks in a settings file that cannot be edited stay, and do nothing
    without an enabled binding. Raises `AgentFeedbackError`.
    """
    config = private_files.config_directory(environ)
    with Locks(config, connections=False):
        saved = bindings.load(config)
        binding = bindings.of_root(saved, root)
        if binding is None:
            raise no_binding()
        removed, warnings = 0, []
        # Hooks first, so that a crash between leaves capture off.
        if os.path.isdir(os.path.dirname(binding.settings_path)):
            try:
                change = claude_settings.removing(binding.settings_path, root)
                change.apply(keep_old=False)
                removed = change.added
            except AgentFeedbackError as error:
                warnings.append(f"the hooks stay, without any effect: {error.problem}")
        changed = binding.replaced(enabled=False)
        if changed != binding:
            bindings.save(config, bindings.with_binding(saved, changed))
        return changed, removed, warnings


def forget(root: str, environ: Mapping[str, str]) -> tuple[Binding, int, list[str]]:
    """Remove a disabled binding; return it, how many exclude lines went, and warnings. The spool stays.

    Raises `AgentFeedbackError`, also for a binding that is enabled.
    """
    config = private_files.config_directory(environ)
    with Locks(config, connections=False):
        saved = bindings.load(config)
        binding = bindings.of_root(saved, root)
        if binding is None:
            raise no_binding()
        if binding.enabled:
            raise AgentFeedbackError(
                f"capture of {root} is on", "run agentscm change-capture unconfigure first"
            )
        others = [each for each in saved if each.root != root]
        removed, warnings = 0, []
        try:
            places = [(each.root, each.settings_path) for each in others]
            removed = exclude.remove(root, places)
        except exclude.ExcludeError as error:
            warnings.append(f"the lines of the local exclude stay: {error}")
        bindings.save(config, others)
        return binding, removed, warnings


def lower_shared(config: str, root: str) -> bool:
    """Lower a shared binding of a checkout whose connection goes; hold the lock of bindings."""
    saved = bindings.load(config)
    binding = bindings.of_root(saved, root)
    if binding is None or binding.capture_mode != SHARED:
        return False
    changed = binding.replaced(capture_mode=METADATA_ONLY)
    bindings.save(config, bindings.with_binding(saved, changed))
    return True


def no_binding() -> AgentFeedbackError:
    """Return the error for a checkout that capture was not configured for."""
    return AgentFeedbackError(
        bindings.NO_BINDING, "agentscm change-capture status lists those there are"
    )


def _connected(config: str, root: str) -> Connection:
    found = connections.current(connections.load(config), root)
    if found is None:
        raise AgentFeedbackError(
            connections.NO_CONNECTION, "run agentscm client setup for it first"
        )
    return found


def _expect(connection: Connection, expected: Expected) -> None:
    if expected is not None and expected != connection.lineage:
        raise AgentFeedbackError(
            f"this checkout is now connected to {connection.repository} on {connection.hub}",
            "refresh and confirm again",
        )


def _defaults(config: str, root: str) -> dict[str, Any]:
    """Return the members of a binding that nobody chose; ids are random, so no path can be guessed from them."""
    from agentfeedback.foundation.files import directory

    spools = os.path.join(config, "capture-spools")
    directory(spools, durable=True)
    return {
        "spool": os.path.join(spools, os.urandom(16).hex()),
        "worktree_id": f"checkout_{os.urandom(16).hex()}",
        "setup_digest": os.urandom(32).hex(),
        "base_ref": git.default_base_ref(root),
        "action_rules": list(DEFAULT_RULES),
    }
