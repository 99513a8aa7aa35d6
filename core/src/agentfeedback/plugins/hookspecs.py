"""The hooks, in the order they fire. Hooks register or announce; objects do the work.

At most five hook calls per session and none per line. A plugin is a module or object with functions
marked `@hookimpl`; it names only the arguments it wants. Wrappers are not accepted: an
implementation may add to an answer, never take another's away. `docs/reference/hooks.md` has the
long form with an example of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from agentfeedback.config.shape import Config
    from agentfeedback.digest.build import BuiltDigest
    from agentfeedback.digest.caps import Caps
    from agentfeedback.digest.detect import Detector
    from agentfeedback.plugins.doctor_section import DoctorContext, DoctorSection
    from agentfeedback.policy.rules import Verdict
    from agentfeedback.reading.reader import Place, Reader, Session
    from agentfeedback.reading.timeline import Timeline
    from agentfeedback.scrub import Format
    from agentfeedback.state.watermark import Digested, WatermarkStore
    from agentfeedback.wire.records import Digest

PROJECT = "agentfeedback"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

# -- once a run --------------------------------------------------------------------------------


@hookspec
def register_readers() -> Iterable[Reader] | None:
    """Return the readers of this plugin; asked only of plugins whose entry point a command needs."""


@hookspec
def register_scrub_formats() -> Iterable[Format] | None:
    """Return formats of secrets to hide beside the core's own; a format can only be added."""


@hookspec
def register_detectors() -> Iterable[Detector] | None:
    """Return detectors; what they find stands under `findings` of a digest, by detector name."""


@hookspec
def watermark_store(config: Config) -> WatermarkStore | None:
    """Supply the store of watermarks; None leaves it to the next plugin, the core's database comes last."""


# -- once a session ----------------------------------------------------------------------------


@hookspec
def session_before_open(session: Session, place: Place) -> Verdict | str | None:
    """Refuse a session by where its store declares that it ran, or None to let its log be opened.

    All are asked, the strictest wins, an exception refuses.
    """


@hookspec
def session_after_read(session: Session, directories: Sequence[str]) -> Verdict | str | None:
    """Refuse a session by the working directories its log records, or None to let it be shown.

    All are asked, the strictest wins, an exception refuses.
    """


@hookspec
def digest_session(
    session: Session, timeline: Timeline, start: int, caps: Caps
) -> BuiltDigest | None:
    """Build the digest of a session from its timeline; None leaves it to the next plugin, the core's comes last."""


@hookspec
def session_digested(digest: Digest, watermark: Digested) -> None:
    """A session was digested and its watermark is written."""


@hookspec
def session_marked(ref: str, outcome: str, uids: Sequence[str]) -> None:
    """A session was marked and the mark is written."""


# -- at the end --------------------------------------------------------------------------------


@hookspec
def doctor_sections(context: DoctorContext) -> Iterable[DoctorSection] | None:
    """Return sections to add to the report of `agentfeedback doctor`; change nothing."""


@hookspec
def run_finished(summary: dict[str, object]) -> None:
    """A command finished: `command`, and how many sessions it `listed`, `digested`, `refused`, `deferred` or `marked`."""
