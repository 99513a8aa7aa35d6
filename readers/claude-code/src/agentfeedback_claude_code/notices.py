"""What a notice says of a call that went on in the background and failed. Pure."""

from __future__ import annotations

import re

from attrs import frozen

_START = "<task-notification>"
_END = "</task-notification>"
_CALL = re.compile(r"<tool-use-id>([^<]+)</tool-use-id>")
_STATUS = re.compile(r"<status>([^<]*)</status>")
_EXIT_CODE = re.compile(r"failed with exit code (-?\d{1,19})\Z", re.ASCII)


@frozen
class FailedTask:
    """A call that failed in the background: its id, what the notice says of it, its exit code."""

    call: str
    summary: str
    exit_code: int | None


def failed_task(text: str) -> FailedTask | None:
    """What a notice says of a call that failed; None where the text is not such a notice.

    The notice is the whole text; up to 2.1.56 one line follows it. What stands in its summary or
    behind it is not a member: a command's own words are in there.
    """
    if not text.startswith(_START):
        return None
    body, end, behind = text.rpartition(_END)
    if not end or "\n" in behind.strip():
        return None
    members, _, rest = body.partition("<summary>")
    call, status = _CALL.search(members), _STATUS.search(members)
    if call is None or status is None or status[1].strip() != "failed":
        return None
    summary = rest.partition("</summary>")[0].strip()
    code = _EXIT_CODE.search(summary)
    number = int(code[1]) if code is not None else 0
    return FailedTask(call[1].strip(), summary, number if 0 != number < 2**63 else None)
