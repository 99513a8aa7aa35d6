"""The core's own hook implementations: they go through the same door as a plugin's and are asked last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentfeedback.config import Config, Paths
from agentfeedback.gate import CollectGate
from agentfeedback.hookspecs import hookimpl

if TYPE_CHECKING:
    from agentfeedback.caps import Caps
    from agentfeedback.detect import Detector
    from agentfeedback.digest import Built, Digester
    from agentfeedback.policy import Verdict
    from agentfeedback.reader import Place, Session
    from agentfeedback.scrub import Format
    from agentfeedback.timeline import Timeline
    from agentfeedback.watermark import WatermarkStore


class Builtin:
    """One run's implementations: the `[collect]` gate, the core's formats and detectors, the database, the digest."""

    def __init__(self, config: Config, paths: Paths) -> None:
        self.paths = paths
        self.gate = CollectGate(config, paths.homes)
        #: Set by the engine once formats and detectors of all plugins are known.
        self.digester: Digester | None = None

    @hookimpl
    def register_scrub_formats(self) -> Iterable[Format]:
        from agentfeedback.scrub import SUBMIT

        return SUBMIT.formats

    @hookimpl
    def register_detectors(self) -> Iterable[Detector]:
        from agentfeedback.detect import CORE_DETECTORS

        return [detector() for detector in CORE_DETECTORS]

    @hookimpl
    def watermark_store(self) -> WatermarkStore:
        from agentfeedback.store import StateStore

        return StateStore(self.paths.database)

    @hookimpl
    def session_verdict(self, place: Place, stage: str) -> Verdict | None:
        if stage == "before-open":
            return self.gate.before_open(place)
        return self.gate.after_read(place.paths)

    @hookimpl
    def digest_session(self, session: Session, timeline: Timeline, caps: Caps) -> Built | None:
        return self.digester.build(session, timeline, caps) if self.digester is not None else None
