"""The documentation is true: names and flags are all there, links lead somewhere, and shown output is printed."""

from __future__ import annotations

import inspect
import pkgutil
import re
import shlex
import shutil
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import attrs
import pytest

from agentfeedback import plugins, reading
from agentfeedback.cli.commands import COMMANDS
from agentfeedback.config.keys import KEYS as SETTINGS
from agentfeedback.config.resolve import VARIABLES
from agentfeedback.config.shape import CONTEXT_TEXTS
from agentfeedback.foundation import errors, times
from agentfeedback.plugins.discovery import GROUPS
from agentfeedback.policy import rules
from agentfeedback.policy.user_file import KEYS
from agentfeedback.reading import log, reader, record, sink
from agentfeedback.terminal import program
from agentfeedback.wire import records, report
from tests.support import ROOT
from tests.support.machine import Machine

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "node_modules" not in path.parts)
EVERY_PAGE = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *PAGES,
    *sorted(ROOT.glob("*/*/README.md")),
    ROOT / "core/README.md",
]
#: Where the packaged sample belongs in a home.
SAMPLE = {"claude-code": ".claude", "codex": ".codex"}
SHOWN_HOME = "/home/user"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A dotted name below one of our packages, and a file or folder of their sources.
_DOTTED = re.compile(r"(?<![\w/.@-])((?:pytest_)?agentfeedback(?:_[a-z_]+)?(?:\.[A-Za-z_]\w*)+)")
_SOURCE = re.compile(r"(?<![\w/])((?:core|(?:readers|plugins)/[\w-]+)/(?:src|tests)/[\w/.-]*\w)")
#: Names with a dot that are files of the program, or what a server keeps with a request.
_FILES = {"agentfeedback.db", "agentfeedback.json", "agentfeedback.project"}
_CELL = re.compile(r"^\| `([^`|]+)`", re.MULTILINE)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def sections(page: str) -> dict[str, str]:
    """The text of each second-level section of a reference page, by its heading."""
    text = (DOCS / "reference" / page).read_text()
    return dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))


def plugin_commands() -> list[Any]:
    """The commands of every plugin of this repository, from the modules its entry points name."""
    modules = set()
    for path in ROOT.glob("plugins/*/pyproject.toml"):
        points = tomllib.loads(path.read_text())["project"].get("entry-points", {})
        named = points.get("agentfeedback.commands", {}).values()
        modules |= set(named)
    return [command for value in sorted(modules) for command in program.table(value)]


def documented(body: str) -> list[str]:
    """What the first cells of a section's tables name."""
    return _CELL.findall(body)


# -- the reader's contract ---------------------------------------------------------------------


def members(kind: type) -> set[str]:
    """The public attributes of a class, and its methods with their arguments."""
    found = {each for each in getattr(kind, "__annotations__", {}) if not each.startswith("_")}
    for base in (kind, kind.__base__ or object):
        for attribute, value in vars(base).items():
            if attribute.startswith("_") or base is object:
                continue
            if inspect.isfunction(value):
                found.add(attribute + arguments(value))
            elif isinstance(value, property):
                found.add(attribute)
    if attrs.has(kind):
        found |= {field.name for field in attrs.fields(kind)}
    elif kind is not record.Record:
        code = inspect.getsource(kind.__init__) if "__init__" in vars(kind) else ""
        found |= set(re.findall(r"self\.([a-z]\w*)(?:: [^=]+)? = ", code))
    return found


def arguments(function: Any) -> str:
    bare = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in inspect.signature(function).parameters.values()
        if each.name != "self"
    ]
    return str(inspect.Signature(bare))


@pytest.mark.parametrize(
    "kind",
    [
        reader.Reader,
        reader.Home,
        reader.Report,
        reader.Session,
        reader.Place,
        reader.Encoding,
        sink.Sink,
        log.Log,
    ],
    ids=lambda kind: kind.__name__,
)
def test_every_member_of_the_readers_contract_is_documented(kind: type) -> None:
    """The tables of a class's section are its public attributes and its methods with their arguments, and no others."""
    told = documented(sections("readers.md")[f"`{kind.__name__}`"])
    assert sorted(told) == sorted(members(kind))


@pytest.mark.parametrize(
    ("page", "face"),
    [("readers.md", reading), ("plugin-api.md", plugins)],
    ids=["reading", "plugins"],
)
def test_every_name_of_a_face_is_documented(page: str, face: types.ModuleType) -> None:
    """The page of a face names what it offers, each function with its arguments, and nothing else."""
    told = documented(sections(page)[f"`{face.__name__}`"])
    offered = [
        name + (arguments(value) if inspect.isfunction(value) else "")
        for name, value in ((name, getattr(face, name)) for name in face.__all__)
    ]
    assert sorted(told) == sorted(offered)


def test_every_function_of_times_is_documented() -> None:
    """The section of `times` names its public functions, each with its arguments."""
    told = documented(sections("readers.md")["`times`"])
    public = [
        name + arguments(value)
        for name, value in vars(times).items()
        if inspect.isfunction(value)
        and not name.startswith("_")
        and value.__module__ == times.__name__
    ]
    assert sorted(told) == sorted(public)


# -- names of modules ------------------------------------------------------------------------------


def missing_names(text: str) -> list[str]:
    """The dotted names and source paths of a text that name nothing in this repository."""
    packages = {path.name for path in ROOT.glob("*/*/src/*")} | {"agentfeedback"}
    missing = []
    for dotted in sorted(set(_DOTTED.findall(text)) - _FILES - set(GROUPS)):
        if dotted.split(".")[0] in packages:
            try:
                pkgutil.resolve_name(dotted)
            except (ImportError, AttributeError):
                missing.append(dotted)
    return missing + [path for path in set(_SOURCE.findall(text)) if not (ROOT / path).exists()]


@pytest.mark.parametrize(
    "path",
    [*EVERY_PAGE, *sorted(ROOT.glob("core/src/**/*.py")), *sorted(ROOT.glob("*/*/src/**/*.py"))],
    ids=name,
)
def test_every_module_that_a_text_names_is_there(path: Path) -> None:
    """A page, a docstring or a comment names no module, member or source file that has moved."""
    assert missing_names(path.read_text()) == []


@pytest.mark.parametrize(
    "gone", ["agentfeedback.store.StateStore", "agentfeedback.reading.Teller", "core/src/gone.py"]
)
def test_a_name_that_is_gone_is_found(gone: str) -> None:
    """A module, a member and a file that are gone are each reported."""
    assert missing_names(f"see `{gone}`, and `agentfeedback.reading.Sink`") == [gone]


# -- commands, keys, records ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [each for each in (*COMMANDS, *plugin_commands()) if each.target],
    ids=lambda command: command.name,
)
def test_every_command_is_documented_with_its_flags(command: Any) -> None:
    """Each command, those of plugins too, has a section with its arguments, a table of exactly its flags, and an example that is run."""
    title = f"`agentfeedback {command.name} {command.arguments}`".replace(" `", "`")
    body = sections("command-line.md")[title]
    assert documented(body) == [f"--{flag.name}" for flag in command.flags]
    examples = [code for kind, code in _FENCE.findall(body) if kind == "console"]
    assert any(
        re.search(rf"^\$ .*agentfeedback {command.name}", code, re.MULTILINE) for code in examples
    )


def test_every_key_of_the_configuration_is_documented() -> None:
    """Each table of `config.toml` that is checked has a section that names each of its keys."""
    told = sections("config.md")
    for table, keys in KEYS.items():
        assert set(documented(told[f"`[{table}]`"])) == set(keys)


def read_settings() -> set[str]:
    """The settings that some code reads: as a member of their table, or, at the top, through `resolve`."""
    sources = [*(ROOT / "core/src").rglob("*.py"), *(ROOT / "plugins").glob("*/src/**/*.py")]
    text = "\n".join(path.read_text() for path in sources if path.parent.name != "config")
    found = set()
    for key in SETTINGS.values():
        table = key.table or "config"
        used = rf"\b{table}\.{key.short}\b"
        if re.search(used, _without_texts(text)) or (not key.table and key.short in VARIABLES):
            found.add(key.name)
    context = {f"context.{name}" for name in CONTEXT_TEXTS}
    return found | (context if "CONTEXT_TEXTS" in text else set())


def _without_texts(text: str) -> str:
    """The code without quotes and comments: help, messages and docstrings name settings, and read none."""
    return re.sub(r'"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', "", text)


def test_settings_that_nothing_reads_are_not_promised() -> None:
    """A table of `config.toml` says so while nothing reads it, and no longer than that."""
    told, read = sections("config.md"), read_settings()
    assert {"url", "collect.deny_paths", "context.app", "context.cwd"} <= read
    for table in {key.table for key in SETTINGS.values()} - {""}:
        keys = {key.name for key in SETTINGS.values() if key.table == table}
        waiting = "Nothing reads this table yet" in told[f"`[{table}]`"]
        assert keys & read == (set() if waiting else keys), table


@pytest.mark.parametrize(
    "kind",
    [
        records.DigestRun,
        records.Digest,
        records.Event,
        records.Counts,
        records.Retry,
        records.Flagged,
        records.Trouble,
        records.DigestError,
    ],
)
def test_every_member_of_a_digest_is_documented(kind: type) -> None:
    """The section of a record names its members as JSON does, in the order they are printed."""
    names = [field.metadata.get("name") or field.name for field in attrs.fields(kind)]
    assert documented(sections("digest-format.md")[f"`{kind.__name__}`"]) == names


@pytest.mark.parametrize(
    "kind",
    [
        report.Report,
        report.Totals,
        report.Failure,
        report.Stopped,
        report.Complaint,
        report.Repeated,
        report.AroundCalls,
    ],
)
def test_every_member_of_a_report_is_documented(kind: type) -> None:
    """The section of a record names its members in the order they are printed."""
    names = [field.name for field in attrs.fields(kind)]
    assert documented(sections("report.md")[f"`{kind.__name__}`"]) == names


def test_every_reason_of_the_policy_is_documented() -> None:
    """The rows of the two states that the policy gives name each of its reasons, and no others."""
    told = {
        row.split("|")[1].strip(): row
        for row in sections("errors.md")["States"].splitlines()
        if "|" in row
    }
    given: dict[str, set[str]] = {}
    for state, reason in re.findall(r'Verdict\("(\w+)", "?(\w+)"?\)', inspect.getsource(rules)):
        given.setdefault(state, set()).add(getattr(rules, reason, reason))
    assert given.keys() == {"disabled", "denied"}
    for state, reasons in given.items():
        named = set(re.findall(r"`(\w+)`", told[f"`{state}`"].rsplit("|", 2)[1]))
        assert named == reasons


def test_every_state_and_error_is_documented() -> None:
    """The page of errors names each state of a session, and each kind of error with its exit status."""
    told = sections("errors.md")
    assert documented(told["States"]) == list(records.STATES)
    body = told["Exit statuses"]
    for kind in vars(errors).values():
        if inspect.isclass(kind) and kind.__module__ == errors.__name__:
            assert re.search(
                rf"^\| {kind.exit_status} \|.*`{kind.__name__}`", body, re.MULTILINE
            ), kind


# -- pages -----------------------------------------------------------------------------------------


def test_every_page_is_in_the_index() -> None:
    """`docs/README.md` leads to each page, so none is found by chance alone."""
    index = (DOCS / "README.md").read_text()
    linked = {(DOCS / path).resolve() for path in re.findall(r"\]\(([^)#]+\.md)", index)}
    assert {path for path in PAGES if path != DOCS / "README.md"} - linked == set()


@pytest.mark.parametrize("page", EVERY_PAGE, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page is a file or folder of the repository, and its anchor a heading there."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in set(anchors(target)), link


def anchors(page: Path) -> Iterator[str]:
    for heading in re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize(
    "page", [each for each in PAGES if "```console" in each.read_text()], ids=name
)
def test_shown_output_is_printed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, page: Path
) -> None:
    """The commands of a page print what it shows, one after the other, in a home that holds the packaged sample.

    A TOML block that begins with a path in the home is that file. One that begins with `# pyproject.toml`, and a block of
    Python that begins with a path, are the files of a distribution that is installed. A line `…` stands for any lines
    and `…` within one for any text, `# exit N` behind a command for its status; how wide columns are does not matter.
    """
    for harness, folder in SAMPLE.items():
        shutil.copytree(ROOT / "core/src/agentfeedback/sample" / harness, machine.home / folder)
    monkeypatch.chdir(machine.home)
    site = machine.home.parent / "site"
    monkeypatch.syspath_prepend(site)
    for kind, code in _FENCE.findall(page.read_text()):
        first, _, rest = code.partition("\n")
        if kind == "toml" and first.startswith("# ~/"):
            path = machine.home / first.removeprefix("# ~/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest)
        if first == "# pyproject.toml":
            installed(site, rest)
        elif kind == "python" and re.fullmatch(r"# [\w/]+\.py", first):
            path = site / first.removeprefix("# ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest)
        if kind == "console":
            for line, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
                run(machine, line, shown)


def installed(site: Path, project: str) -> None:
    """Write what an installer makes of the entry points of a `pyproject.toml`."""
    info = site / "documented-1.0.dist-info"
    info.mkdir(parents=True)
    groups = tomllib.loads(project)["project"]["entry-points"]
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))


def run(machine: Machine, line: str, shown: str) -> None:
    words = shlex.split(line, comments=True)
    environ = {}
    while "=" in words[0]:
        variable, _, value = words.pop(0).partition("=")
        environ[variable] = value
    assert words[0] == "agentfeedback", line
    result = machine.call(*words[1:], **environ)
    status = re.search(r"# exit (\d)", line)
    printed = (result.text + result.err).replace(str(machine.home), SHOWN_HOME)
    assert result.status == (int(status[1]) if status else 0), printed
    parts = [re.escape(" ".join(each.split())) for each in shown.splitlines()]
    pattern = "".join(
        "(?:.*\n)*?" if part == "…" else part.replace("…", ".*") + "\n" for part in parts
    )
    got = "".join(" ".join(each.split()) + "\n" for each in printed.splitlines())
    assert re.fullmatch(pattern, got), f"$ {line}\n{printed}"


def test_code_of_the_tutorial_is_that_of_the_example() -> None:
    """Each piece of Python in the reader's tutorial stands in the example reader, and each file's text in the template."""
    example = [path.read_text() for path in sorted((ROOT / "readers/pi/src").rglob("*.py"))]
    pieces = [
        code
        for kind, code in _FENCE.findall((DOCS / "tutorial/first-reader.md").read_text())
        if kind == "python"
    ]
    assert len(pieces) >= 4
    for piece in pieces:
        assert any(piece in text for text in example), piece


def test_pictures_are_pictures() -> None:
    """The drawn one is XML that loads nothing from elsewhere; README.md shows both."""
    shown = set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text()))
    assert shown == {"docs/pictures/terminal.svg", "docs/pictures/report.png"}
    text = (ROOT / "docs/pictures/terminal.svg").read_text()
    tree = ET.fromstring(text)
    attributes = [name for each in tree.iter() for name in each.attrib]
    assert not [name for name in attributes if name.endswith(("href", "src"))]
    assert "url(http" not in text and "agentfeedback sessions report" in text.replace("&#160;", " ")
    assert (ROOT / "docs/pictures/report.png").read_bytes().startswith(b"\x89PNG")
