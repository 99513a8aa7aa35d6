"""What authors of plugins import; everything else of this package may change without notice.

Name by name in `docs/reference/plugin-api.md`.
"""

from __future__ import annotations

from agentfeedback.foundation.lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.config.shape import Config
    from agentfeedback.digest.build import BuiltDigest
    from agentfeedback.digest.caps import Caps
    from agentfeedback.digest.detect import Detector, Finding
    from agentfeedback.foundation.errors import (
        AgentFeedbackError,
        ConfigError,
        PluginError,
        StoreError,
        UsageError,
    )
    from agentfeedback.foundation.paths import cache_directory, env_directory
    from agentfeedback.harness_hooks import session_cache
    from agentfeedback.harness_hooks.installer import Installer
    from agentfeedback.plugins.doctor_section import DoctorContext, DoctorSection
    from agentfeedback.plugins.hookspecs import hookimpl
    from agentfeedback.policy.rules import Verdict
    from agentfeedback.reading.reader import Place, Session
    from agentfeedback.reading.timeline import Timeline
    from agentfeedback.reading.timeline_entries import Call, Entry
    from agentfeedback.scrub.formats import Format
    from agentfeedback.state.state_store import StateStore
    from agentfeedback.state.watermark import Digested, SessionRow, WatermarkStore
    from agentfeedback.terminal.arguments import Command, Flag, Parsed
    from agentfeedback.wire.records import Digest

_MODULES = {
    "AgentFeedbackError": "agentfeedback.foundation.errors",
    "BuiltDigest": "agentfeedback.digest.build",
    "Call": "agentfeedback.reading.timeline_entries",
    "Caps": "agentfeedback.digest.caps",
    "Command": "agentfeedback.terminal.arguments",
    "Config": "agentfeedback.config.shape",
    "ConfigError": "agentfeedback.foundation.errors",
    "Detector": "agentfeedback.digest.detect",
    "Digest": "agentfeedback.wire.records",
    "Digested": "agentfeedback.state.watermark",
    "DoctorContext": "agentfeedback.plugins.doctor_section",
    "DoctorSection": "agentfeedback.plugins.doctor_section",
    "Entry": "agentfeedback.reading.timeline_entries",
    "Finding": "agentfeedback.digest.detect",
    "Flag": "agentfeedback.terminal.arguments",
    "Format": "agentfeedback.scrub.formats",
    "Installer": "agentfeedback.harness_hooks.installer",
    "Parsed": "agentfeedback.terminal.arguments",
    "Place": "agentfeedback.reading.reader",
    "PluginError": "agentfeedback.foundation.errors",
    "Session": "agentfeedback.reading.reader",
    "SessionRow": "agentfeedback.state.watermark",
    "StateStore": "agentfeedback.state.state_store",
    "StoreError": "agentfeedback.foundation.errors",
    "Timeline": "agentfeedback.reading.timeline",
    "UsageError": "agentfeedback.foundation.errors",
    "Verdict": "agentfeedback.policy.rules",
    "WatermarkStore": "agentfeedback.state.watermark",
    "cache_directory": "agentfeedback.foundation.paths",
    "env_directory": "agentfeedback.foundation.paths",
    "hookimpl": "agentfeedback.plugins.hookspecs",
    "session_cache": "agentfeedback.harness_hooks.session_cache",
}
__all__ = [
    "AgentFeedbackError",
    "BuiltDigest",
    "Call",
    "Caps",
    "Command",
    "Config",
    "ConfigError",
    "Detector",
    "Digest",
    "Digested",
    "DoctorContext",
    "DoctorSection",
    "Entry",
    "Finding",
    "Flag",
    "Format",
    "Installer",
    "Parsed",
    "Place",
    "PluginError",
    "Session",
    "SessionRow",
    "StateStore",
    "StoreError",
    "Timeline",
    "UsageError",
    "Verdict",
    "WatermarkStore",
    "cache_directory",
    "env_directory",
    "hookimpl",
    "session_cache",
]
__getattr__ = lazy_names(__name__, _MODULES)
