"""The screens over the view: one entry in full, the outcome of a session, a report to be filed."""

from __future__ import annotations

from typing import ClassVar

from attrs import frozen
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, OptionList, Static
from textual.widgets.option_list import Option

OUTCOMES = (
    ("nothing", "nothing: nothing was worth filing"),
    ("skipped", "skipped: not looked at"),
    ("filed", "filed: something was filed from it"),
)


class EntryScreen(ModalScreen[None]):
    """One entry in full."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss", "back")]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog wide") as scroll:
            scroll.border_title = Text(self._title).plain
            yield Static(Text(self._text), id="entry")


class OutcomeScreen(ModalScreen[str | None]):
    """What became of a session."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back")]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Mark this session as")
            yield OptionList(*(Option(text, id=name) for name, text in OUTCOMES))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)


@frozen
class Finding:
    """What a person wrote about an entry."""

    summary: str
    category: str
    details: str


class FilingScreen(ModalScreen[Finding | None]):
    """A report about an entry, before it is filed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back")]

    def __init__(self, ref: str) -> None:
        super().__init__()
        self._ref = ref

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(Text(f"File feedback about {self._ref}"))
            yield Input(placeholder="what it is about, in one line", id="summary")
            yield Input(placeholder="its kind in one word, such as docs or tooling", id="category")
            yield Input(placeholder="what happened, what was expected, what it cost", id="details")
            yield Button("File it", id="file", variant="primary")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.focus_next()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        values = {name: self.query_one(f"#{name}", Input).value.strip() for name in _FIELDS}
        if not values["summary"]:
            self.notify("say in one line what it is about", severity="warning")
            self.query_one("#summary", Input).focus()
            return
        self.dismiss(Finding(**values))


_FIELDS = ("summary", "category", "details")
