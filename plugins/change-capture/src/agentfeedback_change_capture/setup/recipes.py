"""Recipes: the commands a checkout registers for `run-recipe`, read from private files once."""

from __future__ import annotations

import os
import stat

from agentfeedback.foundation.errors import AgentFeedbackError, reason_of
from agentfeedback.foundation.files import NotRegularError, TooLargeError, open_regular, read_all
from agentfeedback_change_capture.setup.bindings import RECIPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Most recipes of one checkout.
MOST = 16
_LARGEST = 64 << 10
_ARGV_BYTES = 16 << 10


def read(path: str, artifact_bytes: int) -> dict[str, Any]:
    """Return the recipe in a file: a strict JSON object of the user's own, which others cannot write.

    Its output limit is at most `artifact_bytes`. Raises `AgentFeedbackError`.
    """
    data = _bytes(path)
    from agentfeedback.foundation.json_text import NotJson, parse

    try:
        document = parse(data)
    except NotJson:
        raise _refused(path, "it is not strict JSON") from None
    if document.duplicates or document.mended:
        raise _refused(path, "it is not strict JSON")
    recipe: dict[str, Any] = _plain(document.value)
    if (wrong := RECIPE(recipe, "")) is not None:
        raise _refused(path, wrong)
    argv = recipe["argv"]
    if not argv or not os.path.isabs(argv[0]):
        raise _refused(path, "argv does not begin with the absolute path of a program")
    if sum(len(word.encode()) for word in argv) > _ARGV_BYTES:
        raise _refused(path, f"argv is longer than {_ARGV_BYTES} bytes")
    if recipe["max_output_bytes"] > artifact_bytes:
        raise _refused(path, f"max_output_bytes is larger than {artifact_bytes}")
    return recipe


def read_all_files(paths: Sequence[str], artifact_bytes: int) -> list[dict[str, Any]]:
    """Return the recipes of files, at most `MOST`, with distinct ids. Raises `AgentFeedbackError`."""
    if len(paths) > MOST:
        raise AgentFeedbackError(f"more than {MOST} recipes", "leave some out")
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        recipe = read(path, artifact_bytes)
        if recipe["id"] in found:
            raise _refused(path, "another recipe has the same id")
        found[recipe["id"]] = recipe
    return list(found.values())


def _bytes(path: str) -> bytes:
    try:
        descriptor = open_regular(path)
    except NotRegularError as error:
        raise _refused(path, f"it is {error}") from None
    except (OSError, ValueError) as error:
        raise _refused(path, reason_of(error)) from error
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise _refused(path, "it belongs to another user")
        if stat.S_IMODE(found.st_mode) & 0o022:
            raise _refused(path, "others may write it")
        return read_all(descriptor, _LARGEST)
    except TooLargeError as error:
        raise _refused(path, f"it is {error}") from None
    finally:
        os.close(descriptor)


def _plain(value: Any) -> Any:
    """Return the tree with whole numbers as `int`; other numbers stay and fit no shape."""
    from agentfeedback.foundation.json_text import Number

    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Number) and value.text.isascii() and value.text.isdigit():
        return int(value.text) if len(value.text) < 16 else value
    return value


def _refused(path: str, reason: str) -> AgentFeedbackError:
    return AgentFeedbackError(
        f"the recipe in {path} was refused: {reason}", "correct the file and run the command again"
    )
