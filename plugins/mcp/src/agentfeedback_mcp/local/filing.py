"""The tool `submit_feedback`: the body that `submit <kind> --stdin` would build of the same JSON, and what the API answers."""

from __future__ import annotations

from typing import Any

from agentfeedback.foundation.canonical import quoted
from agentfeedback.foundation.errors import (
    AgentFeedbackError,
    ConfigError,
    PluginError,
    StoreError,
    UsageError,
)
from agentfeedback.foundation.json_text import members, parse, text_bytes
from agentfeedback_mcp.tools.arguments import Argument
from agentfeedback_mcp.tools.call import Call, Tool, working_directory
from agentfeedback_mcp.tools.submissions import well_formed
from agentfeedback_submissions.envelope import MEMBERS, TEXTS
from agentfeedback_submissions.response import ApiError, ApiResponse, invalid
from agentfeedback_submissions.texts import token
from agentfeedback_submissions.warning import SubmissionWarning
from agentfeedback_submit.context import SubmitContext
from agentfeedback_submit.delivery.destination import Destination
from agentfeedback_submit.delivery.outcome import SubmitOutcome
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.filing.build import FilingFacts, Unsendable, build
from agentfeedback_submit.filing.request import ContextFrom, Request, context_from

#: What is read here and no part of the report.
_OWN = ("context_from", "ordinal")
_UNKNOWN = "unknown"
#: Members that say what a report is about, and nothing in it.
_BESIDE = frozenset(
    (
        "kind",
        "schema_version",
        "key",
        "machine",
        "model",
        "harness",
        "project",
        "occurred_at",
        "context",
    )
)


class RecordingDestination:
    """A destination whose last answer is kept."""

    def __init__(self, destination: Destination) -> None:
        self._destination = destination
        self.name = destination.name
        self.reply: ApiResponse | None = None

    def send(self, body: Body) -> ApiResponse:
        self.reply = self._destination.send(body)
        return self.reply


def _submit(call: Call) -> ApiResponse:
    run = SubmitContext(call.environ, call.host, working_directory())
    request = _request(call)
    body = _body(call, run, request)
    _check_says_something(call)
    heard = RecordingDestination(run.destination())
    outcome = run.submit(body, heard)
    reply = heard.reply
    if reply is not None and reply.ok and outcome.outcome in ("submitted", "duplicate"):
        # Those of this side, then the receiver's; malformed ones are dropped.
        shown = {**reply.body, "warnings": [*_no_kind(call), *outcome.warnings]}
        return ApiResponse(reply.status, shown, reply.request_id)
    if outcome.outcome == "spooled":
        raise ApiError(
            "unavailable",
            f"the report was not taken ({outcome.reason}); it is kept on this machine and sent later, so do "
            "not file it again",
        )
    if reply is None or reply.ok:
        raise ApiError("unavailable", outcome.message or f"nothing was filed: {outcome.reason}")
    return well_formed(call, reply)


def _check_says_something(call: Call) -> None:
    """Refuse what would be an empty row; everything else is taken, with warnings."""
    given = {name for name, _ in members(call.text) or ()}
    if given <= _BESIDE:
        problem = "there is nothing to file: give a summary or a payload"
        raise invalid("required", "?summary", problem)


def _request(call: Call) -> Request:
    kind = call.given.get("kind", "")
    if "kind" in call.given and not token(kind):
        raise invalid("empty", "?kind", "kind is empty")
    wanted = None
    if "context_from" in call.given:
        if not kind:
            raise invalid("required", "?kind", "kind is required with context_from")
        wanted = _context_from(call)
    elif "ordinal" in call.given:
        raise invalid("out_of_range", "?ordinal", "ordinal applies only with context_from")
    return Request(kind or _UNKNOWN, json=_report(call.text), context_from=wanted)


def _context_from(call: Call) -> ContextFrom:
    try:
        return context_from(call.host, call.given["context_from"], call.given.get("ordinal", 1))
    except UsageError as error:
        raise _refused("invalid_format", error) from None


def _body(call: Call, run: SubmitContext, request: Request) -> Body:
    try:
        facts = run.facts(request)
    except (ConfigError, PluginError, StoreError):
        raise
    except AgentFeedbackError as error:
        if request.context_from is None:
            raise
        raise _refused("out_of_range", error) from None
    if isinstance(facts, SubmitOutcome):
        raise ApiError(
            "bad_request",
            f"nothing was filed: the policy of this machine switches it off here ({facts.reason})",
        )
    return _built(call, run, request, facts)


def _built(call: Call, run: SubmitContext, request: Request, facts: FilingFacts) -> Body:
    try:
        return build(request, facts, lambda: run.engine.scrubber)
    except UsageError as error:
        context = parse(call.text).value.get("context")
        if context is not None and not isinstance(context, dict):
            raise invalid("type_mismatch", "?context", "context is not an object") from None
        raise invalid("required", "?summary", error.problem) from None
    except Unsendable as refused:
        if refused.reason == "body_too_large":
            raise ApiError("request_too_large", refused.message) from None
        if refused.reason == "invalid_body":
            raise invalid("type_mismatch", "?key", refused.message) from None
        raise ApiError("bad_request", refused.message) from None


def _report(text: bytes) -> bytes:
    """The report alone, each of its members as it was written, also those given twice."""
    kept = [f"{quoted(name)}:{raw}" for name, raw in members(text) or () if name not in _OWN]
    return text_bytes("{" + ",".join(kept) + "}")


def _no_kind(call: Call) -> list[dict[str, Any]]:
    if "kind" in call.given:
        return []
    return [
        SubmissionWarning("missing_kind", "/kind", f"no kind is given; it is {_UNKNOWN}").plain()
    ]


def _refused(code: str, error: AgentFeedbackError) -> ApiError:
    return invalid(code, "?context_from", str(error))


_ABOUT = {
    "kind": "what is reported: friction, or another word",
    "schema_version": "the version of the kind's schema (1)",
    "key": "a name under which filing the same report again is a duplicate",
    "summary": "one sentence: what happened",
    "machine": "the machine it was met on; found out where it is not given",
    "model": "the model it was met by",
    "harness": "the harness it was met in",
    "project": "the project it is about",
    "occurred_at": "when it happened, RFC 3339",
    "context": "strings that tell where it was met",
    "payload": "the report itself; of a friction category, details, suggested_fix, evidence (see get_schema)",
}


def _member(name: str) -> dict[str, Any]:
    """A member of the envelope as JSON Schema. Not checked: a report is mended, never refused for its form."""
    type = "string" if name in TEXTS else "integer" if name == "schema_version" else "object"
    return {"description": _ABOUT[name], "type": type}


class _Filing(Tool):
    """The schema also names the members of a report."""

    @property
    def input_schema(self) -> dict[str, Any]:
        shown = super().input_schema
        envelope = {name: _member(name) for name in MEMBERS}
        return {**shown, "properties": {**envelope, **shown["properties"]}}


TOOL = _Filing(
    "submit_feedback",
    "Submit feedback",
    "Files a report, such as a friction that the next session would meet again: a document that names what is "
    "gone, a flag nobody mentions. Answers with the stored submission, whose uid sessions_mark takes, and "
    "with warnings. With context_from the report is about an entry of a session: key, time, harness, model, "
    "project and context come from the session, secrets of known formats are replaced, and filing it again "
    "is a duplicate. The same as agentfeedback submit <kind> --stdin.",
    (
        Argument("kind", "string", _ABOUT["kind"]),
        Argument(
            "context_from",
            "string",
            "the ref of an event of a digest: <harness>:<session id>#<span>; needs kind",
        ),
        Argument(
            "ordinal",
            "integer",
            "with context_from: which finding at that entry",
            least=1,
            default=1,
        ),
    ),
    _submit,
    effect="adds",
    open=True,
)
