"""The server as an ASGI application: its database and objects, what belongs to each organisation, and its routes."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio import to_thread
from starlette.types import ASGIApp

from agentfeedback.foundation.errors import StoreError
from agentfeedback_server import upload_rows
from agentfeedback_server.access import Access, Caller
from agentfeedback_server.browsers import Browsers
from agentfeedback_server.database import opened
from agentfeedback_server.routes import api, public, ui
from agentfeedback_server.routes.mcp import Mcp
from agentfeedback_server.settings import Settings
from agentfeedback_server.tenant import Tenants
from agentfeedback_web.logs import Log, silent
from agentfeedback_web.objects import objects_at
from agentfeedback_web.site import Site, application

#: How often what is to be removed is removed, in seconds.
SWEEP_S = 600


class Server:
    """A server that is ready to serve: tables made, places checked. `close` gives up its connections.

    Raises `AgentFeedbackError` where the settings cannot be used.
    """

    def __init__(self, settings: Settings, log: Log | None = None) -> None:
        self.settings = settings
        self.log = log or silent()
        self.database = opened(settings.database)
        self.objects = objects_at(settings.objects)
        self.objects.check()
        self.access = Access(self.database, settings.key, settings.organisation)
        self.access.add_organisation(settings.organisation)
        self.tenants = Tenants(self.database, self.objects, settings)

    def app(self) -> ASGIApp:
        """The application; it is started and stopped once."""
        tools = Mcp(self.tenants, self.settings)

        @asynccontextmanager
        async def running() -> AsyncIterator[None]:
            async with tools.running(), self._sweeping():
                yield

        return application(
            Site(
                routes=[
                    *public.routes(self.settings),
                    *api.routes(self.tenants),
                    *tools.routes(),
                    *ui.routes(self.tenants, Browsers(self.database, self.access)),
                ],
                needs_key=needs_key,
                authenticate=self.access.caller,
                ready=self.ready,
                lifespan=running,
                label=_label,
                log=self.log,
            )
        )

    def ready(self) -> None:
        """Raises `StoreError` while the database cannot be read."""
        self.access.is_empty()

    def sweep(self) -> None:
        """Remove what expired or was redacted. Raises `StoreError`."""
        now = time.time_ns() // 1000
        upload_rows.expire(self.database, now)
        upload_rows.remove(self.database, self.objects, now)

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    @asynccontextmanager
    async def _sweeping(self) -> AsyncIterator[None]:
        """Sweep now and then while the server runs."""

        async def sweeping() -> None:
            while True:
                try:
                    await to_thread.run_sync(self.sweep)
                except StoreError as error:
                    self.log.warning("sweep failed", problem=str(error))
                await anyio.sleep(SWEEP_S)

        async with anyio.create_task_group() as group:
            group.start_soon(sweeping)
            yield
            group.cancel_scope.cancel()


def needs_key(path: str) -> bool:
    """Whether a path is answered to those alone who have a key."""
    if path.startswith("/api/v1/"):
        return path not in public.OPEN and not path.startswith(public.SCHEMAS + "/")
    return path == "/mcp" or path.startswith("/mcp/")


def _label(caller: Caller) -> str:
    return f"{caller.organisation}/{caller.key}" if caller.key else caller.organisation
