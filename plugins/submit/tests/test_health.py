"""What `agentfeedback doctor` says of server, spool and log, without changing anything."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def doctor(machine: Any, **environ: str) -> dict[str, Any]:
    result = machine.call("doctor", "--json", **environ)
    found: dict[str, Any] = json.loads(result.text)
    assert result.status == (1 if found["problems"] else 0)
    return found


def remote(machine: Any, server: Any, answer: str = "") -> dict[str, Any]:
    url = f"{server.url}/{answer}".rstrip("/")
    return doctor(machine, AGENT_FEEDBACK_URL=url, AGENT_FEEDBACK_API_KEY=server.key)


def ours(found: dict[str, Any]) -> list[str]:
    """The problems that are not about what else is installed here."""
    others = ("session reader", "cannot be used")
    return [each for each in found["problems"] if not any(word in each for word in others)]


def files(machine: Any) -> dict[str, Any]:
    return {
        str(path): (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(machine.home.rglob("*"))
    }


def test_local_machine_is_asked_nothing(machine: Any) -> None:
    """No network call, and nothing is there yet."""
    found = doctor(machine)
    assert found["mode"] == "local" and found["meta"] == {
        "checked": False, "ok": False, "asked": False, "answered": False,
    }  # fmt: skip
    assert found["spool"] == {"pending": 0, "rejected": 0}
    assert found["recent"] == {"lines": [], "invalid": 0, "redacted": 0}
    assert ours(found) == []


def test_server_that_answers(machine: Any, server: Any) -> None:
    """One call, and what it says of versions and features."""
    found = remote(machine, server)
    assert found["meta"] == {
        "checked": True, "ok": True, "http_status": 200, "client_min_version": "0.1.0",
        "client_latest_known": "0.1.0", "asked": True, "answered": True, "min_version": "0.1.0",
        "latest_known": "0.1.0", "compare": "ok", "features": ["sessions.push"],
    }  # fmt: skip
    assert [(each.method, each.path) for each in server.requests] == [("GET", "/api/v1/meta")]
    assert ours(found) == []
    assert (found["url"], found["api_key"]) == (
        {"value": server.url, "source": "env"},
        {"set": True, "source": "env"},
    )
    server.meta = {"service_version": "1.2.3-rc.1", "api_version": 1, "client": {}}
    found = remote(machine, server)["meta"]
    assert (found["service_version"], found["api_version"]) == ("1.2.3-rc.1", "1")
    assert found["compare"] == "unknown"
    for wanted, compare in (("0.1.0-rc.1", "ok"), ("0.1", "ok"), ("0.1.1-rc.1", "too_old")):
        server.meta = {"client": {"min_version": wanted}}
        assert remote(machine, server)["meta"]["compare"] == compare
    server.meta = {"client": {"min_version": "0.10.0"}}
    found = remote(machine, server)
    assert found["meta"]["compare"] == "too_old" and "update agentfeedback" in ours(found)[0]
    server.meta = {"client": {"min_version": "\x1b[31m", "latest_known": 7}, "features": "all"}
    found = remote(machine, server)
    assert found["meta"] == {
        "checked": True, "ok": True, "http_status": 200, "asked": True, "answered": True, "compare": "unknown",
    }  # fmt: skip
    assert ours(found) == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("status-401", "unauthorized"),
        ("status-404", "wrong_url"),
        ("moved-302", "wrong_url"),
        ("status-503", "server_503"),
        ("no-json", "server_201"),
        ("closed", "network"),
    ],
)
def test_server_that_is_of_no_use(machine: Any, server: Any, answer: str, reason: str) -> None:
    """One problem with a remedy; it holds neither the key nor a word of the server."""
    found = remote(machine, server, answer)
    status = found["meta"].pop("http_status", None)
    assert status == (
        None if reason == "network" else int(answer[-3:]) if answer[-3:].isdigit() else 201
    )
    assert found["meta"] == {
        "checked": True, "ok": False, "asked": True, "answered": False, "reason": reason,
    }  # fmt: skip
    (problem,) = ours(found)
    assert "; " in problem and server.key not in json.dumps(found) and "it is so" not in problem
    assert len(server.requests) == 1


def test_setup_that_cannot_be_used_asks_nothing(machine: Any, server: Any) -> None:
    """A missing key, a URL that is none, a proxy that is none: one problem each, and no call."""
    for environ in (
        {"AGENT_FEEDBACK_URL": server.url},
        {"AGENT_FEEDBACK_URL": "https://u:hunter2@x.example", "AGENT_FEEDBACK_API_KEY": "k"},
        {"AGENT_FEEDBACK_URL": server.url, "AGENT_FEEDBACK_API_KEY": "two words"},
        {
            "AGENT_FEEDBACK_URL": "https://x.example",
            "AGENT_FEEDBACK_API_KEY": "k",
            "https_proxy": "socks5://u:hunter2@p",
        },
    ):
        found = doctor(machine, **environ)
        assert len(ours(found)) == 1 and found["meta"]["reason"] == "client_setup"
        assert "hunter2" not in json.dumps(found) and "two words" not in json.dumps(found)
    assert server.requests == []


def test_spool_and_log_are_counted_and_stay_as_they_are(machine: Any, server: Any) -> None:
    """Pending and refused reports, the last lines of the log without secrets; not a byte is changed."""
    to = {"AGENT_FEEDBACK_API_KEY": server.key}
    for number, answer in enumerate(["status-503", "status-503", "status-400"]):
        machine.call(
            "submit",
            "note",
            "--key",
            f"k{number}",
            AGENT_FEEDBACK_URL=f"{server.url}/{answer}",
            **to,
        )
    log: Path = machine.home / ".cache/agentfeedback/log/client.jsonl"
    secret = "ghp_" + "a" * 36
    with log.open("a") as file:
        file.write(f'no json\n[1]\n{{"outcome":"x","reason":"{secret} {server.key}"}}\n')
    # What the command itself keeps in the cache is not of interest.
    before = files(machine)
    found = remote(machine, server)
    assert files(machine) == before
    assert found["spool"] == {"pending": 2, "rejected": 1}
    recent = found["recent"]
    assert (len(recent["lines"]), recent["invalid"], recent["redacted"]) == (4, 2, 1)
    assert [line["outcome"] for line in recent["lines"]] == ["spooled", "spooled", "rejected", "x"]
    assert secret not in json.dumps(found) and server.key not in json.dumps(found)
    result = machine.call("doctor", **to)
    assert "spool      2 pending, 1 rejected" in result.text and "recent     4 lines" in result.text


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.touch(0o600)], ids=["fifo", "file"])
def test_what_stands_where_a_folder_belongs_is_a_problem(
    machine: Any, make: Callable[[Path], None]
) -> None:
    """Whatever its mode: the commands would see an empty folder there."""
    data = machine.database.parent
    data.mkdir(parents=True, exist_ok=True)
    for name in ("spool", "rejected", "inbox"):
        make(data / name)
    assert ours(doctor(machine)) == [
        f"{data / name} is not a directory; move it away" for name in ("spool", "rejected", "inbox")
    ]


def test_folders_open_to_others_are_problems(machine: Any) -> None:
    """Each with the command that closes it."""
    data = machine.database.parent
    for name in ("spool", "rejected", "inbox"):
        (data / name).mkdir(parents=True)
        os.chmod(data / name, 0o755)
    problems = ours(doctor(machine))
    assert sorted(problem.rpartition(" ")[2] for problem in problems) == sorted(
        str(data / name) for name in ("spool", "rejected", "inbox")
    )


def test_last_lines_alone_are_shown(machine: Any) -> None:
    """Of a long log the last ten; of one that cannot be read a problem."""
    log: Path = machine.home / ".cache/agentfeedback/log/client.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("".join(f'{{"outcome":"o{n}"}}\n' for n in range(5000)))
    lines = doctor(machine)["recent"]["lines"]
    assert [line["outcome"] for line in lines] == [f"o{n}" for n in range(4990, 5000)]
    log.unlink()
    log.mkdir()
    found = doctor(machine)
    assert found["recent"]["lines"] == [] and "cannot be read" in ours(found)[0]
