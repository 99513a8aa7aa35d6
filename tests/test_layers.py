"""Who may import whom: read from the source, so that the shape of the house holds by itself."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import metadata
from pathlib import Path

import grimp
import pytest

from tests.support import ROOT

CORE = ROOT / "core/src/agentfeedback"
MEMBERS = [ROOT / "core", *sorted(path.parent for path in ROOT.glob("[rp]*/*/pyproject.toml"))]
SOURCES = [path for member in MEMBERS for path in sorted(member.glob("src/**/*.py"))]
READERS = [path for path in SOURCES if path.is_relative_to(ROOT / "readers")]
#: What a reader may use of the core: the two faces, which third parties rely on.
PUBLIC = {"agentfeedback.reading", "agentfeedback.plugins"}
#: By package, the distributions of the workspace that bring it: an editable install does not tell.
OWN = {
    path.name: [tomllib.loads((member / "pyproject.toml").read_text())["project"]["name"]]
    for member in MEMBERS
    for path in member.glob("src/*")
}
PURE = [
    "digest.build",
    "digest.caps",
    "digest.complaint_tables",
    "digest.complaints",
    "digest.connections",
    "digest.detailed",
    "digest.entry",
    "digest.detect",
    "foundation.canonical",
    "foundation.json_text",
    "foundation.local_time",
    "foundation.times",
    "policy.rules",
    "reading.args_digest",
    "reading.record",
    "reading.refs",
    "reading.sink",
    "reading.tally",
    "reading.timeline",
    "reading.timeline_entries",
    "report.counting",
    "report.facts",
    "report.grouping",
    "report.signature",
    "report.timeline",
    "sessions.cursor",
    "sessions.listing",
    "sessions.selecting",
    "state.watermark",
    "wire.digest",
    "wire.encode",
    "wire.installed",
    "wire.listing",
    "wire.marks",
    "wire.report",
    "wire.show",
]
#: What pure modules use beside each other: values and rules, no file.
_ALSO = {
    "digest",
    "foundation.errors",
    "reading.reader",
    "scrub",
    "scrub.formats",
    "sessions.examiner",
    "wire",
    "wire.records",
}
IO = {
    "fcntl",
    "io",
    "mmap",
    "os",
    "pathlib",
    "shutil",
    "signal",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
}
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "process", "misc"}
LONGEST = 330


#: Every module of the workspace, for `from package import module`.
_MODULES = {
    ".".join(path.relative_to(member / "src").with_suffix("").parts)
    for member in MEMBERS
    for path in member.glob("src/**/*.py")
}


def imports(path: Path) -> Iterator[str]:
    """The dotted names a module imports anywhere in it, `TYPE_CHECKING` blocks left out."""
    tree = ast.parse(path.read_text())
    tree.body = [each for each in tree.body if not _for_types_alone(each)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "." * node.level + (node.module or "")
            elif node.module == "agentfeedback":
                yield from (f"agentfeedback.{alias.name}" for alias in node.names)
            else:
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from (name for name in inside if name in _MODULES)
                if not set(inside) <= _MODULES:
                    yield node.module or ""


def _for_types_alone(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", READERS, ids=name)
def test_reader_imports_only_public_names_of_the_core(path: Path) -> None:
    """A reader uses the public modules of the core, and no other reader or plugin."""
    own = path.relative_to(ROOT).parts[3]
    used = {each for each in imports(path) if each.startswith("agentfeedback")}
    assert {each for each in used if each.partition(".")[0] != own} - PUBLIC == set()


@pytest.mark.parametrize("path", [each for each in SOURCES if each.is_relative_to(CORE)], ids=name)
def test_core_imports_no_plugin_and_no_command(path: Path) -> None:
    """The core imports no reader and no plugin; nothing below the command line imports it."""
    used = set(imports(path))
    assert not [each for each in used if each.startswith("agentfeedback_")]
    if not path.is_relative_to(CORE / "cli") and path != CORE / "__main__.py":
        assert not [each for each in used if each.startswith("agentfeedback.cli")]


@pytest.mark.parametrize("module", PURE)
def test_pure_module_imports_nothing_that_does_io(module: str) -> None:
    """The rules are apart from the world: their modules cannot open, write or wait."""
    used = set(imports(CORE / f"{module.replace('.', '/')}.py"))
    assert {each.partition(".")[0] for each in used} & IO == set()
    own = {
        each.removeprefix("agentfeedback.") for each in used if each.startswith("agentfeedback.")
    }
    assert own - {*PURE, *_ALSO} == set()


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_module_is_small_and_has_a_name_of_its_own(path: Path) -> None:
    """One concern a file: not much over three hundred lines, and no name that could hold anything."""
    assert len(path.read_text().splitlines()) <= LONGEST
    assert not {path.stem, path.parent.name} & VAGUE


@pytest.mark.parametrize(
    "path",
    [
        *(CORE / "foundation").rglob("*.py"),
        *(CORE / "harness_hooks").rglob("*.py"),
    ],
    ids=name,
)
def test_what_hooks_load_is_the_standard_library_and_itself(path: Path) -> None:
    """A harness waits for its hooks: what they import costs no distribution, and no package above them."""
    own = ("agentfeedback.foundation", "agentfeedback.harness_hooks")
    below = own[:1] if path.is_relative_to(CORE / "foundation") else own
    for each in set(imports(path)):
        assert each.partition(".")[0] in sys.stdlib_module_names or each.startswith(below)


@pytest.mark.parametrize(
    ("calls", "module"),
    [
        ({"os.replace", "os.rename", "os.renames", "shutil.move"}, "folder"),
        ({"fcntl.flock", "fcntl.lockf"}, "lock"),
    ],
)
def test_files_are_renamed_and_locked_in_one_module(calls: set[str], module: str) -> None:
    """A writer of its own would be one more to get right at every kill and on a full disk."""
    # A check of the kit moves a session away while it is read, which is what it tests.
    excused = ROOT / "plugins/pytest-agentfeedback/src/pytest_agentfeedback/checks/untouched.py"
    found = {
        path
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and ast.unparse(node) in calls
    }
    assert found - {excused} == {CORE / f"foundation/{module}.py"}


def test_workspace_names_every_member() -> None:
    """The sources of the workspace are its member folders, each under its own name."""
    sources = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["sources"]
    names = {
        tomllib.loads((member / "pyproject.toml").read_text())["project"]["name"]
        for member in MEMBERS
    }
    assert set(sources) == names and all(each == {"workspace": True} for each in sources.values())


def normal(distribution: str) -> str:
    """The name of a distribution in the one form by which names compare."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@pytest.mark.parametrize("member", MEMBERS, ids=name)
def test_member_declares_what_it_imports_and_ships_the_licence(member: Path) -> None:
    """What a member's code imports is a dependency of its own, not of another member; its licence is the workspace's."""
    project = tomllib.loads((member / "pyproject.toml").read_text())["project"]
    declared = {normal(re.split(r"[<>=~\[ ]", each)[0]) for each in project["dependencies"]}
    imported = {
        each.partition(".")[0] for path in member.glob("src/**/*.py") for each in imports(path)
    } - {""}
    provided = {**metadata.packages_distributions(), **OWN}
    missing = {
        package
        for package in imported - sys.stdlib_module_names
        if not {project["name"], *declared} & set(map(normal, provided.get(package, ())))
    }
    assert missing == set()
    assert (member / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (member / project["readme"]).is_file()


LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]


def test_the_contracts_name_every_package() -> None:
    """The packages that import-linter looks at are those of the members, and so are the independent readers."""
    assert LINTER["root_packages"] == sorted(OWN)
    (independent,) = (each for each in LINTER["contracts"] if each["type"] == "independence")
    assert independent["modules"] == sorted({path.relative_to(ROOT).parts[3] for path in READERS})


def test_the_contracts_hold() -> None:
    """Who may import whom, inside the core and between the distributions, imports for type checkers included."""
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert f"Contracts: {len(LINTER['contracts'])} kept, 0 broken." in done.stdout


def test_no_module_imports_itself_by_a_detour() -> None:
    """There is no circle anywhere, imports for type checkers included."""
    graph = grimp.build_graph(*LINTER["root_packages"])
    order = TopologicalSorter(
        {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    )
    order.prepare()  # raises CycleError, which names the circle


def test_the_core_has_few_rooms() -> None:
    """At most ten modules directly in the package; everything else has a floor."""
    assert len(list(CORE.glob("*.py"))) <= 10
    assert {path.name for path in CORE.iterdir() if (path / "__init__.py").is_file()} == {
        name.strip()
        for contract in LINTER["contracts"]
        if contract["name"] == "floors of the core"
        for layer in contract["layers"]
        for name in layer.split("|")
    }
