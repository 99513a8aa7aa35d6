"""What `config.toml` may hold: one class a table, one field a key. Everything else about keys follows from these. Pure.

The program ignores tables and keys that are not here, so that a file for a newer version stays readable.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import field, frozen

#: `switch` is true or false, `count` a whole number, `duration` a text like 30m, `list` an array of strings.
Form = Literal["switch", "count", "duration", "text", "list", "secret"]


def key(form: Form, default: Any = "", *, editable: bool = False, least: int | None = None) -> Any:
    """Declare a key of a table with its form and its default.

    Args:
        form: The form of its value. A text is not set while it is empty.
        default: What counts while the key is not set.
        editable: Whether `config set` may change it; none of those grants anything.
        least: The smallest count that is taken.
    """
    metadata = {"form": form, "editable": editable, "least": least}
    return field(default=default, repr=form != "secret", metadata=metadata)


@frozen(eq=False)
class Collect:
    """The `[collect]` table: which sessions may be read. Paths are kept as written."""

    disabled: bool = key("switch", default=False)
    deny_paths: tuple[str, ...] = key("list", ())
    opt_in_only: bool = key("switch", default=False)
    opt_in_paths: tuple[str, ...] = key("list", ())


@frozen(eq=False)
class Context:
    """The `[context]` table: what is added to a submission's context, and the keys never collected."""

    cwd: bool = key("switch", default=False)
    drop: tuple[str, ...] = key("list", ())
    app: str = key("text")
    workspace: str = key("text")
    url: str = key("text")
    channel: str = key("text")
    task_id: str = key("text")
    workflow: str = key("text")


@frozen(eq=False)
class Detect:
    """The `[detect]` table: when a hook's note is shown. A threshold that is not above 0 means the default."""

    nudge: bool = key("switch", default=True, editable=True)
    same_tool: int = key("count", 3, editable=True)
    same_command: int = key("count", 2, editable=True)
    session_failures: int = key("count", 5, editable=True)
    interval_minutes: int = key("count", 20, editable=True)
    max_per_session: int = key("count", 3, editable=True)


@frozen(eq=False)
class Sessions:
    """The `[sessions]` table: when sessions are pushed, and how many at a time."""

    quiet: str = key("duration", "30m", editable=True)
    push_batch: int = key("count", 10, editable=True, least=1)
    push_budget: str = key("duration", "60s", editable=True)


@frozen(eq=False)
class Config:
    """What the program uses of `config.toml`.

    An empty text is a key that is not set (`agentfeedback.config.resolve` adds flags and environment).
    """

    url: str = key("text")
    api_key: str = key("secret")
    machine: str = key("text", editable=True)
    model: str = key("text", editable=True)
    harness: str = key("text", editable=True)
    collect: Collect = Collect()
    context: Context = Context()
    detect: Detect = Detect()
    sessions: Sessions = Sessions()


#: The keys of `[context]` that are sent as given.
CONTEXT_TEXTS = ("app", "workspace", "url", "channel", "task_id", "workflow")
