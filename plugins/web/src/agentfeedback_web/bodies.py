"""Bodies of requests: bounded before they are read, and JSON of an exact shape."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, TypeVar, get_origin

import anyio
import attrs
from cattrs import BaseValidationError, Converter, ForbiddenExtraKeysError
from cattrs.cols import list_structure_factory
from cattrs.errors import AttributeValidationNote, IterableValidationNote
from cattrs.gen import make_dict_structure_fn
from starlette.requests import Request

from agentfeedback.foundation.json_text import NotJson, Number, parse, pointer
from agentfeedback_web.answers import HttpError, bad_request, invalid, too_large, unavailable

T = TypeVar("T")
#: How long a body may take to arrive, in seconds.
READ_S = 60
#: A body up to this many bytes is read at once; of larger ones so many are in memory at a time.
SMALL, LARGE_AT_A_TIME = 1 << 18, 4
#: How long a large one waits for its turn, in seconds.
TURN_S = 8


async def read(request: Request, limit: int) -> bytes:
    """The body, at most `limit` bytes. One that says it is longer is refused before any of it is read.

    Raises `HttpError`.
    """
    problem = f"the body is larger than {limit} bytes"
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise too_large(problem)
    pieces = []
    size = 0
    try:
        with anyio.fail_after(READ_S):
            async for piece in request.stream():
                size += len(piece)
                if size > limit:
                    raise too_large(problem)
                pieces.append(piece)
    except TimeoutError:
        raise HttpError(408, "bad_request", f"the body took more than {READ_S} seconds") from None
    return b"".join(pieces)


@asynccontextmanager
async def room(request: Request, limit: int, *, large: bool = False) -> AsyncIterator[None]:
    """Wait for a turn where the body may be large; few are in memory at a time, so that many clients need no more.

    `large` says that the work is, whatever the body. Raises `HttpError`: 503 where the turn does not come.
    """
    length = request.headers.get("content-length", "")
    expected = int(length) if length.isdecimal() else limit
    if not large and min(expected, limit) <= SMALL:
        yield
        return
    turns: anyio.Semaphore = request.scope["state"]["large_bodies"]
    try:
        with anyio.fail_after(TURN_S):
            await turns.acquire()
    except TimeoutError:
        raise unavailable("other large requests take too long") from None
    try:
        yield
    finally:
        turns.release()


def fitted(body: bytes, shape: type[T]) -> T:
    """The JSON object of a body as an object of the attrs class `shape`.

    Nothing is coerced, null is not a value, and there is no other member; one that may be missing has a
    default. A field may be a text, a whole number, a truth value, an object, or a list of these or of
    shapes; numbers within an object stay as they are spelled.

    Raises:
        HttpError: 400 `bad_request`, or `validation_error` with the pointer of the first fault.
    """
    try:
        document = parse(body)
    except NotJson as error:
        raise bad_request(f"the body is refused: {error}") from None
    if not isinstance(document.value, dict):
        raise bad_request("the body is not a JSON object")
    if document.duplicates:
        where = pointer(document.duplicates[0])
        raise invalid("duplicate_key", where, f"{where} is given more than once")
    try:
        return _converter().structure(document.value, shape)
    except BaseValidationError as error:
        raise _fault(error, ()) from None


class _Wrong(Exception):
    def __init__(self, code: str, problem: str) -> None:
        super().__init__(code, problem)
        self.code = code
        self.problem = problem


@cache
def _converter() -> Converter:
    converter = Converter()

    def shapes(shape: type[Any]) -> Callable[[Any, Any], Any]:
        make = make_dict_structure_fn(shape, converter, _cattrs_forbid_extra_keys=True)
        return lambda value, _: make(_kind(value, dict, "an object"), shape)

    def lists(shape: type[Any]) -> Callable[[Any, Any], Any]:
        make = list_structure_factory(shape, converter)
        return lambda value, _: make(_kind(value, list, "an array"), shape)

    converter.register_structure_hook_factory(attrs.has, shapes)
    converter.register_structure_hook_factory(_is_list, lists)
    for kind, name in ((str, "a string"), (bool, "true or false"), (dict, "an object")):
        converter.register_structure_hook(kind, _check(kind, name))
    converter.register_structure_hook(int, lambda value, _: _whole(value))
    return converter


def _is_list(shape: Any) -> bool:
    return get_origin(shape) is list


def _check(kind: type[Any], name: str) -> Callable[[Any, Any], Any]:
    return lambda value, _: _kind(value, kind, name)


def _kind(value: Any, kind: type[Any], name: str) -> Any:
    if not isinstance(value, kind):
        raise _Wrong("type_mismatch", f"is not {name}")
    return value


def _whole(value: Any) -> int:
    """A number as it is spelled: digits alone, so few of them that any 64-bit integer holds it."""
    text = value.text if isinstance(value, Number) else ""
    if not text.isdecimal() or (len(text) > 1 and text[0] == "0"):
        raise _Wrong("type_mismatch", "is not a whole number from 0 on")
    if len(text) > 18:
        raise _Wrong("out_of_range", "is too large")
    return int(text)


def _fault(error: BaseException, path: tuple[str, ...]) -> HttpError:
    """The first fault that cattrs found, with the path it noted on the way down."""
    if isinstance(error, ForbiddenExtraKeysError):
        name = min(error.extra_fields)
        return invalid("unknown_field", pointer((*path, name)), f"there is no member {name}")
    if isinstance(error, BaseValidationError):
        first = error.exceptions[0]
        for note in getattr(first, "__notes__", ()):
            if isinstance(note, AttributeValidationNote):
                path = (*path, note.name)
            elif isinstance(note, IterableValidationNote):
                path = (*path, str(note.index))
        return _fault(first, path)
    shown = pointer(path)
    if isinstance(error, KeyError):
        return invalid("required", shown, f"{shown} is required")
    if isinstance(error, _Wrong):
        return invalid(error.code, shown, f"{shown} {error.problem}")
    raise error
