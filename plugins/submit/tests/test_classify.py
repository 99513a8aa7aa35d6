"""What an answer means, and how long a report waits: rules without a wire."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.json_text import Number
from agentfeedback_submissions.response import ApiResponse, unanswered
from agentfeedback_submit.delivery import backoff
from agentfeedback_submit.delivery.classify import PROBLEMS, Classification, classify

GOOD = {"submission": {"id": Number("7"), "kind": "note", "key": "k"}, "warnings": []}
WAITS = {"waits": True}
STOPS = {"stops": True}


def of(status: int, body: Any = None) -> Classification:
    return classify(ApiResponse(status, body), "note", "k")


@pytest.mark.parametrize("status", [200, 201])
def test_only_the_record_that_was_sent_is_a_delivery(status: int) -> None:
    """A positive id, the kind and the key are all named, or the report stays."""
    assert of(status, GOOD) == Classification("delivered")
    record = GOOD["submission"]
    assert isinstance(record, dict)
    for other in (
        {"id": Number("0")},
        {"id": Number("-1")},
        {"id": Number("1.0")},
        {"id": Number("1e3")},
        {"id": "7"},
        {"id": True},
        {"id": None},
        {"kind": "other"},
        {"kind": None},
        {"key": "other"},
        {"key": None},
    ):
        assert of(status, {"submission": record | other}) == Classification(
            "spool", "malformed_response", **WAITS
        )
    for body in (None, [], "x", {}, {"submission": []}, {"submission": None}):
        assert of(status, body) == Classification("spool", "malformed_response", **WAITS)


def test_server_that_scrubs_answers_with_the_same_report() -> None:
    """A kind or key in which it replaced a secret is the one that was sent; any other is not."""

    def scrub(text: str) -> str:
        return text.replace("secret", "[REDACTED]")

    for kind, key, same in (
        ("note", "[REDACTED]-1", True),
        ("note", "secret-1", True),
        ("note", "[REDACTED]-2", False),
        ("note", "", False),
        ("[REDACTED]", "secret-1", False),
        (None, "secret-1", False),
    ):
        body = {"submission": {"id": 1, "kind": kind, "key": key}}
        found = classify(ApiResponse(201, body), "note", "secret-1", scrub)
        assert (found.action == "delivered") == same
        assert classify(ApiResponse(201, body), "note", "secret-1").action == (
            "delivered" if key == "secret-1" and kind == "note" else "spool"
        )


@pytest.mark.parametrize("problem", PROBLEMS)
def test_database_says_what_is_wrong_with_it(problem: str) -> None:
    """Nothing else fares better there now; only for a newer one no wait would help."""
    body = {"error": "unavailable", "details": ["x", {"code": "odd"}, {"code": problem}]}
    waits = problem != "schema_too_new"
    assert of(503, body) == Classification("spool", problem, waits=waits, stops=True)
    assert of(500, body) == Classification("spool", "server_500", waits=True)


def test_record_without_a_key_answers_a_report_without_one() -> None:
    """The database of this machine also takes those, and leaves the member out."""
    assert classify(
        ApiResponse(201, {"submission": {"id": 1, "kind": "note"}}), "note", ""
    ) == Classification("delivered")


@pytest.mark.parametrize(
    ("statuses", "wanted"),
    [
        (
            (202, 203, 204, 206, 299, 100, 600, 999),
            Classification("spool", "malformed_response", **WAITS),
        ),
        ((429,), Classification("spool", "rate_limited", **WAITS)),
        ((401,), Classification("spool", "unauthorized", **STOPS)),
        ((404, 300, 301, 302, 304, 307, 308, 399), Classification("spool", "wrong_url", **STOPS)),
        ((409,), Classification("mismatch", "mismatch")),
        ((400, 402, 403, 405, 410, 413, 415, 422, 499), Classification("reject", "rejected")),
    ],
)
def test_each_row_of_the_table(statuses: tuple[int, ...], wanted: Classification) -> None:
    """A status has one meaning, also with the body of a delivery."""
    for status in statuses:
        assert of(status) == of(status, GOOD) == wanted


def test_failures_of_the_server_and_of_the_way_to_it() -> None:
    """408 and 5xx are named by their number; without any answer the pass ends."""
    for status in (408, 500, 502, 503, 599):
        assert of(status, GOOD) == Classification("spool", f"server_{status}", waits=True)
    for word in ("network", "timeout"):
        assert classify(unanswered(word), "note", "k") == Classification(
            "spool", word, waits=True, stops=True
        )


@given(st.integers(), st.sampled_from([None, GOOD, {}, [], "x"]))
def test_every_status_has_a_meaning(status: int, body: Any) -> None:
    """Nothing a server may say raises, and only its own record of the report makes it go."""
    if status == 0:
        return
    verdict = of(status, body)
    assert (verdict.action == "delivered") == (status in (200, 201) and body is GOOD)
    assert (verdict.action == "spool") == bool(verdict.waits or verdict.stops)


def test_wait_doubles_up_to_an_hour() -> None:
    """30 s, then twice as long each time, never more than an hour."""
    assert [backoff.wait(n) for n in range(1, 10)] == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    assert backoff.wait(10**9) == 3600 and backoff.wait(0) == backoff.wait(-5) == 30


@given(st.integers(0, 10**9), st.integers(0, 86_400))
def test_longer_wait_wins(attempts: int, asked: int) -> None:
    """A server's wish counts where it is longer than our own wait."""
    until = backoff.not_before(attempts, asked, 5)
    assert until == 5 + max(backoff.wait(attempts), asked) * 10**9
    assert until <= 5 + 86_400 * 10**9
