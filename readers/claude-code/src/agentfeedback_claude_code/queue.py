"""Texts typed while the harness was busy: the queue they wait in, and that each is reported once. Pure."""

from __future__ import annotations

from collections import deque
from typing import Literal, get_args

#: From this version on an attachment holds what is delivered while a turn goes on.
ATTACHED_SINCE = (2, 1, 97)
#: The most texts that wait, and how much of each is kept, in characters. Nobody types more.
_MOST = 256
_LONGEST = 1 << 15
#: How texts start that wait in the same queue and that nobody typed for the model.
_NOT_TYPED = ("<task-notification>", "<agent-notification>", '{"task_id"', "/")

#: The kinds of records that bring a typed text to the model.
Bringer = Literal["queue", "attachment", "user"]
_BRINGERS = get_args(Bringer)


class Queue:
    """Follows the queue by the operations the harness records."""

    def __init__(self) -> None:
        self._waiting: deque[str] = deque(maxlen=_MOST)

    def operate(self, operation: str | None, content: str | None) -> str | None:
        """Follow one operation; gives the text that it delivered to the model in mid-turn.

        `remove` delivers the text it names, else the first; `dequeue` takes the first off at the end
        of a turn and a `user` line with it follows; `popAll` puts all back into the editor.
        """
        waiting = self._waiting
        if operation == "enqueue":
            waiting.append((content or "")[:_LONGEST])
        elif operation == "dequeue":
            if waiting:
                waiting.popleft()
        elif operation == "popAll":
            waiting.clear()
        elif operation == "remove":
            return self._removed(content)
        return None

    def _removed(self, content: str | None) -> str | None:
        waiting = self._waiting
        text = content[:_LONGEST] if content is not None else None
        if text is not None and text in waiting:
            waiting.remove(text)
        elif waiting:
            text = waiting.popleft()
        else:
            return None
        return None if text.startswith(_NOT_TYPED) else text


class Once:
    """Knows which texts were just reported from the queue: other records may repeat them."""

    def __init__(self) -> None:
        #: By text: how often the queue, attachments and `user` lines brought it.
        self._brought: dict[str, list[int]] = {}

    def forget(self) -> None:
        """The assistant went on: what comes now repeats nothing."""
        if self._brought:
            self._brought.clear()

    def is_new(self, text: str, by: Bringer) -> bool:
        """Whether a record of this kind brings a text that no record of another kind brought before it."""
        text = text.strip()[:_LONGEST]
        brought = self._brought.get(text)
        if brought is None:
            if by == "user" or len(self._brought) >= _MOST:
                return True
            brought = self._brought[text] = [0, 0, 0]
        place = _BRINGERS.index(by)
        reported = max(brought[:2])
        brought[place] += 1
        return brought[place] > reported
