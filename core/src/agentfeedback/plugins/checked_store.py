"""A plugin's store of watermarks, whatever it does: an error that names it, never a mark that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from attrs import frozen

from agentfeedback.foundation.errors import AgentFeedbackError, StoreError
from agentfeedback.foundation.foreign_call import ForeignCall
from agentfeedback.state.watermark import SessionRow, fits
from agentfeedback.wire.records import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentfeedback.state.watermark import Digested, WatermarkStore

T = TypeVar("T")


@frozen(eq=False)
class CheckedStore:
    """The store of plugin `name`. What it raises beside our own errors, and what it must not return, is a `StoreError`."""

    store: WatermarkStore
    name: str

    def rows(self) -> dict[tuple[str, str], SessionRow]:
        return self._asked("rows", self.store.rows, _are_rows)

    def digested(self, marks: Sequence[Digested], at: int) -> None:
        self._asked("digested", lambda: self.store.digested(marks, at))

    def mark(
        self, names: Sequence[tuple[str, str]], outcome: str, uids: Sequence[str], at: int
    ) -> None:
        self._asked("mark", lambda: self.store.mark(names, outcome, uids, at))

    def forget(self, names: Sequence[tuple[str, str]]) -> list[bool]:
        def are_answers(found: Any) -> bool:
            return (
                isinstance(found, list)
                and len(found) == len(names)
                and all(isinstance(each, bool) for each in found)
            )

        return self._asked("forget", lambda: self.store.forget(names), are_answers)

    def selection(self) -> Selection | None:
        return self._asked("selection", self.store.selection, _is_selection)

    def save_selection(self, selection: Selection) -> None:
        self._asked("save_selection", lambda: self.store.save_selection(selection))

    def _asked(
        self, method: str, call: Callable[[], T], check: Callable[[Any], bool] | None = None
    ) -> T:
        try:
            with ForeignCall():
                found = call()
                if check is None or check(found):
                    return found
            kind = "it returns what is not of its kind"
        except (KeyboardInterrupt, AgentFeedbackError):
            raise
        except BaseException as error:  # noqa: BLE001 - the plugin is named
            kind = type(error).__name__
        raise StoreError(
            f"the watermark store of plugin {self.name} failed in {method}: {kind}",
            f"update {self.name}, or leave it out",
        )


def _are_rows(found: Any) -> bool:
    return isinstance(found, dict) and all(
        isinstance(row, SessionRow) and fits(row) and name == (row.harness, row.session_id)
        for name, row in found.items()
    )


def _is_selection(found: Any) -> bool:
    return found is None or isinstance(found, Selection)
