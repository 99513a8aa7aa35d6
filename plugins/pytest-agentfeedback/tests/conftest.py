"""Installs the invented harness of `tiny/` for a test, as a distribution on the path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_agentfeedback.corpus import Bench

TINY = Path(__file__).parent / "tiny"
#: A corpus of its own, for the tests that install it.
collect_ignore = ["tiny"]

_METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n"
_TEST = """
from pytest_agentfeedback import ReaderConformance


class TestTiny(ReaderConformance):
    harness = "tiny"
    corpus = "corpus/tiny"
    examples = 5
"""
_INI = r"""
[pytest]
addopts = --import-mode=importlib -p no:cacheprovider
filterwarnings =
  error
  ignore:\s*Can not relate snapshot:UserWarning
"""


class Site:
    """A folder with the tiny reader installed, its corpus, and a test class of three lines."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(TINY, folder, ignore=shutil.ignore_patterns("__pycache__"))
        self.install("agentfeedback-tiny", "tiny = agentfeedback_tiny")
        self.corpus = folder / "corpus" / "tiny"
        self.labels = self.corpus / "labels.json"
        (folder / "test_tiny.py").write_text(_TEST)
        (folder / "pytest.ini").write_text(_INI)

    def install(self, name: str, entry_point: str) -> None:
        info = self.folder / f"{name.replace('-', '_')}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(_METADATA.format(name=name))
        (info / "entry_points.txt").write_text(f"[agentfeedback.readers]\n{entry_point}\n")

    def pytest(self, *words: str) -> tuple[int, str]:
        """Run pytest in a process of its own: its exit status and what it printed."""
        environ = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
        }
        environ["PYTHONPATH"] = str(self.folder)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *words],
            cwd=self.folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(site.folder)
    yield site
    for name in [each for each in sys.modules if each.startswith("agentfeedback_tiny")]:
        del sys.modules[name]


@pytest.fixture
def tiny_bench(site: Site) -> Bench:
    bench = Bench(site.folder)
    yield bench
    bench.close()
