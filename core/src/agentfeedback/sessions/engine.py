"""The commands on sessions: list, digest, mark, status, forget, drift.

Results are the records of `wire`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from agentfeedback.reading.refs import Ref
from agentfeedback.sessions.absent import missing, without_file
from agentfeedback.sessions.find import FoundStore
from agentfeedback.sessions.listing import listing_of, shown_store, status_of
from agentfeedback.sessions.named import AmbiguousRef, Names
from agentfeedback.sessions.run import Run
from agentfeedback.sessions.selecting import Options, Selected
from agentfeedback.state.watermark import NotDigested, StorageOnly
from agentfeedback.wire import records

if TYPE_CHECKING:
    from agentfeedback.digest.build import Digester
    from agentfeedback.sessions.digest_run import DigestRunner
    from agentfeedback.sessions.span_facts import SpanFacts
    from agentfeedback.wire.doctor import Drift
    from agentfeedback.wire.report import Report
    from agentfeedback.wire.show import Shown

# What only digests need is imported by the methods that build them: every command waits for the rest.


class Engine(Run):
    """A run with a method for each command; `Run` has what they work with, and `read`."""

    #: How many sessions the latest selection left out, by state.
    left_out: Mapping[str, int] = {}

    # -- list and status -----------------------------------------------------------------------

    def listing(self, harness: str | None, since: int | None, unprocessed: bool) -> records.Listing:
        """Every session with its state; `since` in nanoseconds since the epoch."""
        stores = self.stores(self._in_scope(harness))
        rows = self.store.rows()
        seen = self.examined(stores, rows, since)
        absent = without_file(stores, rows)
        listing = listing_of(stores, seen, absent, lambda: self.scrubber, unprocessed=unprocessed)
        self._finish("list", listed=len(listing.sessions))
        return listing

    def status(self) -> records.Status:
        """Per harness the store and the number of sessions in each state, and the saved selection."""
        stores = self.stores(self._in_scope(None))
        rows = self.store.rows()
        seen = self.examined(stores, rows)
        status = status_of(stores, seen, without_file(stores, rows), lambda: self.scrubber)
        status.selection = self.store.selection()
        self._finish("status")
        return status

    def _in_scope(self, harness: str | None) -> list[str]:
        return self.host.harnesses() if harness is None else [harness]

    def shown_stores(self) -> list[records.Store]:
        """The stores that were looked at last, as a listing shows them."""

        def text(text: str) -> str:  # only a problem makes the scrubber ready
            return self.scrubber.text(text)

        return [shown_store(store.report, text) for store in self.found]

    def shorter(self) -> Callable[[str], str]:
        """Shortens refs of the stores that were looked at last, so that each still names its session."""
        return Names.of(self.found, self.store.rows(), self.scrubber.text).short

    # -- digest --------------------------------------------------------------------------------

    def digest(
        self, refs: Sequence[Ref], *, allow_unknown: bool, options: Options | None = None
    ) -> records.DigestRun:
        """The digests of named sessions, in the order given."""
        stores = {
            store.harness: store
            for store in self.stores(dict.fromkeys(ref.harness for ref in refs))
        }
        run = self._run(allow_unknown, named=True, options=options)
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
        return self._finished(run, options)

    def digest_unprocessed(
        self, harness: str | None, limit: int, *, allow_unknown: bool
    ) -> records.DigestRun:
        """The digests of new and changed sessions, oldest last entry first, at most `limit` (0: all)."""
        return self.digest_selected(
            Selected(harness=harness, limit=limit), allow_unknown=allow_unknown
        )

    def digest_selected(
        self, selected: Selected, *, allow_unknown: bool, options: Options | None = None
    ) -> records.DigestRun:
        """The digests of the sessions that a selection takes, until its limit is reached.

        `left_out` is then how many sessions of its harnesses and its period are in each other state.
        """
        stores = self.stores(
            name
            for name in self._in_scope(selected.harness)
            if (reader := self.host.reader(name)) is None or reader.digests
        )
        readers = {store.harness: store.reader for store in stores}
        rows = self.store.rows()
        seen = self.examined(stores, rows, selected.since)
        chosen = selected.chosen(seen, allow_unknown=allow_unknown)
        self.left_out = selected.left_out
        run = self._run(allow_unknown, named=not selected.unprocessed, options=options)
        for each in chosen:
            if selected.limit and run.taken >= selected.limit:
                break
            session = each.session
            run.take(readers[session.harness], session, rows.get((session.harness, session.id)))
        return self._finished(run, options)

    def span(self, ref: Ref, span: str, *, allow_unknown: bool) -> SpanFacts:
        """The facts of one entry, read again under the current policy; raises what `span_facts` raises."""
        from agentfeedback.sessions.span_facts import span_facts

        named = self.named(ref)
        return span_facts(
            lambda timeline: self.read_named(named, timeline, allow_unknown=allow_unknown),
            named.ref,
            span,
            self.scrubber.text,
            rewrites=named.store is not None and named.store.reader.rewrites,
            allow_unknown=allow_unknown,
        )

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
        self.builtin.digester = Digester(detectors, self.scrubber)
        return self.builtin.digester

    def show(self, ref: Ref, span: str = "", *, allow_unknown: bool = False) -> Shown:
        """A session, or one entry of it in full, read whole under the policy; raises what `show_run.show` raises."""
        from agentfeedback.sessions.show_run import show

        named = self.named(ref)
        shown = show(
            named,
            span,
            lambda timeline: self.read_named(named, timeline, allow_unknown=allow_unknown),
            host=self.host,
            digester=self._digester,
            scrubber=self.scrubber,
        )
        self._finish("show")
        return shown

    def _run(
        self, allow_unknown: bool, *, named: bool, options: Options | None = None
    ) -> DigestRunner:
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
            options=options or Options(),
        )

    def _finished(self, run: DigestRunner, options: Options | None = None) -> records.DigestRun:
        marks = options is None or options.mark
        result = run.finish(self.store if marks else None, self.now())
        self._finish(
            "digest",
            digested=len(result.sessions),
            refused=len(result.errors),
            deferred=len(result.deferred),
        )
        return result

    # -- report --------------------------------------------------------------------------------

    def report(
        self,
        since: int,
        *,
        harness: str | None = None,
        cwd: str = "",
        limit: int = 10,
        allow_unknown: bool = False,
    ) -> Report:
        """What went wrong since a time (nanoseconds since the epoch) over all sessions that the policy allows.

        No watermark moves. `cwd` keeps the sessions that recorded this directory or one within it;
        `limit` bounds each list.
        """
        from agentfeedback.sessions.report_run import ReportRunner, ran_within

        stores = self.stores(self._in_scope(harness))
        runner = ReportRunner(
            self.examiner,
            self._digester,
            self.scrubber,
            cache=self.paths.cache if self._cache else None,
            now=self.now,
            allow_unknown=allow_unknown,
        )
        total = sum(each.mtime >= since for store in stores for each in store.sessions)
        progress = self.progress("reading sessions", total)
        try:
            found = runner.gather(stores, since, ran_within(cwd), progress.step)
        finally:
            progress.done()
        order = [store.harness for store in stores]
        report = runner.report(found, since, self.now(), limit, order)
        self._finish("report", reported=report.totals.sessions)
        return report

    # -- mark, forget, selection ---------------------------------------------------------------

    def mark(self, refs: Sequence[Ref], outcome: str, uids: Sequence[str]) -> records.Marked:
        """Record what became of sessions; all refs or none."""
        refs = Names(self.store.rows(), self.scrubber.text).all_whole(refs)
        names = [(ref.harness, ref.id) for ref in refs]
        try:
            self.store.mark(names, outcome, list(uids), self.now() // 1000)
        except NotDigested as error:
            reader = self.host.reader(error.harness)
            if reader is not None and not reader.digests:
                raise StorageOnly(error.harness, error.session_id) from None
            raise
        for ref in refs:
            self.host.session_marked(str(ref), outcome, list(uids))
        self._finish("mark", marked=len(refs))
        return records.Marked([ref.given for ref in refs], outcome, list(uids))

    def mark_digested(self, outcome: str) -> records.Marked:
        """Mark every session whose latest digest is not marked yet, and whose file has not changed since.

        No log is opened.
        """
        rows = self.store.rows()
        waiting = {
            name: row
            for name, row in rows.items()
            if row.digested_at is not None
            and not (row.processed_at is not None and row.processed_at > row.digested_at)
        }
        stores = self.stores(dict.fromkeys(name[0] for name in waiting))
        listed = {
            (store.harness, each.id): each.mtime for store in stores for each in store.sessions
        }
        skipped: list[records.LeftOut] = []
        result = records.Marked([], outcome, [], skipped)
        names = []
        for name, row in sorted(waiting.items()):
            ref = ":".join(name)
            if (mtime := listed.get(name)) == row.mtime:
                names.append(name)
                result.marked.append(ref)
            else:
                skipped.append(records.LeftOut(ref, "absent" if mtime is None else "changed"))
        if names:
            self.store.mark(names, outcome, [], self.now() // 1000)
        for ref in result.marked:
            self.host.session_marked(ref, outcome, [])
        self._finish("mark", marked=len(names))
        return result

    def forget(self, refs: Sequence[Ref]) -> tuple[records.Forgotten, list[str]]:
        """Drop the stored rows of sessions; the second value are the refs that had none."""
        refs = Names(self.store.rows(), self.scrubber.text).all_whole(refs)
        had = self.store.forget([(ref.harness, ref.id) for ref in refs])
        dropped = [ref.given for ref, there in zip(refs, had, strict=True) if there]
        rowless = [ref.given for ref, there in zip(refs, had, strict=True) if not there]
        return records.Forgotten(dropped), rowless

    # -- drift ---------------------------------------------------------------------------------

    def drift(self, stores: Sequence[FoundStore]) -> list[Drift]:
        """Per store what its reader does not know of the logs that the policy lets be read; nothing is stored."""
        from agentfeedback.sessions.drift_run import drift

        return drift(self.host, self.examiner, stores, self.scrubber.text, self.progress)

    def _finish(self, command: str, **numbers: int) -> None:
        self.host.run_finished({"command": command, **numbers})
