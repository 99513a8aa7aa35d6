"""TOML text as tables."""

from __future__ import annotations

from typing import Any

#: The most parts a key of a TOML document may have.
_KEY_PARTS = 100


def toml(data: bytes) -> dict[str, Any]:
    """The tables of a TOML document in UTF-8; raises `ValueError` with the reason when it is not TOML."""
    import tomllib

    try:
        text = data.decode()
        # A key of many parts takes the parser the square of their number.
        if text.count(".") < _KEY_PARTS or not _holds_deep_key(text):
            return tomllib.loads(text)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except RecursionError:
        pass
    raise ValueError("it is nested too deeply")


def _holds_deep_key(text: str) -> bool:
    import re  # hardly a file has as many dots

    name = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
    deep = rf"(?<![\w.-])(?:{name}\.[ \t]*+){{{_KEY_PARTS}}}+"
    return re.search(deep, text, re.ASCII) is not None


def strings(value: object) -> tuple[str, ...] | None:
    """An array of strings as a tuple; None when it is anything else."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None
