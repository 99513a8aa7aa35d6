# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""The project's chores. Sessions find packages by glob: a new reader or plugin edits no list here.

`nox -l` lists them; `nox -s "reader(codex)"` is the quick loop of one reader.
"""

from __future__ import annotations

import glob
import os

import nox

ROOT = os.path.dirname(os.path.abspath(__file__))
PYPROJECT = nox.project.load_toml(os.path.join(ROOT, "pyproject.toml"))
PYTHONS = nox.project.python_versions(PYPROJECT)

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "layers", "typing", "tests"]


def members(*folders: str) -> list[str]:
    """The folders of packages below these, in order."""
    found = [glob.glob(os.path.join(ROOT, folder, "*", "pyproject.toml")) for folder in folders]
    return sorted(os.path.dirname(path) for paths in found for path in paths)


def packages() -> list[str]:
    """The core, then all readers and plugins."""
    return [os.path.join(ROOT, "core"), *members("readers", "plugins")]


def group(name: str) -> list[str]:
    """The requirements of a dependency group."""
    return list(nox.project.dependency_groups(PYPROJECT, name))


def install(session: nox.Session, *groups: str) -> None:
    """Install every package editable, and these groups."""
    editable = [word for package in packages() for word in ("-e", package)]
    session.install(*editable, *(line for name in groups for line in group(name)))


@nox.session(tags=["ci"])
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    session.install(*group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(tags=["fix"], default=False)
def fix(session: nox.Session) -> None:
    """Mend what can be mended mechanically."""
    session.install(*group("lint"))
    session.run("ruff", "check", "--fix", ".")
    session.run("ruff", "format", ".")


@nox.session(tags=["ci"])
def typing(session: nox.Session) -> None:
    """Check types strictly, all packages at once."""
    install(session, "typing")
    names = [os.path.basename(path) for each in packages() for path in glob.glob(f"{each}/src/*")]
    session.run("mypy", *(word for name in sorted(names) for word in ("-p", name)))


@nox.session(tags=["ci"])
def layers(session: nox.Session) -> None:
    """Check who may import whom (import-linter's contracts in pyproject.toml)."""
    install(session, "lint")
    session.run("lint-imports")


@nox.session(tags=["ci"], python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run all tests: packages, whole-product promises, corpus."""
    install(session, "tests")
    session.run("pytest", *session.posargs)


@nox.session(default=False)
@nox.parametrize(
    "name",
    [os.path.basename(path) for path in members("readers")],
    ids=[os.path.basename(path) for path in members("readers")],
)
def reader(session: nox.Session, name: str) -> None:
    """Run the tests and the corpus of one reader: the quick loop."""
    install(session, "tests")
    # A reader may read several harnesses, each with a corpus: opencode has opencode-v1 and opencode-v2.
    corpora = [
        *glob.glob(f"corpus/{name}", root_dir=ROOT),
        *glob.glob(f"corpus/{name}-*", root_dir=ROOT),
    ]
    paths = [f"readers/{name}", *sorted(corpora)]
    session.run("pytest", *paths, *session.posargs)


@nox.session(default=False)
def corpus(session: nox.Session) -> None:
    """Check that every label of the corpus holds and every failed call is labelled."""
    install(session, "tests")
    session.run("pytest", "corpus", *session.posargs)


@nox.session(default=False)
def scrub(session: nox.Session) -> None:
    """Put every form of a secret into every surrounding; with a folder, list what is hidden in its logs."""
    install(session, "tests")
    if session.posargs:
        session.run("python", "bench/masked.py", *session.posargs)
        return
    session.run("pytest", "core/tests/scrub", env={"AGENTFEEDBACK_ALL_FORMS": "1"})


@nox.session(default=False)
def goldens(session: nox.Session) -> None:
    """Rewrite the goldens. Read the diff: a golden changes only in a commit that says why the new value is right."""
    if any(word.startswith("-k") or word == "--deselect" for word in session.posargs):
        session.error(
            "a filtered run would delete goldens it did not make: pass whole paths instead"
        )
    install(session, "tests")
    keep = ["--snapshot-no-cleanup"] if session.posargs else []
    paths = session.posargs or ["readers", "plugins"]
    session.run("pytest", "-k", "golden", "--snapshot-update", *keep, *paths, success_codes=[0, 1])


@nox.session(default=False)
def wheels(session: nox.Session) -> None:
    """Build every wheel, use the core with subsets of the readers, and the kit with a third party's readers."""
    session.install("build", *group("tests"))
    session.run(
        "pytest",
        "tests/test_wheels.py",
        "tests/test_third_party.py",
        *session.posargs,
        env={"AGENTFEEDBACK_WHEELS": "all"},
    )


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure list and digest beside the floors of the same run; prints ratios and peak memory."""
    install(session)
    session.run("python", "bench/run.py", *session.posargs)


@nox.session(default=False)
def crash(session: nox.Session) -> None:
    """Stop the program and the capture spool at every system call that writes; the suite does so at some."""
    install(session, "tests")
    files = glob.glob(os.path.join(ROOT, "**", "test_*crash*.py"), recursive=True)
    session.run("pytest", "-s", *files, *session.posargs, env={"AGENTFEEDBACK_CRASH": "all"})


@nox.session(default=False)
def hooks(session: nox.Session) -> None:
    """Send every payload that Claude Code really sent through the real hook, a process each (minutes)."""
    install(session, "tests")
    session.run("python", "tests/replay/real_script.py", *session.posargs)


@nox.session(default=False)
def mutation(session: nox.Session) -> None:
    """Change the pure modules step by step and see that a test of their own fails: all, or those named."""
    install(session, "tests")
    session.install("mutmut>=3.8")
    session.run("python", "tests/mutation/run.py", *session.posargs)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Give hook files, configurations, lines of MCP clients, inbox and spool 100,000 broken inputs each (minutes)."""
    install(session, "tests")
    session.run("python", "tests/fuzz/run.py", *session.posargs)


@nox.session(default=False)
def api(session: nox.Session) -> None:
    """Ask the server everything that its OpenAPI document allows, and more; words go to `schemathesis run`."""
    install(session, "tests")
    session.install("schemathesis>=4")
    session.run("python", "tests/api/run.py", *(session.posargs or ("-n", "50")))
