"""The commands around the store, as a person uses them."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.fixture
def filed(machine: Any) -> Any:
    """Three reports."""
    machine.submit("friction", "--summary", "one", "--category", "docs", "--key", "k1")
    machine.submit("friction", "--summary", "two\x1b[31m", "--key", "k2")
    machine.submit(
        "note", "--stdin", stdin=b'{"summary":"three","payload":{"n":1.50,"t":"a\\nb\\u001b"}}'
    )
    return machine


def ids(result: Any) -> list[str]:
    return [line.split()[0] for line in result.text.splitlines()[1:]]


def test_a_list_is_a_table_newest_first(filed: Any) -> None:
    """Each report is a line; nothing that was filed reaches the terminal raw."""
    result = filed.call("list")
    assert ids(result) == ["3", "2", "1"]
    assert "\x1b" not in result.text and "two\\x1b[31m" in result.text


def test_a_list_is_narrowed_and_paged(filed: Any) -> None:
    """Filters are flags; what is left out is reported with the flag that shows it."""
    assert ids(filed.call("list", "--kind", "friction")) == ["2", "1"]
    assert ids(filed.call("list", "--search", "TWO")) == ["2"]
    assert ids(filed.call("list", "--exclude-kind", "note", "--since", "1h")) == ["2", "1"]
    assert ids(filed.call("list", "--until", "1h")) == []
    page = filed.call("list", "--limit", "2")
    assert ids(page) == ["3", "2"] and "--before 2" in page.err
    assert ids(filed.call("list", "--before", "2")) == ["1"]
    page = filed.call("list", "--after", "0", "--limit", "2")
    assert ids(page) == ["1", "2"] and "--after 2" in page.err


def test_json_is_the_answer_of_the_api(filed: Any) -> None:
    """Members as the API has them, numbers as they were filed."""
    result = filed.call("list", "--json", "--payload", "--limit", "1")
    assert '"n":1.50' in result.text
    assert json.loads(result.text)["total"] == 3


def test_a_report_is_shown_by_id_and_by_uid(filed: Any) -> None:
    """As text with every line made visible, or as its record."""
    record = json.loads(filed.call("show", "3", "--json").text)
    text = filed.call("show", record["uid"].upper()).text
    assert "summary: three" in text and "\x1b" not in text
    assert "  t: a\n    b\\x1b\n" in text
    both = filed.call("show", "3", "2").text
    assert both == text + "\n" + filed.call("show", "2").text and not both.endswith("\n\n")
    missing = filed.call("show", "3", "99")
    assert (missing.status, missing.text) == (1, "") and "99" in missing.err


def test_reports_are_processed_and_taken_back(filed: Any) -> None:
    """A mark shows in the list; a name that is not there is named and stops nothing."""
    assert (
        filed.call("processed", "1", "2", "--verdict", "fixed", "--ref", "abc", "--by", "me").text
        == "2 processed, 0 unchanged\n"
    )
    assert (
        filed.call("processed", "1", "2", "--verdict", "fixed").text == "0 processed, 2 unchanged\n"
    )
    assert ids(filed.call("list", "--unprocessed")) == ["3"]
    assert "fixed" in filed.call("list", "--verdict", "fixed").text
    assert (
        filed.call("processed", "1", "--undo", "--json").text
        == '{"processed":false,"updated":[1],"unchanged":[],"not_found":[]}\n'
    )
    partly = filed.call("processed", "1", "99", "0x")
    assert (partly.status, partly.text) == (1, "1 processed, 0 unchanged\n")
    assert [line for line in partly.err.splitlines() if "99" in line or "0x" in line] == [
        f"agentfeedback processed: there is no report {name}; agentfeedback list shows them."
        for name in ("0x", "99")
    ]
    assert ids(filed.call("list", "--processed")) == ["2", "1"]
    assert filed.call("processed", "1", "--verdict", "Not A Token").status == 2


def test_redacting_needs_a_word(filed: Any) -> None:
    """Without it nothing happens; with it the content is gone."""
    assert filed.call("redact", "1").status == 2
    assert filed.call("redact", "1", "--yes").text == "1 redacted\n"
    assert json.loads(filed.call("show", "1", "--json").text)["payload"] == {"redacted": True}
    assert ids(filed.call("list", "--redacted")) == ["1"]


def test_numbers_are_tables(filed: Any) -> None:
    """Totals, groups, days, and what was filed more than once; the client's own test reports do not count."""
    filed.submit("friction", "--summary", "one", "--category", "docs", "--key", "k9")
    filed.submit("install-check", "--stdin", stdin=b"{}")
    filed.call("redact", "2", "--yes")
    out = filed.call("stats", "--by", "kind,category", "--bucket", "day", "--top", "1").text
    head, groups, days, recurring = out.split("\n\n")
    assert head == "4 filed, 4 not processed"
    assert groups.splitlines()[1].split() == ["friction", "docs", "2", "2"]
    assert days.splitlines()[1].split()[1:] == ["4", "4"]
    assert recurring.splitlines()[1].split() == ["2", "1-4", "friction", "shop", "one"]
    found = json.loads(filed.call("stats", "--json", "--top", "0").text)
    assert found == {"total": 4, "open": 4, "processed": 0, "redacted": 1, "recurring": []}
    assert json.loads(filed.call("stats", "--json", "--kind", "install-check").text)["total"] == 1
    assert ids(filed.call("list")) == ["4", "3", "2", "1"]
    assert ids(filed.call("list", "--kind", "install-check")) == ["5"]


def test_reports_are_carried_to_another_home(filed: Any, tmp_path: Any) -> None:
    """An export to a new file, owner-only, imports elsewhere and once."""
    file = tmp_path / "reports.ndjson"
    assert filed.call("export", "--output", str(file)).status == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert filed.call("export", "--output", str(file)).status == 1
    elsewhere = {"XDG_DATA_HOME": str(tmp_path / "other")}
    assert filed.call("import", str(file), **elsewhere).text == "3 imported, 0 here already\n"
    assert (
        filed.call("import", "-", stdin=file.read_bytes(), **elsewhere).text
        == "0 imported, 3 here already\n"
    )
    notes = filed.call("export", "--kind", "note", **elsewhere).text.splitlines()
    assert [json.loads(line)["kind"] for line in notes[:-1]] == ["note", "note"]
    file.write_bytes(file.read_bytes()[:-5])
    broken = filed.call("import", str(file))
    assert broken.status == 1 and "line 5 of the export" in broken.err


def test_a_conflict_is_named_and_no_failure(filed: Any, tmp_path: Any) -> None:
    """Where a key names other content, the line, the uid and the report that has it."""
    file = tmp_path / "reports.ndjson"
    filed.call("export", "--output", str(file))
    elsewhere = {"XDG_DATA_HOME": str(tmp_path / "other")}
    filed.call("submit", "friction", "--summary", "other", "--key", "k2", **elsewhere)
    taken = filed.call("import", str(file), "--json", **elsewhere)
    (conflict,) = json.loads(taken.text)["conflicts"]
    assert taken.status == 0 and (conflict["line"], conflict["existing_id"]) == (3, 1)
    assert taken.err == (
        f"agentfeedback import: line 3: {conflict['uid']} was not imported, its key is that of"
        " other content: report 1.\n"
    )
    again = filed.call("import", str(file), **elsewhere)
    assert (again.status, again.text) == (0, "0 imported, 3 here already\n")


@pytest.mark.parametrize(
    "words",
    [
        ("list", "x"),
        ("list", "--limit", "0"),
        ("list", "--since", "someday"),
        ("list", "--processed", "--unprocessed"),
        ("list", "--before", "1", "--after", "1"),
        ("list", "--local", "--server", "https://x"),
        ("stats", "--by", "nope"),
        ("show",),
        ("show", "not-a-uid"),
        ("export", "--after", "-1"),
        ("import",),
    ],
)
def test_a_wrong_command_line_is_told(filed: Any, words: tuple[str, ...]) -> None:
    """Exit 2, one sentence that names the command, nothing on standard output."""
    result = filed.call(*words)
    assert (result.status, result.text) == (2, "")
    assert result.err.startswith(f"agentfeedback {words[0]}: ") and result.err.count("\n") == 1


def test_a_configured_server_is_not_passed_over(filed: Any) -> None:
    """What is here is shown only where that is asked for."""
    environ = {"AGENT_FEEDBACK_URL": "https://x.example"}
    assert filed.call("list", **environ).status == 1
    assert ids(filed.call("list", "--local", **environ)) == ["3", "2", "1"]


def test_the_program_knows_these_commands(machine: Any) -> None:
    """They stand in the help and the completion of the whole program, and have help of their own."""
    overview = machine.call("--help").text
    script = machine.call("completion", "bash").text
    for name in ("submit", "list", "show", "processed", "redact", "stats", "export", "import"):
        assert f"\n  {name} " in overview and f"_agentfeedback_{name}_option_strings=(" in script
        shown = machine.call(name, "-h")
        assert shown.status == 0 and shown.text.startswith(f"usage: agentfeedback {name} ")
    assert "did you mean agentfeedback submit?" in machine.call("submti").err
