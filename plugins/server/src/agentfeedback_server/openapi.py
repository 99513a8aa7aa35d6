"""The API as an OpenAPI document: every route of `/api/v1` with what it takes and answers. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from agentfeedback import __version__
from agentfeedback_server.begin import Limits
from agentfeedback_server.openapi_schemas import (
    FILLED,
    HASH,
    ID,
    TEXT,
    TRUTH,
    UPLOAD_ID,
    Schema,
    ref,
    schemas,
)
from agentfeedback_submissions import queries
from agentfeedback_submissions.export import TYPE
from agentfeedback_submissions.filters import EQUAL, TIMES
from agentfeedback_web.answers import JSON

_OCTETS = "application/octet-stream"


def document(limits: Limits, public_url: str = "") -> Schema:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "agentfeedback",
            "version": __version__,
            "description": "Submissions of a team, and the sessions that its clients upload.",
        },
        "servers": [{"url": public_url or "/"}],
        "security": [{"bearer": []}, {"key": []}],
        "paths": _paths(limits),
        "components": {
            "schemas": schemas(limits),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
            },
        },
    }


def _paths(limits: Limits) -> Schema:
    id = _path("id", ID)
    upload = _path("id", UPLOAD_ID)
    filters = _filters()
    return {
        "/api/v1/submissions": {
            "get": _operation(
                "List submissions, newest first, or oldest first after an id",
                _answer("submissions-list"),
                [*filters, *_cursors()],
            ),
            "post": _operation(
                "File a submission; the same again is a duplicate (200), other content under its key a 409",
                {**_answer("submission-created", 201), **_answer("submission-created")},
                body=_json("submission-envelope"),
                refused=(409, 413),
            ),
        },
        "/api/v1/submissions/processed": {
            "post": _operation(
                "Mark up to 500 submissions",
                _answer("submissions-processed"),
                body=_json("batch"),
                refused=(413,),
            )
        },
        "/api/v1/submissions/{id}": {
            "get": _operation("One submission", _answer("submission"), [id], refused=(404,)),
            "patch": _operation(
                "Mark a submission",
                _answer("submission"),
                [id],
                body=_json("mark", required=False),
                refused=(404, 413),
            ),
            "delete": _operation(
                "Remove the content of a submission, and its transcript, for good",
                _answer("submission"),
                [id],
                refused=(404,),
            ),
        },
        "/api/v1/submissions/{id}/transcript": {
            "get": _operation(
                "The transcript of a session, byte for byte as it was uploaded",
                _content(200, _OCTETS, {}),
                [id],
                refused=(404,),
            )
        },
        "/api/v1/stats": {
            "get": _operation(
                "Count submissions",
                _answer("submissions-stats"),
                [
                    *filters,
                    _query("by", {"type": "string", "pattern": _by()}),
                    _query("top", {"type": "integer", "minimum": 0, "maximum": 50}),
                    _query("bucket", {"enum": ["day", "week"]}),
                ],
            )
        },
        "/api/v1/export": {
            "get": _operation(
                "Submissions as NDJSON, oldest first, with a header and a trailer",
                _content(200, TYPE, TEXT),
                [each for each in (*filters, *_cursors()) if each["name"] in queries.EXPORT],
            )
        },
        "/api/v1/import": {
            "post": _operation(
                "Take an export, all of it or nothing",
                _answer("submissions-import"),
                body={"required": True, "content": {TYPE: {"schema": TEXT}}},
                refused=(413,),
            )
        },
        "/api/v1/meta": {
            "get": _operation("What this server is", _content(200, JSON, {"type": "object"}))
        },
        "/api/v1/sessions/policy": {
            "get": _operation("Whether sessions are processed", _answer("policy"))
        },
        "/api/v1/sessions/uploads": {
            "post": _operation(
                "Begin the upload of a session, or go on with it",
                {**_answer("begun", 201), **_answer("begun")},
                body=_json("begin"),
                refused=(403, 409, 413),
            )
        },
        "/api/v1/sessions/uploads/{id}/parts/{number}": {
            "put": _operation(
                "Send one part",
                _answer("received"),
                [
                    upload,
                    _path("number", {"type": "integer", "minimum": 1, "maximum": limits.parts_max}),
                    {"name": "X-Content-Sha256", "in": "header", "required": True, "schema": HASH},
                ],
                body={"required": True, "content": {_OCTETS: {"schema": {}}}},
                refused=(403, 404, 409, 413),
            )
        },
        "/api/v1/sessions/uploads/{id}/complete": {
            "post": _operation(
                "Make the submission of an upload",
                {**_answer("completed", 201), **_answer("completed")},
                [upload],
                refused=(403, 404, 409, 413),
            )
        },
        "/api/v1/schemas": {
            "get": _operation(
                "The kinds that have a schema", _content(200, JSON, {"type": "object"}), public=True
            )
        },
        "/api/v1/schemas/{kind}/{version}": {
            "get": _operation(
                "What the payload of a kind should hold",
                _content(200, JSON, {"type": "object"}),
                [_path("kind", FILLED), _path("version", ID)],
                refused=(404,),
                public=True,
            )
        },
    }


def _filters() -> list[Schema]:
    time = {"type": "string", "format": "date-time"}
    return [
        *(_query(name, FILLED) for name in EQUAL),
        _query("schema_version", ID),
        {**_query("exclude_kind", {"type": "array", "items": FILLED}), "explode": True},
        _query("processed", TRUTH),
        _query("redacted", TRUTH),
        _query("since", time),
        _query("until", time),
        _query("on", {"enum": list(TIMES)}),
        _query("q", {"type": "string", "minLength": 1, "maxLength": queries.QUERY_BYTES}),
    ]


def _cursors() -> list[Schema]:
    return [
        _query("before_id", ID),
        _query("after_id", {**ID, "minimum": 0}),
        _query("limit", {"type": "integer", "minimum": 1, "maximum": queries.PAGE}),
        _query("include", {"enum": ["payload"]}),
    ]


def _by() -> str:
    name = f"({'|'.join(queries.GROUPS)})"
    return f"^{name}(,{name}){{0,2}}$"


def _operation(
    summary: str,
    answered: Schema,
    parameters: Iterable[Schema] = (),
    *,
    body: Schema | None = None,
    refused: tuple[int, ...] = (),
    public: bool = False,
) -> Schema:
    codes = (400, *(() if public else (401,)), 405, *refused, 500, 503)
    shown: Schema = {
        "summary": summary,
        "parameters": list(parameters),
        "responses": {**answered, **{f"{code}": _refusal() for code in codes}},
    }
    if body is not None:
        shown["requestBody"] = body
    if public:
        shown["security"] = []
    return shown


def _refusal() -> Schema:
    return {"description": "refused", "content": {JSON: {"schema": ref("error")}}}


def _answer(name: str, status: int = 200) -> Schema:
    return _content(status, JSON, ref(name))


def _content(status: int, type: str, schema: Schema) -> Schema:
    return {f"{status}": {"description": "done", "content": {type: {"schema": schema}}}}


def _json(name: str, *, required: bool = True) -> Schema:
    return {"required": required, "content": {JSON: {"schema": ref(name)}}}


def _query(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "query", "schema": schema}


def _path(name: str, schema: Schema) -> Schema:
    return {"name": name, "in": "path", "required": True, "schema": schema}
