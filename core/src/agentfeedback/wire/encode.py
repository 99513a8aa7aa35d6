"""Records as JSON: members in declared order, empty optional ones left out."""

from __future__ import annotations

from typing import Any

from attrs import field, fields


def omitted(default: Any = None, *, factory: Any = None, name: str = "") -> Any:
    """A member that is left out when it is None, empty or false; `name` is its JSON name where Python has no such one."""
    metadata = {"omit": True, "name": name}
    if factory is not None:
        return field(factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)


def plain(record: Any) -> Any:
    """The JSON object of a record: members in declared order, empty optional ones left out."""
    if isinstance(record, (str, int, float)) or record is None:
        return record
    if isinstance(record, (list, tuple)):
        return [item if item.__class__ in _SCALARS else plain(item) for item in record]
    if isinstance(record, dict):
        return {name: plain(value) for name, value in record.items()}
    members = {}
    for name, shown, omit in _members(type(record)):
        value = getattr(record, name)
        if omit and (value is None or (omit is True and not value)):
            continue
        members[shown] = value if value.__class__ in _SCALARS else plain(value)
    return members


_SCALARS = frozenset((str, int, bool, float, type(None)))


_MEMBERS: dict[type, tuple[tuple[str, str, Any], ...]] = {}


def _members(kind: type) -> tuple[tuple[str, str, Any], ...]:
    """Of each member of a record class its attribute, its JSON name, and whether it is left out when empty."""
    known = _MEMBERS.get(kind)
    if known is None:
        known = _MEMBERS[kind] = tuple(
            (item.name, item.metadata.get("name") or item.name, item.metadata.get("omit"))
            for item in fields(kind)
        )
    return known


def encode(value: Any) -> bytes:
    """Compact JSON in raw UTF-8, exactly as printed without the newline; all size caps are measured on it."""
    import orjson

    return orjson.dumps(plain(value))


def json_line(record: Any) -> bytes:
    """A record as a command prints it, with the newline. What of a path or an argument is not UTF-8 becomes U+FFFD."""
    import orjson

    shown = plain(record)
    try:
        return orjson.dumps(shown) + b"\n"
    except TypeError:
        return orjson.dumps(_in_unicode(shown)) + b"\n"


def _in_unicode(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_in_unicode(item) for item in value]
    if isinstance(value, dict):
        return {_in_unicode(name): _in_unicode(item) for name, item in value.items()}
    return value
