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
    """What is not a message of the protocol is dropped as the SDK drops it; what is not JSON is answered."""
    found = incoming(data)
    assert found.request == found.cancelled == ""
    try:
        json.loads(data.decode("utf-8", "surrogateescape"), parse_constant=int)
    except ValueError:
        assert found.message is None
        assert not data.strip() or json.loads(found.refusal)["error"]["code"] == -32700
    else:
        assert (found.message, found.refusal) == (None, "")


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


def test_an_id_of_any_length_is_no_trouble() -> None:
    """What is larger than any number is not an id, and the line nobody's request."""
    line = b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % (b"9" * 5000)
    assert incoming(line).request == ""


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
