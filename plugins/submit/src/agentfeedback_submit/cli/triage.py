"""`agentfeedback list`, `show`, `processed`, `redact`, `stats`: the store made usable for a person.

Everything goes through the API; what is printed as text is untrusted and made visible.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from agentfeedback.foundation import times
from agentfeedback.foundation.canonical import compact
from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.plugins.host import Host
from agentfeedback.reading import refs
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names, one_of
from agentfeedback.terminal.table import Column, table
from agentfeedback_submissions import queries
from agentfeedback_submissions.kinds import HIDDEN
from agentfeedback_submissions.response import ApiError
from agentfeedback_submissions.texts import time_form
from agentfeedback_submit.context import Api, SubmitContext
from agentfeedback_submit.remote.server import one_mode

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed
    from agentfeedback_submissions.response import ApiResponse

_FILTERS = (
    "kind",
    "project",
    "harness",
    "model",
    "machine",
    "category",
    "fix_status",
    "origin",
    "key",
    "verdict",
    "on",
)
_PLANS = ((("FILED", 10), ("HARNESS", 0), ("PROJECT", 12), ("SUMMARY", 20)),)


def run_list(line: Parsed) -> int:
    """`list`: a page as a table, or as the API answers."""
    no_names(line, "list")
    query = _filters(line)
    for flag, name in (("limit", "limit"), ("before", "before_id"), ("after", "after_id")):
        if flag in line.given:
            query.append((name, str(getattr(line, flag))))
    if line.payload:
        query.append(("include", "payload"))
    reply = done(api(line).list(query))
    if line.json:
        return _print(reply)
    found = reply.body
    rows = [_row(record) for record in found["submissions"]]
    columns = [
        Column("ID", whole=True),
        Column("FILED", whole=True),
        Column("KIND"),
        Column("PROJECT"),
        Column("HARNESS"),
        Column("STATE"),
        Column("SUMMARY"),
    ]
    screen.write(table(columns, rows, screen.Screen.of(sys.stdout, os.environ), _PLANS))
    if found["has_more"]:
        after = found["next_after_id"]
        more = f"--before {found['next_before_id']}" if after is None else f"--after {after}"
        screen.note(
            f"agentfeedback list: {len(rows)} of {found['total']} shown; go on with {more}."
        )
    return 0


def run_show(line: Parsed) -> int:
    """`show`: records whole; exit status 1 when one is not there."""
    service = api(line)
    for number, id in enumerate(_ids(line, service, "show")):
        record = done(service.get(id)).body
        between = "\n" if number else ""
        screen.write(compact(record) + b"\n" if line.json else between + _text(record))
    return 0


def run_processed(line: Parsed) -> int:
    """`processed`: those of the named reports that are there; exit status 1 when one is not."""
    service = api(line)
    ids, missing = _known(line, service, "processed")
    given = {
        "verdict": line.verdict,
        "resolution": line.resolution,
        "ref": line.ref,
        "processed_by": line.by,
    }
    mark: dict[str, Any] = {name: value for name, value in given.items() if value}
    if ids:
        reply = done(
            service.mark_all(
                compact({"ids": [int(id) for id in ids], "processed": not line.undo, **mark})
            )
        )
        missing += map(str, reply.body["not_found"])
        if line.json:
            _print(reply)
        else:
            word = "no longer processed" if line.undo else "processed"
            updated, unchanged = len(reply.body["updated"]), len(reply.body["unchanged"])
            screen.write(f"{updated} {word}, {unchanged} unchanged\n")
    for name in missing:
        screen.note(
            f"agentfeedback processed: there is no report {name}; agentfeedback list shows them."
        )
    return 1 if missing else 0


def run_redact(line: Parsed) -> int:
    """`redact`: leaves tombstones."""
    service = api(line)
    ids = _ids(line, service, "redact")
    if not line.yes:
        raise UsageError("what is redacted is gone for good", "pass --yes to do it")
    for id in ids:
        record = done(service.redact(id)).body
        screen.write(compact(record) + b"\n" if line.json else f"{id} redacted\n")
    return 0


def run_stats(line: Parsed) -> int:
    """`stats`: numbers as tables, or as the API answers."""
    no_names(line, "stats")
    query = _filters(line)
    query += [(name, getattr(line, name)) for name in ("by", "bucket") if name in line.given]
    if "top" in line.given:
        query.append(("top", str(line.top)))
    reply = done(api(line).stats(query))
    if line.json:
        return _print(reply)
    found = reply.body
    terminal = screen.Screen.of(sys.stdout, os.environ)
    screen.write(f"{found['total']} filed, {found['open']} not processed\n")
    numbers = [Column("TOTAL", whole=True), Column("OPEN", whole=True)]
    if "groups" in found:
        names = line.by.split(",")
        rows = [
            [*(str(group["keys"].get(name, "-")) for name in names), *_numbers(group)]
            for group in found["groups"]
        ]
        columns = [*(Column(name.upper()) for name in names), *numbers]
        screen.write("\n" + table(columns, rows, terminal))
    if "series" in found:
        rows = [[each["bucket"], *_numbers(each)] for each in found["series"]]
        columns = [Column(line.bucket.upper(), whole=True), *numbers]
        screen.write("\n" + table(columns, rows, terminal))
    if found["recurring"]:
        rows = [
            [
                str(each["count"]),
                f"{each['first_id']}-{each['last_id']}",
                each.get("kind", "-"),
                each.get("project", "-"),
                each.get("summary", "-"),
            ]
            for each in found["recurring"]
        ]
        columns = [
            Column("FILED", whole=True),
            Column("IDS", whole=True),
            Column("KIND"),
            Column("PROJECT"),
            Column("RECURRING"),
        ]
        screen.write("\n" + table(columns, rows, terminal))
    return 0


def api(line: Parsed) -> Api:
    """The API this command line means."""
    one_mode(local=line.local, server=line.server)
    return SubmitContext(os.environ, Host(os.environ), "").api(local=line.local, server=line.server)


def done(reply: ApiResponse) -> ApiResponse:
    """The reply of a request that was done; raises what was wrong with it."""
    if reply.ok:
        return reply
    message: str = reply.body["message"]
    if reply.body["error"] == "validation_error":
        raise UsageError(message, "run the command with -h for its usage")
    raise AgentFeedbackError(message)


def moment_of(flag: str, text: str) -> str:
    """The time of `--since` or `--until`, absolute or relative, as the API takes it."""
    try:
        at = refs.since(text, time.time_ns())
    except UsageError as error:
        raise UsageError(error.problem.replace("--since", flag, 1), error.remedy) from None
    return times.list_form(at) if at is not None else time_form(0)


def _filters(line: Parsed) -> list[tuple[str, str]]:
    one_of(line, "processed", "unprocessed")
    one_of(line, "before", "after")
    query = [
        (name, getattr(line, name)) for name in _FILTERS if name.replace("_", "-") in line.given
    ]
    query += [("exclude_kind", kind) for kind in line.exclude_kind]
    if "kind" not in line.given:
        query.append(("exclude_kind", HIDDEN))
    if line.processed or line.unprocessed:
        query.append(("processed", "true" if line.processed else "false"))
    if line.redacted:
        query.append(("redacted", "true"))
    if "search" in line.given:
        query.append(("q", line.search))
    for name in ("since", "until"):
        if getattr(line, name):
            query.append((name, moment_of(f"--{name}", getattr(line, name))))
    return query


def _ids(line: Parsed, service: Api, command: str) -> list[str]:
    """The ids of what is named by id or uid; raises for one that is not there."""
    ids, missing = _known(line, service, command)
    for id in ids:
        found = service.get(id)
        if found.status == 404:
            missing.append(id)
            break
        done(found)
    if missing:
        raise AgentFeedbackError(
            f"there is no report {missing[0]}", "agentfeedback list shows them"
        )
    return ids


def _known(line: Parsed, service: Api, command: str) -> tuple[list[str], list[str]]:
    """The ids of what is named by id or uid, and the names that cannot be those of a report."""
    if not line.positionals:
        raise UsageError("name the reports by id or uid", "list shows them")
    ids: list[str] = []
    missing: list[str] = []
    for name in line.positionals:
        id: str | None = name
        if "-" in name:
            id = service.named(refs.uid(name).lower())
        try:
            ids.append(str(queries.identifier(id or "")))
        except ApiError:
            missing.append(name)
    return list(dict.fromkeys(ids)), missing


def _numbers(counted: dict[str, Any]) -> list[str]:
    return [str(counted["total"]), str(counted["open"])]


def _row(record: dict[str, Any]) -> list[str]:
    state = record.get("verdict") or ("processed" if "processed_at" in record else "new")
    if "redacted_at" in record:
        state = "redacted"
    return [
        str(record["id"]),
        f"{record['created_at'][:19]}Z",
        record["kind"],
        record.get("project", "-"),
        record.get("harness", "-"),
        state,
        record.get("summary", "-"),
    ]


def _text(record: dict[str, Any]) -> str:
    """A record as text: a line for each member, longer texts below their name."""
    lines = []
    for name, value in record.items():
        if isinstance(value, dict):
            lines.append(f"{name}:")
            for inner, text in value.items():
                lines += _member(inner, text, "  ")
        else:
            lines += _member(name, value, "")
    return "\n".join(lines) + "\n"


def _member(name: str, value: Any, indent: str) -> list[str]:
    shown = value if isinstance(value, str) else compact(value).decode()
    head, *rest = shown.split("\n")
    first = f"{indent}{screen.visible(name)}: {screen.visible(head)}"
    return [first, *(f"{indent}  {screen.visible(line)}" for line in rest)]


def _print(reply: ApiResponse) -> int:
    screen.write(reply.encoded() + b"\n")
    return 0
