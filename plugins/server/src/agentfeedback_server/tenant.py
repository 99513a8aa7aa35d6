"""What belongs to one organisation: its submissions, its uploads, its consent."""

from __future__ import annotations

import threading

from attrs import frozen

from agentfeedback_server.consent import Consent
from agentfeedback_server.intake import scrubbed
from agentfeedback_server.settings import Settings
from agentfeedback_server.store import SqlSubmissions
from agentfeedback_server.uploads import Uploads
from agentfeedback_submissions.response import ApiResponse
from agentfeedback_submissions.service import Service
from agentfeedback_web.objects import Objects
from agentfeedback_web.sql import Database


@frozen(eq=False)
class Tenant:
    """One organisation's part of the server; `scrub` says that reports are scrubbed when they arrive."""

    id: str
    service: Service
    uploads: Uploads
    consent: Consent
    scrub: bool = False

    def create(self, body: bytes, request_id: str = "") -> ApiResponse:
        """File a report."""
        return self.service.create(scrubbed(body) if self.scrub else body, request_id)


class Tenants:
    """The parts of all organisations, each made when it is first asked for."""

    def __init__(self, database: Database, objects: Objects, settings: Settings) -> None:
        self._database = database
        self._objects = objects
        self.settings = settings
        self._made: dict[str, Tenant] = {}
        self._lock = threading.Lock()

    def of(self, organisation: str) -> Tenant:
        """The part of one organisation."""
        with self._lock:
            found = self._made.get(organisation)
            if found is None:
                found = self._made[organisation] = self._make(organisation)
            return found

    def _make(self, organisation: str) -> Tenant:
        store = SqlSubmissions(self._database, organisation)
        uploads = Uploads(
            self._database, self._objects, organisation, limits=self.settings.limits, store=store
        )
        consent = Consent(self._database, organisation)
        return Tenant(organisation, Service(store), uploads, consent, self.settings.scrub)
