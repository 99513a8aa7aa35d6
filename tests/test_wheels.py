"""The wheels in bare environments: the core alone says what is missing, with any readers it works.

By default the core alone, with one reader and with all. `AGENTFEEDBACK_WHEELS=all` tries every subset of up to six
readers; of more, whose subsets double with each, it tries each alone, each pair, all but one, and all.
"""

from __future__ import annotations

import itertools
import os
import re
import tomllib
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.machine import Machine

READERS = sorted(path.parent.name for path in ROOT.glob("readers/*/pyproject.toml"))
#: The harnesses that a reader's distribution brings.
HARNESSES = {
    name: set(
        tomllib.loads((ROOT / "readers" / name / "pyproject.toml").read_text())["project"][
            "entry-points"
        ]["agentfeedback.readers"]
    )
    for name in READERS
}
EVERY = {name for names in HARNESSES.values() for name in names}
SUBSETS = [(), ("codex",), tuple(READERS)]
if os.environ.get("AGENTFEEDBACK_WHEELS") == "all":
    SIZES = {0, 1, 2, len(READERS) - 1, len(READERS)}
    if len(READERS) <= 6:
        SIZES.update(range(len(READERS)))
    SUBSETS = [each for size in sorted(SIZES) for each in itertools.combinations(READERS, size)]


@pytest.fixture(scope="module")
def wheels(wheel: Callable[[str], Path]) -> dict[str, Path]:
    """The wheel of the core and of every reader, built from the sources."""
    return {
        name: wheel("core" if name == "core" else f"readers/{name}") for name in ("core", *READERS)
    }


@pytest.fixture(scope="module")
def python(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing in it but what the wheels need, taken from this one."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python3*/site-packages"))
    import attr
    import msgspec
    import orjson
    import pluggy
    import re2
    import zstandard

    here = Path(pluggy.__file__).parent.parent
    del attr, msgspec, orjson, re2, zstandard  # imported to fail here where one is missing
    for path in here.iterdir():
        if path.name.lower().startswith(
            ("attr", "msgspec", "orjson", "pluggy", "re2", "_re2", "google_re2", "zstandard")
        ):
            (site / path.name).symlink_to(path)
    return folder / "bin/python"


class Bare(Machine):
    """A machine whose program is what wheels hold."""

    def __init__(self, home: Path, python: Path, site: Path) -> None:
        super().__init__(home)
        self.python = python
        self.environ["PYTHONPATH"] = str(site)

    def argv(self, *words: str) -> list[str]:
        return [str(self.python), "-m", "agentfeedback", *words]


@pytest.fixture
def bare(tmp_path: Path, python: Path) -> Bare:
    home = tmp_path / "home"
    home.mkdir()
    return Bare(home, python, tmp_path / "site")


def install(wheels: dict[str, Path], names: tuple[str, ...], site: Path) -> None:
    """Unpack wheels side by side, as an installer does with wheels of Python alone."""
    for name in ("core", *names):
        with zipfile.ZipFile(wheels[name]) as wheel:
            wheel.extractall(site)


@pytest.mark.parametrize("names", SUBSETS, ids=lambda names: "+".join(names) or "core")
def test_core_with_any_readers_works(
    bare: Bare, wheels: dict[str, Path], tmp_path: Path, names: tuple[str, ...]
) -> None:
    """With any subset of the readers the program starts, lists what there is, and names each reader that is missing."""
    install(wheels, names, tmp_path / "site")
    have = set().union(*(HARNESSES[name] for name in names)) if names else set()
    plugins = bare.run("plugins", "--json")
    assert plugins.status == 0, plugins.err
    readers = {each["name"] for each in plugins.json["plugins"] if each["kind"] == "reader"}
    assert readers == have and not [each for each in plugins.json["plugins"] if "error" in each]
    assert set(plugins.json["missing"]) == EVERY - have
    told = [line for line in bare.run("plugins").err.splitlines() if "no reader for" in line]
    if have == EVERY:
        assert told == []
    else:
        ((missing, dists),) = re.findall(
            "no reader for (.*); install with: pip install (.*)", told[0]
        )
        assert len(told) == 1 and set(missing.split(", ")) == EVERY - have
        assert len(set(dists.split())) == len(dists.split())
        assert all(dist.startswith("agentfeedback-") for dist in dists.split())
    listing = bare.run("sessions", "list", "--json")
    assert listing.status == 0 and {each["harness"] for each in listing.json["stores"]} == have
    demo = bare.run("demo")
    if have & {"claude-code", "codex"}:
        assert demo.status == 0 and "sessions digest" in demo.text and demo.err == ""
    else:
        assert (
            demo.status == 1
            and "pip install agentfeedback-claude-code agentfeedback-codex" in demo.err
        )
    if not names:
        assert (
            "no session reader is installed; install one, such as with: pip install" in listing.err
        )
    for name in sorted(EVERY - have)[:1]:
        refused = bare.run("sessions", "list", "--harness", name)
        assert refused.status == 2 and "pip install agentfeedback-" in refused.err


def test_wheels_hold_their_package_and_its_types(wheels: dict[str, Path]) -> None:
    """Each wheel holds one package with the marker of its types, its entry points, and no test."""
    for name, path in wheels.items():
        with zipfile.ZipFile(path) as wheel:
            files = wheel.namelist()
            points = [each for each in files if each.endswith(".dist-info/entry_points.txt")]
            assert len(points) == 1, name
        packages = {each.partition("/")[0] for each in files if ".dist-info" not in each}
        assert len(packages) == 1 and f"{packages.pop()}/py.typed" in files, name
        assert not [each for each in files if "test" in each], name
