"""Tiny: logs of JSON lines in `~/.tiny`, the working directory in the first line."""

import os

from agentfeedback.reading import Place, Reader, Record, UnreadableLog, decoder, first_line


class Line(Record):
    type: str | None = None
    id: str | None = None
    time: str | None = None
    cwd: str | None = None
    text: str | None = None
    tool: str | None = None
    command: str | None = None
    status: str | None = None
    exit: int | None = None


class Tiny(Reader):
    harness = "tiny"
    format = "tiny-log"

    def find(self, home, report):
        store = home.directory("TINY_HOME", ".tiny")
        report.store(store)
        for file in report.files(store, root=True):
            if file.name.endswith(".jsonl"):
                session = report.session(file, file.name.removesuffix(".jsonl"))
                if session is not None:
                    yield session

    def place(self, session, *, strict):
        try:
            line = first_line(session.path, 1 << 20, 1 if strict else 512)
        except (OSError, UnreadableLog):
            return Place()
        first = decoder(Line)(line) if line is not None else None
        if first is None:
            return Place(failed=True, first_line=line)
        known = first.cwd is not None and os.path.isabs(first.cwd)
        return Place(paths=(first.cwd,) if known else (), first_line=line)

    def read(self, log, place, timeline):
        for line in log.records(Line, timeline):
            self.tell(line, timeline)

    def parsed(self, text):
        """The record in a line of text: `tiny`, and what the same line has as JSON."""
        if not text.startswith("tiny "):
            return None
        return decoder(Line)(text.removeprefix("tiny ").encode())

    def tell(self, line, timeline):
        if line.type == "result":
            timeline.note(line.time)
            timeline.result(line.id, line.status or "ok", line.text or "", line.exit)
            return
        timeline.entry(line.id, line.time, line.cwd)
        if line.type == "user":
            timeline.prompt(line.text or "")
        elif line.type == "say":
            timeline.said(line.text or "")
        elif line.type == "call":
            timeline.call(line.id, line.tool or "", command=line.command)
        elif line.type == "stop":
            timeline.interrupt()
            timeline.interrupt_open()
