"""The reader of Gemini CLI logs (README, "What counts")."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentfeedback.reading import (
    Home,
    Place,
    Reader,
    Report,
    Session,
    declared_paths,
    small_file,
)
from agentfeedback_gemini_cli import store

if TYPE_CHECKING:
    from agentfeedback.reading import Known, Log, Sink

_PROJECT_ROOT_BYTES = 4096


class GeminiCli(Reader):
    """Reads the logs below `~/.gemini/tmp`; a message written again under its id updates its entry."""

    harness = "gemini-cli"
    format = "gemini-cli-jsonl"
    rewrites = True

    def find(self, home: Home, report: Report) -> Iterable[Session]:
        return store.sessions(os.path.join(home.directory("GEMINI_CLI_HOME"), ".gemini"), report)

    def place(self, session: Session, *, strict: bool) -> Place:
        project = os.path.dirname(os.path.dirname(session.path))
        try:
            content = small_file(os.path.join(project, store.PROJECT_ROOT), _PROJECT_ROOT_BYTES)
        except OSError:
            return Place(failed=True)
        root = content.decode("utf-8", "replace").strip() if content is not None else ""
        return Place(paths=declared_paths(root))

    def known(self) -> Known:
        from agentfeedback_gemini_cli.known import KNOWN

        return KNOWN

    def read(self, log: Log, place: Place, timeline: Sink) -> None:
        from agentfeedback_gemini_cli.conversation import Conversation
        from agentfeedback_gemini_cli.lines import Line

        for root in place.paths:
            timeline.note(cwd=root)
        conversation = Conversation(timeline)
        for line in log.records(Line, timeline):
            conversation.tell(line)
        conversation.finish()
