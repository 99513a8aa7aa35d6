"""Mutation testing of the core's pure modules: is every step of a rule held by the tests of its own folder?

`nox -s mutation` runs all of them, `nox -s mutation -- foundation/times` one. Each module is changed by mutmut in a
copy of the core, and only `core/tests/<folder>/` runs against it. A mutant that survives fails the run,
unless `explained.toml` says why it changes nothing that anybody can see.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "foundation/times",
    "foundation/canonical",
    "foundation/json_text",
    "digest/caps",
    "digest/detect",
    "policy/rules",
    "reading/refs",
    "reading/args_digest",
    "reading/tally",
    "reading/timeline",
    "state/watermark",
    "sessions/listing",
    "sessions/absent",
)
#: mutmut leaves decorated functions alone, and a cache would hand one mutant's answers to the next.
_CACHED = re.compile(r"^( *)@(?:functools\.)?(?:lru_)?cache(?:\(.*\))?\n", re.MULTILINE)
_SURVIVED, _UNTESTED = (0,), (5, 33)

_SETTINGS = """\
[tool.mutmut]
source_paths = ["src"]
only_mutate = ["src/agentfeedback/{module}.py"]
also_copy = ["tests", "core", "conftest.py"]
pytest_add_cli_args = ["-p", "no:agentfeedback", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
pytest_add_cli_args_test_selection = [{tests}]
timeout_constant = 1.0
timeout_multiplier = 5.0
use_git_change_detection = false
[tool.pytest.ini_options]
addopts = ["--import-mode=importlib"]
pythonpath = ["."]
"""
#: A call goes through two frames of mutmut's own. A mutant need not be killed by the smallest example.
_QUICKER = """
import sys
from hypothesis import Phase
sys.setrecursionlimit(10_000)
settings.register_profile("mutation", deadline=None, phases=[Phase.explicit, Phase.generate])
settings.load_profile("mutation")
"""


class Run:
    """What became of the mutants of one module."""

    def __init__(self, mutants: int, alive: dict[str, tuple[str, str]], seconds: float) -> None:
        self.mutants = mutants
        self.alive = alive
        self.seconds = seconds


def run(module: str, folder: Path, workers: int) -> Run:
    """Let mutmut change one module and test each change.

    Args:
        module: The module below the core, as `foundation/times`.
        folder: An empty folder to work in.
        workers: How many mutants are tested at a time.
    """
    started = time.monotonic()
    shutil.copytree(ROOT / "core/src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests/support", folder / "tests/support")
    tests = Path("core/tests") / Path(module).parent
    shutil.copytree(ROOT / tests, folder / tests)
    (folder / "conftest.py").write_text((ROOT / "conftest.py").read_text() + _QUICKER)
    source = folder / f"src/agentfeedback/{module}.py"
    source.write_text(_CACHED.sub("", source.read_text()))
    # the files that import the module: the others would only cost time
    name = "agentfeedback." + module.replace("/", ".")
    parent, _, last = name.rpartition(".")
    imports = re.compile(
        rf"from {re.escape(name)} import|from {re.escape(parent)} import .*\b{last}\b"
    )
    chosen = [
        str(path.relative_to(folder))
        for path in sorted((folder / tests).glob("test_*.py"))
        if imports.search(path.read_text())
    ]
    if not chosen:
        raise SystemExit(f"no test in {tests} imports {name}")
    settings = _SETTINGS.format(module=module, tests=", ".join(map(json.dumps, chosen)))
    (folder / "pyproject.toml").write_text(settings)
    words = [sys.executable, "-m", "mutmut", "run", "--max-children", str(workers)]
    with (folder / "log").open("wb") as log:
        done = subprocess.run(words, cwd=folder, stdout=log, stderr=log, check=False)
    found = folder / f"mutants/src/agentfeedback/{module}.py.meta"
    if done.returncode or not found.exists():
        raise SystemExit(f"mutmut failed on {module}:\n{(folder / 'log').read_text()[-3000:]}")
    codes: dict[str, int | None] = json.loads(found.read_text())["exit_code_by_key"]
    if None in codes.values():
        raise SystemExit(f"mutmut did not try every mutant of {module}")
    alive = {
        key: _change(key, folder) for key, code in codes.items() if code in (*_SURVIVED, *_UNTESTED)
    }
    return Run(len(codes), alive, time.monotonic() - started)


def _change(key: str, folder: Path) -> tuple[str, str]:
    """The lines a mutant takes away and those it puts there, without indentation."""
    shown = subprocess.run(
        [sys.executable, "-m", "mutmut", "show", key],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    old = [line[1:].strip() for line in shown if re.match(r"-(?!-- )", line)]
    new = [line[1:].strip() for line in shown if re.match(r"\+(?!\+\+ )", line)]
    return "\n".join(old), "\n".join(new)


def explained(module: str) -> list[dict[str, Any]]:
    """The mutants of a module that change nothing to be seen, each with its reason."""
    table = tomllib.loads((ROOT / "tests/mutation/explained.toml").read_text())
    found: list[dict[str, Any]] = table.get(module, [])
    return found


def main(words: list[str]) -> int:
    """Run the modules named, or all; the status is 1 if a mutant lives on without an explanation."""
    parser = argparse.ArgumentParser(prog="nox -s mutation --", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="as foundation/times")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(words)
    if unknown := [word for word in given.modules if word not in MODULES]:
        parser.error(f"no module {unknown[0]}; choose from {', '.join(MODULES)}")
    status = 0
    print(
        f"{'module':24} {'mutants':>7} {'killed':>7} {'explained':>9} {'alive':>5} {'seconds':>7}"
    )
    for module in given.modules or MODULES:
        with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
            found = run(module, Path(folder), given.workers)
        reasons = {(item["old"], item["new"]) for item in explained(module)}
        alive = {key: change for key, change in found.alive.items() if change not in reasons}
        stale = reasons - set(found.alive.values())
        killed = found.mutants - len(found.alive)
        quiet = len(found.alive) - len(alive)
        print(
            f"{module:24} {found.mutants:7} {killed:7} {quiet:9} {len(alive):5} {found.seconds:7.0f}",
            flush=True,
        )
        for key, (old, new) in alive.items():
            print(f"  {key.rpartition('.')[2]}\n    - {old}\n    + {new}", flush=True)
        for old, _ in stale:
            print(f"  explained.toml explains a mutant that is killed or gone: {old}")
        status |= bool(alive or stale)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
