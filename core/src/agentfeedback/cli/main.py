"""The program `agentfeedback`; the fast way for hooks stands before everything else."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentfeedback.terminal.program import Program

#: Commands of this project that distributions of their own bring.
ELSEWHERE = {
    "plugins new": "pytest-agentfeedback",
    "mcp": "agentfeedback-mcp",
    "sessions browse": "agentfeedback-tui",
    **dict.fromkeys(
        (
            "server serve",
            "server keys add",
            "server keys list",
            "server keys revoke",
            "server policy show",
            "server policy enable",
            "server policy disable",
        ),
        "agentfeedback-server",
    ),
    **dict.fromkeys(
        (
            "submit",
            "list",
            "show",
            "processed",
            "redact",
            "stats",
            "export",
            "import",
            "flush",
            "ingest",
        ),
        "agentfeedback-submit",
    ),
}

#: Objects made between two collections of garbage.
_COLLECTED = 50_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status: 0 done, 1 failed, 2 a wrong command line."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["hook"] and words[1:] not in (["-h"], ["--help"]):
        return _hook(words[1:], started=argv is None)
    if argv is not None:
        return program().main(words, None)
    import gc

    # What a start makes stays to its end, and the collector would look through it again and again.
    gc.set_threshold(_COLLECTED)
    return program().main(words, _in_utf8)


def program() -> Program:
    """Return the program with its own commands and those of every installed distribution."""
    from agentfeedback import __version__
    from agentfeedback.terminal.program import Program

    return Program(
        "agentfeedback",
        "agentfeedback.commands",
        "agentfeedback.cli.commands",
        version=__version__,
        elsewhere=ELSEWHERE,
        install=_pip_install,
        bare="agentfeedback.cli.overview:run",
    )


def _hook(words: list[str], *, started: bool) -> int:
    # An agent waits: nothing else is imported. No byte code is written, since on a full disk Python
    # may write half of it, and then every later start fails.
    sys.dont_write_bytecode = True
    try:
        if started:
            _in_utf8()
        from agentfeedback.cli.hook import run
    except Exception:  # noqa: BLE001 - not even a damaged installation may stop an agent
        return 0
    return run(words)


def _in_utf8() -> None:
    if sys.getfilesystemencoding() != "utf-8":
        from agentfeedback.foundation.utf8 import start_in_utf8

        start_in_utf8()


def _pip_install(dist: str) -> str:
    from agentfeedback.plugins.install_hint import pip_install

    return pip_install(dist)
