"""Which messages of a rollout a person typed, and what of them (`README.md`, rules 13 to 18). Pure."""

from __future__ import annotations

import re

from agentfeedback_codex.lines import Target

#: What the app puts before a person's words starts with one of these, and ends with the line `_REQUEST`.
_CONTEXT = (
    "# Files mentioned by the user:",
    "# Context from my IDE setup:",
    "# In app browser:",
    "# Review findings:",
    "## My request for Codex:",
)
_REQUEST = re.compile(r"^## My request for Codex:\r?$\n?", re.MULTILINE)
_BLANK_LINES = re.compile(r"(?:[^\S\n]*+\n)*+")
#: Why a picture or a sound was not attached; the words follow at once.
_NOT_ATTACHED = re.compile(
    r"""
    \s*+
    (?: Codex\ cannot\ attach\ (?:image|audio)\ at\ `[^`\n]*`:\ unsupported\ (?:image|audio)\ (?:format\ )?`[^`\n]*`\.
    |   Codex\ could\ not\ read\ the\ local\ (?:image|audio)\ at\ `[^`\n]*`:[ ]
        (?: unsupported\ MIME\ type\ (?:`[^`\n]*`|\(unknown\)) | [^`\n]*?\ \(os\ error\ [0-9]+\) )
    )+
    """,
    re.VERBOSE,
)
#: What Codex puts into user messages of the first rollouts.
_ENVIRONMENT = "<environment_context>"
_INJECTED = (_ENVIRONMENT, "<user_instructions>")
_CWD = re.compile(r"<cwd>([^\n]*?)</cwd>")


def typed(text: str) -> str:
    """What a person typed of a message: all of it but what the app put before."""
    return _without_notes(_without_context(_without_notes(text)))


def _without_notes(text: str) -> str:
    match = _NOT_ATTACHED.match(text)
    return text[match.end() :] if match is not None else text


def _without_context(text: str) -> str:
    blank = _BLANK_LINES.match(text)
    start = blank.end() if blank is not None else 0
    if not text.startswith(_CONTEXT, start):
        return text
    request = _REQUEST.search(text, start)
    return text[request.end() :] if request is not None else text


def injected(text: str) -> bool:
    """Whether a user message of the first rollouts is what Codex put in."""
    return text.startswith(_INJECTED)


def directory(text: str) -> str | None:
    """The working directory in a user message of the first rollouts."""
    if not text.startswith(_ENVIRONMENT):
        return None
    match = _CWD.search(text)
    return match[1].strip() if match is not None else None


class Prompts:
    """Picks the prompts out of the messages of one rollout, given in its order.

    It keeps hashes of what was typed, never a text.
    """

    def __init__(self) -> None:
        #: False in a sub-agent's rollout: what is said there are the parent model's words.
        self.by_person = True
        self._review: _Review | None = None
        #: Prompts since the last answer, by the kind of their record: the other kind may tell them once more.
        self._unpaired: dict[tuple[bool, int], int] = {}
        #: How often each turn holds a prompt; of a turn that is recorded again, what is still to come of it.
        self._turns: dict[str, dict[int, int]] = {}
        self._turn: dict[int, int] = {}
        self._repeated: dict[int, int] = {}
        self._items: dict[str, int] = {}

    def event(self, text: str | None) -> str:
        """What a person typed of a `user_message` event; empty where that is nothing new."""
        return self._prompt(text or "", None, None)

    def item(self, text: str, id: str | None, thread: str | None) -> str:
        """What a person typed of a `UserMessage` item of that id; empty where that is nothing new."""
        return self._prompt(text, id or "", thread)

    def names(self, item: str | None) -> bool:
        """Whether a prompt of that item id was reported: its span is taken."""
        return item in self._items

    def answered(self) -> None:
        """The assistant spoke or made a call: what comes now was typed after that."""
        if self._unpaired:
            self._unpaired.clear()

    def turn_started(self, id: str | None) -> None:
        """A turn starts. One that starts again is history recorded once more."""
        if self._review is not None and self._review.asked:
            self._review = None  # its end is missing: Codex was killed, and resumed
        self._turn = self._turns.setdefault(id, {}) if id is not None else {}
        self._repeated = dict(self._turn)

    def turn_aborted(self) -> None:
        self._review = None

    def review_entered(self, target: Target | None, thread: str | None) -> None:
        """Until it ends, Codex speaks to a reviewer."""
        self._review = _Review(target, thread)

    def review_exited(self) -> None:
        self._review = None

    def _prompt(self, text: str, item: str | None, thread: str | None) -> str:
        if not self.by_person:
            return ""
        words = typed(text) if text and not text.isspace() else ""
        if not words or words.isspace():
            return ""
        key = hash(words.strip())
        if self._review is not None and not self._review.lets_through(words, thread):
            return ""
        if item:
            if self._items.get(item) == key:
                return ""
            self._items[item] = key
        if self._repeated.get(key):
            self._repeated[key] -= 1
            return ""
        is_item = item is not None
        pair = (not is_item, key)
        if self._unpaired.get(pair):
            self._unpaired[pair] -= 1
            return ""
        self._unpaired[is_item, key] = self._unpaired.get((is_item, key), 0) + 1
        self._turn[key] = self._turn.get(key, 0) + 1
        return words


class _Review:
    """Review mode: messages are what Codex asks of a reviewer."""

    def __init__(self, target: Target | None, thread: str | None) -> None:
        #: Whether Codex has spoken to the reviewer.
        self.asked = False
        self._thread = thread
        self._instructions = ""
        if target is not None and target.type == "custom":
            self._instructions = (target.instructions or "").strip()

    def lets_through(self, words: str, thread: str | None) -> bool:
        """Whether a message in review mode is a person's all the same.

        The instructions of a review of one's own kind are, once; and so is what is said in the
        thread that asked for the review, since the reviewer has a thread of its own.
        """
        if thread is not None and thread == self._thread:
            return True
        self.asked = True
        if self._instructions and words.strip() == self._instructions:
            self._instructions = ""
            return True
        return False
