"""What authors of plugins import; everything else of this package may change without notice.

Name by name in `docs/reference/plugin-api.md`.
"""

from __future__ import annotations

from agentfeedback.foundation.lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentfeedback.config.file import (
        Config as Config,
    )
    from agentfeedback.digest.build import (
        BuiltDigest as BuiltDigest,
    )
    from agentfeedback.digest.caps import (
        Caps as Caps,
    )
    from agentfeedback.digest.detect import (
        Detector as Detector,
    )
    from agentfeedback.digest.detect import (
        Finding as Finding,
    )
    from agentfeedback.foundation.errors import (
        AgentFeedbackError as AgentFeedbackError,
    )
    from agentfeedback.foundation.errors import (
        ConfigError as ConfigError,
    )
    from agentfeedback.foundation.errors import (
        PluginError as PluginError,
    )
    from agentfeedback.foundation.errors import (
        StoreError as StoreError,
    )
    from agentfeedback.foundation.errors import (
        UsageError as UsageError,
    )
    from agentfeedback.foundation.paths import (
        cache_directory as cache_directory,
    )
    from agentfeedback.foundation.paths import (
        env_directory as env_directory,
    )
    from agentfeedback.harness_hooks import session_cache as session_cache
    from agentfeedback.harness_hooks.installer import Installer as Installer
    from agentfeedback.plugins.doctor_section import (
        DoctorContext as DoctorContext,
    )
    from agentfeedback.plugins.doctor_section import (
        DoctorSection as DoctorSection,
    )
    from agentfeedback.plugins.hookspecs import (
        hookimpl as hookimpl,
    )
    from agentfeedback.policy.rules import (
        Verdict as Verdict,
    )
    from agentfeedback.reading.reader import (
        Place as Place,
    )
    from agentfeedback.reading.reader import (
        Session as Session,
    )
    from agentfeedback.reading.timeline import (
        Call as Call,
    )
    from agentfeedback.reading.timeline import (
        Entry as Entry,
    )
    from agentfeedback.reading.timeline import (
        Timeline as Timeline,
    )
    from agentfeedback.scrub.formats import (
        Format as Format,
    )
    from agentfeedback.state.state_store import (
        StateStore as StateStore,
    )
    from agentfeedback.state.watermark import (
        Digested as Digested,
    )
    from agentfeedback.state.watermark import (
        SessionRow as SessionRow,
    )
    from agentfeedback.state.watermark import (
        WatermarkStore as WatermarkStore,
    )
    from agentfeedback.terminal.arguments import (
        Command as Command,
    )
    from agentfeedback.terminal.arguments import (
        Flag as Flag,
    )
    from agentfeedback.terminal.arguments import (
        Parsed as Parsed,
    )
    from agentfeedback.wire.records import (
        Digest as Digest,
    )

_MODULES = {
    "AgentFeedbackError": "agentfeedback.foundation.errors",
    "BuiltDigest": "agentfeedback.digest.build",
    "Call": "agentfeedback.reading.timeline",
    "Caps": "agentfeedback.digest.caps",
    "Command": "agentfeedback.terminal.arguments",
    "Config": "agentfeedback.config.file",
    "ConfigError": "agentfeedback.foundation.errors",
    "Detector": "agentfeedback.digest.detect",
    "Digest": "agentfeedback.wire.records",
    "Digested": "agentfeedback.state.watermark",
    "DoctorContext": "agentfeedback.plugins.doctor_section",
    "DoctorSection": "agentfeedback.plugins.doctor_section",
    "Entry": "agentfeedback.reading.timeline",
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
