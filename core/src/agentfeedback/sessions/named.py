"""Which session a ref names: by its id, as a digest prints it, or by how its id begins. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.reading.refs import Ref

if TYPE_CHECKING:
    from agentfeedback.reading.reader import Session
    from agentfeedback.sessions.find import FoundStore
    from agentfeedback.state.watermark import SessionRow

#: The fewest characters of an id that name it by its beginning.
SHORTEST = 8
#: How many characters shorter a shortened id has to be.
_WORTH = 4
#: The most sessions that are listed where several fit.
_LISTED = 10
#: How what stands in a printed ref for a part that looks like a secret begins.
MARKER = "[REDACTED:"


class AmbiguousRef(AgentFeedbackError):
    """A ref fits several sessions; none of them is taken."""

    def __init__(self, ref: Ref, fitting: list[str], text: Callable[[str], str]) -> None:
        shown = [text(f"{ref.harness}:{id}") for id in sorted(fitting)[:_LISTED]]
        super().__init__(f'"{text(str(ref))}" fits {len(fitting)} sessions', ", ".join(shown))


class NamedSession(NamedTuple):
    """What a ref names: its store and session where they are there, and what is remembered of it."""

    ref: Ref
    store: FoundStore | None
    session: Session | None
    row: SessionRow | None

    @classmethod
    def of(
        cls,
        ref: Ref,
        stores: Sequence[FoundStore],
        rows: Mapping[tuple[str, str], SessionRow],
        text: Callable[[str], str],
    ) -> NamedSession:
        """The session of a ref, in the store of its harness; raises `AmbiguousRef`."""
        ref = Names.of(stores, rows, text).whole(ref)
        found = (each for store in stores for each in store.sessions if each.id == ref.id)
        row = rows.get((ref.harness, ref.id))
        return cls(ref, next(iter(stores), None), next(found, None), row)


class Names:
    """The sessions that refs may name. `text` scrubs, as it does where a ref is printed."""

    def __init__(self, names: Iterable[tuple[str, str]], text: Callable[[str], str]) -> None:
        self._ids: dict[str, set[str]] = {}
        self._in_order: dict[str, list[str]] = {}
        self._text = text
        for harness, id in names:
            self._ids.setdefault(harness, set()).add(id)

    @classmethod
    def of(
        cls,
        stores: Iterable[FoundStore],
        rows: Iterable[tuple[str, str]],
        text: Callable[[str], str],
    ) -> Names:
        """The sessions that stores list, and those of stored rows."""
        listed = ((store.harness, each.id) for store in stores for each in store.sessions)
        return cls(chain(listed, rows), text)

    def all_whole(self, refs: Iterable[Ref]) -> list[Ref]:
        """Each of the refs as `whole` gives it."""
        return [self.whole(ref) for ref in refs]

    def whole(self, ref: Ref) -> Ref:
        """The ref with its session's whole id; as it was given where it names no session.

        Raises `AmbiguousRef` where it fits several.
        """
        ids = self._ids.get(ref.harness, set())
        if ref.id in ids:
            return ref
        fitting = self._fitting(ref, ids)
        if len(fitting) > 1:
            raise AmbiguousRef(ref, fitting, self._text)
        if not fitting:
            return ref
        return Ref(ref.harness, fitting[0], f"{ref.harness}:{fitting[0]}")

    def short(self, ref: str) -> str:
        """A ref as printed, of a session or an entry, with the shortest beginning of its id that names the session.

        What is not shorter by some characters, or names no session here, stays as it is.
        """
        harness, _, rest = ref.partition(":")
        id, mark, span = rest.partition("#")  # an id has none, a span may
        ids = self._sorted(harness)
        place = bisect_left(ids, id)
        if place >= len(ids) or ids[place] != id:
            return ref
        beside = [*ids[max(0, place - 1) : place], *ids[place + 1 : place + 2]]
        least = max([SHORTEST, *(_alike(id, each) + 1 for each in beside)])
        if least > len(id) - _WORTH:
            return ref
        return f"{harness}:{id[:least]}{mark}{span}"

    def _sorted(self, harness: str) -> list[str]:
        if harness not in self._in_order:
            self._in_order[harness] = sorted(self._ids.get(harness, ()))
        return self._in_order[harness]

    def _fitting(self, ref: Ref, ids: Collection[str]) -> list[str]:
        before, marker, _ = ref.id.partition(MARKER)
        if marker:
            printed = [
                id
                for id in ids
                if id.startswith(before) and self._text(f"{ref.harness}:{id}") == str(ref)
            ]
            if printed:
                return printed
        if len(ref.id) < SHORTEST:
            return []
        return [id for id in ids if id.startswith(ref.id)]


def _alike(one: str, other: str) -> int:
    """How many characters two ids begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
