"""Standard input, bounded in size and time."""

from __future__ import annotations

import os
import time


def read_until(deadline: float, limit: int) -> bytes:
    """Read standard input up to its end or one byte over the limit; wait for more until the deadline (`time.monotonic`).

    What is there already is read even when this process was kept from running past the deadline.
    """
    from select import select

    data = bytearray()  # appending to bytes would copy what is there each time
    while len(data) <= limit:
        left = deadline - time.monotonic()
        try:
            if not select([0], [], [], max(left, 0))[0]:
                break
            piece = os.read(0, limit + 1 - len(data))
        except BlockingIOError:
            continue
        except (OSError, ValueError):  # standard input is closed
            break
        if not piece:
            break
        data += piece
    return bytes(data)
