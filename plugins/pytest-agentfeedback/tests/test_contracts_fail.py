"""Each check of a contract fails on a double that breaks that promise, and passes on one that keeps all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from agentfeedback.harness_hooks.installer import Installer
from agentfeedback.plugins.hookspecs import hookimpl
from agentfeedback.policy.rules import Verdict
from agentfeedback.reading.reader import Place
from agentfeedback.state.watermark import Digested, NotDigested, SessionRow
from agentfeedback.wire.records import Selection
from pytest_agentfeedback import GateContract, InstallerContract, WatermarkStoreContract


def promises(contract: type[Any]) -> set[str]:
    return {name for name in dir(contract) if name.startswith("test_")}


def failing(contract: Any, arguments: Callable[[str], list[tuple[Any, ...]]]) -> set[str]:
    """The checks that fail, each run by itself."""
    found = set()
    for name in promises(type(contract)):
        for words in arguments(name):
            try:
                getattr(contract, name)(*words)
            except (Exception, pytest.fail.Exception):  # noqa: BLE001 - whatever it is, the check failed
                found.add(name)
    return found


# -- gates -------------------------------------------------------------------------------------


class Gate:
    """A gate that refuses /no and what is below it, and breaks at most one promise."""

    def __init__(self, fault: str = "") -> None:
        self.fault, self.asked = fault, 0

    def verdict(self, directories: Sequence[str]) -> Any:
        self.asked += 1
        fault = self.fault
        if fault == "raises on a text" and any("\0" in each for each in directories):
            raise ValueError("embedded null byte")
        if fault == "wants a directory":
            directories[0]
        if fault == "refuses all":
            return Verdict("denied", "team")
        if fault == "asks the first" and directories:
            directories = directories[:1]
        if fault == "asks the last" and directories:
            directories = directories[-1:]
        if fault == "forgets" and self.asked > 8:
            return None
        if any(each == "/no" or each.startswith("/no/") for each in directories):
            if fault == "answers a number":
                return 5
            return Verdict("denied", "" if fault == "gives no reason" else "team")
        return None

    @hookimpl
    def session_before_open(self, place: Place) -> Any:
        return None if self.fault == "passes before" else self.verdict(place.paths)

    @hookimpl
    def session_after_read(self, directories: Sequence[str]) -> Any:
        return None if self.fault == "passes after" else self.verdict(directories)


GATE_FAULTS = {
    "": set(),
    "refuses all": {"test_what_is_allowed_passes"},
    "passes before": {"test_what_is_refused_is_refused_by_each_hook"},
    "passes after": {"test_what_is_refused_is_refused_by_each_hook"},
    "asks the first": {"test_one_refused_directory_is_enough"},
    "asks the last": {"test_one_refused_directory_is_enough"},
    "gives no reason": {"test_a_refusal_says_why"},
    "answers a number": {"test_a_refusal_says_why"},
    "forgets": {"test_the_same_question_has_the_same_answer"},
    "raises on a text": {"test_no_directory_makes_it_raise"},
    "wants a directory": {"test_it_answers_where_nothing_is_known"},
}


@pytest.mark.parametrize("fault", GATE_FAULTS)
def test_a_broken_gate_fails(fault: str) -> None:
    """The check of that promise fails; a gate without a fault passes all."""

    class Contract(GateContract):
        allowed = ("/yes", "/none")
        refused = ("/no", "/no/more")

        def gate(self) -> Any:
            return Gate(fault)

    found = failing(Contract(), lambda name: [("/nul\0byte",)] if "no_directory" in name else [()])
    assert GATE_FAULTS[fault] <= found and (fault or not found)


def test_a_plugin_without_the_hooks_is_no_gate() -> None:
    """A misspelt hook would let everything pass."""

    class Contract(GateContract):
        allowed = ("/yes",)

        def gate(self) -> Any:
            return object()

    assert "test_what_is_allowed_passes" in failing(Contract(), lambda name: [()])


# -- watermark stores --------------------------------------------------------------------------


class Store:
    """A store in a JSON file that breaks at most one promise."""

    def __init__(self, folder: Path, fault: str = "") -> None:
        self.file, self.fault = folder / "marks.json", fault
        if fault == "creates":
            self._write({}, None)

    def _read(self) -> tuple[dict[tuple[str, str], SessionRow], Any]:
        if not self.file.exists():
            return {}, None
        rows, selection = json.loads(self.file.read_text())
        found = [SessionRow(**{**row, "refs": tuple(row["refs"])}) for row in rows]
        return {(row.harness, row.session_id): row for row in found}, selection

    def _write(self, rows: Mapping[tuple[str, str], SessionRow], selection: Any) -> None:
        members = SessionRow.__slots__
        kept = [
            {m: getattr(row, m) for m in members if m != "__weakref__"} for row in rows.values()
        ]
        self.file.write_text(json.dumps([kept, selection]))

    def rows(self) -> dict[tuple[str, str], SessionRow]:
        return self._read()[0]

    def digested(self, marks: Sequence[Digested], at: int) -> None:
        if not marks:
            return
        rows, selection = self._read()
        for mark in marks:
            id = mark.session_id.lower() if self.fault == "folds case" else mark.session_id
            name = (mark.harness, id)
            old = rows.get(name)
            if old is None or self.fault == "drops the mark":
                old = SessionRow(mark.harness, id, "", 0, 0, "")
            mtime = int(float(mark.mtime)) if self.fault == "rounds" else mark.mtime
            rows[name] = evolve(
                old, path=mark.path, mtime=mtime, size=mark.size, head=mark.head, digested_at=at
            )
        self._write(rows, selection)

    def mark(
        self, names: Sequence[tuple[str, str]], outcome: str, uids: Sequence[str], at: int
    ) -> None:
        rows, selection = self._read()
        for name in names:
            if name not in rows:
                if self.fault == "marks some":
                    self._write(rows, selection)
                raise NotDigested(*name)
            row = rows[name]
            if self.fault == "keeps the first mark" and row.outcome:
                continue
            rows[name] = evolve(
                row,
                processed_at=at,
                processed_size=row.size,
                processed_mtime=row.mtime,
                processed_head=None if self.fault == "marks without head" else row.head,
                outcome=outcome,
                refs=tuple(uids),
            )
        self._write(rows, selection)

    def forget(self, names: Sequence[tuple[str, str]]) -> list[bool]:
        rows, selection = self._read()
        answers = [rows.pop(name, None) is not None for name in names]
        if self.file.exists():
            self._write(rows, selection)
        return sorted(answers, reverse=True) if self.fault == "sorts its answers" else answers

    def selection(self) -> Selection | None:
        found = self._read()[1]
        return None if found is None else Selection(*found)

    def save_selection(self, selection: Selection) -> None:
        rows, old = self._read()
        if self.fault != "keeps the selection" or old is None:
            old = [selection.harnesses, selection.since, selection.limit]
        self._write(rows, old)


STORE_FAULTS = {
    "": set(),
    "creates": {"test_reading_creates_nothing"},
    "rounds": {"test_a_digest_is_remembered"},
    "marks without head": {"test_a_mark_is_the_latest_digest"},
    "drops the mark": {"test_a_later_digest_keeps_the_mark"},
    "keeps the first mark": {"test_the_last_mark_wins"},
    "marks some": {"test_marks_are_all_or_none"},
    "sorts its answers": {"test_forgetting_answers_for_each_name"},
    "folds case": {"test_names_are_pairs_of_exact_texts"},
    "keeps the selection": {"test_the_selection_is_replaced"},
}


@pytest.mark.parametrize("fault", STORE_FAULTS)
def test_a_broken_store_fails(fault: str, tmp_path: Path) -> None:
    """The check of that promise fails; a store without a fault passes all."""

    class Contract(WatermarkStoreContract):
        def store(self, folder: Path) -> Any:
            return Store(folder, fault)

    def folder(name: str) -> list[tuple[Any, ...]]:
        (tmp_path / name).mkdir()
        return [(tmp_path / name,)]

    found = failing(Contract(), folder)
    assert STORE_FAULTS[fault] <= found and (fault or not found)


# -- installers --------------------------------------------------------------------------------


class Tiny(Installer):
    """An installer that breaks at most one promise."""

    harness = "tiny"
    events = ("stop", "end")
    indexes = True
    fault = ""
    shared: dict[str, Any] = {}  # noqa: RUF012 - what a broken one hands out twice
    times = 0

    def settings(self, home: str, environ: Mapping[str, str]) -> str:
        if self.fault == "settings elsewhere":
            return "/etc/tiny.json"
        if self.fault == "settings written":
            os.mkdir(os.path.join(home, ".tiny"))
        return os.path.join(home, ".tiny", "hooks.json")

    def entry(self, command: str) -> dict[str, Any]:
        if self.fault == "one entry for all":
            self.shared["command"] = command
            return self.shared
        return {"command": command.strip("'") if self.fault == "unquotes" else command}

    def session(self, payload: Mapping[str, Any]) -> str:
        id = payload["id"] if self.fault == "needs an id" else payload.get("id")
        if self.fault == "other session":
            return "s2"
        return id if isinstance(id, str) and id.isalnum() and len(id) < 99 else ""

    def keep(self, kept: dict[str, Any], payload: Mapping[str, Any], home: str) -> None:
        kept["id"] = self.session(payload)
        if self.fault == "keeps it twice":
            kept.setdefault("all", []).append(1)


INSTALLER_FAULTS = {
    "": set(),
    "other harness": {"test_it_is_the_installer_of_its_harness"},
    "no event": {"test_events_are_words"},
    "an event of two words": {"test_events_are_words"},
    "settings elsewhere": {"test_the_hook_file_is_below_the_home"},
    "settings written": {"test_the_hook_file_is_below_the_home"},
    "unquotes": {"test_an_entry_calls_the_command"},
    "one entry for all": {"test_an_entry_calls_the_command"},
    "an event twice": {"test_a_new_file_wires_every_event_and_nothing_else"},
    "another member": {"test_other_hooks_keep_every_byte"},
    "other session": {"test_a_payload_names_its_session"},
    "keeps it twice": {"test_a_payload_is_kept_once"},
    "needs an id": {"test_no_payload_makes_it_raise"},
    "loads a library": {"test_it_loads_next_to_nothing"},
}
CHANGED: dict[str, dict[str, Any]] = {
    "other harness": {"harness": "other"},
    "no event": {"events": ()},
    "an event of two words": {"events": ("on stop",)},
    "an event twice": {"events": ("stop", "stop")},
    "another member": {"command_member": "bash"},
}


@pytest.mark.parametrize("fault", INSTALLER_FAULTS)
def test_a_broken_installer_fails(fault: str, tmp_path: Path) -> None:
    """The check of that promise fails; an installer without a fault passes all."""
    module = tmp_path / "hooks.py"
    module.write_text("import attrs\n" if fault == "loads a library" else "import os\n")

    class Contract(InstallerContract):
        harness = "tiny"
        payloads = (({"id": "s1", "cwd": "/srv"}, "s1"),)

        def installer(self) -> Installer:
            return type("Broken", (Tiny,), {"fault": fault, **CHANGED.get(fault, {})})()

        def file(self) -> str:
            return str(module)

    def arguments(name: str) -> list[tuple[Any, ...]]:
        folder = tmp_path / name
        folder.mkdir()
        if "no_payload" in name:
            return [(odd, folder) for odd in (None, "", [], "../x")]
        return [(folder,)] if name in ON_DISK else [()]

    found = failing(Contract(), arguments)
    assert INSTALLER_FAULTS[fault] <= found and (fault or not found)


ON_DISK = {"test_the_hook_file_is_below_the_home", "test_a_payload_is_kept_once"}


@pytest.mark.parametrize(
    ("contract", "faults"),
    [
        (GateContract, GATE_FAULTS),
        (WatermarkStoreContract, STORE_FAULTS),
        (InstallerContract, INSTALLER_FAULTS),
    ],
)
def test_every_check_has_a_double_that_fails_it(
    contract: type[Any], faults: dict[str, set[str]]
) -> None:
    """No check of a contract passes whatever it is given."""
    assert set().union(*faults.values()) == promises(contract)
