"""The sections `meta`, `spool` and `recent` of `agentfeedback doctor`; nothing is changed."""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attrs import define, field

from agentfeedback import __version__
from agentfeedback.config.resolve import VARIABLES, ResolvedSetting
from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.foundation.json_text import Number
from agentfeedback.plugins.doctor_section import DoctorContext, DoctorSection
from agentfeedback.reading.record import INVALID, loads
from agentfeedback.wire.encode import omitted
from agentfeedback_submissions.response import UNANSWERED, ApiResponse
from agentfeedback_submit.delivery.outcome_log import LIMIT, OutcomeLog
from agentfeedback_submit.delivery.spool import Spool
from agentfeedback_submit.remote.client import Client
from agentfeedback_submit.remote.server import META, ServerSettings, keys_of, server_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentfeedback.scrub import Scrubber

#: Seconds the one network call may take.
_TOTAL = 5.0
#: Lines of the log that are shown.
_RECENT = 10
_VERSION = re.compile(
    r"([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:\.([0-9]{1,9}))?(.*)", re.ASCII | re.DOTALL
)
_WORD = re.compile(r"[A-Za-z0-9.+-]{1,64}", re.ASCII)
Problems = list[tuple[str, str]]


@define(eq=False)
class Meta:
    """What the server says of itself. `asked` is false in local mode; `reason` says why it did not answer.

    `compare` is `ok`, `too_old` where the server wants a newer client, or `unknown` where it names none.
    `checked` and `ok` are `asked` and `answered` under the names that other clients have, and so are
    `client_min_version` and `client_latest_known`.
    """

    checked: bool = False
    ok: bool = False
    http_status: int | None = omitted()
    service_version: str = omitted("")
    api_version: str = omitted("")
    client_min_version: str = omitted("")
    client_latest_known: str = omitted("")
    asked: bool = False
    answered: bool = False
    reason: str = omitted("")
    min_version: str = omitted("")
    latest_known: str = omitted("")
    compare: str = omitted("")
    features: list[str] = omitted(factory=list)


@define(eq=False)
class SpoolHealth:
    """How many reports wait, and how many were refused."""

    pending: int = 0
    rejected: int = 0


@define(eq=False)
class Recent:
    """The last lines of the outcome log, oldest first. `invalid` counts malformed lines, `redacted` those in which a secret was hidden."""

    lines: list[dict[str, Any]] = field(factory=list)
    invalid: int = 0
    redacted: int = 0


def sections(context: DoctorContext) -> list[DoctorSection]:
    """The sections, each with its own problems."""
    return [_meta(context), _spool(context), _recent(context)]


def _meta(context: DoctorContext) -> DoctorSection:
    if context.mode == "local":
        return DoctorSection("meta", Meta())
    try:
        server = _server(context)
    except AgentFeedbackError as error:
        # What is missing altogether, the report says without us.
        told = ((error.problem, error.remedy),) if context.api_key.set else ()
        return DoctorSection("meta", Meta(reason="client_setup"), "not asked", told)
    if server is None:
        return DoctorSection("meta", Meta())
    try:
        reply = Client(server).ask("GET", META, total=_TOTAL)
    except AgentFeedbackError as error:
        told = ((error.problem, error.remedy),)
        return DoctorSection("meta", Meta(reason="client_setup"), "not asked", told)
    meta = Meta(asked=True, checked=True)
    if reply.status != UNANSWERED:
        meta.http_status = reply.status
    problems = _answered(meta, reply)
    if meta.answered:
        text = f"the server answers; it wants {meta.min_version or 'any version'}"
    else:
        text = f"no use: {meta.reason}"
    return DoctorSection("meta", meta, text, tuple(problems))


def _server(context: DoctorContext) -> ServerSettings | None:
    found = {name: context.tables.get(name) for name in ("url", "api_key")}
    configured = {name: value if isinstance(value, str) else "" for name, value in found.items()}
    return server_of(_value(context, "url"), keys_of(configured, context.environ))


def _value(context: DoctorContext, name: str) -> ResolvedSetting:
    if value := context.environ.get(VARIABLES[name], ""):
        return ResolvedSetting(value, "env")
    configured = context.tables.get(name)
    return (
        ResolvedSetting(configured, "config") if isinstance(configured, str) else ResolvedSetting()
    )


def _answered(meta: Meta, reply: ApiResponse) -> Problems:
    body = reply.body if isinstance(reply.body, dict) else None
    if reply.status == UNANSWERED:
        meta.reason = body["error"] if body else ""
        return [
            ("the server does not answer", "check the url, the network and the proxy variables")
        ]
    if reply.status == 401:
        meta.reason = "unauthorized"
        return [("the server refuses the key", "set the key that the server was given")]
    if reply.status == 404 or 300 <= reply.status < 400:
        meta.reason = "wrong_url"
        return [("there is no server of this API at the url", "correct the url")]
    if reply.status != 200 or body is None:
        meta.reason = f"server_{reply.status}" if reply.status != 200 else "malformed_response"
        return [(f"the server fails ({meta.reason})", "look into the server's log")]
    meta.answered = meta.ok = True
    meta.service_version = _word(body.get("service_version"))
    version = body.get("api_version")
    meta.api_version = _word(version.text if isinstance(version, Number) else version)
    client = body.get("client")
    for name in ("min_version", "latest_known"):
        value = _word(client.get(name) if isinstance(client, dict) else None)
        setattr(meta, name, value)
        setattr(meta, f"client_{name}", value)
    features = body.get("features")
    if isinstance(features, list):
        known = [item for item in features if isinstance(item, str) and _WORD.fullmatch(item)]
        meta.features = known[:64]
    if not meta.min_version:
        meta.compare = "unknown"
        return []
    meta.compare = "ok" if _order(__version__) >= _order(meta.min_version) else "too_old"
    if meta.compare == "ok":
        return []
    needs = f"the server wants version {meta.min_version} or newer, this is {__version__}"
    return [(needs, "update agentfeedback")]


def _word(value: Any) -> str:
    """A version as the server gives it; empty for anything else."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else ""


def _order(version: str) -> tuple[int, ...]:
    """What orders versions: three numbers, then a pre-release before its release."""
    match = _VERSION.match(version)
    if match is None:
        return (0, 0, 0, 0)
    *numbers, rest = match.groups()
    return (*(int(part or 0) for part in numbers), 0 if rest.startswith("-") else 1)


def _spool(context: DoctorContext) -> DoctorSection:
    data = os.path.dirname(context.paths.database)
    spool = Spool(data)
    problems: Problems = []
    health = SpoolHealth()
    try:
        health.pending, health.rejected = spool.counts()
    except OSError as error:
        problems.append(
            (f"the spool in {data} cannot be read: {reason_of(error)}", "check its permissions")
        )
    for folder in (spool.folder, spool.rejected, os.path.join(data, "inbox")):
        mode = _mode(folder)
        if mode is None:
            continue
        if not stat.S_ISDIR(mode):  # the commands see an empty folder, or fail one by one
            problems.append((f"{folder} is not a directory", "move it away"))
        elif (mode := stat.S_IMODE(mode)) & 0o077:
            problems.append(
                (f"{folder} is open to others (mode {mode:04o})", f"run chmod 700 {folder}")
            )
    text = f"{health.pending} pending, {health.rejected} rejected"
    if health.rejected:
        text += f" (in {spool.rejected})"
    return DoctorSection("spool", health, text, tuple(problems))


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except OSError:  # not there, or behind a folder whose own permissions are reported
        return None


def _recent(context: DoctorContext) -> DoctorSection:
    path = OutcomeLog(context.paths.cache).path
    recent = Recent()
    problems: Problems = []
    kept: deque[dict[str, Any]] = deque(maxlen=_RECENT)
    key = _value(context, "api_key").value
    try:
        # A line more than the limit: that is when it is moved.
        for line in _lines(path, LIMIT + (1 << 20)):
            value = loads(line)
            if value is INVALID or not isinstance(value, dict):
                recent.invalid += 1
            else:
                kept.append(value)
    except OSError as error:
        problems.append(
            (f"the outcome log {path} cannot be read: {reason_of(error)}", "move it away")
        )
    scrub = _scrub(key) if kept else str
    for each in kept:
        shown = {
            name: scrub(value) if isinstance(value, str) else value
            for name, value in each.items()
            if isinstance(value, str | int) and name.isidentifier() and name.isascii()
        }
        recent.redacted += any(shown[name] != each[name] for name in shown)
        recent.lines.append(shown)
    text = ""
    if recent.lines:
        last = recent.lines[-1]
        words = [str(last.get(name, "")) for name in ("ts", "outcome", "reason")]
        text = f"{len(recent.lines)} lines, the last: {' '.join(word for word in words if word)}"
    return DoctorSection("recent", recent, text, tuple(problems))


def _lines(path: str, limit: int) -> Iterator[bytes]:
    try:
        data = regular_bytes(path, limit, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from (line for line in data.split(b"\n") if line)


def _scrub(key: str) -> Callable[[str], str]:
    from agentfeedback.scrub import SUBMIT, Scrubber

    scrubber: Scrubber = Scrubber(SUBMIT)

    def scrub(text: str) -> str:
        return scrubber.text(text.replace(key, "[REDACTED:api_key]") if key else text)

    return scrub
