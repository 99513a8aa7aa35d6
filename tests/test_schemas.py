"""The published JSON Schemas are those of the code, and what commands print is what they say."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from jsonschema import Draft202012Validator

from agentfeedback.wire import doctor as wire_doctor
from agentfeedback.wire import records
from agentfeedback.wire.encode import plain
from agentfeedback.wire.schema import document
from tests.support import ROOT
from tests.support.machine import Machine, call, failed, prompt

FOLDER = ROOT / "docs/reference/schemas"
SCHEMAS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
#: What these describe may hold anything else, too.
TAKING = {"submission-envelope", "payload-review-1"}
UID = "01a22c67-3499-7dba-a585-e5b41f2f9e22"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    return importlib.import_module("docs.reference.schemas.generate")


def test_the_files_are_what_the_generator_writes(generator: ModuleType) -> None:
    """Nobody changed a record without its schema, nor a schema by hand."""
    found = {f"{name}.json": generator.text(shown) for name, shown in generator.published().items()}
    assert {path.name: path.read_text() for path in FOLDER.glob("*.json")} == found


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_is_a_schema_of_closed_objects(name: str) -> None:
    """It is valid JSON Schema, and each object with named members has no others, unless its own rules take any."""
    Draft202012Validator.check_schema(SCHEMAS[name])
    for shown in objects(SCHEMAS[name]):
        if "properties" in shown and name not in TAKING:
            assert shown["additionalProperties"] is False, shown
            assert set(shown.get("required", ())) <= shown["properties"].keys()


def objects(shown: Any) -> list[dict[str, Any]]:
    """Every schema of an object within a schema."""
    if isinstance(shown, list):
        return [each for item in shown for each in objects(item)]
    if not isinstance(shown, dict):
        return []
    found = [shown] if shown.get("type") == "object" else []
    return found + [each for item in shown.values() for each in objects(item)]


@pytest.mark.parametrize(
    "kind",
    [
        each
        for module, names in ((records, records.__all__), (wire_doctor, vars(wire_doctor)))
        for each in (getattr(module, name) for name in names)
        if attrs.has(each) and (module is records or each.__module__ == module.__name__)
    ],
    ids=lambda kind: kind.__name__,
)
def test_what_is_always_printed_is_required(kind: type) -> None:
    """Of a record the required members are those printed of an empty one, and all members are named."""
    shown = document("", kind)
    given = {field.name: "" for field in attrs.fields(kind) if field.default is attrs.NOTHING}
    # `exit_code` is left out when it is none only: an empty record has none.
    assert shown["required"] == list(plain(kind(**given)))
    names = [field.metadata.get("name") or field.name for field in attrs.fields(kind)]
    assert list(shown["properties"]) == names


# -- real output ---------------------------------------------------------------------------------


class Printed:
    """What commands print, each checked against its schema."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.seen: set[str] = set()

    def __call__(self, name: str, *words: str, status: int = 0, **environ: str) -> Any:
        result = self.machine.call(*words, **environ)
        assert result.status == status, result.err
        *_, last = result.text.splitlines()
        return self.valid(name, json.loads(last))

    def valid(self, name: str, value: Any) -> Any:
        self.seen.add(name)
        Draft202012Validator(SCHEMAS[name]).validate(value)
        return value


@pytest.fixture
def printed(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Printed:
    """A home with sessions of every reader's sample, and one in which a call failed, was retried and denied."""
    for harness, folder in {"claude-code": ".claude", "codex": ".codex"}.items():
        shutil.copytree(ROOT / "core/src/agentfeedback/sample" / harness, machine.home / folder)
    machine.claude(
        "s1",
        [
            prompt("u-1", "it is still failing"),
            call("u-2", "t1", second=1),
            failed("u-3", "t1", second=2),
            call("u-4", "t2", second=3),
            failed("u-5", "t2", second=4),
        ],
    )
    machine.claude("s2", [b'{"type":"user","uuid":"x"}'])
    machine.config("[collect]\n")
    (machine.home / "work").mkdir()
    monkeypatch.chdir(machine.home / "work")
    return Printed(machine)


def test_what_the_core_prints(printed: Printed, tmp_path: Path) -> None:
    """Sessions in every stage, installation and health: each command's JSON is as its schema says."""
    listed = printed("sessions-list", "sessions", "list", "--json")
    assert {"new", "unknown-project"} <= {each["state"] for each in listed["sessions"]}
    run = printed("sessions-digest", "sessions", "digest", "--unprocessed", "--json")
    (digest,) = (each for each in run["sessions"] if each["session_id"] == "s1")
    assert digest["events"] and digest["retries"] and digest["flagged"]
    printed("sessions-digest", "sessions", "digest", "codex:none", "--json", status=1)
    words = ("--since", "2020-01-01", "--newest", "--problems", "--detail", "--json")
    assert "clean" in printed("sessions-digest", "sessions", "digest", *words)
    report = ("sessions", "report", "--since", "2020-01-01", "--json", "--allow-unknown-project")
    found = printed("sessions-report", *report)
    assert found["failures"] and found["retries"] and found["complaints"] and found["days"]
    printed("sessions-show", "sessions", "show", "claude-code:s1", "--json")
    entry = printed("sessions-show", "sessions", "show", found["failures"][0]["refs"][0], "--json")
    assert entry["entries"] and entry["around"]
    printed("sessions-mark", "sessions", "mark", "--digested", "--outcome", "nothing", "--json")
    mark = ("sessions", "mark", "claude-code:s1", "--json", "--outcome")
    printed("sessions-mark", *mark, "nothing")
    printed("sessions-mark", *mark, "filed", "--ref", UID)
    printed("sessions-list", "sessions", "list", "--json")
    assert "selection" not in printed("sessions-status", "sessions", "status", "--json")
    saved = ("--set-selection", "--harness", "codex", "--since", "7d", "--limit", "5")
    assert "selection" in printed("sessions-status", "sessions", "status", *saved, "--json")
    printed("sessions-forget", "sessions", "forget", "claude-code:s1", "--json")
    assert printed("install", "install", "claude-code", "--dry-run", "--json")["dry_run"]
    for word in ("install", "install", "uninstall"):
        printed("install", word, "claude-code", "--json")
    printed("plugins", "plugins", "--json")
    printed("plugins", "plugins", "--json", AGENTFEEDBACK_BLOCK="codex")
    printed("doctor", "doctor", "--json")
    formats = printed("doctor", "doctor", "--formats", "--json")["formats"]
    assert any(each["versions"] for each in formats)
    printed("demo", "demo", "--json")
    assert printed.seen == {name for name in SCHEMAS if name in CORE}


def test_what_the_reports_commands_print(
    printed: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports filed, refused, marked, counted, carried and kept waiting: each command's JSON is as its schema says."""
    submit = ("submit", "friction", "--summary", "s", "--key", "k")
    full = ("--category", "docs", "--details", "d", "--context", "a=b")
    envelope = printed.machine.call(*submit, *full, "--dry-run").text.splitlines()[0]
    printed.valid("submission-envelope", json.loads(envelope))
    assert printed("submit", *submit, *full, "--dry-run")["outcome"] == "valid"
    assert printed("submit", *submit)["outcome"] == "submitted"
    assert printed("submit", *submit)["outcome"] == "duplicate"
    mismatch = printed("submit", *submit, "--details", "other", status=1)
    assert mismatch["outcome"] == "mismatch"
    printed("submit", "submit", "note", "--summary", "s")
    assert printed("submissions-list", "list", "--json", "--limit", "1")["next_before_id"]
    printed("submissions-list", "list", "--json", "--after", "0")
    printed("submissions-list", "list", "--json", "--payload")
    printed("submissions-processed", "processed", "1", "--json")
    printed("submissions-processed", "processed", "1", "--verdict", "fixed", "--json")
    printed("submission", "show", "1", "--json")
    printed("submissions-stats", "stats", "--json")
    by = ("--by", "kind,project,schema_version", "--top", "1", "--bucket", "day")
    assert printed("submissions-stats", "stats", "--json", *by)["series"]
    target = str(tmp_path / "reports.ndjson")
    assert printed.machine.call("export", "--output", target).status == 0
    printed("submissions-import", "import", target, "--json")
    elsewhere = str(tmp_path / "elsewhere")
    assert printed("submissions-import", "import", target, "--json", XDG_DATA_HOME=elsewhere)
    assert printed("submission", "redact", "1", "--yes", "--json")["redacted_at"]
    there = {
        "AGENT_FEEDBACK_URL": "http://127.0.0.1:9",
        "AGENT_FEEDBACK_API_KEY": "key-of-" + "nobody",
    }
    assert printed("submit", *submit, **there)["outcome"] == "spooled"
    printed("flush", "flush", **there)
    printed("doctor", "doctor", "--json", status=1, **there)
    printed("flush", "flush")
    printed("ingest", "ingest", "--json")
    printed("config", "config", "--json", **there)
    printed.machine.config("[collect]\ndisabled = true\n")
    assert printed("submit", *submit)["outcome"] == "disabled"


def test_what_the_api_answers(printed: Printed, service: Callable[[], Any]) -> None:
    """Created, repeated, refused: the answers that MCP and HTTP give."""
    api = service()
    body = b'{"kind":"friction","key":"k","summary":"s","payload":{"n":1.50}}'
    for status in (201, 200):
        reply = api.create(body)
        assert reply.status == status
        printed.valid("submission-created", json.loads(reply.encoded()))
    for reply in (
        api.create(b"[]"),
        api.create(body.replace(b'"s"', b'"t"')),
        api.get("77"),
        api.list([("nope", "1")]),
    ):
        assert not reply.ok
        printed.valid("error", json.loads(reply.encoded()))
    stored = json.loads(api.get("1").encoded())
    printed.valid("submission", stored)
    for kind in ("friction", "review"):
        shown = json.loads(api.schema(kind).encoded())
        assert shown == SCHEMAS[f"payload-{kind}-1"]


@pytest.fixture
def service(machine: Machine) -> Callable[[], Any]:
    """The API in process, on the machine's database."""
    from agentfeedback.state.database import Database
    from agentfeedback_submissions.service import Service
    from agentfeedback_submissions.sqlite_store import SqliteSubmissions

    return lambda: Service(SqliteSubmissions(Database(str(machine.database), "submissions")))


def test_other_members_are_refused(printed: Printed) -> None:
    """A member nobody declared, and one that is missing, are against the schema."""
    good = printed("sessions-list", "sessions", "list", "--json")
    validator = Draft202012Validator(SCHEMAS["sessions-list"])
    assert not validator.is_valid(good | {"more": 1})
    assert not validator.is_valid({"stores": good["stores"]})
    first, *rest = good["sessions"]
    assert not validator.is_valid(good | {"sessions": [first | {"more": 1}, *rest]})
    assert not validator.is_valid(good | {"sessions": [first | {"state": "odd"}, *rest]})


CORE = {
    "sessions-list",
    "sessions-digest",
    "sessions-mark",
    "sessions-report",
    "sessions-show",
    "sessions-status",
    "sessions-forget",
    "install",
    "plugins",
    "doctor",
    "demo",
}


def test_the_page_of_schemas_names_each_of_them() -> None:
    """One row a file, and no row without one."""
    page = (FOLDER / "README.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| [")]
    assert sorted(row.split("]")[0][3:] for row in rows) == sorted(SCHEMAS)
    assert all(f"({name}.json)" in page for name in SCHEMAS)
