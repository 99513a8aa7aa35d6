"""JSON of others that must have a shape: answers of a server, records of an export, entries of a spool. Pure.

A shape is an attrs class whose fields are texts, whole numbers, truth values, objects, and lists of
these or of other shapes. Nothing is coerced, and null is not a value: a member that may be missing has
a default. cattrs is imported with the first value, so that only those pay for it who read such JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_origin

import attrs

from agentfeedback.foundation.json_text import Number

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")


class MisfitError(ValueError):
    """A value has another shape; the text names the member and what is wrong with it."""


def fitted(value: Any, shape: type[T], *, strict: bool = False) -> T:
    """Return a value of `json_text.parse` as an object of the shape; `strict` allows no other members.

    Raises:
        MisfitError: The first member that does not fit.
    """
    from cattrs import BaseValidationError, transform_error

    try:
        return _converter(strict).structure(value, shape)
    except BaseValidationError as error:
        faults = transform_error(error, path="", format_exception=_fault)
        problem, _, path = faults[0].rpartition(" @ ")
        raise MisfitError(f"{path.lstrip('.')} {problem}".strip()) from None
    except (TypeError, ValueError) as error:
        raise MisfitError(str(error)) from None


@cache
def _converter(strict: bool) -> Converter:
    from cattrs import Converter
    from cattrs.cols import list_structure_factory
    from cattrs.gen import make_dict_structure_fn

    converter = Converter()

    def shapes(shape: type[Any]) -> Callable[[Any, Any], Any]:
        make = make_dict_structure_fn(shape, converter, _cattrs_forbid_extra_keys=strict)
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
        raise TypeError(f"is not {name}")
    return value


def _whole(value: Any) -> int:
    """A number as it is spelled: digits alone, so few of them that any 64-bit integer holds it."""
    if isinstance(value, Number) and value.text.isdecimal() and len(value.text) < 19:
        return int(value.text)
    raise ValueError("is not a whole number")


def _fault(error: BaseException, _: type[Any] | None) -> str:
    from cattrs import ForbiddenExtraKeysError

    if isinstance(error, KeyError):
        return "is missing"
    if isinstance(error, ForbiddenExtraKeysError):
        return f"has members it should not have: {', '.join(sorted(error.extra_fields))}"
    return str(error)
