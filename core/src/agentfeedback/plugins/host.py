"""Loads plugins by name, one at a time, and calls their hooks one implementation at a time.

A plugin that fails is named and skipped, the rest keeps working. A gate is the exception: one that
cannot be loaded, is blocked, or raises refuses every session (D19).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import pluggy
from attrs import define, field

from agentfeedback.foundation import entry_points as installed
from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins import hookspecs
from agentfeedback.plugins.harnesses import ALIASES, CORE, HARNESSES, dist_of
from agentfeedback.reading.reader import Reader

#: Raises for what a plugin must not hand over.
Check = Callable[[Any], object]
Kind = Literal["reader", "gate", "plugin", "command", "installer"]
GROUPS: dict[str, Kind] = {
    "agentfeedback.readers": "reader",
    "agentfeedback.gates": "gate",
    "agentfeedback.plugins": "plugin",
    "agentfeedback.commands": "command",
    "agentfeedback.installers": "installer",
}
#: Names of plugins to leave out, separated by commas.
BLOCK_VARIABLE = "AGENTFEEDBACK_BLOCK"


@define(eq=False)
class Plugin:
    """An installed plugin, by its entry point; `error` says why it cannot be used."""

    name: str
    kind: Kind
    dist: str
    version: str
    #: `module` or `module:attribute`.
    value: str
    error: str = ""
    hooks: list[str] = field(factory=list)
    loaded: Any = None


class Host:
    """The plugins of one run. `environ` is where `AGENTFEEDBACK_BLOCK` is read; `warn` gets one sentence per failure."""

    def __init__(self, environ: Mapping[str, str], warn: Any = None) -> None:
        self._hooks = pluggy.PluginManager(hookspecs.PROJECT)
        self._hooks.add_hookspecs(hookspecs)
        self._warn = warn or _to_stderr
        self._warned: set[str] = set()
        self._readers: dict[str, Reader] = {}
        blocked = environ.get(BLOCK_VARIABLE, "").split(",")
        self._blocked = {name.strip() for name in blocked if name.strip()}
        self.installed = _installed(self._blocked)
        #: A sentence for each name to leave out that nothing installed has.
        self.unknown_blocked_names = [
            f"{BLOCK_VARIABLE} names {name}, which is not installed"
            for name in sorted(self._blocked - {plugin.name for plugin in self.installed})
        ]
        for sentence in self.unknown_blocked_names:
            self.warn(sentence)
        self._calling: dict[str, list[tuple[object, str, Any, tuple[str, ...]]]] = {}
        #: Hook calls made, by hook: the budget is a promise (architecture.md, The hooks).
        self.calls: Counter[str] = Counter()
        #: Names of gates that refuse everything, in order.
        self.failed_gates: list[str] = []

    # -- loading -------------------------------------------------------------------------------

    def start(self, builtin: object) -> None:
        """Load the core's own implementations, the gates and the plugins; they stay for the run."""
        self._hooks.register(builtin, name=CORE)
        self._calling.clear()
        for plugin in self.installed:
            if plugin.kind in ("gate", "plugin"):
                self._load(plugin)
                if plugin.kind == "gate" and plugin.error:
                    self.failed_gates.append(plugin.name)

    def load_all(self) -> list[Plugin]:
        """Every installed plugin, loaded where it can be: what `agentfeedback plugins` shows."""
        for plugin in self.installed:
            if plugin.kind == "reader":
                self._load(plugin)
                if not plugin.error:
                    self._readers_of(plugin)
            elif plugin.loaded is None and not plugin.error:
                self._load(plugin)
        return self.installed

    def harnesses(self) -> list[str]:
        """The harnesses that have a reader, in the order of every output; nothing is imported."""
        names = {
            plugin.name for plugin in self.installed if plugin.kind == "reader" and not plugin.error
        }
        own = [name for name in HARNESSES if name in names]
        return own + sorted(names.difference(HARNESSES))

    def harness(self, name: str) -> str:
        """The canonical name of a harness that has a reader; raises UsageError naming what is there."""
        name = ALIASES.get(name, name)
        have = self.harnesses()
        if name in have:
            return name
        if name in HARNESSES:
            from agentfeedback.plugins.install_hint import pip_install

            remedy = f"run {pip_install(dist_of(name))} first"
        else:
            remedy = "name one of these, or install the plugin that reads it"
        listed = ", ".join(have) or "none"
        raise UsageError(f'no session reader for harness "{name}" (have {listed})', remedy)

    def reader(self, harness: str) -> Reader | None:
        """The reader of a harness, loaded on first use; None (and a warning) when its plugin fails."""
        if harness not in self._readers:
            for plugin in self.installed:
                if plugin.kind == "reader" and plugin.name == harness and not plugin.error:
                    self._load(plugin)
                    self._readers_of(plugin)
        return self._readers.get(harness)

    def _load(self, plugin: Plugin) -> None:
        if plugin.loaded is not None or plugin.error:
            return
        try:
            loaded = installed.load(plugin.value)
            if plugin.kind not in ("command", "installer"):
                self._register(loaded, plugin)
            plugin.loaded = loaded
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plugin does at import is named, and the rest works
            plugin.error = described(error)
            self.warn(f"plugin {plugin.name} could not be loaded: {plugin.error}")

    def _register(self, loaded: Any, plugin: Plugin) -> None:
        self._calling.clear()
        if self._hooks.is_registered(loaded):  # two harnesses of one dist share a module
            name = self._hooks.get_name(loaded)
        else:
            name = self._hooks.register(loaded, name=f"{plugin.kind} {plugin.name}")
        for caller in self._hooks.get_hookcallers(loaded) or []:
            plugin.hooks.append(caller.name)
            wrapped = any(
                i.wrapper or i.hookwrapper for i in caller.get_hookimpls() if i.plugin is loaded
            )
            if not caller.has_spec() or wrapped:
                self._hooks.unregister(name=name)
                what = "is a wrapper" if wrapped else "is no hook"
                raise TypeError(f"{caller.name} {what}")

    def _readers_of(self, plugin: Plugin) -> None:
        if plugin.loaded is None:
            return
        found = {}
        for name, answer in self.each("register_readers", only=plugin.loaded):
            try:
                readers = list(_answered(answer) or ())
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the plugin is named, the other readers work
                plugin.error = described(error)
                self.warn(f"plugin {name} could not register its readers: {plugin.error}")
                return
            found.update({item.harness: item for item in readers if isinstance(item, Reader)})
        if plugin.name in found:
            self._readers[plugin.name] = found[plugin.name]
        else:
            plugin.error = f"registers no reader of harness {plugin.name}"
            self.warn(f"plugin {plugin.name} {plugin.error}")

    # -- calling -------------------------------------------------------------------------------

    def each(
        self, hook: str, *, only: object = None, **arguments: Any
    ) -> Iterator[tuple[str, Any]]:
        """Call a hook implementation by implementation, latest registered first: `(plugin name, answer or exception)`."""
        self.calls[hook] += 1
        for plugin, name, function, wanted in self._implementations(hook):
            if only is not None and plugin is not only:
                continue
            try:
                answer = function(*[arguments[argument] for argument in wanted])
            except (Exception, SystemExit) as error:  # noqa: BLE001 - handed to the caller, who names the plugin
                answer = error
            yield name, answer

    def _implementations(self, hook: str) -> list[tuple[object, str, Any, tuple[str, ...]]]:
        """Who implements a hook, in calling order; kept until another plugin is registered."""
        known = self._calling.get(hook)
        if known is None:
            known = self._calling[hook] = [
                (item.plugin, item.plugin_name.split(" ")[-1], item.function, item.argnames)
                for item in reversed(getattr(self._hooks.hook, hook).get_hookimpls())
            ]
        return known

    def collect(self, hook: str, *, check: Check | None = None, **arguments: Any) -> list[Any]:
        """All items of a registering hook, the core's first; a failing plugin is named and skipped.

        `check` raises for what is no proper item of a plugin.
        """
        answers = list(self.each(hook, **arguments))
        items: list[Any] = []
        for name, answer in reversed(answers):
            try:
                for item in _answered(answer) or ():
                    if check is not None and name != CORE:
                        check(item)
                    items.append(item)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the plugin is named, the others are heard
                self.failed(name, hook, error)
        return items

    def first(self, hook: str, *, check: Check | None = None, **arguments: Any) -> Any:
        """The first answer that is not None; a failing plugin is named and passed over, the core's own error is raised.

        `check` raises for what is no proper answer of a plugin.
        """
        for name, answer in self.each(hook, **arguments):
            try:
                if _answered(answer) is None:
                    continue
                if check is not None and name != CORE:
                    check(answer)
                return answer
            except (Exception, SystemExit) as error:
                if name == CORE:
                    raise
                self.failed(name, hook, error)
        return None

    def announce(self, hook: str, **arguments: Any) -> None:
        """Tell every listener; a failing one is named and the others are still told."""
        for name, answer in self.each(hook, **arguments):
            if isinstance(answer, BaseException):
                self.failed(name, hook, answer)

    def failed(self, name: str, hook: str, error: BaseException) -> None:
        """Name a plugin whose hook raised. The text of the error may quote a log, so only its type is told."""
        self.warn(f"plugin {name} failed in {hook}: {type(error).__name__}")

    def warn(self, sentence: str) -> None:
        """One warning on stderr, once per run."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            self._warn(sentence)


def _answered(answer: Any) -> Any:
    if isinstance(answer, BaseException):
        raise answer
    return answer


def described(error: BaseException) -> str:
    """What a plugin raised while it was loaded, for a person: type and scrubbed text."""
    from agentfeedback.scrub import SUBMIT, Scrubber

    return f"{type(error).__name__}: {Scrubber(SUBMIT).text(str(error))}"


def _installed(blocked: set[str]) -> list[Plugin]:
    found: list[Plugin] = []
    names: set[tuple[Kind, str]] = set()
    for point in installed.entry_points(GROUPS):
        kind = GROUPS[point.group]
        if (kind, point.name) in names:  # the first on the path, as with modules
            continue
        names.add((kind, point.name))
        plugin = Plugin(point.name, kind, point.dist, point.version, point.value)
        if plugin.name in blocked:
            plugin.error = f"blocked by {BLOCK_VARIABLE}"
        found.append(plugin)
    found.sort(
        key=lambda plugin: (
            list(GROUPS.values()).index(plugin.kind),
            _place(plugin.name),
            plugin.name,
        )
    )
    return found


def _place(name: str) -> int:
    return HARNESSES.index(name) if name in HARNESSES else len(HARNESSES)


def _to_stderr(sentence: str) -> None:
    print(f"agentfeedback: warning: {sentence}", file=sys.stderr)
