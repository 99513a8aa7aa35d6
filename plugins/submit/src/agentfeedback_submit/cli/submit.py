"""`agentfeedback submit`: checks the command line, gathers, builds, sends, prints the outcome."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from attrs import evolve

from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins.host import Host
from agentfeedback.terminal import screen
from agentfeedback.wire.encode import encode
from agentfeedback_submissions.envelope import BODY_LIMIT
from agentfeedback_submissions.texts import token
from agentfeedback_submit.context import SubmitContext
from agentfeedback_submit.delivery import deliver
from agentfeedback_submit.delivery.outcome import SubmitOutcome
from agentfeedback_submit.filing.body import Body
from agentfeedback_submit.filing.build import Unsendable, build
from agentfeedback_submit.filing.request import PAYLOAD, Request, context_from
from agentfeedback_submit.remote.server import ClientSetupError, one_mode

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed

_MEMBERS = ("summary", "project", "harness", "model", "machine", "key")
#: What a session entry settles cannot be given beside it.
_SETTLED = ("key", "project", "harness", "model")
_ADVICE = {
    "mismatch": "file another finding with the next --ordinal, or under another --key",
    "rejected": "correct the report",
    "error": "the report is printed above; file it again",
}


def run(line: Parsed) -> int:
    """File what the command line says; the exit status is the outcome's."""
    host = Host(
        os.environ, lambda sentence: screen.note(f"agentfeedback submit: warning: {sentence}")
    )
    request = _request(line, host)
    try:
        directory = os.getcwd()
    except FileNotFoundError:
        directory = ""
    here = SubmitContext(os.environ, host, directory)
    if request.context_from is None:  # else a session is read, and a near miss refuses
        here.warn_of_policy()
    facts = here.facts(request)
    if isinstance(facts, SubmitOutcome):
        facts.kind = token(request.kind)
        if not line.dry_run:
            here.log(facts)
        return _finished(facts, where=directory)
    if line.stdin:
        request = evolve(request, json=_stdin())
    try:
        body = build(request, facts, lambda: here.engine.scrubber)
    except Unsendable as refused:
        failed = SubmitOutcome(
            "rejected", token(request.kind), reason=refused.reason, message=refused.message
        )
        if not line.dry_run:
            here.log(failed)
        return _finished(failed)
    for warning in body.warnings:
        if warning.code == "scrubbed":
            screen.note(f"agentfeedback submit: warning: {warning.pointer}: {warning.message}")
    if line.dry_run:
        screen.write(body.data + b"\n")
        tried = deliver.tried(body)
        for each in tried.warnings[len(body.warnings) :]:
            screen.note(f"agentfeedback submit: warning: {each['pointer']}: {each['message']}")
        return _finished(tried)
    return _finished(_sent(here, body, line), body)


def _sent(here: SubmitContext, body: Body, line: Parsed) -> SubmitOutcome:
    """What became of a body; whatever goes wrong, it is not lost."""
    try:
        destination = here.destination(local=line.local, server=line.server)
        return here.submit(body, destination)
    except ClientSetupError as error:
        failed = SubmitOutcome(
            "error", body.kind, body.key, reason="client_setup", message=str(error)
        )
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - the report is given back
        failed = SubmitOutcome("error", body.kind, body.key, reason="unavailable")
        failed.message = f"it could not be filed ({type(error).__name__})"
    here.log(failed, body.session_id)
    return failed


def _request(line: Parsed, host: Host) -> Request:
    if len(line.positionals) != 1 or not token(line.positionals[0]):
        raise UsageError(
            "submit takes one kind",
            "name one, such as submit friction, and pass texts by flags such as --summary",
        )
    (kind,) = line.positionals
    one_mode(local=line.local, server=line.server)
    payload = {name: getattr(line, name) for name in PAYLOAD if getattr(line, name)}
    if payload and token(kind) != "friction":
        flag = next(iter(payload)).replace("_", "-")
        raise UsageError(f"--{flag} applies only to a friction", "give it on stdin, in payload")
    if "schema-version" in line.given and line.schema_version < 1:
        raise UsageError(f"--schema-version {line.schema_version} is less than 1", "number from 1")
    wanted = None
    if "context-from" in line.given:
        for name in _SETTLED:
            if name in line.given:
                raise UsageError(
                    f"--{name} and --context-from cannot be combined", "the session settles it"
                )
        wanted = context_from(
            host,
            line.context_from,
            line.ordinal if "ordinal" in line.given else 1,
            allow_unknown=line.allow_unknown_project,
        )
    elif line.given & {"ordinal", "allow-unknown-project"}:
        flag = "ordinal" if "ordinal" in line.given else "allow-unknown-project"
        raise UsageError(f"--{flag} needs --context-from", "add it, or leave that out")
    return Request(
        kind,
        {name: getattr(line, name) for name in _MEMBERS if getattr(line, name)},
        line.schema_version if "schema-version" in line.given else None,
        payload,
        [_entry(text) for text in line.context],
        context_from=wanted,
        scrub=line.scrub,
    )


def _entry(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f'--context "{text}" is not a key=value', "give both")
    return name, value


def _stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed", "pass one JSON object on it")
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read(BODY_LIMIT + 1).encode("utf-8", "surrogateescape")
    data: bytes = stream.read(BODY_LIMIT + 1)
    return data


def _finished(outcome: SubmitOutcome, body: Body | None = None, where: str = "") -> int:
    """Print the outcome; what is kept nowhere is given back on standard error."""
    unkept = outcome.outcome == "error" or outcome.reason == "rejected_unwritable"
    if unkept and body is not None:
        screen.tell(body.data.decode("utf-8", "replace") + "\n")
    if outcome.outcome == "disabled":
        rule = f"collection is off there ({outcome.reason})"
        screen.note(
            f"agentfeedback submit: nothing is filed from {where}: {rule}; the report was not kept."
        )
    elif outcome.outcome == "spooled":
        screen.note(f"agentfeedback submit: {_kept(outcome)}.")
    elif outcome.exit_status:
        problem = outcome.message or outcome.reason or outcome.outcome
        screen.note(f"agentfeedback submit: {problem.rstrip('.')}; {_ADVICE[outcome.outcome]}.")
    screen.write(encode(outcome) + b"\n")
    return outcome.exit_status


def _kept(outcome: SubmitOutcome) -> str:
    """That a report is kept for later, why, and what sends it."""
    if outcome.reason == "unauthorized":
        return f"kept for later: {outcome.message}; correct api_key, then run agentfeedback flush"
    if outcome.reason == "wrong_url":
        return f"kept for later: {outcome.message}; correct url, then run agentfeedback flush"
    return f"kept for later ({outcome.message or outcome.reason}); agentfeedback flush sends it"
