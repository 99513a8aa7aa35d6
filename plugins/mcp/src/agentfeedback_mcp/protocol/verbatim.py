"""JSON of ours that goes through the SDK as text, since the SDK would parse it and write it again. Pure.

Read as Python reads JSON, `1.50` is another number, a name given twice is given once, and a report
filed here would differ from the same one filed by the command. So the arguments of a call arrive as
the text they were written in, and structured content leaves as the text it is.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from agentfeedback.foundation.canonical import quoted
from agentfeedback.foundation.json_text import NotJson, TooDeep, members, parse, text_bytes

#: The one member of the object that stands for JSON of ours.
_MEMBER = "verbatim"
#: Deeper than a report may be, so that one that is too deep gets that answer.
_DEPTH = 1 << 20
#: Readers of JSON refuse much deeper values, and with them the whole message.
_STRUCTURED_DEPTH = 100


@frozen
class Incoming:
    """A message for the SDK, or, where there is none, the `refusal` of a line that the client waits on.

    A notification that is not of the protocol has neither: nobody waits for an answer to it.
    `request` is the id of a request that has to be answered, `cancelled` that of one that must not be.
    """

    message: JSONRPCMessage | None
    request: str = ""
    cancelled: str = ""
    refusal: str = ""


def incoming(line: bytes) -> Incoming:
    """A line of a client, the arguments of a call as text in it; what is not a request is left as it is."""
    shown = line.decode("utf-8", "replace")
    try:
        found = members(line, depth=_DEPTH)
    except NotJson as error:
        problem = f"the line is refused: {error}"
        return Incoming(None, refusal=_error(None, -32700, problem) if line.strip() else "")
    message = {} if found is None else dict(found)
    if message.get("jsonrpc") != '"2.0"':
        return Incoming(_message(shown))
    method, id = _scalar(message.get("method")), _id(message.get("id"))
    params = _members(text_bytes(message.get("params", "null")))
    if method == "notifications/cancelled" and params is not None:
        return Incoming(_message(shown), cancelled=_id(params.get("requestId")))
    if not isinstance(method, str) or not id:
        return Incoming(_message(shown))
    if method == "tools/call" and params is not None and "arguments" in params:
        params["arguments"] = json.dumps(wrapped(text_bytes(params["arguments"])))
        message["params"] = _object(params)
        shown = text_bytes(_object(message)).decode("utf-8", "replace")
    request = _message(shown)
    if request is None:
        number = _scalar(message["id"])
        return Incoming(
            None, refusal=_error(number, -32600, "the line is not a request of JSON-RPC")
        )
    return Incoming(request, request=id)


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


def _error(id: Any, code: int, problem: str) -> str:
    """The answer to a line that the SDK does not get; an id that cannot be read counts as absent."""
    error = {"code": code, "message": problem}
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": error}) + "\n"


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
