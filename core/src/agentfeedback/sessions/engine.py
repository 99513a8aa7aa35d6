"""What the commands do: list, digest, mark, status, forget, drift, and the one way to read a session.

Results are the records of `wire`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agentfeedback.config.file import ConfigFile, read
from agentfeedback.config.paths import Paths
from agentfeedback.config.shape import Config
from agentfeedback.plugins.host import Host
from agentfeedback.reading.load import SessionRefused
from agentfeedback.reading.reader import Home
from agentfeedback.reading.refs import Ref
from agentfeedback.sessions.absent import missing, state_without_file, without_file
from agentfeedback.sessions.builtin import Builtin, check_policy
from agentfeedback.sessions.examiner import ExaminedSession, Examiner, ReadSession, S
from agentfeedback.sessions.find import FoundStore, find_stores
from agentfeedback.sessions.listing import listing_of, status_of
from agentfeedback.sessions.named import AmbiguousRef, NamedSession, Names
from agentfeedback.sessions.scan import Silent, scan
from agentfeedback.state.watermark import NotDigested, SessionRow, StorageOnly, WatermarkStore
from agentfeedback.wire import records as wire

if TYPE_CHECKING:
    from agentfeedback.digest.build import Digester
    from agentfeedback.reading.log import Watch
    from agentfeedback.scrub import Scrubber
    from agentfeedback.sessions.digest_run import DigestRunner
    from agentfeedback.sessions.facts_cache import FactsCache
    from agentfeedback.sessions.span_facts import SpanFacts
    from agentfeedback.wire.doctor import Drift

# What only digests need is imported by the methods that build them: every command waits for the rest.


class Engine:
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
        self._now = now
        self.paths = Paths.of(environ, home)
        self.host = host
        self._cache = cache
        self._progress = progress or (lambda label, total: Silent())
        path = self.paths.config_file
        self.config_file = read(path) if config is None else ConfigFile(path, config, {})
        self.config = self.config_file.config
        self._builtin = Builtin(self.config, self.paths)
        host.start(self._builtin)
        gate = self._builtin.gate
        variables = {} if home is not None else dict(environ)  # they say nothing about DIR
        self.home = Home(self.paths.store_home, variables, self.paths.cache, bool(gate.whole))
        #: Asks the gates, for one session at a time.
        self.examiner = Examiner(host, disabled=gate.disabled, strict=gate.strict)

    # -- what a run is made of -----------------------------------------------------------------

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

    @cached_property
    def _digester(self) -> Digester:
        from agentfeedback.digest.build import Digester
        from agentfeedback.digest.detect import CORE_DETECTORS, Guarded

        detectors = [
            detector
            if isinstance(detector, CORE_DETECTORS)
            else Guarded(detector, self.host.failed)
            for detector in self.host.register_detectors()
        ]
        self._builtin.digester = Digester(detectors, self.scrubber)
        return self._builtin.digester

    def stores(self, harnesses: Iterable[str]) -> list[FoundStore]:
        """The stores of these harnesses and their candidates, by names and `stat` alone; raises what `check_policy` raises."""
        self.check_policy()
        return find_stores(self.host, self.home, harnesses, self._builtin.gate.whole)

    def check_policy(self) -> None:
        """Raise `ConfigError` when the configuration has a near miss of `[collect]`: no session may be read then."""
        check_policy(self.config_file, self.paths)

    def _examined(
        self,
        stores: Sequence[FoundStore],
        rows: Mapping[tuple[str, str], SessionRow],
        since: int | None = None,
    ) -> Iterator[ExaminedSession]:
        candidates = [
            (store.reader, session)
            for store in stores
            for session in store.sessions
            if since is None or session.mtime >= since
        ]
        caches: dict[str, FactsCache] = {}
        if self._cache and (candidates or os.path.isdir(os.path.join(self.paths.cache, "listing"))):
            from agentfeedback.sessions.facts_cache import caches_of

            caches = caches_of(self.paths.cache, stores, self._now)
        progress = self._progress("reading sessions", len(candidates))
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
        return self._read(self._named(ref), sink, allow_unknown=allow_unknown, lines=lines)

    def _named(self, ref: Ref) -> NamedSession:
        return NamedSession.of(
            ref, self.stores([ref.harness]), self.store.rows(), self.scrubber.text
        )

    def _read(
        self,
        named: NamedSession,
        sink: S | Callable[[int], S],
        *,
        allow_unknown: bool,
        lines: Watch | None = None,
    ) -> ReadSession[S]:
        store, session, row = named.store, named.session, named.row
        if store is None or session is None:
            raise SessionRefused(*state_without_file(store, row))
        return self.examiner.read(
            store.reader, session, sink, row=row, allow_unknown=allow_unknown, lines=lines
        )

    # -- list and status -----------------------------------------------------------------------

    def listing(self, harness: str | None, since: int | None, unprocessed: bool) -> wire.Listing:
        """Every session with its state; `since` in nanoseconds since the epoch."""
        stores = self.stores(self._in_scope(harness))
        rows = self.store.rows()
        seen = self._examined(stores, rows, since)
        absent = without_file(stores, rows)
        listing = listing_of(stores, seen, absent, lambda: self.scrubber, unprocessed=unprocessed)
        self._finish("list", listed=len(listing.sessions))
        return listing

    def status(self) -> wire.Status:
        """Per harness the store and the number of sessions in each state, and the saved selection."""
        stores = self.stores(self._in_scope(None))
        rows = self.store.rows()
        seen = self._examined(stores, rows)
        status = status_of(stores, seen, without_file(stores, rows), lambda: self.scrubber)
        status.selection = self.store.selection()
        self._finish("status")
        return status

    def _in_scope(self, harness: str | None) -> list[str]:
        return self.host.harnesses() if harness is None else [harness]

    # -- digest --------------------------------------------------------------------------------

    def digest(self, refs: Sequence[Ref], *, allow_unknown: bool) -> wire.DigestRun:
        """The digests of named sessions, in the order given."""
        stores = {
            store.harness: store
            for store in self.stores(dict.fromkeys(ref.harness for ref in refs))
        }
        run = self._run(allow_unknown, named=True)
        rows = self.store.rows()
        sessions = {
            harness: {item.id: item for item in store.sessions} for harness, store in stores.items()
        }
        names = Names.of(stores.values(), rows, self.scrubber.text)
        for given in refs:
            try:
                ref = names.whole(given)
            except AmbiguousRef as error:
                run.refuse(str(given), "absent", str(error))
                continue
            store = stores.get(ref.harness)
            session = sessions[ref.harness].get(ref.id) if store is not None else None
            row = rows.get((ref.harness, ref.id))
            if store is not None and not store.reader.digests:
                run.refuse_storage_only(str(ref), ref.harness)
            elif store is None or session is None:
                run.refuse(str(ref), *missing(ref, store, row))
            else:
                run.take(store.reader, session, row)
        return self._finished(run)

    def digest_unprocessed(
        self, harness: str | None, limit: int, *, allow_unknown: bool
    ) -> wire.DigestRun:
        """The digests of new and changed sessions, oldest last entry first, at most `limit` (0: all)."""
        stores = self.stores(
            name
            for name in self._in_scope(harness)
            if (reader := self.host.reader(name)) is None or reader.digests
        )
        readers = {store.harness: store.reader for store in stores}
        rows = self.store.rows()
        wanted = {"new", "changed"} | ({"unknown-project"} if allow_unknown else set())
        chosen = [seen for seen in self._examined(stores, rows) if seen.state in wanted]
        chosen.sort(key=lambda seen: (seen.when, seen.ref.encode("utf-8", "replace")))
        run = self._run(allow_unknown, named=False)
        for seen in chosen[: limit or None]:
            session = seen.session
            run.take(readers[session.harness], session, rows.get((session.harness, session.id)))
        return self._finished(run)

    def span(self, ref: Ref, span: str, *, allow_unknown: bool) -> SpanFacts:
        """The facts of one entry, read again under the current policy; raises what `span_facts` raises."""
        from agentfeedback.sessions.span_facts import span_facts

        named = self._named(ref)
        return span_facts(
            lambda timeline: self._read(named, timeline, allow_unknown=allow_unknown),
            named.ref,
            span,
            self.scrubber.text,
            rewrites=named.store is not None and named.store.reader.rewrites,
            allow_unknown=allow_unknown,
        )

    def _run(self, allow_unknown: bool, *, named: bool) -> DigestRunner:
        from agentfeedback.digest.caps import Caps
        from agentfeedback.sessions.digest_run import DigestRunner

        return DigestRunner(
            self.host,
            self.examiner,
            self._digester,
            self.scrubber,
            Caps(),
            allow_unknown=allow_unknown,
            named=named,
        )

    def _finished(self, run: DigestRunner) -> wire.DigestRun:
        result = run.finish(self.store, self._now())
        self._finish(
            "digest",
            digested=len(result.sessions),
            refused=len(result.errors),
            deferred=len(result.deferred),
        )
        return result

    # -- mark, forget, selection ---------------------------------------------------------------

    def mark(self, refs: Sequence[Ref], outcome: str, uids: Sequence[str]) -> wire.Marked:
        """Record what became of sessions; all refs or none."""
        refs = Names(self.store.rows(), self.scrubber.text).all_whole(refs)
        names = [(ref.harness, ref.id) for ref in refs]
        try:
            self.store.mark(names, outcome, list(uids), self._now() // 1000)
        except NotDigested as error:
            reader = self.host.reader(error.harness)
            if reader is not None and not reader.digests:
                raise StorageOnly(error.harness, error.session_id) from None
            raise
        for ref in refs:
            self.host.session_marked(str(ref), outcome, list(uids))
        self._finish("mark", marked=len(refs))
        return wire.Marked([ref.given for ref in refs], outcome, list(uids))

    def forget(self, refs: Sequence[Ref]) -> tuple[wire.Forgotten, list[str]]:
        """Drop the stored rows of sessions; the second value are the refs that had none."""
        refs = Names(self.store.rows(), self.scrubber.text).all_whole(refs)
        had = self.store.forget([(ref.harness, ref.id) for ref in refs])
        dropped = [ref.given for ref, there in zip(refs, had, strict=True) if there]
        rowless = [ref.given for ref, there in zip(refs, had, strict=True) if not there]
        return wire.Forgotten(dropped), rowless

    # -- drift ---------------------------------------------------------------------------------

    def drift(self, stores: Sequence[FoundStore]) -> list[Drift]:
        """Per store what its reader does not know of the logs that the policy lets be read; nothing is stored."""
        from agentfeedback.sessions.drift_run import drift

        return drift(self.host, self.examiner, stores, self.scrubber.text, self._progress)

    def _finish(self, command: str, **numbers: int) -> None:
        self.host.run_finished({"command": command, **numbers})
