"""The two faces: what they offer is one list, whoever reads it, and importing them costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

FACES = ["agentfeedback.reading", "agentfeedback.plugins"]


def for_type_checkers(path: Path) -> dict[str, str]:
    """The names imported under `TYPE_CHECKING`, each with the module it comes from."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                assert isinstance(each, ast.ImportFrom) and each.module
                for alias in each.names:
                    assert alias.asname is None
                    whole = f"{each.module}.{alias.name}"
                    found[alias.name] = whole if _is_module(whole) else each.module
    return found


def _is_module(name: str) -> bool:
    try:
        import_module(name)
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("name", FACES)
def test_a_face_is_one_list(name: str) -> None:
    """`__all__`, the table and the imports for type checkers name the same things from the same places."""
    face = import_module(name)
    table = dict(face._MODULES)
    assert face.__file__ is not None
    assert set(face.__all__) == set(table)
    assert table == for_type_checkers(Path(face.__file__))


@pytest.mark.parametrize("name", FACES)
def test_each_name_of_a_face_is_the_thing_itself(name: str) -> None:
    """What a face hands out is what its module defines, not a copy; other names are not there."""
    face = import_module(name)
    for each, module in face._MODULES.items():
        found = import_module(module)
        assert getattr(face, each) is (
            found if module.endswith(f".{each}") else getattr(found, each)
        )
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = face.no_such_name


@pytest.mark.parametrize(
    ("statement", "left_out"),
    [
        ("import agentfeedback.reading, agentfeedback.plugins", "attr msgspec pluggy re typing"),
        ("from agentfeedback.plugins import Installer", "attr msgspec pluggy re typing"),
        ("from agentfeedback.plugins import Command, Flag", "attr msgspec pluggy re typing"),
        ("from agentfeedback.plugins import hookimpl", "attr msgspec re2 sqlite3"),
        ("from agentfeedback.reading import Record", "pluggy sqlite3 zstandard"),
    ],
)
def test_a_face_loads_what_is_asked_for(statement: str, left_out: str) -> None:
    """A hook that imports one light class waits for nothing else."""
    code = f"import sys; before = set(sys.modules)\n{statement}\nprint(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(done.stdout.split()) & set(left_out.split()) == set()
