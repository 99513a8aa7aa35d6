"""JSON of ours that goes through the SDK as text, since the SDK would parse it and write it again. Pure.

Read as Python reads JSON, `1.50` is another number, a name given twice is given once, and a report
filed here would differ from the same one filed by the command. So the arguments of a call arrive as
the text they were written in, and structured content leaves as the text it is.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from attrs import frozen
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from agentfeedback.foundation.canonical import quoted, text
from agentfeedback.foundation.json_text import NotJson, TooDeep, members, parse, text_bytes

#: The one member of the object that stands for JSON of ours.
_MEMBER = "verbatim"
#: Bytes of a line that is not JSON in which its id is looked for.
_SCANNED = 64 << 10
_NO_REQUEST = "the line is not a request of JSON-RPC"
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.DOTALL)
_ID = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"|-?(?:0|[1-9][0-9]*)')
#: Deeper than a report may be, so that one that is too deep gets that answer.
_DEPTH = 1 << 20
#: Readers of JSON refuse much deeper values, and with them the whole message.
_STRUCTURED_DEPTH = 100


@frozen
class Incoming:
    """A message for the SDK, or, where there is none, the `refusal` of a line that the client waits on.

    Where no id can be read nobody could take the answer: there is a `problem` instead, for the log.
    `request` is the id of a request that has to be answered, `cancelled` that of one that must not be.
    """

    message: JSONRPCMessage | None
    request: str = ""
    cancelled: str = ""
    refusal: str = ""
    problem: str = ""


def incoming(line: bytes) -> Incoming:
    """A line of a client, the arguments of a call as text in it; what is not a request is left as it is."""
    line = line.removeprefix(codecs.BOM_UTF8)
    if not line.strip():
        return Incoming(None)
    shown = line.decode("utf-8", "replace")
    try:
        found = members(line, depth=_DEPTH)
    except TooDeep:
        return _refused(scanned_id(line), -32700, "nested too deeply")
    except NotJson as error:
        return _refused(scanned_id(line), -32700, f"the line is refused: {error}")
    if found is None:
        return _batch(line)
    message = dict(found)
    method, id = _scalar(message.get("method")), _id(message.get("id"))
    params = _members(text_bytes(message.get("params", "null")))
    if method == "notifications/cancelled" and params is not None:
        return Incoming(_message(shown), cancelled=_id(params.get("requestId")))
    if message.get("jsonrpc") != '"2.0"' or not isinstance(method, str) or not id:
        # An answer, or a notification, which has no member `id`: null is not the same.
        named = isinstance(method, str) and "id" in message
        other = None if named else _message(shown)
        return (
            _refused(message.get("id"), -32600, _NO_REQUEST) if other is None else Incoming(other)
        )
    if method == "tools/call" and params is not None and "arguments" in params:
        params["arguments"] = json.dumps(wrapped(text_bytes(params["arguments"])))
        message["params"] = _object(params)
        shown = text_bytes(_object(message)).decode("utf-8", "replace")
    request = _message(shown)
    if request is None:
        return _refused(message["id"], -32600, _NO_REQUEST)
    return Incoming(request, request=id)


def scanned_id(line: bytes) -> str | None:
    """The id of an object that need not be JSON, as it is written: the value of the outermost member `id`.

    Only the first 64 KiB are looked at. None where there is no such member, or its value is neither a
    string nor a whole number.
    """
    depth, before, name, found = 0, b"", b"", None
    for match in _TOKENS.finditer(line[:_SCANNED]):
        token = match[0]
        if not before and token != b"{":
            return None
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and before in (b"{", b","):
            name = token
        elif depth == 1 and before == b":" and name == b'"id"' and _ID.fullmatch(token):
            found = token
        before = token
    return None if found is None else found.decode("utf-8", "replace")


def _batch(line: bytes) -> Incoming:
    """The refusal of JSON that is not an object: of a list one for each element with an id."""
    value = parse(line, depth=_DEPTH).value
    if value == []:
        return Incoming(None, refusal=_error("null", -32600, "a batch of nothing is not a request"))
    refusals = [
        _error(text(each["id"]).strip(), -32600, "batches are not served")
        for each in (value if isinstance(value, list) else ())
        if isinstance(each, dict) and _id(text(each.get("id")))
    ]
    if refusals:
        return Incoming(None, refusal="".join(refusals))
    return _refused(None, -32600, _NO_REQUEST)


def _refused(id: str | None, code: int, problem: str) -> Incoming:
    """The refusal of a line with its id as it was written; a `problem` where there is none to answer to."""
    if id is None or not _ID.fullmatch(text_bytes(id)):
        return Incoming(None, problem=problem)
    return Incoming(None, refusal=_error(id, code, problem))


def outgoing(line: str) -> tuple[str, str]:
    """A line of the SDK with structured content as it is, and the id of the request that it answers."""
    message = _members(line.encode())
    if message is None or "method" in message:
        return line, ""
    id = _id(message.get("id"))
    result = _members(text_bytes(message.get("result", "null")))
    if result is None or "structuredContent" not in result:
        return line, id
    text = unwrapped(json.loads(result["structuredContent"]))
    if text is None:
        return line, id
    result["structuredContent"] = text.decode()
    message["result"] = _object(result)
    return _object(message) + "\n", id


def wrapped(text: bytes) -> dict[str, str]:
    """JSON as an object that carries it through the SDK."""
    return {_MEMBER: text.decode("latin-1")}


def unwrapped(carried: Any) -> bytes | None:
    """The JSON that an object carries; None where it carries none."""
    text = carried.get(_MEMBER) if isinstance(carried, dict) and len(carried) == 1 else None
    return text.encode("latin-1") if isinstance(text, str) else None


def structured(text: bytes) -> dict[str, str] | None:
    """The structured content of a result; None where it is nested so deeply that clients could not read it."""
    try:
        parse(text, depth=_STRUCTURED_DEPTH)
    except TooDeep:
        return None
    return wrapped(text)


def _members(data: bytes) -> dict[str, str] | None:
    try:
        found = members(data, depth=_DEPTH)
    except NotJson:
        return None
    return None if found is None else dict(found)


def _message(line: str) -> JSONRPCMessage | None:
    """The message that a line is; None where the SDK takes it for none."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


def _error(id: str, code: int, problem: str) -> str:
    """The answer to a line that the SDK does not get, with the id as it was written."""
    error = json.dumps({"code": code, "message": problem})
    shown = text_bytes(id).decode("utf-8", "replace")
    return f'{{"jsonrpc":"2.0","id":{shown},"error":{error}}}\n'


def _scalar(raw: str | None) -> Any:
    if raw is None or raw[0] in "{[":
        return None
    try:
        return json.loads(raw)
    except ValueError:  # a number of thousands of digits
        return None


def _id(raw: str | None) -> str:
    """An id as text: clients may send back a number as a string."""
    id = _scalar(raw)
    return str(id) if isinstance(id, int | str) and not isinstance(id, bool) else ""


def _object(raw: dict[str, str]) -> str:
    return "{" + ",".join(f"{quoted(name)}:{value}" for name, value in raw.items()) + "}"
