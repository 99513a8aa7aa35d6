"""The laws of the reader contract, on databases written here."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from attrs import evolve

from agentfeedback.reading.log import RowLog
from agentfeedback.state.watermark import SessionRow, compare
from agentfeedback.wire.encode import plain
from agentfeedback_opencode.reader import OpenCodeV1

OF_EACH_TYPE = [None, True, 7, -1.5, 1e300, "text", [], [7, None, {}], {}, {"a": {"b": []}}]
ABORTED = {"name": "MessageAbortedError"}


def rows_v1(opencode: Any) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Messages with their parts, one of every kind that is told apart."""
    time, tool = {"created": 5, "completed": 6}, opencode.tool
    assistant = {"role": "assistant", "time": time, "modelID": "m", "path": {"cwd": "/srv/app"}}
    said = {"type": "text", "text": "said", "synthetic": False}
    note = "<shell_metadata>User aborted the command"
    return [
        ({"role": "user", "time": {"created": 1}}, [{"type": "text", "text": "wrong"}]),
        (assistant, [said, tool(output="x", metadata={"exit": 2}), {"type": "patch", "hash": "h"}]),
        (
            assistant | {"error": ABORTED},
            [tool("error", error="no", metadata={"interrupted": True})],
        ),
        (assistant, [tool(output=note, metadata={"exit": None}), tool(name="invalid", output="")]),
        (assistant | {"error": ABORTED}, [{"type": "reasoning", "text": "hm"}]),
    ]


def rows_v2() -> list[tuple[str, dict[str, Any]]]:
    """Messages by type, one of every kind that is told apart."""
    state = {"status": "completed", "input": {"command": "x"}, "metadata": {"exit": 3}}
    state["content"] = [{"type": "text", "text": "t"}]
    tool = {"type": "tool", "id": "c", "name": "shell", "state": state, "time": {"created": 4}}
    failed = {**tool, "state": {"status": "error", "error": {"type": "aborted", "message": "m"}}}
    time = {"created": 3, "completed": 4}
    return [
        ("user", {"text": "go", "time": {"created": 1}}),
        ("assistant", {"content": [tool, failed], "time": time, "model": {"id": "m"}}),
        ("location-switched", {"location": {"directory": "/srv/b"}, "previous": "/srv/a"}),
        ("idle", {"outcome": "interrupted"}),
    ]


def mutations(value: Any) -> Iterator[Any]:
    """The value with each member, at any depth, replaced by each type of JSON or left out."""
    yield from OF_EACH_TYPE
    if isinstance(value, dict):
        for name, member in value.items():
            yield {key: each for key, each in value.items() if key != name}
            for mutated in mutations(member):
                yield value | {name: mutated}
    if isinstance(value, list):
        for index, item in enumerate(value):
            for mutated in mutations(item):
                yield [*value[:index], mutated, *value[index + 1 :]]


def test_each_member_of_each_type_v1(store: Any, opencode: Any) -> None:
    """Whatever a member of a row turns into, nothing raises and every line laid out is an entry, a text or unparsed."""
    database = store.database()
    database.connection.execute("BEGIN")
    number = 0
    for message, parts in rows_v1(opencode):
        variants = [(mutated, parts) for mutated in mutations(message)]
        for index, part in enumerate(parts):
            variants += [
                (message, [*parts[:index], mutated, *parts[index + 1 :]])
                for mutated in mutations(part)
            ]
        for changed, with_parts in variants:
            number += 1
            id = f"ses_{number}"
            database.session(id)
            database.message(f"m{number}", json.dumps(changed), session=id)
            for index, part in enumerate(with_parts):
                database.part(f"p{number}-{index}", f"m{number}", json.dumps(part), session=id)
            # makes it final, whatever it is
            database.message(f"n{number}", {"role": "assistant", "time": {"completed": 1}}, id)
    database.connection.execute("COMMIT")
    sessions, _ = store.find()
    assert len(sessions) == number > 1000
    for session in sessions.values():
        lines = store.lines_of(session)
        counts = opencode.told_of(RowLog(iter(lines))).counts()
        texts = sum(b'"type":"text"' in line for line in lines)
        assert len(lines) - texts <= counts.entries + counts.unparsed <= len(lines)
        assert 1 <= len(lines)


def test_each_member_of_each_type_v2(store: Any, opencode: Any) -> None:
    """The same holds for OpenCode 2, where every line is an entry or unparsed."""
    database = store.database(sql="v2.sql")
    database.connection.execute("BEGIN")
    number = 0
    for type, data in rows_v2():
        for changed in mutations(data):
            number += 1
            id = f"ses_{number}"
            database.session(id, table="session_v2")
            row = {"session_id": id, "time_created": 0, "time_updated": 0}
            changed_row = {"id": f"m{number}", "type": type, "seq": 1, "data": json.dumps(changed)}
            database.put("session_message", **row, **changed_row)
            last = {"id": f"n{number}", "type": "assistant", "seq": 2, "data": "{}"}
            database.put("session_message", **row, **last)
    database.connection.execute("COMMIT")
    sessions, _ = store.find("opencode-v2")
    assert len(sessions) == number > 400
    for session in sessions.values():
        lines = store.lines_of(session)
        counts = opencode.told_of(RowLog(iter(lines)), "opencode-v2").counts()
        assert counts.entries + counts.unparsed == len(lines) == 1


def filled(store: Any, opencode: Any) -> Any:
    database = store.database()
    database.session()
    for number, (message, parts) in enumerate(rows_v1(opencode) * 2):
        database.message(f"m{number}", message)
        for index, part in enumerate(parts):
            database.part(f"p{number}-{index}", f"m{number}", part)
    return database


def check_prefixes(opencode: Any, lines: list[bytes]) -> None:
    """Cut between messages, a log tells of these lines what the whole one tells."""
    whole = opencode.told_of(RowLog(iter(lines)))
    shown = opencode.view(whole)
    for count in range(len(lines) + 1):
        if count < len(lines) and json.loads(lines[count]).get("kind") != "message":
            continue
        end = sum(len(line) + 1 for line in lines[:count])
        cut = opencode.view(opencode.told_of(RowLog(iter(lines[:count]))))
        assert cut == [each for each in shown if each[0] < end]
        rest = opencode.told_of(RowLog(iter(lines)), start=end).counts()
        before = opencode.told_of(RowLog(iter(lines[:count]))).counts()
        added = {name: plain(before)[name] + plain(rest)[name] for name in plain(before)}
        assert added == plain(whole.counts())


def test_prefix_law(store: Any, opencode: Any) -> None:
    """A log cut between two messages tells a prefix of the whole, and its counts and the rest's add up."""
    filled(store, opencode)
    check_prefixes(opencode, store.lines())


def test_read_twice(store: Any, opencode: Any) -> None:
    """Two readings give the same lines and tell the same."""
    filled(store, opencode)
    session = store.find()[0]["ses_1"]
    assert store.lines_of(session) == store.lines_of(session) == store.lines()
    assert opencode.view(store.told(session)) == opencode.view(store.told(session))


def test_later_rewrites_do_not_change_the_log(store: Any, opencode: Any) -> None:
    """What the harness rewrites of complete rows is not part of a line."""
    database = filled(store, opencode)
    before = store.lines()
    for number, (message, parts) in enumerate(rows_v1(opencode) * 2):
        rewritten = copy.deepcopy(message) | {"summary": {"diffs": [1]}, "cost": 7, "finish": "x"}
        if message["role"] == "user":
            rewritten["time"]["completed"] = 9
        query = "UPDATE message SET data = ?, time_updated = 1 WHERE id = ?"
        database.connection.execute(query, (json.dumps(rewritten), f"m{number}"))
        for index, part in enumerate(parts):
            later = copy.deepcopy(part) | {"time": {"start": 1, "end": 2}}
            if "state" in later:
                later["state"]["time"]["compacted"] = 8
                later["state"]["title"] = "x"
            query = "UPDATE part SET data = ? WHERE id = ?"
            database.connection.execute(query, (json.dumps(later), f"p{number}-{index}"))
    assert store.lines() == before


def test_undo_is_seen(store: Any, opencode: Any) -> None:
    """Where an undo deleted marked rows and others followed, the mark is not a record boundary: rotated, not appended."""
    database = filled(store, opencode)
    marked = sum(len(line) + 1 for line in store.lines())
    row = SessionRow("opencode-v1", "ses_1", "", 0, 0, "", processed_at=1, processed_size=marked)

    def state() -> tuple[str, str]:
        log = OpenCodeV1().open(store.find()[0]["ses_1"])
        opencode.told_of(log)
        log.close()
        found = compare(evolve(row, processed_head=log.head), log.size, log.head, log.boundary)
        return found.state, found.reason

    assert state() == ("processed", "")
    database.user("n1", "more")
    assert state() == ("changed", "appended")
    database.connection.execute("DELETE FROM message WHERE id IN ('m9', 'm8')")
    assert state() == ("changed", "truncated")
    for number in range(40):
        database.user(f"o{number:03d}", "more")
    assert state() == ("changed", "rotated")


def test_deep_nesting(store: Any, opencode: Any) -> None:
    """500 levels of nesting are laid out as they are; a hundred thousand make one unparsed line."""
    for depth, unparsed in ((500, 0), (100_000, 1)):
        database = store.database(f"opencode-{depth}.db")
        database.session(f"ses_{depth}")
        nested = '{"type":"tool","tool":"x","state":{"status":"completed","input":%s}}'
        database.message("m", {"role": "user"}, session=f"ses_{depth}")
        database.part("p", "m", nested % ("[" * depth + "]" * depth), session=f"ses_{depth}")
        counts = store.read(f"ses_{depth}").counts()
        assert (counts.unparsed, counts.tool_calls) == (unparsed, 1 - unparsed)
