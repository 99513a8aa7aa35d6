"""Runs commands in a home of their own and says what they cost: the least of several interleaved runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

_HERE = os.path.dirname(os.path.abspath(__file__))
_LAUNCHER = [sys.executable, "-S", "-E", os.path.join(_HERE, "launch.py")]


class Failed(Exception):
    """A measured command that did not succeed."""


@dataclass(frozen=True)
class Cost:
    """CPU and wall time in seconds, of all processes of a run; peak memory in bytes, of the largest."""

    cpu: float
    wall: float
    peak: int

    def least(self, other: Cost) -> Cost:
        """Of two runs of the same: other load only ever adds time; memory is the most of both."""
        return Cost(
            min(self.cpu, other.cpu), min(self.wall, other.wall), max(self.peak, other.peak)
        )


@dataclass(frozen=True)
class Command:
    """A command to measure: `before` and `after` each run are not part of it."""

    name: str
    argv: Sequence[str]
    environ: Mapping[str, str]
    before: Callable[[], None] | None = None
    after: Callable[[str], None] | None = None
    input: str = os.devnull


def product() -> list[str]:
    """The program as users start it, or else its module."""
    script = os.path.join(os.path.dirname(sys.executable), "agentfeedback")
    return [script] if os.access(script, os.X_OK) else [sys.executable, "-m", "agentfeedback"]


def environment(home: str, state: str) -> dict[str, str]:
    """An environment in which `home` holds the sessions and everything written goes below `state`."""
    return {
        "HOME": home,
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        **{
            f"XDG_{kind.upper()}_HOME": os.path.join(state, kind)
            for kind in ("config", "data", "cache", "state")
        },
    }


def run(command: Command, output: str) -> Cost:
    """Run a command once, its output into the file `output`. Raises `Failed`."""
    if command.before is not None:
        command.before()
    told = subprocess.run(
        [*_LAUNCHER, command.input, output, *command.argv],
        env=dict(command.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    status, cpu, wall, peak = told.stdout.split()
    if status != "0":
        with open(output + ".err", encoding="utf-8", errors="replace") as file:
            raise Failed(f"{command.name}: exit status {status}: {file.read().strip()[-2000:]}")
    if command.after is not None:
        command.after(output)
    return Cost(float(cpu), float(wall), int(peak))


def measure(commands: Sequence[Command], rounds: int, output: str) -> dict[str, Cost]:
    """The cost of each command, by name. Rounds are interleaved, so that load hits all of them alike."""
    costs: dict[str, Cost] = {}
    for _ in range(rounds):
        for command in commands:
            cost = run(command, output)
            costs[command.name] = costs[command.name].least(cost) if command.name in costs else cost
    return costs


def opened(command: Command, output: str, notes: str) -> int:
    """How many session logs a run of the command opens, in any of its processes."""
    if os.path.exists(notes):
        os.unlink(notes)
    watch = {"PYTHONPATH": os.path.join(_HERE, "watch"), "BENCH_OPENED": notes}
    run(replace(command, environ={**command.environ, **watch}), output)
    with open(notes, "rb") as file:
        return len(set(file.read().splitlines()))
