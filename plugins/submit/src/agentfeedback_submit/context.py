"""One run of a command: its configuration, policy, store and destination, each made when it is first asked for.

What a run reads of its surroundings is the environment and directory it is given; proxies alone are
those of the process, as the standard library reads them.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Union

from agentfeedback.config.file import ConfigFile, read
from agentfeedback.config.paths import Paths
from agentfeedback.config.resolve import ResolvedSetting, resolve
from agentfeedback.config.shape import Config
from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.plugins.host import Host
from agentfeedback.policy.gate import CollectGate
from agentfeedback.sessions.engine import Engine
from agentfeedback.sessions.span_facts import SpanFacts
from agentfeedback.state.database import Database
from agentfeedback_submissions.service import Service
from agentfeedback_submissions.sqlite_store import SqliteSubmissions
from agentfeedback_submissions.texts import time_form
from agentfeedback_submit.delivery.deliver import deliver
from agentfeedback_submit.delivery.destination import Destination, Local, Remote
from agentfeedback_submit.delivery.outcome import SubmitOutcome
from agentfeedback_submit.delivery.outcome_log import Line, OutcomeLog, line_of
from agentfeedback_submit.delivery.spool import Spool
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.filing.build import SESSION_SCAN, FilingFacts
from agentfeedback_submit.filing.collect import (
    Collected,
    collect,
    configured,
    folder_name,
    machine_name,
)
from agentfeedback_submit.filing.request import Request
from agentfeedback_submit.remote.server import CLIENT, ServerSettings, keys_of, server_of

if TYPE_CHECKING:
    from agentfeedback_submit.remote.api import RemoteApi

#: The API in process or that of a server: what a command that reads may ask.
Api = Union[Service, "RemoteApi"]
#: The outcomes after which a report is kept somewhere.
_KEPT = ("submitted", "duplicate", "spooled", "flushed")


class SubmitContext:
    """`directory` is the working directory a plain submission is about; empty where it is gone."""

    def __init__(self, environ: Mapping[str, str], host: Host, directory: str) -> None:
        self.environ = environ
        self.host = host
        self.directory = directory
        self.paths = Paths.of(environ)
        self._started = False

    @cached_property
    def _config_file(self) -> ConfigFile:
        return read(self.paths.config_file)

    @property
    def config(self) -> Config:
        """The configuration. Raises `ConfigError`."""
        return self._config_file.config

    def warn_of_policy(self) -> None:
        """Warn of what is not followed in the configuration, and in the file of the repository that is worked in."""
        tables = self._config_file.tables
        found: list[str] = []
        if tables:
            from agentfeedback.policy.user_file import near_misses, unknown_keys

            found = near_misses(tables, self.paths.homes) + unknown_keys(tables)
        for rules in self.gate.in_force(self.directory):
            found += [f"{rules.file}: {warning}" for warning in rules.warnings]
            if rules.problem:
                found.append(f"{rules.file} cannot be followed: {rules.problem}")
        for sentence in found:
            self.host.warn(self.scrub(sentence))

    @cached_property
    def gate(self) -> CollectGate:
        """The `[collect]` rules."""
        return CollectGate(self.config, self.paths.homes)

    @cached_property
    def engine(self) -> Engine:
        """The reading side: sessions, and the scrubber with the formats of plugins."""
        return Engine(self.environ, host=self.host)

    @cached_property
    def service(self) -> Service:
        """The API on the database of this machine."""
        database = Database(self.paths.database, "submissions")
        return Service(SqliteSubmissions(database, warn=self.host.warn))

    def resolve(self, name: str, flag: str = "") -> ResolvedSetting:
        """A setting as it counts in this run."""
        return resolve(name, self.config, self.environ, flag)

    @cached_property
    def spool(self) -> Spool:
        """What could not be delivered from this machine."""
        return Spool(self.data)

    @property
    def data(self) -> str:
        """The program's folder of data."""
        return os.path.dirname(self.paths.database)

    def server(self, *, local: bool = False, server: str = "") -> ServerSettings | None:
        """The server this run talks to; None in local mode. Raises `ClientSetupError`."""
        configured = {"url": self.config.url, "api_key": self.config.api_key}
        keys = keys_of(configured, self.environ)
        return server_of(self.resolve("url", server), keys, local=local)

    def destination(self, *, local: bool = False, server: str = "") -> Destination:
        """Where submissions go; in local mode what waits is filed first. Raises `ClientSetupError`."""
        remote = self.server(local=local, server=server)
        if remote is None:
            self.start()
            return Local(self.service)
        from agentfeedback_submit.remote.client import Client

        return Remote(Client(remote))

    def api(self, *, local: bool = False, server: str = "") -> Api:
        """The API that this run talks to; in local mode what waits is filed first. Raises `ClientSetupError`."""
        remote = self.server(local=local, server=server)
        if remote is None:
            self.start()
            return self.service
        from agentfeedback_submit.remote.api import RemoteApi
        from agentfeedback_submit.remote.client import Client

        return RemoteApi(Client(remote), self.scrub)

    def submit(self, body: Body, destination: Destination) -> SubmitOutcome:
        """Deliver a body, or keep it for later, and log what became of it."""
        outcome = deliver(body, destination, self.spool, self.scrub)
        self.log(outcome, body.session_id)
        return outcome

    def log(self, outcome: SubmitOutcome, session_id: str = "") -> None:
        """A line of the log for an outcome."""
        self.tell(line_of(outcome, session_id))

    def tell(self, line: Line) -> None:
        """Log what became of a report, and mark that its session filed a friction. Never raises for the disk."""
        from agentfeedback_submit.delivery import filed_marks

        try:
            OutcomeLog(self.paths.cache).write(line)
            if line.kind == "friction" and line.session_id and line.outcome in _KEPT:
                filed_marks.leave(self.paths.cache, line.session_id)
        except OSError as error:  # the cache may be lost at any time; the report is not there
            self.host.warn(f"the outcome log cannot be written: {reason_of(error)}")

    def scrub(self, text: str) -> str:
        """A text of a server without secrets of known formats."""
        return self.engine.scrubber.text(text)

    def start(self, *, inbox: bool = True) -> None:
        """What every command of local mode does first, once and silently: the spool's own, then the inbox.

        Nothing is done where the policy switches the working directory off.
        """
        if self._started:
            return
        self._started = True
        if self.gate.after_read([self.directory]) is None:
            from agentfeedback_submit.delivery.startup import start

            start(self.service, self.spool, self.tell, scrub=self.scrub, inbox=inbox)

    def facts(self, request: Request) -> FilingFacts | SubmitOutcome:
        """What is known beside a request, or the outcome that its directory is switched off.

        Raises `AgentFeedbackError` where the entry it names is refused or cannot be found.
        """
        if request.context_from is not None:
            wanted = request.context_from
            found = self.engine.span(wanted.ref, wanted.span, allow_unknown=wanted.allow_unknown)
            return self._of_span(found, found.key(wanted.ordinal))
        verdict = self.gate.after_read([self.directory])
        if verdict is not None:
            return SubmitOutcome("disabled", reason=verdict.reason)
        if not self.directory:
            raise AgentFeedbackError(
                "the working directory is gone, so no policy can be checked",
                "go to one that exists",
            )
        collected = self._collected(self.directory, self.environ)
        defaults = {
            "machine": self.resolve("machine").value or machine_name(),
            "model": self.resolve("model").value or collected.model,
            "harness": self.resolve("harness").value or collected.harness,
            "project": collected.project,
        }
        return FilingFacts(
            *_fresh(),
            defaults=defaults,
            context=collected.context,
            drop=self._drop(self.directory),
        )

    def _of_span(self, span: SpanFacts, key: str) -> FilingFacts:
        over = {"key": key, "occurred_at": span.occurred_at, "harness": span.harness}
        if span.model:
            over["model"] = span.model
        # An empty environment: what runs here and now says nothing about what ran elsewhere and earlier.
        collected = self._collected(span.cwd, {})
        if collected.project:
            over["project"] = collected.project
        return FilingFacts(
            *_fresh(),
            defaults={"machine": self.resolve("machine").value or machine_name()},
            context=collected.context,
            over=over,
            over_context={
                "origin": SESSION_SCAN,
                "detector": span.detector,
                "session_id": span.session_id,
                "session_harness": span.harness,
            },
            without=() if span.model else ("model",),
            drop=self._drop(span.cwd),
        )

    def _collected(self, directory: str, environ: Mapping[str, str]) -> Collected:
        context, home = self.config.context, self.paths.home
        if not directory or not os.path.isdir(directory):
            project = folder_name(directory, home) if directory else ""
            return Collected(project=project, context=configured(context))
        drop = self._drop(directory)
        return collect(directory, environ, home=home, context=context, client=CLIENT, drop=drop)

    def _drop(self, directory: str) -> tuple[str, ...]:
        own = self.config.context.drop
        if not directory:
            return own
        rules = self.gate.repositories(directory)
        return (*own, *(name for each in rules for name in each.drop))


def _fresh() -> tuple[str, str]:
    """The time of a filing, and a key for it."""
    return time_form(time.time_ns() // 1000), str(uuid.uuid4())
