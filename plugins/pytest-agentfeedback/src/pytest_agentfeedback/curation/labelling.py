"""`corpus label`: walks the unlabelled events of corpora at the terminal, and asks what each is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from attrs import evolve, frozen

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.foundation.folder import Folder
from agentfeedback.terminal.screen import visible
from pytest_agentfeedback import labels
from pytest_agentfeedback.corpus import Bench, CorpusError, Laid
from pytest_agentfeedback.curation.story import Scene, stories
from pytest_agentfeedback.labels import Class, Label

#: The keys of the classes.
KEYS: dict[str, Class] = {
    "g": "genuine-friction",
    "e": "expected-failure",
    "c": "cancellation",
    "d": "denial",
    "r": "repeat",
    "n": "self-noise",
}
_SHOWN = 2000
_REMINDER = 300

Answer = Literal["skipped", "quit"] | Label


@frozen(eq=False)
class Question:
    """An event that has no label, and what a person needs to judge it."""

    digest: Mapping[str, Any]
    event: Mapping[str, Any]
    scene: Scene
    #: True where another failed call has the same span.
    shared: bool

    def lines(self) -> Iterator[str]:
        """What is shown, a line at a time and safe for a terminal."""
        event, digest = self.event, self.digest
        yield f"{digest['ref']}#{event['span']}  in {digest['project'] or 'an unknown project'}"
        for title, text in (("prompt", self.scene.prompt), ("before", self.scene.said)):
            if text:
                yield f"  {title:8} {text[:_REMINDER]}"
        code = f" with exit code {event['exit_code']}" if "exit_code" in event else ""
        yield f"  call     {event['tool']}: {event['status']}{code}"
        if self.scene.input:
            yield f"  input    {self.scene.input[:_SHOWN]}"
        for name in ("retries", "denials"):
            yield from (f"  {name:8} {each}" for each in self._of(name))
        if event.get("self"):
            yield "  self     agentfeedback's own command"
        yield from (f"  | {each}" for each in event.get("excerpt", "")[:_SHOWN].split("\n"))

    def _of(self, name: str) -> Iterator[str]:
        for each in self.digest[name]:
            if name == "denials" and each == self.event["span"]:
                yield "it was refused"
            elif name == "retries" and each["span"] == self.event["span"]:
                yield "the same failing call came before"

    def label(self, kind: Class, note: str) -> Label:
        tool = self.event["tool"] if self.shared else None
        return Label(self.digest["session_id"], self.event["span"], kind, note, tool)


class Terminal:
    """Asks and tells; `ask` raises EOFError at the end of the input and KeyboardInterrupt at Ctrl-C."""

    def __init__(
        self, ask: Callable[[str], str] = input, tell: Callable[[str], None] = print
    ) -> None:
        self._ask = ask
        self._tell = tell

    def tell(self, line: str) -> None:
        self._tell(visible(line))

    def answer(self, question: Question) -> Answer:
        """What a person says of one event."""
        for line in question.lines():
            self.tell(line)
        menu = ", ".join(f"{key} {kind}" for key, kind in KEYS.items())
        while True:
            key = self._ask(f"{menu}, s skip, q quit > ").strip().lower()
            if key == "s":
                return "skipped"
            if key == "q":
                return "quit"
            kind = KEYS.get(key) or next((each for each in KEYS.values() if each == key), None)
            if kind is None:
                self.tell(f"{key!r} is not one of these keys")
                continue
            label = question.label(kind, "?")
            if (why := labels.broken(label, question.digest)) and not self._insists(why):
                continue
            while not (note := " ".join(self._ask("note > ").split())):
                self.tell("a label needs a note: why it is this class, in one short sentence")
            return evolve(label, note=note)

    def _insists(self, why: str) -> bool:
        for line in why.split("\n"):
            self.tell(line)
        self.tell(
            "a label says what happened: where the reader reports another thing, mend the reader"
        )
        return self._ask("keep this class? y/N > ").strip().lower() == "y"


def label(folders: Sequence[Path], terminal: Terminal, environ: Mapping[str, str]) -> int:
    """Ask for the labels of all corpora, one after the other; what was answered is kept in any case."""
    bench = Bench(Path.cwd())
    try:
        for folder in folders:
            if not _label_one(bench.laid(folder), terminal, environ):
                break
    except CorpusError as error:
        raise AgentFeedbackError(str(error)) from None
    finally:
        bench.close()
    return 0


def _label_one(laid: Laid, terminal: Terminal, environ: Mapping[str, str]) -> bool:
    """Whether a person goes on to the next corpus."""
    path = laid.corpus.labels
    try:
        before = labels.load(path) if path.exists() else []
    except labels.LabelsError as error:
        raise AgentFeedbackError(str(error), "mend it by hand") from None
    asked = list(_questions(laid, before, environ))
    terminal.tell(f"{laid.corpus.folder}: {len(before)} labelled, {len(asked)} without a label")
    given: list[Label] = []
    going_on = True
    try:
        for number, question in enumerate(asked, 1):
            terminal.tell("")
            terminal.tell(f"{number} of {len(asked)}")
            answer = terminal.answer(question)
            if answer == "quit":
                going_on = False
                break
            if answer != "skipped":
                given.append(answer)
    except (EOFError, KeyboardInterrupt):
        terminal.tell("")
        going_on = False
    finally:
        _save(path, placed(before, given, _order(laid)))
        terminal.tell(f"{path}: {len(given)} labels added")
    return going_on


Order = Mapping[tuple[str, str], int]


def _order(laid: Laid) -> Order:
    """The place of each event by session and span: sessions by their start, events as in the log."""
    keys = [
        (id, event["span"]) for id in _sessions(laid) for event in labels.calls(laid.digests[id])
    ]
    return {key: place for place, key in enumerate(dict.fromkeys(keys))}


def _sessions(laid: Laid) -> list[str]:
    return sorted(laid.digests, key=lambda each: (laid.digests[each].get("start", ""), each))


def placed(before: Sequence[Label], given: Sequence[Label], order: Order) -> list[Label]:
    """All labels, what was there in its own order: a new one stands behind the last that is earlier.

    Earlier first of all within its session; where that has no label yet, earlier among sessions.
    """
    found = list(before)
    for new in sorted(given, key=lambda each: order[each.session, each.span]):
        own = [at for at, each in enumerate(found) if each.session == new.session]
        place = order[new.session, new.span]
        earlier = [
            at
            for at in own or range(len(found))
            if order.get((found[at].session, found[at].span), place + 1) <= place
        ]
        if earlier:
            at = earlier[-1] + 1
            while not own and at < len(found) and found[at].session == found[at - 1].session:
                at += 1  # sessions are not mixed
        else:
            at = own[0] if own else 0
        found.insert(at, new)
    return found


def _save(path: Path, found: Sequence[Label]) -> None:
    """Write `labels.json` whole or not at all; the same text is not written again."""
    text = labels.dumped(found)
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    folder = Folder(str(path.parent), durable=False)
    folder.put(path.name, text.encode(), replace=True, mode=mode)


def _questions(
    laid: Laid, found: Sequence[Label], environ: Mapping[str, str]
) -> Iterator[Question]:
    told = stories(laid, environ)
    for id in _sessions(laid):
        digest = laid.digests[id]
        tools = Counter(event["span"] for event in labels.calls(digest))
        for event in labels.without_label(found, digest):
            scene = told[id].scene(event["span"], event["tool"]) if id in told else Scene()
            yield Question(digest, event, scene, tools[event["span"]] > 1)
