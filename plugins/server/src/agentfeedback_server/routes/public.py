"""What anybody may ask: what this server is, the schemas of what it takes, and the API as a document."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentfeedback_server.openapi import document
from agentfeedback_server.routes.mcp import INSTRUCTIONS
from agentfeedback_server.settings import Settings
from agentfeedback_submissions import kinds
from agentfeedback_web.answers import json, not_found
from agentfeedback_web.site import route

OPENAPI = "/api/v1/openapi.json"
SCHEMAS = "/api/v1/schemas"
#: The paths below `/api/v1/` that take no key, those below `SCHEMAS` aside.
OPEN = frozenset((OPENAPI, SCHEMAS))


def routes(settings: Settings) -> list[Route]:
    """The routes."""
    found = {
        "name": "agentfeedback",
        "api": {
            "base": f"{settings.public_url}/api/v1",
            "openapi": f"{settings.public_url}{OPENAPI}",
        },
        "mcp": f"{settings.public_url}/mcp",
    }

    async def discovery(request: Request) -> Response:
        return json(found)

    async def schemas(request: Request) -> Response:
        shown = [{"kind": kind, "version": version} for kind, version in kinds.GUIDES]
        return json({"schemas": shown})

    async def schema(request: Request) -> Response:
        version = request.path_params["version"]
        number = int(version) if version.isdecimal() and len(version) < 9 else 0
        guide = kinds.GUIDES.get((request.path_params["kind"], number))
        if guide is None:
            raise not_found("there is no such schema")
        return json(kinds.schema(guide))

    described = document(settings.limits, settings.public_url)

    async def openapi(request: Request) -> Response:
        return json(described)

    async def skill(request: Request) -> Response:
        text = settings.instructions or INSTRUCTIONS
        return Response(text, media_type="text/markdown; charset=utf-8")

    return [
        route(OPENAPI, GET=openapi),
        route("/skill", GET=skill),
        route("/.well-known/agentfeedback.json", GET=discovery),
        route(SCHEMAS, GET=schemas),
        route(f"{SCHEMAS}/{{kind}}/{{version}}", GET=schema),
    ]
