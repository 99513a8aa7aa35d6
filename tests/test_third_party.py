"""What a third party has: wheels of the core and the kit, `plugins new`, and a reader that needs nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import find_uv, is_offline
from tests.support import ROOT
from tests.support.machine import Machine
from tests.test_layers import PUBLIC, imports

KIT = "plugins/pytest-agentfeedback"
#: The reader that the tutorial builds.
EXAMPLE = ROOT / "readers/pi"
#: How a third party's package is tested.
INI = """[pytest]
addopts = --import-mode=importlib
testpaths = tests corpus
filterwarnings =
    error
    ignore:\\s*Can not relate snapshot:UserWarning
"""


class Bench:
    """A virtual environment with the wheels of the core and the kit, and what they ask for."""

    def __init__(self, folder: Path, wheels: list[Path]) -> None:
        self.python = folder / "venv/bin/python"
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        uv = find_uv()
        if uv is None:
            _run(sys.executable, "-m", "venv", str(folder / "venv"))
            self._installer = [str(self.python), "-m", "pip", "install", "--quiet"]
        else:
            _run(uv, "venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
            self._installer = [uv, "pip", "install", "--quiet", "--python", str(self.python)]
        self.install(*map(str, wheels))

    def install(self, *what: str) -> None:
        _run(*self._installer, *what)

    def pytest(self, folder: Path) -> tuple[int, str]:
        """Run the tests of a package as its author does."""
        environ = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode and is_offline(done.stderr):
        pytest.skip("the packages cannot be fetched here")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def bench(tmp_path: Path, wheel: Callable[[str], Path]) -> Bench:
    return Bench(tmp_path / "bench", [wheel("core"), wheel(KIT)])


@pytest.mark.slow
def test_new_reader_installs_and_passes_the_kit(
    machine: Machine, bench: Bench, tmp_path: Path
) -> None:
    """What `plugins new` of the built wheels writes installs beside them and passes its tests, goldens included."""
    _run(
        str(bench.python),
        "-m",
        "agentfeedback",
        "plugins",
        "new",
        "my-agent2",
        "--into",
        str(tmp_path),
    )
    package = tmp_path / "agentfeedback-my-agent2"
    assert ".venv/" in (package / ".gitignore").read_text().splitlines()
    bench.install(f"{package}[test]")
    status, printed = bench.pytest(package)
    assert status == 0, printed
    assert (
        "my-agent2: 6 labelled, 0 unlabelled, 6/6 classes" in printed
        and "skipped" not in printed.splitlines()[-1]
    )


@pytest.mark.slow
def test_example_reader_passes_the_kit(bench: Bench, tmp_path: Path) -> None:
    """The reader of pi, in a package of its own with its corpus and goldens, passes against the built wheels."""
    package = tmp_path / "agentfeedback-pi"
    shutil.copytree(EXAMPLE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("corpus", "goldens"):
        shutil.copytree(ROOT / folder / "pi", package / folder / "pi")
    (package / "pytest.ini").write_text(INI)
    bench.install(str(package))
    status, printed = bench.pytest(package)
    assert status == 0, printed
    assert "6/6 classes" in printed


def test_example_reader_imports_public_names_alone() -> None:
    """The example uses the public modules of the core and its own, and no other reader."""
    sources = sorted(EXAMPLE.glob("src/**/*.py"))
    used = {name for path in sources for name in imports(path) if name.startswith("agentfeedback")}
    assert sources and used
    assert {each for each in used if not each.startswith("agentfeedback_pi")} - PUBLIC == set()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Aider", '"Aider" is not a name: words of a-z and 0-9 joined by dashes'),
        ("2fast", "is not a name"),
        ("a--b", "is not a name"),
        ("../x", "is not a name"),
        ("", "is not a name"),
        ("a" * 41, "at most 40 characters"),
        ("codex", "codex has a reader of this project"),
        ("opencode", "opencode has a reader of this project"),
    ],
)
def test_name_no_harness_can_have_is_refused(
    machine: Machine, tmp_path: Path, name: str, problem: str
) -> None:
    """A name that refs and packages cannot carry, or that is taken, writes nothing and exits 2."""
    target = tmp_path / "into"
    target.mkdir()
    result = machine.call("plugins", "new", name, "--into", str(target))
    assert (result.status, result.out) == (2, b"")
    assert problem in result.err and len(result.err.splitlines()) == 1
    assert list(target.iterdir()) == []


def test_what_is_there_is_left_alone(machine: Machine, tmp_path: Path) -> None:
    """An existing folder, even an empty one, and a missing parent are refused, and nothing is changed."""
    (tmp_path / "agentfeedback-goose").mkdir()
    there = machine.call("plugins", "new", "goose", "--into", str(tmp_path))
    assert there.status == 1 and "agentfeedback-goose is there already" in there.err
    assert list((tmp_path / "agentfeedback-goose").iterdir()) == []
    gone = machine.call("plugins", "new", "goose", "--into", str(tmp_path / "gone"))
    assert gone.status == 1 and "no such file or directory" in gone.err
    assert not (tmp_path / "gone").exists()


def test_wrong_number_of_names_is_a_usage_error(machine: Machine) -> None:
    """`plugins new` takes one name; `plugins` takes none."""
    for words in (("new",), ("new", "a", "b"), ("nwe", "a")):
        result = machine.call("plugins", *words)
        assert result.status == 2 and "plugins" in result.err
