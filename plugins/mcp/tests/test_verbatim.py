"""JSON carried through the SDK as text: nothing of it changes, and nothing else of a line does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.errors import UsageError
from agentfeedback.plugins.host import Host
from agentfeedback_mcp.protocol.verbatim import incoming, outgoing, structured, unwrapped, wrapped
from agentfeedback_mcp.tools.arguments import Argument, read
from agentfeedback_submissions.response import ApiError

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TEXTS = st.builds(
    lambda value, indent, escaped: json.dumps(value, indent=indent, ensure_ascii=escaped),
    JSON,
    st.sampled_from([None, 1]),
    st.booleans(),
).map(lambda text: text.replace("\n", " ").encode("utf-8", "surrogatepass"))


@given(TEXTS, st.integers() | st.text(min_size=1, max_size=9))
def test_arguments_arrive_as_they_were_written(text: bytes, id: Any) -> None:
    """Whatever they are, the SDK sees an object that gives them back byte for byte."""
    line = b'{"jsonrpc":"2.0", "id":%s ,"method":"tools/call","params":{"_meta":{"a":1.0},"arguments":%s,"name":"n"}}\n'
    found = incoming(line % (json.dumps(id).encode(), text))
    assert found.message is not None
    message = json.loads(found.message.model_dump_json(by_alias=True, exclude_unset=True))
    assert unwrapped(message["params"].pop("arguments")) == text.strip()
    assert message["params"] == {"_meta": {"a": 1.0}, "name": "n"}
    assert (message["id"], found.request) == (id, str(id))


@given(JSON, st.integers())
def test_structured_content_leaves_as_it_is(value: Any, id: int) -> None:
    """What stands in its place is replaced by its text, and the id of what is answered is reported."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    result = {"content": [], "structuredContent": wrapped(text), "isError": False}
    line, answered = outgoing(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}) + "\n")
    assert line.endswith("\n") and line.count("\n") == 1
    assert f'"structuredContent":{text.decode()},' in line
    assert json.loads(line)["result"].keys() == result.keys() and answered == str(id)


@given(st.binary() | TEXTS)
def test_any_bytes_are_a_line(data: bytes) -> None:
    """What is not a message of the protocol goes nowhere: it is answered by its id, or a problem for the log."""
    found = incoming(data)
    assert found.request == found.cancelled == "" and found.message is None
    assert bool(found.refusal) != bool(found.problem) or not data.removeprefix(BOM).strip()


BOM = b"\xef\xbb\xbf"
LINES = [
    # What is not JSON, with the id that a scan finds.
    (b'{"id":6,"method":"ping"', "6", -32700),
    (b'{"jsonrpc":"2.0","method":"x","params":{"id":1,"v":NaN},"id":"a\\"b"}', '"a\\"b"', -32700),
    (b'{"id":NaN,"id":7,"x":tru}', "7", -32700),
    (b'{"id":%s,}' % (b"9" * 5000), "9" * 5000, -32700),
    (b'{"jsonrpc":"2.0","id":5,"method":"x","params":%s}' % (b"[" * (1 << 21)), "5", -32700),
    (BOM + b'{"id":6,', "6", -32700),
    # JSON that is not a request.
    (b'{"id":1}', "1", -32600),
    (b'{"jsonrpc":"1.0","id":2,"method":"ping"}', "2", -32600),
    (b'{"jsonrpc":"2.0","id":3,"method":5}', "3", -32600),
    (b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % (b"9" * 5000), "9" * 5000, -32600),
    (b"[]", "null", -32600),
    (b'[{"id":1,"method":"ping","jsonrpc":"2.0"}]', "1", -32600),
    # Nothing to answer to.
    (b'{"id":1.5,"x":NaN}', None, 0),
    (b'{"a":{"id":1},"x":NaN}', None, 0),
    (b'["id",1,NaN]', None, 0),
    (b'{"x":"%s","id":1,' % (b"y" * 65536), None, 0),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, 0),
    (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None, 0),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, 0),
    (b"[1,[],{}]", None, 0),
    (b"5", None, 0),
    (b"hello", None, 0),
]


@pytest.mark.parametrize(("line", "id", "code"), LINES)
def test_a_line_that_is_not_a_request_is_answered_where_it_has_an_id(
    line: bytes, id: str | None, code: int
) -> None:
    """The id comes back as it was written; without one there is only a problem for the log."""
    found = incoming(line)
    assert found.message is None and found.request == ""
    if id is None:
        assert (found.refusal, bool(found.problem)) == ("", True)
        return
    assert found.problem == ""
    assert f'"id":{id},"error":{{"code": {code},' in found.refusal


def test_each_request_of_a_batch_is_refused() -> None:
    """One answer for each that has an id."""
    found = incoming(b'[{"id":1},5,{"id":"a"},{"id":null},{}]')
    told = [json.loads(line) for line in found.refusal.splitlines()]
    assert [(each["id"], each["error"]["code"]) for each in told] == [(1, -32600), ("a", -32600)]


def test_a_byte_order_mark_before_a_line_is_dropped() -> None:
    """The request is served."""
    found = incoming(BOM + b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert (found.request, found.refusal, found.problem) == ("1", "", "")
    assert found.message is not None


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[]}', 6),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":1}', "a"),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\ud800"}}', 7),
        (
            b'{"jsonrpc":"2.0","id":8,"method":"x","params":%s}'
            % (b'{"a":' * 300 + b"{}" + b"}" * 300),
            8,
        ),
    ],
)
def test_a_request_that_the_sdk_would_drop_is_refused(line: bytes, id: Any) -> None:
    """Nobody waits for an answer that never comes: it is given here, with the id of the request."""
    found = incoming(line)
    assert (found.message, found.request) == (None, "")
    told = json.loads(found.refusal)
    assert (told["id"], told["error"]["code"]) == (id, -32600)


def test_cancelled_requests_are_told() -> None:
    """An id may come back as another type."""
    line = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'
    assert incoming(line).cancelled == "7"
    assert outgoing('{"jsonrpc":"2.0","method":"x","id":7}\n')[1] == ""


def test_deep_content_is_left_out() -> None:
    """A client's reader would refuse the whole message."""
    assert structured(b"[" * 101 + b"]" * 101) is None
    assert unwrapped(structured(b"[" * 100 + b"]" * 100)) == b"[" * 100 + b"]" * 100


def _never(host: Any, text: str) -> str:
    raise UsageError("--c is wrong", "pass --another")


ARGUMENTS = (
    Argument("a", "integer", "", required=True, least=1, most=5),
    Argument("c", "string", "", check=_never),
    Argument("d", "boolean", ""),
)


@pytest.mark.parametrize(
    ("text", "pointer", "code"),
    [
        (b'{"d":1,"c":"x"}', "?a", "required"),
        (b'{"d":1,"c":"x","a":6}', "?a", "out_of_range"),
        (b'{"d":1,"b":1,"a":1}', "?b", "unknown_field"),
        (b'{"d":1,"c":"x","a":1}', "?c", "invalid_format"),
        (b'{"d":1,"a":1,"a":2,"b":1}', "?a", "duplicate_key"),
        (b'{"d":1,"d":true,"a":1}', "?d", "duplicate_key"),
        (b'{"d":1,"a":1}', "?d", "type_mismatch"),
        (b'{"a":' + b"9" * 5000 + b"}", "?a", "out_of_range"),
        (b'{"a":1e0}', "?a", "type_mismatch"),
    ],
)
def test_the_first_error_by_name_is_told(text: bytes, pointer: str, code: str) -> None:
    """One detail, whatever else is wrong further on; flags of the command are not arguments."""
    with pytest.raises(ApiError) as refused:
        read(ARGUMENTS, text, Host({}))
    (detail,) = refused.value.details
    assert (detail.pointer, detail.code) == (pointer, code)
    if code == "invalid_format":
        assert detail.message == "c is wrong; pass another"
