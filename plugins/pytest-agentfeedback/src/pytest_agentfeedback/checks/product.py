"""The reader as users get it: cheap to install, its corpus labelled, its output known, its speed shown."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import pytest

from pytest_agentfeedback import labels
from pytest_agentfeedback.subject import Subject, no_faults

if TYPE_CHECKING:
    from pytest_agentfeedback.corpus import Bench
    from pytest_agentfeedback.speed import Speed

#: What syrupy says of a golden that is not there; all lines of the output would follow.
_GONE = "does not exist"


class ProductChecks(Subject):
    def test_plugin_imports_lazily(self) -> None:
        """Importing the plugin loads neither its reader module nor sqlite3: every command pays for that."""
        (plugin,) = entry_points(group="agentfeedback.readers", name=self.harness)
        code = (
            "import sys, agentfeedback.plugins.hookspecs; before = set(sys.modules)\n"
            f"import {plugin.module}; print(*sorted(set(sys.modules) - before))"
        )
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        package = plugin.module.partition(".")[0]
        heavy = [
            name
            for name in done.stdout.split()
            if name == "sqlite3" or (name.startswith(f"{package}.") and name != plugin.module)
        ]
        no_faults(f"importing {plugin.module} loads", heavy)

    def test_labels_hold(self, bench: Bench) -> None:
        """The digests show each failure of the corpus as its label says, and no failure is without a label."""
        laid = self._laid(bench)
        try:
            found = labels.load(laid.corpus.labels)
        except (labels.LabelsError, OSError) as error:
            pytest.fail(str(error), pytrace=False)
        faults = labels.duplicates(found)
        for label in found:
            if why := labels.broken(label, laid.digests.get(label.session)):
                faults.append(f"{why}\nedit {laid.corpus.labels}:{label.line}")
        for id, digest in laid.digests.items():
            faults += (f"{id}: no label for {each}" for each in labels.unlabelled(found, digest))
        faults += (f"{id}: {why}" for id, why in laid.failed.items())
        no_faults("labels", faults)

    def test_goldens_match(self, bench: Bench, golden: Callable[[str], Any]) -> None:
        """`sessions list` and the digest of each session of the corpus print exactly what they did before."""
        laid = self._laid(bench)
        printed = {"list": laid.listing} | {f"{id}.digest": laid.digest(id) for id in laid.sessions}
        differ = {}
        for name, stdout in printed.items():
            kept = golden(f"{self.harness}/{name}")
            if kept != stdout:  # each is compared, or those after a difference count as unused
                lines = kept.get_assert_diff()
                differ[name] = (
                    lines[0] if len(lines) > 1 and _GONE in lines[0] else "\n".join(lines)
                )
        no_faults(
            "not as the golden says (after a look, write it with --snapshot-update)",
            [f"{name}: {lines}" for name, lines in differ.items()],
        )

    def test_throughput_is_shown(
        self, bench: Bench, reader_speed: Callable[..., Speed], say: Callable[[str], None]
    ) -> None:
        """How fast the lines of the corpus are counted, and how far that is from the floor, is said in the summary."""
        logs = self._logs(bench)
        lines = [line for each in logs for line in each.lines]
        speed = reader_speed(self._reader, lines, logs[0].place, self.log)
        assert speed.lines >= len(lines)
        say(f"{self.harness}: {speed}")
