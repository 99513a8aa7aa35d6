"""Writes messages into a database without end, as a live OpenCode would: `writer.py DATABASE`."""

from __future__ import annotations

import sqlite3
import sys
import time

DATA = '{"role":"user","time":{"created":%d},"pad":"' + "x" * 900 + '"}'


def main(path: str) -> None:
    """Each message and its part in one transaction; SQLite checkpoints by itself every few of them."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA wal_autocheckpoint = 100")
    connection.execute("PRAGMA synchronous = OFF")
    number = 0
    while True:
        number += 1
        connection.execute("BEGIN IMMEDIATE")
        message = (f"m{number:08d}", "ses_1", number, number, DATA % number)
        connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", message)
        part = (f"p{number:08d}", message[0], "ses_1", number, number)
        text = f'{{"type":"text","text":"prompt {number}"}}'
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (*part, text))
        connection.execute(
            "UPDATE session SET time_updated = ?, title = ? WHERE id = 'ses_1'", (number, "t" * 400)
        )
        connection.execute("COMMIT")
        time.sleep(0.001)
        # Pages freed and used again, so that a checkpoint rewrites old ones too.
        if number % 50 == 0:
            connection.execute("DELETE FROM event")
            event = [(str(each), "e" * 500) for each in range(30)]
            connection.executemany("INSERT INTO event VALUES (?, ?)", event)


if __name__ == "__main__":
    main(sys.argv[1])
