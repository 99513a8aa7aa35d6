"""The commands that other distributions bring, as tables, for help, completion and advice.

Their modules are loaded only here; to run one of them, none but its own is.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from agentfeedback.cli.arguments import Command

GROUP = "agentfeedback.commands"


def installed_commands() -> tuple[Command, ...]:
    """Each installed command; a module tells of its own in `COMMANDS: tuple[Command, ...]`.

    One that cannot be loaded, or tells nothing, is shown by its name.
    """
    found: dict[str, Command] = {}
    for entry_point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if entry_point.name in found:
            continue
        try:
            told = getattr(__import__(entry_point.module, fromlist=["COMMANDS"]), "COMMANDS", ())
            tables = {command.name: command for command in told if isinstance(command, Command)}
            summary = f"of {entry_point.module.partition('.')[0]}"
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one bad plugin must not take the help away
            tables, summary = {}, f"cannot be loaded: {type(error).__name__}"
        # A module may also bring groups of commands: `x one` and `x two` under the entry point `x`.
        own = [name for name in tables if name.split()[0] == entry_point.name]
        for name in own:
            found.setdefault(name, tables[name])
        if not own:
            found[entry_point.name] = Command(entry_point.name, summary)
    return tuple(found.values())
