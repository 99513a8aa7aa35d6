"""The commands that only look at sessions: list, status, report, show, drift, and the overview.

Results are the records of `wire`. No watermark moves, and no database is made.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from agentfeedback.reading.refs import Ref
from agentfeedback.sessions.absent import without_file
from agentfeedback.sessions.find import FoundStore
from agentfeedback.sessions.listing import Page, listing_of, shown_store, status_of
from agentfeedback.sessions.named import Names
from agentfeedback.sessions.run import Run
from agentfeedback.wire import records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentfeedback.digest.build import Digester
    from agentfeedback.report.counting import ReportedSession
    from agentfeedback.report.overview import Overview
    from agentfeedback.report.page import PageData
    from agentfeedback.sessions.report_run import ReportRunner
    from agentfeedback.sessions.span_facts import SpanFacts
    from agentfeedback.wire.doctor import Drift
    from agentfeedback.wire.report import Report
    from agentfeedback.wire.show import Shown

# What only some of them need is imported by the methods themselves: every command waits for the rest.


class Views(Run):
    """A run with a method for each command that only looks."""

    # -- list and status -----------------------------------------------------------------------

    def listing(
        self,
        harness: str | None,
        since: int | None,
        unprocessed: bool,
        *,
        page: Page | None = None,
    ) -> records.Listing:
        """Every session with its state, or a page of them; `since` in nanoseconds since the epoch."""
        stores = self.stores(self.in_scope(harness))
        rows = self.store.rows()
        seen = self.examined(stores, rows, since)
        absent = without_file(stores, rows)
        listing = listing_of(
            stores, seen, absent, lambda: self.scrubber, unprocessed=unprocessed, page=page
        )
        self.finish("list", listed=len(listing.sessions))
        return listing

    def status(self) -> records.Status:
        """Per harness the store and the number of sessions in each state, and the saved selection."""
        stores = self.stores(self.in_scope(None))
        rows = self.store.rows()
        seen = self.examined(stores, rows)
        status = status_of(stores, seen, without_file(stores, rows), lambda: self.scrubber)
        status.selection = self.store.selection()
        self.finish("status")
        return status

    def in_scope(self, harness: str | None) -> list[str]:
        return self.host.harnesses() if harness is None else [harness]

    def shown_stores(self) -> list[records.Store]:
        """The stores that were looked at last, as a listing shows them."""

        def text(text: str) -> str:  # only a problem makes the scrubber ready
            return self.scrubber.text(text)

        return [shown_store(store.report, text) for store in self.found]

    def refs(self, harnesses: Sequence[str], before: str, most: int = 50) -> list[str]:
        """The refs of sessions that begin with a text, newest file first, as short as they can be; no log is opened."""
        stores = self.stores(harnesses)
        short = Names.of(stores, self.store.rows(), str).short
        newest = sorted(
            ((each.mtime, each.ref) for store in stores for each in store.sessions), reverse=True
        )
        fitting = [ref for _, ref in newest if ref.startswith(before)][:most]
        shown = [(ref, short(ref)) for ref in fitting]
        return [brief if brief.startswith(before) else ref for ref, brief in shown]

    def first_prompts(self, refs: Sequence[str]) -> dict[str, str]:
        """What was typed first in the last sessions of a list, by ref: read for a person who looks at it."""
        from agentfeedback.sessions.first_prompts import SHOWN, first_prompts

        return first_prompts(refs[-SHOWN:], self.found, self.examiner, self.scrubber)

    def shorter(self) -> Callable[[str], str]:
        """Shortens refs of the stores that were looked at last, so that each still names its session."""
        return Names.of(self.found, self.store.rows(), self.scrubber.text).short

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
    def digester(self) -> Digester:
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
            digester=self.digester,
            scrubber=self.scrubber,
        )
        self.finish("show")
        return shown

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
        runner, stores, found = self._reported(since, harness, cwd, allow_unknown=allow_unknown)
        order = [store.harness for store in stores]
        report = runner.report(found, since, self.now(), limit, order)
        self.finish("report", reported=report.totals.sessions)
        return report

    def report_page(
        self,
        since: int,
        *,
        harness: str | None = None,
        cwd: str = "",
        limit: int = 10,
        allow_unknown: bool = False,
    ) -> PageData:
        """A report, as `report` makes it, with what its page shows beside it."""
        runner, stores, found = self._reported(since, harness, cwd, allow_unknown=allow_unknown)
        order = [store.harness for store in stores]
        data = runner.page(found, since, self.now(), limit, order)
        self.finish("report", reported=data.report.totals.sessions)
        return data

    def overview(self, days: int = 7) -> Overview:
        """The counts of a report over the last days, and how many sessions there are and wait."""
        from agentfeedback.report.overview import Overview

        until = self.now()
        since = (until // 1_000_000_000 - days * 86_400) * 1_000_000_000
        runner, stores, found = self._reported(since, None, "", allow_unknown=False)
        numbers = runner.numbers(found, since, until, [store.harness for store in stores])
        overview = Overview(days, numbers.totals, numbers.harnesses)
        overview.sessions = sum(len(store.sessions) for store in stores)
        if overview.sessions:
            digested = [store for store in stores if store.reader.digests]
            states = (each.state for each in self.examined(digested, self.store.rows()))
            overview.unprocessed = sum(state in ("new", "changed") for state in states)
        self.finish("overview")
        return overview

    def _reported(
        self, since: int, harness: str | None, cwd: str, *, allow_unknown: bool
    ) -> tuple[ReportRunner, Sequence[FoundStore], list[ReportedSession]]:
        from agentfeedback.sessions.report_run import ReportRunner, ran_within

        stores = self.stores(self.in_scope(harness))
        runner = ReportRunner(
            self.examiner,
            self.digester,
            self.scrubber,
            cache=self.paths.cache if self._cache else None,
            now=self.now,
            allow_unknown=allow_unknown,
        )
        total = sum(each.mtime >= since for store in stores for each in store.sessions)
        progress = self.progress("reading sessions", total)
        try:
            return (
                runner,
                stores,
                runner.gather(stores, since, ran_within(cwd), progress.step),
            )
        finally:
            progress.done()

    # -- drift ---------------------------------------------------------------------------------

    def drift(self, stores: Sequence[FoundStore]) -> list[Drift]:
        """Per store what its reader does not know of the logs that the policy lets be read; nothing is stored."""
        from agentfeedback.sessions.drift_run import drift

        return drift(self.host, self.examiner, stores, self.scrubber.text, self.progress)

    def finish(self, command: str, **numbers: int) -> None:
        self.host.run_finished({"command": command, **numbers})
