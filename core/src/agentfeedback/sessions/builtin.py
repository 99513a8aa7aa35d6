"""The core's own hook implementations: they go through the same door as a plugin's and are asked last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agentfeedback.config.paths import Paths
from agentfeedback.config.shape import Config
from agentfeedback.plugins.hookspecs import hookimpl
from agentfeedback.policy.gate import CollectGate

if TYPE_CHECKING:
    from agentfeedback.config.file import ConfigFile
    from agentfeedback.digest.build import BuiltDigest, Digester
    from agentfeedback.digest.caps import Caps
    from agentfeedback.digest.detect import Detector
    from agentfeedback.policy.rules import Verdict
    from agentfeedback.reading.reader import Place, Session
    from agentfeedback.reading.timeline import Timeline
    from agentfeedback.scrub import Format
    from agentfeedback.state.watermark import WatermarkStore


def check_policy(config_file: ConfigFile, paths: Paths) -> None:
    """Raise `ConfigError` where the configuration has a near miss of `[collect]`."""
    if config_file.tables:
        from agentfeedback.policy.user_file import refuse_near_misses

        refuse_near_misses(config_file, paths.homes)


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
        from agentfeedback.digest.detect import CORE_DETECTORS

        return [detector() for detector in CORE_DETECTORS]

    @hookimpl
    def watermark_store(self) -> WatermarkStore:
        from agentfeedback.state.state_store import StateStore

        return StateStore(self.paths.database)

    @hookimpl
    def session_before_open(self, place: Place) -> Verdict | None:
        return self.gate.before_open(place)

    @hookimpl
    def session_after_read(self, directories: Sequence[str]) -> Verdict | None:
        return self.gate.after_read(directories)

    @hookimpl
    def digest_session(
        self, session: Session, timeline: Timeline, caps: Caps
    ) -> BuiltDigest | None:
        return self.digester.build(session, timeline, caps) if self.digester is not None else None
