"""The plugins of one run: loads them by name, one at a time, and has one method for each hook.

A plugin that fails is named and skipped, the rest keeps working. A gate is the exception: one that
cannot be loaded, has no gate hook, is blocked or raises refuses every session, since a policy that
silently stopped working would be worse than none.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from agentfeedback.foundation import entry_points
from agentfeedback.foundation.errors import UsageError
from agentfeedback.foundation.foreign_call import PATIENCE, ForeignCall
from agentfeedback.plugins.discovery import BLOCK_VARIABLE, Plugin, installed_plugins
from agentfeedback.plugins.harnesses import ALIASES, CORE, HARNESSES, dist_of
from agentfeedback.plugins.hook_calls import HookCalls
from agentfeedback.policy.rules import Verdict, strictest
from agentfeedback.reading.reader import Reader
from agentfeedback.reading.refs import Ref, split
from agentfeedback.terminal.arguments import closest
from agentfeedback.terminal.foreign import TABLE_LIMIT, ForeignImport, described
from agentfeedback.terminal.program import table

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence

    from agentfeedback.config.shape import Config
    from agentfeedback.digest.build import BuiltDigest
    from agentfeedback.digest.caps import Caps
    from agentfeedback.digest.detect import Detector
    from agentfeedback.plugins.doctor_section import DoctorContext, DoctorSection
    from agentfeedback.reading.reader import Place, Session
    from agentfeedback.reading.timeline import Timeline
    from agentfeedback.scrub import Format
    from agentfeedback.state.watermark import Digested, WatermarkStore

#: A gate has at least one of these.
GATE_HOOKS = ("session_before_open", "session_after_read")


class Host:
    """The plugins of one run.

    `environ` is where `AGENTFEEDBACK_BLOCK` and `AGENTFEEDBACK_TRACE` are read; `warn` gets one
    sentence for each failure.
    """

    def __init__(
        self, environ: Mapping[str, str], warn: Callable[[str], object] | None = None
    ) -> None:
        self._calls = HookCalls(environ, self.failed, self.late)
        self._warn = warn or _to_stderr
        self._warned: set[str] = set()
        self._readers: dict[str, Reader] = {}
        names = environ.get(BLOCK_VARIABLE, "").split(",")
        blocked = {name.strip() for name in names if name.strip()}
        #: A sentence for each distribution whose entry points cannot be read.
        self.unreadable_dists: list[str] = []
        self.installed = installed_plugins(blocked, self.unreadable_dists)
        #: A sentence for each name to leave out that nothing installed has.
        self.unknown_blocked_names = [
            f"{BLOCK_VARIABLE} names {name}, which is not installed"
            for name in sorted(blocked - {plugin.name for plugin in self.installed})
        ]
        for sentence in (*self.unknown_blocked_names, *self.unreadable_dists):
            self.warn(sentence)
        #: Gates that cannot be asked, so that every session is refused.
        self.failed_gates: list[str] = []

    @property
    def calls(self) -> Counter[str]:
        """How often each hook was called."""
        return self._calls.count

    # -- loading -------------------------------------------------------------------------------

    def start(self, builtin: object) -> None:
        """Load the core's own implementations, the gates and the plugins; they stay for the run."""
        self._calls.register(builtin, CORE, core=True)
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

    def _load(self, plugin: Plugin) -> None:
        if plugin.loaded is not None or plugin.error:
            return
        try:
            with ForeignImport(TABLE_LIMIT if plugin.kind == "command" else 0):
                if plugin.kind == "command":
                    plugin.loaded = table(plugin.value)
                    return
                loaded = entry_points.load(plugin.value)
            if plugin.kind != "installer":
                plugin.hooks = self._calls.register(loaded, plugin.name)
                if plugin.kind == "gate" and not set(GATE_HOOKS) & set(plugin.hooks):
                    # A forgotten marker would leave the gate open.
                    raise TypeError(f"implements neither {' nor '.join(GATE_HOOKS)}")
            plugin.loaded = loaded
        except Exception as error:  # noqa: BLE001 - whatever a plugin does at import is named, and the rest works
            plugin.error = described(error)
            self.warn(f"plugin {plugin.name} could not be loaded: {plugin.error}")

    def _readers_of(self, plugin: Plugin) -> None:
        if plugin.loaded is None:
            return
        try:
            readers = self.register_readers(plugin)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the plugin is named, the other readers work
            plugin.error = described(error)
            self.warn(f"plugin {plugin.name} could not register its readers: {plugin.error}")
            return
        found = {item.harness: item for item in readers if isinstance(item, Reader)}
        if plugin.name in found:
            self._readers[plugin.name] = found[plugin.name]
        else:
            plugin.error = f"registers no reader of harness {plugin.name}"
            self.warn(f"plugin {plugin.name} {plugin.error}")

    # -- harnesses and refs --------------------------------------------------------------------

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
            near = closest(name, have)
            hint = f"did you mean {near}? " if near else ""
            listed = f"the installed ones are {', '.join(have)}" if have else "none is installed"
            remedy = f"{hint}{listed}; pip install the distribution that reads another"
        raise UsageError(f'there is no session reader for the harness "{name}"', remedy)

    def ref(self, text: str) -> Ref:
        """The session that a text names, `<harness>:<session id>`; an alias of a harness is resolved.

        Raises:
            UsageError: The text is not a ref, or its harness has no reader.
        """
        harness, id = split(text)
        return Ref(self.harness(harness), id, text)

    def reader(self, harness: str) -> Reader | None:
        """The reader of a harness, loaded on first use; None (and a warning) when its plugin fails."""
        if harness not in self._readers:
            for plugin in self.installed:
                if plugin.kind == "reader" and plugin.name == harness and not plugin.error:
                    self._load(plugin)
                    self._readers_of(plugin)
        return self._readers.get(harness)

    # -- the hooks: once a run -----------------------------------------------------------------

    def register_readers(self, plugin: Plugin) -> list[Reader]:
        """What one plugin registers as readers; raises what it raises."""
        return self._calls.items_of("register_readers", plugin.loaded)

    def register_scrub_formats(self) -> list[Format]:
        """The formats of secrets: the core's, then those of plugins."""
        from agentfeedback.plugins.checks import usable_format

        return self._calls.collect("register_scrub_formats", check=usable_format)

    def register_detectors(self) -> list[Detector]:
        """The detectors: the core's, then those of plugins."""
        from agentfeedback.plugins.checks import usable_detector

        return self._calls.collect("register_detectors", check=usable_detector)

    def watermark_store(self, config: Config) -> WatermarkStore:
        """The store of watermarks: a plugin's, or the core's database."""
        from agentfeedback.plugins.checked_store import CheckedStore

        store: WatermarkStore = self._calls.first(
            "watermark_store", foreign=CheckedStore, config=config
        )
        return store

    # -- once a session ------------------------------------------------------------------------

    def session_before_open(self, session: Session, place: Place) -> Verdict | None:
        """Why a session must not be opened, by what its store declares; the strictest refusal counts."""
        return self._verdict("session_before_open", session=session, place=place)

    def session_after_read(self, session: Session, directories: Sequence[str]) -> Verdict | None:
        """Why nothing of a session may be shown, by what its log records; the strictest refusal counts."""
        return self._verdict("session_after_read", session=session, directories=directories)

    def digest_session(
        self, session: Session, timeline: Timeline, start: int, caps: Caps
    ) -> BuiltDigest:
        """The digest of a session: a plugin's, or the core's. Raises what the core raises."""
        from agentfeedback.plugins.checks import printable_digest

        built: BuiltDigest = self._calls.first(
            "digest_session",
            check=printable_digest,
            session=session,
            timeline=timeline,
            start=start,
            caps=caps,
        )
        return built

    def session_digested(self, digest: Mapping[str, Any], watermark: Digested) -> None:
        """Announce that a session was digested and its watermark is written."""
        self._calls.announce("session_digested", digest=digest, watermark=watermark)

    def session_marked(self, ref: str, outcome: str, uids: Sequence[str]) -> None:
        """Announce that a session was marked and the mark is written."""
        self._calls.announce("session_marked", ref=ref, outcome=outcome, uids=uids)

    # -- at the end ----------------------------------------------------------------------------

    def doctor_sections(self, context: DoctorContext) -> list[DoctorSection]:
        """The sections that plugins add to the report of `doctor`."""
        from agentfeedback.plugins.checks import usable_section

        return self._calls.collect("doctor_sections", check=usable_section, context=context)

    def run_finished(self, summary: dict[str, object]) -> None:
        """Announce that a command finished."""
        self._calls.announce("run_finished", summary=summary)

    # -- verdicts and failures -----------------------------------------------------------------

    def _verdict(self, hook: str, **arguments: Any) -> Verdict | None:
        """Ask every gate. The core's own verdict is the one shown among equals; one that fails refuses."""
        verdicts = [_failed_gate(name) for name in self.failed_gates]
        for name, core, answer, error in self._calls.each(hook, _state, **arguments):
            if error is not None:
                self.failed(name, hook, error)
                verdicts.append(_failed_gate(name))
            elif core and answer is not None:
                verdicts.insert(0, answer)
            elif answer is not None:
                try:
                    with ForeignCall():
                        reason = f"gate {name}: {getattr(answer, 'reason', answer)}"
                    # A lone surrogate could not be printed.
                    reason = reason.encode("utf-8", "replace").decode()
                    verdicts.append(Verdict("denied", reason))
                except KeyboardInterrupt:
                    raise
                except BaseException as odd:  # noqa: BLE001 - an answer whose text raises refuses too
                    self.failed(name, hook, odd)
                    verdicts.append(_failed_gate(name))
        return strictest(verdicts)

    def failed(self, name: str, hook: str, error: BaseException) -> None:
        """Name a plugin whose hook raised, by the error's type alone: its text may quote a log."""
        self.warn(f"plugin {name} failed in {hook}: {type(error).__name__}")

    def failed_in_read(self, harness: str, fault: str, place: str, frames: str) -> None:
        """Name a reader that raised and the first place where it did; a trace shows where in its code."""
        key = f"{harness} {fault}"
        if key in self._warned:
            return
        self._warned.add(key)
        from agentfeedback.scrub import SUBMIT, Scrubber
        from agentfeedback.terminal.screen import visible

        where = f" at {visible(Scrubber(SUBMIT).text(place))}" if place else ""
        self.warn(f"plugin {harness} failed in read: {fault}{where}")
        self._calls.show_frames(frames)

    def late(self, name: str, hook: str) -> None:
        """Name a plugin that has not come back for five seconds."""
        self.warn(
            f"plugin {name} has not come back from {hook} after {PATIENCE:g} s; Ctrl-C ends the run"
        )

    def warn(self, sentence: str) -> None:
        """One warning on stderr, once per run."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            self._warn(sentence)


def _failed_gate(name: str) -> Verdict:
    return Verdict("denied", f"gate {name} failed")


def _state(answer: Any) -> str:
    """How a trace shows a refusal: the core's own may disable, a plugin's always denies."""
    return answer.state if isinstance(answer, Verdict) else "denied"


def _to_stderr(sentence: str) -> None:
    print(f"agentfeedback: warning: {sentence}", file=sys.stderr)
