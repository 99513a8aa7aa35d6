"""Calls hooks one implementation at a time, latest registered first, so that a failing one is named and the rest run.

Which hooks there are and what their answers mean is not known here: `Host` has a method for each.
"""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import pluggy

from agentfeedback.foundation.foreign_call import ForeignCall
from agentfeedback.plugins import hookspecs
from agentfeedback.terminal import screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    #: Raises for what a plugin must not hand over.
    Check = Callable[[Any], object]

#: Set to 1, a line about each call goes to standard error.
TRACE_VARIABLE = "AGENTFEEDBACK_TRACE"


class Implementation(NamedTuple):
    """One implementation of a hook: `name` is the plugin's, `wanted` are the arguments it names."""

    plugin: object
    name: str
    function: Callable[..., Any]
    wanted: tuple[str, ...]


class HookCalls:
    """The implementations of one run.

    `failed(plugin, hook, error)` is called for one that raises, `late(plugin, hook)` for one that has
    not come back for some seconds.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        failed: Callable[[str, str, BaseException], None],
        late: Callable[[str, str], None],
    ) -> None:
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        self._failed = failed
        self._late = late
        self._core: object = None
        self._names: dict[int, str] = {}
        self._registered = 0
        self._known: dict[str, list[Implementation]] = {}
        self._trace = environ.get(TRACE_VARIABLE) == "1"
        #: How often each hook was called.
        self.count: Counter[str] = Counter()

    def register(self, plugin: object, name: str, *, core: bool = False) -> list[str]:
        """Register the implementations of a module or object and return the hooks they are of.

        An object that is registered already keeps the name it has: entry points may share a module.

        Raises:
            TypeError: A function is marked that is not a hook, or is a wrapper; nothing is registered then.
        """
        self._known.clear()
        first = not self._manager.is_registered(plugin)
        if first:
            self._registered += 1
            taken = self._manager.has_plugin(name)  # a reader and an installer, say, share a name
            self._manager.register(plugin, f"{name} #{self._registered}" if taken else name)
            self._names[id(plugin)] = name
        if core:
            self._core = plugin
        hooks = []
        for caller in self._manager.get_hookcallers(plugin) or []:
            wrapped = any(
                each.wrapper or each.hookwrapper
                for each in caller.get_hookimpls()
                if each.plugin is plugin
            )
            if not caller.has_spec() or wrapped:
                if first:
                    self._manager.unregister(plugin)
                what = "is a wrapper" if wrapped else "is not a hook"
                raise TypeError(f"{caller.name} {what}")
            hooks.append(caller.name)
        return hooks

    def collect(self, hook: str, *, check: Check | None = None, **arguments: Any) -> list[Any]:
        """All items of a registering hook, the core's first; a failing plugin is named and skipped.

        `check` raises for what is not a proper item of a plugin.
        """
        answers = [(each, *self._all_of(hook, each, arguments)) for each in self._asked(hook)]
        items: list[Any] = []
        for each, found, error in reversed(answers):
            try:
                for item in found:
                    if check is not None and each.plugin is not self._core:
                        check(item)
                    items.append(item)
            except KeyboardInterrupt:
                raise
            except BaseException as refused:  # noqa: BLE001 - the plugin is named, the others are asked
                error = refused
            if error is not None:
                self._failed(each.name, hook, error)
        return items

    def items_of(self, hook: str, plugin: object) -> list[Any]:
        """The items of one plugin's registering hook; raises what the plugin raises."""
        items: list[Any] = []
        for each in self._asked(hook):
            if each.plugin is plugin:
                found, error = self._all_of(hook, each, {})
                if error is not None:
                    raise error
                items += found
        return items

    def first(
        self,
        hook: str,
        *,
        check: Check | None = None,
        foreign: Callable[[Any, str], Any] | None = None,
        **arguments: Any,
    ) -> Any:
        """The first answer that is not None; a failing plugin is named and passed over.

        `check` raises for what is not a proper answer of a plugin; `foreign` makes of it and the
        plugin's name what is used. The core's own error is raised.
        """
        for each in self._asked(hook):
            answer, error = self._answer(hook, each, arguments)
            if error is None and answer is not None and check is not None:
                try:
                    if each.plugin is not self._core:
                        check(answer)
                except KeyboardInterrupt:
                    raise
                except BaseException as refused:  # noqa: BLE001 - the plugin is named, the next is asked
                    error = refused
            if error is not None:
                if each.plugin is self._core:
                    raise error
                self._failed(each.name, hook, error)
            elif answer is not None:
                own = each.plugin is self._core or foreign is None
                return answer if own else foreign(answer, each.name)  # type: ignore[misc]
        return None

    def announce(self, hook: str, **arguments: Any) -> None:
        """Call every listener; a failing one is named and the others are still called."""
        for each in self._asked(hook):
            _, error = self._answer(hook, each, arguments)
            if error is not None:
                self._failed(each.name, hook, error)

    def each(
        self, hook: str, shown: Callable[[Any], str], **arguments: Any
    ) -> Iterator[tuple[str, bool, Any, BaseException | None]]:
        """Every answer in turn: the plugin's name, whether it is the core, its answer, what it raised.

        `shown` is how a trace names an answer that is not None.
        """
        for each in self._asked(hook):
            answer, error = self._answer(hook, each, arguments, shown)
            yield each.name, each.plugin is self._core, answer, error

    # -- one call ------------------------------------------------------------------------------

    def _asked(self, hook: str) -> list[Implementation]:
        """Who implements a hook, in calling order; kept until another plugin is registered."""
        self.count[hook] += 1
        known = self._known.get(hook)
        if known is None:
            known = self._known[hook] = [
                Implementation(
                    each.plugin, self._names[id(each.plugin)], each.function, each.argnames
                )
                for each in reversed(getattr(self._manager.hook, hook).get_hookimpls())
            ]
        return known

    def _answer(
        self,
        hook: str,
        each: Implementation,
        arguments: Mapping[str, Any],
        shown: Callable[[Any], str] | None = None,
    ) -> tuple[Any, BaseException | None]:
        answer, error = None, None
        began = perf_counter_ns()
        try:
            with self._foreign(hook, each):
                answer = each.function(*[arguments[name] for name in each.wanted])
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # noqa: BLE001 - handed to the caller, who names the plugin
            error = raised
        if self._trace:
            result = "None" if answer is None else (shown or _class)(answer)
            self._write(hook, each, began, result, error)
        return answer, error

    def _all_of(
        self, hook: str, each: Implementation, arguments: Mapping[str, Any]
    ) -> tuple[list[Any], BaseException | None]:
        """The items of an answer, as many as it gave before it raised."""
        found: list[Any] = []
        error = None
        began = perf_counter_ns()
        try:
            with self._foreign(hook, each):
                answer = each.function(*[arguments[name] for name in each.wanted])
                found.extend(answer or ())
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # noqa: BLE001 - handed to the caller, who names the plugin
            error = raised
        if self._trace:
            self._write(hook, each, began, str(len(found)), error)
        return found, error

    def show_frames(self, frames: str) -> None:
        """Where in the code of a plugin something failed, in a trace."""
        if self._trace and frames:
            screen.note(frames)

    def _foreign(self, hook: str, each: Implementation) -> AbstractContextManager[None]:
        if each.plugin is self._core:
            return nullcontext()

        return ForeignCall(partial(self._late, each.name, hook))

    def _write(
        self,
        hook: str,
        each: Implementation,
        began: int,
        result: str,
        error: BaseException | None,
    ) -> None:
        took = (perf_counter_ns() - began) // 1000
        result = result if error is None else _class(error)
        screen.note(f"agentfeedback: trace: {hook} {each.name} {took} us {result}")


def _class(value: object) -> str:
    return type(value).__name__
