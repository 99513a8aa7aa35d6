"""The API under `/api/v1`: each request goes to the part of the organisation whose key it came with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from agentfeedback import __version__
from agentfeedback.foundation.errors import StoreError
from agentfeedback_server.access import Caller
from agentfeedback_server.begin import FORMATS
from agentfeedback_server.tenant import Tenant, Tenants
from agentfeedback_submissions import kinds, queries
from agentfeedback_submissions.envelope import BODY_LIMIT
from agentfeedback_submissions.export import IMPORT_LIMIT, TYPE
from agentfeedback_submissions.queries import Query
from agentfeedback_submissions.response import ApiError, ApiResponse
from agentfeedback_submissions.store import DEDUPE_WINDOW_S
from agentfeedback_web import bodies
from agentfeedback_web.answers import JSON, bad_request, invalid, json, not_found
from agentfeedback_web.site import Handler, caller, request_id, route

#: The version of the protocol of policy and uploads.
PROTOCOL = 1
#: How long a client may remember the policy, in seconds.
POLICY_TTL_S = 300
#: The oldest client that is served.
_CLIENT_MIN = "0.1.0"
#: The largest body of a mark or a batch, and of a begin, in bytes.
_MARK_BODY, _BEGIN_BODY = 1 << 16, 4 << 20
#: What is read of a body that a route has no use for.
_NO_BODY = 1 << 16
_PARAMETERS = 100
SUBMISSIONS = "/api/v1/submissions"
UPLOADS = "/api/v1/sessions/uploads"

#: Answers one request of one organisation; blocks.
Work = Callable[[Tenant, Request, bytes], ApiResponse]


def routes(tenants: Tenants) -> list[Route]:
    """The routes."""

    def on(
        work: Work, limit: int = _NO_BODY, *, query: bool = False, large: bool = False
    ) -> Handler:
        return partial(_answered, tenants, work, limit, query, large)

    part_bytes = tenants.settings.limits.part_bytes
    return [
        route(SUBMISSIONS, GET=on(_list, query=True), POST=on(_create, BODY_LIMIT)),
        route(f"{SUBMISSIONS}/processed", POST=on(_mark_all, _MARK_BODY)),
        route(
            f"{SUBMISSIONS}/{{id}}", GET=on(_get), PATCH=on(_mark, _MARK_BODY), DELETE=on(_redact)
        ),
        route(f"{SUBMISSIONS}/{{id}}/transcript", GET=partial(_transcript, tenants)),
        route("/api/v1/stats", GET=on(_stats, query=True)),
        route("/api/v1/export", GET=partial(_export, tenants)),
        route("/api/v1/import", POST=on(_import, IMPORT_LIMIT)),
        route("/api/v1/meta", GET=partial(_meta, tenants)),
        route("/api/v1/sessions/policy", GET=on(partial(_policy, tenants))),
        route(UPLOADS, POST=on(_begin, _BEGIN_BODY)),
        route(f"{UPLOADS}/{{id}}/parts/{{number}}", PUT=on(_part, part_bytes)),
        route(f"{UPLOADS}/{{id}}/complete", POST=on(_complete, large=True)),
    ]


async def _answered(
    tenants: Tenants, work: Work, limit: int, query: bool, large: bool, request: Request
) -> Response:
    tenant = _tenant(tenants, request)
    if not query:
        _no_parameters(request)
    async with bodies.room(request, limit, large=large):
        body = await bodies.read(request, limit)
        return await to_thread.run_sync(_worked, work, tenant, request, body)


def _worked(work: Work, tenant: Tenant, request: Request, body: bytes) -> Response:
    """Also the encoding is done in a thread: a page of payloads is large."""
    return _response(work(tenant, request, body))


def _response(reply: ApiResponse) -> Response:
    if reply.status == 503:
        # Its message names the database; the guard logs it and answers without.
        raise StoreError(reply.body["message"])
    headers = {name: value for name, value in reply.headers.items() if name != "Content-Type"}
    type = reply.headers.get("Content-Type", JSON)
    return Response(reply.encoded(), reply.status, headers, media_type=type)


def _tenant(tenants: Tenants, request: Request) -> Tenant:
    found: Caller = caller(request)
    return tenants.of(found.organisation)


def _query(request: Request) -> Query:
    text = request.scope["query_string"].decode("latin-1")
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_PARAMETERS)
    except ValueError:
        raise bad_request(f"there are more than {_PARAMETERS} parameters") from None


def _no_parameters(request: Request) -> None:
    for name, _ in _query(request):
        raise invalid("unknown_field", f"?{name}", f"there is no parameter {name}")


def _id(request: Request) -> str:
    id: str = request.path_params["id"]
    return id


def _create(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    return tenant.create(body, request_id(request))


def _list(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    return tenant.service.list(_query(request), request_id(request))


def _get(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    return tenant.service.get(_id(request), request_id(request))


def _mark(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    return tenant.service.mark(_id(request), body, request_id(request))


def _mark_all(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    return tenant.service.mark_all(body, request_id(request))


def _redact(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    reply = tenant.service.redact(_id(request), request_id(request))
    if reply.ok:
        tenant.uploads.forget(reply.body["id"])
    return reply


def _stats(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    return tenant.service.stats(_query(request), request_id(request))


async def _export(tenants: Tenants, request: Request) -> Response:
    """An export, line by line as it is read; HEAD reads no line."""
    tenant, query = _tenant(tenants, request), _query(request)
    try:
        lines = await to_thread.run_sync(tenant.service.exported, query)
    except ApiError as refusal:
        return _response(refusal.reply(request_id(request)))
    return StreamingResponse(() if request.method == "HEAD" else lines, media_type=TYPE)


def _import(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    return tenant.service.import_(body, request_id(request))


def _policy(tenants: Tenants, tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    consent = tenant.consent.current()
    found: Caller = caller(request)
    shown: dict[str, Any] = {
        "protocol": PROTOCOL,
        "capture": "enabled" if consent else "disabled",
        "organisation": {"id": tenant.id, "name": found.name},
        "formats": list(FORMATS),
        "limits": tenants.settings.limits.shown(),
        "ttl_s": POLICY_TTL_S,
    }
    if consent:
        shown["consent_id"] = consent
    return ApiResponse(200, shown)


def _begin(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    return ApiResponse(*tenant.uploads.begin(body))


def _part(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    digest = request.headers.get("x-content-sha256", "")
    number = request.path_params["number"]
    return ApiResponse(200, tenant.uploads.part(_id(request), number, body, digest))


def _complete(tenant: Tenant, request: Request, body: bytes) -> ApiResponse:
    if body:
        raise bad_request("a completion has no body")
    return ApiResponse(*tenant.uploads.complete(_id(request)))


async def _transcript(tenants: Tenants, request: Request) -> Response:
    """The transcript of a session, part by part; what it holds is never interpreted."""
    _no_parameters(request)
    tenant = _tenant(tenants, request)
    record = await to_thread.run_sync(tenant.service.get, _id(request), request_id(request))
    if not record.ok:
        return _response(record)
    found = await to_thread.run_sync(tenant.uploads.transcript, record.body["id"])
    if found is None:
        raise not_found(f"submission {record.body['id']} has no transcript")
    length, pieces = found
    headers = {"Content-Length": str(length), "Content-Disposition": "attachment"}
    return StreamingResponse(pieces, headers=headers, media_type="application/octet-stream")


async def _meta(tenants: Tenants, request: Request) -> Response:
    _no_parameters(request)
    return json(
        {
            "service_version": __version__,
            "api_version": 1,
            "client": {"min_version": _CLIENT_MIN, "latest_known": __version__},
            "features": ["export", "import", "mcp", "sessions.push", "stats", "transcripts"],
            "kinds": list(dict.fromkeys(kind for kind, _ in kinds.GUIDES)),
            "limits": {
                "body_bytes": BODY_LIMIT,
                "import_bytes": IMPORT_LIMIT,
                "page": queries.PAGE,
                "page_with_payload": queries.PAGE_WITH_PAYLOAD,
                "sessions": tenants.settings.limits.shown(),
            },
            "dedupe_window_s": DEDUPE_WINDOW_S,
        }
    )
