"""The pytest plugin: collects corpora, gives the fixtures, and says in the summary what the corpora hold.

It imports pytest alone: what else the kit needs is imported by those who use it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_agentfeedback.bench import _bench_key, bench_of

if TYPE_CHECKING:
    from pathlib import Path

    from agentfeedback.reading import Log, Place, Reader
    from pytest_agentfeedback.corpus import Bench
    from pytest_agentfeedback.machine import Machine
    from pytest_agentfeedback.speed import Speed

#: The property of a report that holds a line for the summary.
SAID = "agentfeedback_said"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "agentfeedback_goldens", "folder of the goldens, relative to the rootdir", default="goldens"
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A `labels.json` beside a `home` folder is a corpus."""
    if file_path.name == "labels.json" and (file_path.parent / "home").is_dir():
        from pytest_agentfeedback.items import LabelsFile

        return LabelsFile.from_parent(parent, path=file_path)
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [
        report
        for group in ("passed", "failed", "xfailed", "xpassed")
        for report in terminalreporter.getreports(group)
        if isinstance(report, pytest.TestReport)
    ]
    said = [value for report in reports for name, value in report.user_properties if name == SAID]
    if any(
        name.startswith("agentfeedback_")
        for report in reports
        for name, _ in report.user_properties
    ):
        from pytest_agentfeedback.items import summaries

        terminalreporter.section("agentfeedback")
        for line in (*summaries(reports), *said):
            terminalreporter.write_line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    bench = config.stash.get(_bench_key, None)
    if bench is not None:
        bench.close()


@pytest.fixture
def bench(pytestconfig: pytest.Config) -> Bench:
    """Temporary copies of corpora; see `pytest_agentfeedback.corpus.Bench`."""
    return bench_of(pytestconfig)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A home with nothing in it and the program to run there; see `pytest_agentfeedback.machine.Machine`."""
    from pytest_agentfeedback.machine import Machine

    home = tmp_path / "home"
    home.mkdir()
    return Machine(home, home / "work")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """`golden("codex/<session>.digest")`: what bytes are compared with, a file of exact standard output.

    `assert stdout == golden("codex/list")` compares with `<goldens>/codex/list.json`. Goldens are
    written by `--snapshot-update`, over the whole suite: with `-k` or paths add `--snapshot-no-cleanup`.
    """
    from pytest_agentfeedback.goldens import kept_in

    snapshot = request.getfixturevalue("snapshot")
    config = request.config
    root = config.rootpath / config.getini("agentfeedback_goldens")

    def of(name: str) -> Any:
        folder, _, file = name.rpartition("/")
        return snapshot.use_extension(kept_in(root / folder))(name=file)

    return of


@pytest.fixture
def reader_speed() -> Callable[..., Speed]:
    """`reader_speed(reader, lines)`: what the reader costs for these lines, and what parsing them costs at least.

    `place` and the class of the log can be given, as in `pytest_agentfeedback.speed.speed_of`. The
    answer is to be said (`say(str(speed))`), not asserted: machines differ, and other load adds.
    """
    from agentfeedback.reading import Place
    from pytest_agentfeedback.speed import speed_of
    from pytest_agentfeedback.subject import LineLog

    def of(
        reader: Reader,
        lines: Sequence[bytes],
        place: Place | None = None,
        log_of: Callable[[Sequence[bytes]], Log] = LineLog,
    ) -> Speed:
        return speed_of(reader, lines, Place() if place is None else place, log_of)

    return of


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Print a line in the summary of the run."""
    return lambda line: record_property(SAID, line)
