"""The commands that other distributions bring, as tables, for help, completion and advice.

Their modules are loaded only here; to run one of them, none but its own is.
"""

from __future__ import annotations

from importlib import import_module

from agentfeedback.foundation.entry_points import entry_points
from agentfeedback.terminal.arguments import Command

GROUP = "agentfeedback.commands"


def installed_commands() -> tuple[Command, ...]:
    """Each installed command, by module; a module tells of its own in `COMMANDS: tuple[Command, ...]`.

    One that cannot be loaded, or of which nothing is told, is shown by its name.
    """
    modules: dict[str, list[str]] = {}
    taken: set[str] = set()
    for entry_point in entry_points((GROUP,)):
        if entry_point.name not in taken:  # the first on the path, as with modules
            taken.add(entry_point.name)
            modules.setdefault(entry_point.value.partition(":")[0], []).append(entry_point.name)
    return tuple(command for module in sorted(modules) for command in _of(module, modules[module]))


def _of(module: str, names: list[str]) -> list[Command]:
    try:
        told = getattr(import_module(module), "COMMANDS", ())
        # The words of one name may be several commands: `x one` and `x two` under the entry point `x`.
        found = [
            command
            for command in told
            if isinstance(command, Command) and command.name.split()[0] in names
        ]
        summary = f"of {module.partition('.')[0]}"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one bad plugin must not take the help away
        found, summary = [], f"cannot be loaded: {type(error).__name__}"
    silent = set(names) - {command.name.split()[0] for command in found}
    return [*found, *(Command(name, summary) for name in sorted(silent))]
