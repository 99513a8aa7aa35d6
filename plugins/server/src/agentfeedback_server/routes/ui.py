"""Pages for people: the queue, one record, statistics, search. Made here, without a script, behind the same key.

Whatever was filed is shown as text: escaped, with characters that hide or reorder spelt out, under a policy that
lets a browser load nothing but the style sheet.
"""

from __future__ import annotations

import json as std_json
from collections.abc import Callable
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jinja2
from anyio import to_thread
from attrs import frozen
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from agentfeedback.foundation.canonical import compact
from agentfeedback.foundation.json_text import Number
from agentfeedback.terminal.screen import visible
from agentfeedback_server.access import Caller
from agentfeedback_server.browsers import SIGNED_IN_S, Browsers
from agentfeedback_server.tenant import Tenant, Tenants
from agentfeedback_submissions.response import ApiResponse
from agentfeedback_web import bodies
from agentfeedback_web.answers import HttpError, not_found
from agentfeedback_web.site import Handler, request_id, route

COOKIE = "agentfeedback_session"
POLICY = (
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_FORM = 16_384
#: What a search may be narrowed by.
_FILTERS = ("q", "kind", "project", "harness", "category", "verdict")
_PAGE = 50
Page = Callable[[Tenant, Request], Response]


@frozen(eq=False)
class _Pages:
    tenants: Tenants
    browsers: Browsers
    secure: bool

    async def login(self, request: Request) -> Response:
        return _rendered("login.html", 200)

    async def sign_in(self, request: Request) -> Response:
        form = await _form(request)
        token = await to_thread.run_sync(self.browsers.sign_in, form.get("key", "").strip())
        if not token:
            return _rendered("login.html", 401, problem="This key is not good here.")
        response = _moved("/ui/queue")
        response.set_cookie(
            COOKIE,
            token,
            max_age=SIGNED_IN_S,
            path="/ui",
            secure=self.secure,
            httponly=True,
            samesite="strict",
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        await _form(request)
        await to_thread.run_sync(self.browsers.sign_out, request.cookies.get(COOKIE, ""))
        response = _moved("/ui/login")
        response.delete_cookie(COOKIE, path="/ui")
        return response

    def behind_the_key(self, page: Page) -> Handler:
        """A page for those who are signed in; others are sent to the form for that."""

        async def answer(request: Request) -> Response:
            try:
                form = await _form(request) if request.method == "POST" else {}
                return await to_thread.run_sync(self._shown, page, request, form)
            except HttpError as refusal:
                return _problem(refusal.status, refusal.message)

        return answer

    def _shown(self, page: Page, request: Request, form: dict[str, str]) -> Response:
        caller = self.browsers.caller(request.cookies.get(COOKIE, ""))
        if caller is None:
            return _moved("/ui/login")
        request.scope["state"]["caller"] = caller
        request.scope["state"]["form"] = form
        return page(self.tenants.of(caller.organisation), request)


def routes(tenants: Tenants, browsers: Browsers) -> list[Route]:
    """The routes."""
    pages = _Pages(tenants, browsers, tenants.settings.public_url.startswith("https:"))
    on = pages.behind_the_key

    async def style(request: Request) -> Response:
        return Response(_STYLE, media_type="text/css; charset=utf-8")

    async def front(request: Request) -> Response:
        return _moved("/ui/queue")

    return [
        route("/", GET=front),
        route("/ui/queue", GET=on(_queue)),
        route("/ui/style.css", GET=style),
        route("/ui/login", GET=pages.login, POST=pages.sign_in),
        route("/ui/logout", POST=pages.sign_out),
        route("/ui/stats", GET=on(_stats)),
        route("/ui/submissions/{id}", GET=on(_record), POST=on(_mark)),
        route("/ui/submissions/{id}/transcript", GET=on(_transcript)),
    ]


def _queue(tenant: Tenant, request: Request) -> Response:
    """What waits, newest first; `state` shows what is processed, or all."""
    given = {name: value.strip() for name, value in request.query_params.items() if value.strip()}
    state = given.get("state", "open")
    query = [(name, given[name]) for name in _FILTERS if name in given]
    if state in ("open", "processed"):
        query.append(("processed", "true" if state == "processed" else "false"))
    if not given.get("kind"):
        query.append(("exclude_kind", "install-check"))
    before = [("before_id", given["before"])] if "before" in given else []
    reply = tenant.service.list([*query, *before, ("limit", str(_PAGE))], request_id(request))
    if not reply.ok:
        return _refused(reply)
    kept = {name: given[name] for name in (*_FILTERS, "state") if name in given}
    more = reply.body["next_before_id"]
    return _rendered(
        "queue.html",
        request=request,
        page=reply.body,
        given=given,
        filters=_FILTERS,
        state=state,
        older=urlencode({**kept, "before": more}) if more else "",
        newest=urlencode(kept) if "before" in given else "",
    )


def _record(tenant: Tenant, request: Request) -> Response:
    reply = tenant.service.get(request.path_params["id"], request_id(request))
    if not reply.ok:
        return _refused(reply)
    return _one(tenant, request, reply.body)


def _one(tenant: Tenant, request: Request, record: dict[str, Any], problem: str = "") -> Response:
    shown = dict(record)
    texts = {name: _pretty(shown.pop(name)) for name in ("payload", "context") if name in shown}
    return _rendered(
        "record.html",
        400 if problem else 200,
        request=request,
        record=record,
        members=shown,
        texts=texts,
        transcript=tenant.uploads.transcript(record["id"]) is not None,
        problem=problem,
    )


def _mark(tenant: Tenant, request: Request) -> Response:
    """Mark a record, or take the mark back, and show it again."""
    form: dict[str, str] = request.scope["state"]["form"]
    names = ("verdict", "resolution", "ref")
    body: dict[str, Any] = {"processed": form.get("action") != "undo"}
    if body["processed"]:
        body |= {name: form[name].strip() for name in names if form.get(name, "").strip()}
    id = request.path_params["id"]
    reply = tenant.service.mark(id, compact(body), request_id(request))
    if reply.ok:
        return _moved(f"/ui/submissions/{reply.body['id']}")
    before = tenant.service.get(id, request_id(request))
    if not before.ok:
        return _refused(before)
    return _one(tenant, request, before.body, reply.body["message"])


def _stats(tenant: Tenant, request: Request) -> Response:
    tables = []
    body: dict[str, Any] = {}
    for by in ("kind", "project", "category", "harness"):
        query = [("by", by), ("bucket", "week"), ("exclude_kind", "install-check")]
        reply = tenant.service.stats(query, request_id(request))
        if not reply.ok:
            return _refused(reply)
        body = reply.body
        rows = [
            {"value": group["keys"][by], "total": group["total"], "open": group["open"]}
            for group in body["groups"]
        ]
        tables.append({"by": by, "rows": rows[:20]})
    return _rendered("stats.html", request=request, stats=body, tables=tables)


def _transcript(tenant: Tenant, request: Request) -> Response:
    reply = tenant.service.get(request.path_params["id"], request_id(request))
    found = tenant.uploads.transcript(reply.body["id"]) if reply.ok else None
    if found is None:
        raise not_found("There is no such transcript.")
    headers = {"Content-Length": str(found[0]), "Content-Disposition": "attachment"}
    return StreamingResponse(
        found[1], headers={**_HEADERS, **headers}, media_type="application/octet-stream"
    )


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form of ours. Raises `HttpError` for one that another site sends."""
    origin = urlsplit(request.headers.get("origin", ""))
    if origin.netloc != request.headers.get("host", ""):
        raise HttpError(403, "forbidden", "This form was sent by another site.")
    data = await bodies.read(request, _FORM)
    try:
        return dict(parse_qsl(data.decode("utf-8", "replace"), max_num_fields=20))
    except ValueError:
        raise HttpError(400, "bad_request", "This form has too many fields.") from None


def _pretty(value: Any) -> str:
    """A tree on many lines, numbers as they are spelled."""
    marks: dict[str, str] = {}
    unlike_any = token_hex(8)

    def default(number: Any) -> str:
        if not isinstance(number, Number):
            raise TypeError(type(number).__name__)
        mark = f"{unlike_any} {len(marks)}"
        marks[std_json.dumps(mark)] = number.text
        return mark

    text = std_json.dumps(value, indent=2, ensure_ascii=False, default=default)
    for mark, number in marks.items():
        text = text.replace(mark, number, 1)
    return text


def _refused(reply: ApiResponse) -> Response:
    if reply.status == 503:
        return _problem(503, "The data cannot be read or written now.")
    return _problem(reply.status, reply.body["message"])


def _problem(status: int, message: str) -> Response:
    return _rendered("problem.html", status, problem=message)


def _moved(path: str) -> Response:
    return RedirectResponse(path, 303, _HEADERS)


def _rendered(
    name: str, status: int = 200, *, request: Request | None = None, **values: Any
) -> Response:
    caller: Caller | None = None if request is None else request.scope["state"]["caller"]
    text = _TEMPLATES.get_template(name).render(caller=caller, **values)
    return Response(text, status, _HEADERS, media_type="text/html; charset=utf-8")


def _safe(value: Any) -> Any:
    """A text as it is shown, before it is escaped; what is markup already is ours."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return visible(value, keep_newlines=True)


_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("agentfeedback_server", "pages"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    finalize=_safe,
    trim_blocks=True,
    lstrip_blocks=True,
)
_STYLE = _TEMPLATES.loader.get_source(_TEMPLATES, "style.css")[0] if _TEMPLATES.loader else ""
