"""What every command works with: the configuration, the gates, the stores, and the one way to read a session."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agentfeedback.config.file import ConfigFile, read
from agentfeedback.config.paths import Paths
from agentfeedback.config.shape import Config
from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import SessionRefused
from agentfeedback.reading.reader import Home
from agentfeedback.reading.refs import Ref
from agentfeedback.reading.sqlite.sweep import sweep
from agentfeedback.sessions.absent import state_without_file
from agentfeedback.sessions.builtin import Builtin, check_policy
from agentfeedback.sessions.examiner import ExaminedSession, Examiner, ReadSession, S
from agentfeedback.sessions.find import FoundStore, find_stores
from agentfeedback.sessions.named import NamedSession
from agentfeedback.sessions.scan import Silent, scan
from agentfeedback.state.watermark import SessionRow, WatermarkStore

if TYPE_CHECKING:
    from agentfeedback.reading.log import Watch
    from agentfeedback.scrub import Scrubber
    from agentfeedback.sessions.facts_cache import FactsCache


class Run:
    """One run over the stores below a home. `progress(label, total)` gives something to `step()` and `done()`.

    `config` stands in for the file's, for who read and checked it. `now` is the clock, in ns since the epoch.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        home: str | None = None,
        host: Host,
        progress: Callable[[str, int], Any] | None = None,
        config: Config | None = None,
        cache: bool = True,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self.now = now
        self.paths = Paths.of(environ, home)
        self.host = host
        self._cache = cache
        self.progress = progress or (lambda label, total: Silent())
        path = self.paths.config_file
        self.config_file = read(path) if config is None else ConfigFile(path, config, {})
        self.config = self.config_file.config
        #: The core's own hook implementations.
        self.builtin = Builtin(self.config, self.paths)
        with suppress(OSError):  # what cannot be removed now waits for another run
            sweep(self.paths.cache)
        host.start(self.builtin)
        gate = self.builtin.gate
        variables = {} if home is not None else dict(environ)  # they say nothing about DIR
        self.home = Home(
            self.paths.store_home, variables, self.paths.cache, bool(gate.whole), gate.may_open
        )
        #: Asks the gates, for one session at a time.
        self.examiner = Examiner(host, disabled=gate.disabled, strict=gate.strict)
        #: The stores that were looked at last.
        self.found: list[FoundStore] = []

    @cached_property
    def store(self) -> WatermarkStore:
        """The store of watermarks: a plugin's, or the data-directory database."""
        return self.host.watermark_store(self.config)

    @cached_property
    def scrubber(self) -> Scrubber:
        """Scrubs with the core's formats and those of plugins."""
        from agentfeedback.scrub import SUBMIT, Scrubber

        formats = self.host.register_scrub_formats()
        return Scrubber(SUBMIT, extra=tuple(item for item in formats if item not in SUBMIT.formats))

    def stores(self, harnesses: Iterable[str]) -> list[FoundStore]:
        """The stores of these harnesses and their candidates, by names and `stat` alone; raises what `check_policy` raises."""
        self.check_policy()
        self.found = find_stores(self.host, self.home, harnesses, self.builtin.gate.whole)
        return self.found

    def check_policy(self) -> None:
        """Raise `ConfigError` when the configuration has a near miss of `[collect]`: no session may be read then."""
        check_policy(self.config_file, self.paths)

    def examined(
        self,
        stores: Sequence[FoundStore],
        rows: Mapping[tuple[str, str], SessionRow],
        since: int | None = None,
    ) -> Iterator[ExaminedSession]:
        """The sessions of these stores with their states; `since` in nanoseconds since the epoch."""
        candidates = [
            (store.reader, session)
            for store in stores
            for session in store.sessions
            if since is None or session.mtime >= since
        ]
        caches: dict[str, FactsCache] = {}
        if self._cache and (candidates or os.path.isdir(os.path.join(self.paths.cache, "listing"))):
            from agentfeedback.sessions.facts_cache import caches_of

            caches = caches_of(self.paths.cache, stores, self.now)
        progress = self.progress("reading sessions", len(candidates))
        try:
            for seen in scan(self.examiner, candidates, rows, caches, progress.step):
                if since is None or seen.when >= since:
                    yield seen
            for cache in caches.values():
                cache.save(whole=since is None)
        finally:
            progress.done()

    def read(
        self,
        ref: Ref,
        sink: S | Callable[[int], S],
        *,
        allow_unknown: bool = False,
        lines: Watch | None = None,
    ) -> ReadSession[S]:
        """Find one session and read it under the policy: the one way to a session's content.

        The arguments are those of `Examiner.read`. Whoever passed `sink` or `lines` throws away what
        they received when this raises.

        Raises:
            AmbiguousRef: The ref fits several sessions.
            SessionRefused: The session is not there, the policy refuses it, or it cannot be read.
        """
        return self.read_named(self.named(ref), sink, allow_unknown=allow_unknown, lines=lines)

    def named(self, ref: Ref) -> NamedSession:
        """The session that a ref names; raises `AmbiguousRef`."""
        return NamedSession.of(
            ref, self.stores([ref.harness]), self.store.rows(), self.scrubber.text
        )

    def read_named(
        self,
        named: NamedSession,
        sink: S | Callable[[int], S],
        *,
        allow_unknown: bool,
        lines: Watch | None = None,
    ) -> ReadSession[S]:
        """`read`, for a session that was found already."""
        store, session, row = named.store, named.session, named.row
        if store is None or session is None:
            raise SessionRefused(*state_without_file(store, row))
        return self.examiner.read(
            store.reader, session, sink, row=row, allow_unknown=allow_unknown, lines=lines
        )
