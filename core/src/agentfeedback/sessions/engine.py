"""The commands on sessions: digest, mark and forget, beside those of `views` that only look.

Results are the records of `wire`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agentfeedback.reading.refs import Ref
from agentfeedback.sessions.absent import missing
from agentfeedback.sessions.cursor import spot, written
from agentfeedback.sessions.named import AmbiguousRef, Names
from agentfeedback.sessions.selecting import Options, Selected
from agentfeedback.sessions.views import Views
from agentfeedback.state.watermark import NotDigested, StorageOnly
from agentfeedback.wire import records

if TYPE_CHECKING:
    from agentfeedback.sessions.digest_run import DigestRunner
    from agentfeedback.sessions.examiner import ExaminedSession

# What only digests need is imported by the methods that build them: every command waits for the rest.


class Engine(Views):
    """A run with a method for each command; `Views` has those that only look, `Run` what all of them work with."""

    #: How many sessions the latest selection left out, by state.
    left_out: Mapping[str, int] = {}

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
            for name in self.in_scope(selected.harness)
            if (reader := self.host.reader(name)) is None or reader.digests
        )
        readers = {store.harness: store.reader for store in stores}
        rows = self.store.rows()
        seen = self.examined(stores, rows, selected.since)
        chosen = selected.chosen(seen, allow_unknown=allow_unknown)
        self.left_out = selected.left_out
        run = self._run(allow_unknown, named=not selected.unprocessed, options=options)
        behind: ExaminedSession | None = None  # the last one taken before one had to wait
        for each in chosen:
            if selected.limit and run.taken >= selected.limit:
                break
            session = each.session
            run.take(readers[session.harness], session, rows.get((session.harness, session.id)))
            if not run.waiting:
                behind = each
        result = self._finished(run, options)
        if (
            options is not None
            and options.paged
            and behind is not None
            and behind is not chosen[-1]
        ):
            result.next_cursor = written(spot(behind.when, behind.ref))
        return result

    def _run(
        self, allow_unknown: bool, *, named: bool, options: Options | None = None
    ) -> DigestRunner:
        from agentfeedback.digest.caps import Caps
        from agentfeedback.sessions.digest_run import DigestRunner

        return DigestRunner(
            self.host,
            self.examiner,
            self.digester,
            self.scrubber,
            Caps() if options is None or options.most is None else Caps(run=options.most),
            allow_unknown=allow_unknown,
            named=named,
            options=options or Options(),
        )

    def _finished(self, run: DigestRunner, options: Options | None = None) -> records.DigestRun:
        marks = options is None or options.mark
        result = run.finish(self.store if marks else None, self.now())
        self.finish(
            "digest",
            digested=len(result.sessions),
            refused=len(result.errors),
            deferred=len(result.deferred),
        )
        return result

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
        self.finish("mark", marked=len(refs))
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
        self.finish("mark", marked=len(names))
        return result

    def forget(self, refs: Sequence[Ref]) -> tuple[records.Forgotten, list[str]]:
        """Drop the stored rows of sessions; the second value are the refs that had none."""
        refs = Names(self.store.rows(), self.scrubber.text).all_whole(refs)
        had = self.store.forget([(ref.harness, ref.id) for ref in refs])
        dropped = [ref.given for ref, there in zip(refs, had, strict=True) if there]
        rowless = [ref.given for ref, there in zip(refs, had, strict=True) if not there]
        return records.Forgotten(dropped), rowless
