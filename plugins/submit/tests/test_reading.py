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
    return [line.split()[0] for line in result.out.splitlines()[1:]]


def test_a_list_is_a_table_newest_first(filed: Any) -> None:
    """Each report is a line; nothing that was filed reaches the terminal raw."""
    result = filed.run("list")
    assert ids(result) == ["3", "2", "1"]
    assert "\x1b" not in result.out and "two\\x1b[31m" in result.out


def test_a_list_is_narrowed_and_paged(filed: Any) -> None:
    """Filters are flags; what is left out is told with the flag that shows it."""
    assert ids(filed.run("list", "--kind", "friction")) == ["2", "1"]
    assert ids(filed.run("list", "--search", "TWO")) == ["2"]
    assert ids(filed.run("list", "--exclude-kind", "note", "--since", "1h")) == ["2", "1"]
    assert ids(filed.run("list", "--until", "1h")) == []
    page = filed.run("list", "--limit", "2")
    assert ids(page) == ["3", "2"] and "--before 2" in page.err
    assert ids(filed.run("list", "--before", "2")) == ["1"]
    page = filed.run("list", "--after", "0", "--limit", "2")
    assert ids(page) == ["1", "2"] and "--after 2" in page.err


def test_json_is_the_answer_of_the_api(filed: Any) -> None:
    """Members as the API has them, numbers as they were filed."""
    result = filed.run("list", "--json", "--payload", "--limit", "1")
    assert '"n":1.50' in result.out
    assert json.loads(result.out)["total"] == 3


def test_a_report_is_shown_by_id_and_by_uid(filed: Any) -> None:
    """As text with every line made visible, or as its record."""
    record = json.loads(filed.run("show", "3", "--json").out)
    text = filed.run("show", record["uid"].upper()).out
    assert "summary: three" in text and "\x1b" not in text
    assert "  t: a\n    b\\x1b\n" in text
    both = filed.run("show", "3", "2").out
    assert both == text + "\n" + filed.run("show", "2").out and not both.endswith("\n\n")
    missing = filed.run("show", "3", "99")
    assert (missing.status, missing.out) == (1, "") and "99" in missing.err


def test_reports_are_processed_and_taken_back(filed: Any) -> None:
    """A mark shows in the list; all that are named are marked or none."""
    assert (
        filed.run("processed", "1", "2", "--verdict", "fixed", "--ref", "abc", "--by", "me").out
        == "2 processed, 0 unchanged\n"
    )
    assert (
        filed.run("processed", "1", "2", "--verdict", "fixed").out == "0 processed, 2 unchanged\n"
    )
    assert ids(filed.run("list", "--unprocessed")) == ["3"]
    assert "fixed" in filed.run("list", "--verdict", "fixed").out
    assert (
        filed.run("processed", "1", "--undo", "--json").out
        == '{"processed":false,"updated":1,"unchanged":0,"not_found":[]}\n'
    )
    assert filed.run("processed", "1", "99").status == 1
    assert ids(filed.run("list", "--processed")) == ["2"]
    assert filed.run("processed", "1", "--verdict", "Not A Token").status == 2


def test_redacting_needs_a_word(filed: Any) -> None:
    """Without it nothing happens; with it the content is gone."""
    assert filed.run("redact", "1").status == 2
    assert filed.run("redact", "1", "--yes").out == "1 redacted\n"
    assert json.loads(filed.run("show", "1", "--json").out)["payload"] == {"redacted": True}
    assert ids(filed.run("list", "--redacted")) == ["1"]


def test_numbers_are_tables(filed: Any) -> None:
    """Totals, groups and buckets."""
    out = filed.run("stats", "--by", "kind,category", "--bucket", "day", "--top", "1").out
    assert out.startswith("3 filed, 3 not processed\n") and "(other)" in out
    assert json.loads(filed.run("stats", "--json").out) == {"total": 3, "unprocessed": 3}


def test_reports_are_carried_to_another_home(filed: Any, tmp_path: Any) -> None:
    """An export to a new file, owner-only, imports elsewhere and once."""
    file = tmp_path / "reports.ndjson"
    assert filed.run("export", "--output", str(file)).status == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert filed.run("export", "--output", str(file)).status == 1
    elsewhere = {"XDG_DATA_HOME": str(tmp_path / "other")}
    assert filed.run("import", str(file), **elsewhere).out == "3 imported, 0 here already\n"
    assert (
        filed.run("import", "-", stdin=file.read_bytes(), **elsewhere).out
        == "0 imported, 3 here already\n"
    )
    assert filed.run("export", "--kind", "note", **elsewhere).out.count('"kind":"note"') == 1
    file.write_bytes(file.read_bytes()[:-5])
    assert filed.run("import", str(file)).status == 1


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
    result = filed.run(*words)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"agentfeedback {words[0]}: ") and result.err.count("\n") == 1


def test_a_configured_server_is_not_passed_over(filed: Any) -> None:
    """What is here is shown only where that is asked for."""
    environ = {"AGENT_FEEDBACK_URL": "https://x.example"}
    assert filed.run("list", **environ).status == 1
    assert ids(filed.run("list", "--local", **environ)) == ["3", "2", "1"]


def test_the_program_knows_these_commands(machine: Any) -> None:
    """They stand in the help and the completion of the whole program, and have help of their own."""
    overview = machine.run("--help").err
    script = machine.run("completion", "bash").out
    for name in ("submit", "list", "show", "processed", "redact", "stats", "export", "import"):
        assert f"\n  {name} " in overview and f"_agentfeedback_{name}_option_strings=(" in script
        shown = machine.run(name, "-h")
        assert shown.status == 0 and shown.err.startswith(f"usage: agentfeedback {name} ")
    assert "did you mean submit?" in machine.run("submti").err
