"""What is measured, in groups that can be run alone; each gives the rows of its part of the table."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from compileall import compile_dir
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

import capture
from floors import logs
from measure import Command, Cost, Failed, environment, measure, opened, product
from table import Goal, Row
from truth import differences, truth_of

_HERE = os.path.dirname(os.path.abspath(__file__))
_MIB = 1 << 20
_LIST = ("sessions", "list", "--json")
_DIGEST = ("sessions", "digest", "--unprocessed", "--json")
_STATUS = ("sessions", "status")
_APPENDED = b'{"type":"system","subtype":"turn_duration","durationMs":5,"isMeta":false}\n'
_HOOK_INPUT = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash"}


class Miscounted(Exception):
    """A listing that does not count what is in the store."""


@dataclass(frozen=True)
class Bench:
    """One run: where it works, how large its stores are in bytes, and how often it measures."""

    work: str
    store: str
    big_store: str
    sessions: int
    rounds: int
    start_rounds: int
    scrub_bytes: int
    captured_calls: int

    @property
    def output(self) -> str:
        return os.path.join(self.work, "output")

    @property
    def notes(self) -> str:
        return os.path.join(self.work, "opened")

    def state(self, name: str) -> str:
        return os.path.join(self.work, "state", name)

    def empty_home(self) -> str:
        home = os.path.join(self.work, "empty")
        os.makedirs(home, exist_ok=True)
        return home

    def command(self, name: str, home: str, *words: str, cold: bool = False) -> Command:
        """A command of the product with state of its own; `cold` has none left from an earlier run."""
        state = self.state(name)

        def forget() -> None:
            shutil.rmtree(state, ignore_errors=True)

        return Command(
            name, [*product(), *words], environment(home, state), forget if cold else None
        )

    def floor(self, mode: str, home: str) -> Command:
        argv = [sys.executable, os.path.join(_HERE, "floors.py"), mode, home]
        return Command(f"floor: {mode}", argv, environment(home, self.state("floor")))


def list_and_digest(bench: Bench) -> list[Row]:
    """The floors; a cold list and digests of everything; then a list that knows all but nothing or one line."""
    home = bench.store
    checked = _checking(home)
    cold = bench.command("cold list", home, *_LIST, cold=True)
    cold = Command(cold.name, cold.argv, cold.environ, cold.before, checked)
    first = bench.command("first digest", home, *_DIGEST, cold=True)
    everything = bench.command("digest of everything", home, *_DIGEST, "--limit", "0", cold=True)
    floors = [bench.floor(mode, home) for mode in ("noop", "read", "msgspec", "orjson")]
    _warm_bytecode([floors[0], cold, first], bench.output)
    costs = measure([*floors, cold, first, everything], bench.rounds, bench.output)
    floor, listed = costs["floor: orjson"], costs["cold list"]
    rows = [Row(command.name, costs[command.name], floor.cpu) for command in floors]
    goals = (
        Goal("CPU / orjson", listed.cpu / floor.cpu, 1.3),
        Goal("wall / orjson", listed.wall / floor.wall, 0.8),
        _peak(listed, 80),
    )
    rows.append(Row(cold.name, listed, floor.cpu, goals))
    for command in (first, everything):
        cost = costs[command.name]
        goal = Goal("CPU / cold list", cost.cpu / listed.cpu, 1.3)
        rows.append(Row(command.name, cost, floor.cpu, (goal, _peak(cost, 80))))
    return [*rows, *_warm(bench, floor)]


def _warm(bench: Bench, floor: Cost) -> list[Row]:
    home = bench.store
    checked = _checking(home)
    known = bench.command("warm list", home, *_LIST)
    shutil.rmtree(bench.state(known.name), ignore_errors=True)
    known = Command(known.name, known.argv, known.environ, None, checked)
    status = bench.command("status", bench.empty_home(), *_STATUS)
    one = bench.command("one line appended", home, *_LIST)
    measure([known, one, status], 1, bench.output)
    costs = measure([known, status], bench.rounds, bench.output)
    warm, fixed = costs[known.name], costs[status.name]
    each = (warm.cpu - fixed.cpu) / max(1, bench.sessions) * 1e6
    goals = (
        Goal("per session", each, 50, " µs"),
        Goal("logs opened", opened(known, bench.output, bench.notes), 0),
    )
    rows = [Row(known.name, warm, floor.cpu, goals)]
    path = next(path for path in logs(home) if "/.claude/" in path)
    cost: Cost | None = None
    for _ in range(bench.rounds):
        with _appended(path):
            measured = measure([one], 1, bench.output)[one.name]
        cost = measured if cost is None else cost.least(measured)
        measure([one], 1, bench.output)  # the log is as it was again: let it be known
    with _appended(path):
        count = opened(one, bench.output, bench.notes)
    return [*rows, Row(one.name, cost, floor.cpu, (Goal("logs opened", count, 1),))]


def one_big_session(bench: Bench) -> list[Row]:
    """One session of lines of 3 MB."""
    home = bench.big_store
    listed = bench.command("big session: list", home, *_LIST, cold=True)
    listed = Command(listed.name, listed.argv, listed.environ, listed.before, _checking(home))
    digested = bench.command("big session: digest", home, *_DIGEST, cold=True)
    floor = bench.floor("orjson", home)
    costs = measure([floor, listed, digested], bench.rounds, bench.output)
    least = costs[floor.name]
    rows = [Row("big session: floor: orjson", least, least.cpu)]
    for command in (listed, digested):
        cost = costs[command.name]
        rows.append(Row(command.name, cost, least.cpu, (_peak(cost, 110),)))
    return rows


def scrubbing(bench: Bench) -> list[Row]:
    """The scrubber alone, on clean text, dense secrets and hostile repeats."""
    rows = []
    for kind in ("clean", "dense", "hostile"):
        script = os.path.join(_HERE, "scrub_rates.py")
        argv = [sys.executable, script, kind, str(bench.scrub_bytes)]
        told: dict[str, float] = {}
        environ = environment(bench.empty_home(), bench.state("scrub"))
        command = Command(f"scrub: {kind}", argv, environ, after=_keeping(told))
        cost = measure([command], 1, bench.output)[command.name]
        rate = f"{told['rate']:.0f} MB per CPU-second"
        if kind == "hostile":
            rate = f"slowest {rate}"
            goals = [Goal("time for twice the text ×", told["growth"], 2.5)]
        else:
            rate += f", plain re {told['plain']:.1f}"
            goals = []
        if kind == "clean":
            ratio = told["rate"] / told["plain"]
            goals = [
                Goal("× plain re", ratio, 20, at_least=True),
                Goal("MB per CPU-second", told["rate"], 100, at_least=True),
            ]
        # Each rate is timed for a fixed time: the CPU time of the process says nothing.
        per_megabyte = Cost(1 / told["rate"], 1 / told["rate"], cost.peak)
        rows.append(Row(f"{command.name}, 1 MB", per_megabyte, None, goals, rate))
    return rows


def starting(bench: Bench) -> list[Row]:
    """Commands that read nothing, beside an interpreter that does nothing."""
    home = bench.empty_home()
    input = os.path.join(bench.work, "hook.json")
    with open(input, "w", encoding="utf-8") as file:
        json.dump(_HOOK_INPUT, file)
    bare = Command(
        "bare interpreter",
        [sys.executable, "-c", "pass"],
        environment(home, bench.state("bare")),
    )
    hook = bench.command("hook", home, "hook", "claude-code", "PostToolUse")
    hook = Command(hook.name, hook.argv, hook.environ, input=input)
    version = bench.command("--version", home, "--version")
    status = bench.command("status, empty home", home, *_STATUS)
    bounds = {hook.name: 8, version.name: 5, status.name: 80}
    commands, rows = [bare], []
    _compile_packages()
    for command in (hook, version, status):
        try:
            _warm_bytecode([command], bench.output)
        except Failed as failure:
            if "unknown command" not in str(failure):
                raise
            rows.append(Row(command.name, remark="no such command yet"))
        else:
            commands.append(command)
    costs = measure(commands, bench.start_rounds, bench.output)
    least = costs[bare.name]
    for command in commands:
        cost = costs[command.name]
        goals = []
        if command is not bare:
            above = (cost.cpu - least.cpu) * 1000
            goals = [Goal("CPU above a bare one", above, bounds[command.name], " ms")]
        rows.append(Row(command.name, cost, least.cpu, goals))
    return rows


def capturing(bench: Bench) -> list[Row]:
    """The hook of change capture, with an empty spool and with many calls in it."""
    root = os.path.join(bench.work, "capture", "checkout")
    environ = environment(os.path.dirname(root), bench.state("capture"))
    words = [capture.AGENTSCM, "change-capture", "hook-claude", "--root", root]
    call = {"tool_name": "Bash", "tool_use_id": "measured", "tool_input": {"command": "make"}}
    inputs = {
        "an ignored event": capture.payload(root, "PostToolBatch"),
        "a turn's end": capture.payload(root, "Stop"),
        "a call": capture.payload(root, "PreToolUse", **call),
    }
    bare = Command("bare interpreter", [sys.executable, "-c", "pass"], environ)
    rows: list[Row] = []
    _compile_packages()
    for calls in (0, bench.captured_calls):
        capture.make_checkout(root, environ)
        capture.fill(root, environ, calls)
        commands = [bare]
        for name, data in inputs.items():
            path = os.path.join(bench.work, f"{name.replace(' ', '-')}.json")
            with open(path, "wb") as file:
                file.write(data)
            said = f"capture hook, {name}, {calls} calls kept"
            commands.append(Command(said, words, environ, input=path))
        costs = measure(commands, bench.start_rounds, bench.output)
        for command in commands[1:]:
            cost, least = costs[command.name], costs[bare.name]
            above = (cost.cpu - least.cpu) * 1000
            bound = 60 if calls == 0 else 150
            goal = Goal("CPU above a bare one", above, bound, " ms")
            rows.append(Row(command.name, cost, least.cpu, [goal]))
    return rows


#: The groups, by the names `--only` takes.
GROUPS: dict[str, Callable[[Bench], list[Row]]] = {
    "store": list_and_digest,
    "big": one_big_session,
    "scrub": scrubbing,
    "start": starting,
    "capture": capturing,
}


def _peak(cost: Cost, bound: int) -> Goal:
    return Goal("peak", cost.peak / _MIB, bound, " MiB")


def _warm_bytecode(commands: list[Command], output: str) -> None:
    """Run each once, so that no measured run compiles a module."""
    measure(commands, 1, output)


def _compile_packages() -> None:
    """Compile what was installed as source: a hook itself never writes a compiled module."""
    for package in ("agentfeedback", "agentfeedback_claude_code", "agentfeedback_change_capture"):
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            compile_dir(folder, quiet=2)


def _checking(home: str) -> Callable[[str], None]:
    truth = truth_of(home)

    def check(output: str) -> None:
        with open(output, "rb") as file:
            found = differences(json.load(file), truth)
        if found:
            raise Miscounted("\n".join(found))

    return check


def _keeping(told: dict[str, float]) -> Callable[[str], None]:
    def keep(output: str) -> None:
        with open(output, "rb") as file:
            told.update(json.load(file))

    return keep


@contextmanager
def _appended(path: str) -> Iterator[None]:
    """The log with one more line, and afterwards as it was, its times too."""
    before = os.stat(path)
    with open(path, "ab") as file:
        file.write(_APPENDED)
    try:
        yield
    finally:
        os.truncate(path, before.st_size)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
