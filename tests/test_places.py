"""Each module of the core has its tests in a place that its name gives away, or a reason why they are elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import ROOT

SOURCE = ROOT / "core/src/agentfeedback"
TESTS = ROOT / "core/tests"
#: Where tests of several modules are together: their folder or names, the file or folder, and why.
ELSEWHERE = [
    (
        "scrub/*",
        "core/tests/scrub/test_engine.py",
        "tables and steps of one engine: what one hides is seen in what the engine prints",
    ),
    ("wire/*", "tests/test_schemas.py", "records: every printed one is compared with its schema"),
    ("plugins/*", "tests/test_hooks.py", "hooks are tested with plugins that are installed"),
    ("cli/*", "tests/test_command_line.py", "commands are tested as users call them"),
    ("sessions/*", "tests/test_one_way.py", "the engine is tested with the stores of harnesses"),
    ("sessions/facts_cache", "tests/test_warm_list.py", "a cache shows in what is opened"),
    ("sessions/digest_run", "tests/test_watermark_life.py", "runs are tested one after another"),
    ("reading/*", "tests/test_hostile_logs.py", "lines are tested through every reader"),
    ("reading/sqlite/*", "readers/opencode/tests/test_snapshot.py", "with its one live database"),
    (
        "reading/reader",
        "plugins/pytest-agentfeedback/tests/test_checks.py",
        "with the kit's readers",
    ),
    ("reading/timeline_entries", "core/tests/reading/test_timeline.py", "what a timeline holds"),
    ("digest/build", "core/tests/digest/test_troubles.py", "and in the goldens of every reader"),
    ("digest/entry", "tests/test_show.py", "an entry in full is what a command shows"),
    ("report/*", "tests/test_report.py", "steps of one page: what each counts is what it shows"),
    ("terminal/ref_completion", "core/tests/terminal/test_completion.py", "parts of one script"),
    ("terminal/prose", "core/tests/terminal/test_usage.py", "what help is wrapped with"),
    ("digest/complaint_tables", "core/tests/digest/test_complaints.py", "tables of one matcher"),
    ("doctor/database_check", "core/tests/doctor/test_diagnose.py", "a part of the report"),
    ("harness_hooks/*", "core/tests/harness_hooks/test_entries.py", "edits of one settings file"),
    ("state/faults", "core/tests/state/test_database_refusals.py", "each refusal names its remedy"),
    ("state/migrations", "core/tests/state/test_database.py", "each database is made by them"),
    ("config/shape", "core/tests/config/test_file.py", "a shape is what a file is checked against"),
    ("foundation/foreign_call", "tests/test_failing_plugins.py", "it is seen in what plugins do"),
    ("foundation/utf8", "tests/test_odd_surroundings.py", "it starts the process again"),
    ("foundation/lazy", "tests/test_faces.py", "the faces are made of it"),
]


def modules() -> list[str]:
    """The modules of the core below its packages, as `foundation/git/run`."""
    found = (path.relative_to(SOURCE).with_suffix("") for path in SOURCE.rglob("*.py"))
    return sorted(str(path) for path in found if len(path.parts) > 1 and path.name != "__init__")


def own(module: str) -> list[Path]:
    """The test files that carry the module's name."""
    folder, _, name = module.rpartition("/")
    return sorted((TESTS / folder).glob(f"test_{name}*.py"))


def elsewhere(module: str) -> list[str]:
    """The files named for a module, those named for it alone before those for its folder."""
    folder = module.rpartition("/")[0]
    exact = [path for name, path, _ in ELSEWHERE if name == module]
    return exact or [path for name, path, _ in ELSEWHERE if name == f"{folder}/*"]


@pytest.mark.parametrize("module", modules())
def test_a_module_has_a_place_for_its_tests(module: str) -> None:
    """Beside the modules' own layout, so that a newcomer finds it; else the table above says where and why."""
    assert own(module) or elsewhere(module), f"make core/tests/{module}: test_<module>.py"


@pytest.mark.parametrize(("name", "path", "why"), ELSEWHERE, ids=[each[0] for each in ELSEWHERE])
def test_an_exception_is_needed_and_true(name: str, path: str, why: str) -> None:
    """It names what is there, for a module without a file of its own, and gives a reason."""
    assert (ROOT / path).exists() and why
    covered = [each for each in modules() if each == name or each.rpartition("/")[0] + "/*" == name]
    assert covered and any(not own(each) for each in covered)


def test_no_test_file_of_a_package_is_named_after_nothing() -> None:
    """A file in the folder of a package tests a module of it, or several, and says in its first line what."""
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.parent.relative_to(TESTS)
        assert (SOURCE / folder).is_dir(), f"{path}: the core has no package {folder}"
        assert path.read_text().startswith('"""'), path
