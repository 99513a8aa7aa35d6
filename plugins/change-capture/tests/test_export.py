"""Export: what is copied is what is there, and nobody's folder is adopted, written to or deleted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentfeedback_change_capture.cli.main import main
from agentfeedback_change_capture.spool import export as module
from agentfeedback_change_capture.spool.export import ExportFailed, export
from agentfeedback_change_capture.spool.outcome import SpoolRefused
from tests.support import capture
from tests.support.capture import made_spool, opened, stream
from tests.support.disk import current


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    made = made_spool(tmp_path / "private" / "spool")
    with opened(made) as held:
        held.append(stream(), capture.session_start(setup=True))
    return made


def exported(spool: Path, destination: Path) -> dict[str, object]:
    return export(str(spool), str(destination), time.monotonic() + 1)


def test_an_archive_is_every_file_and_a_manifest(spool: Path) -> None:
    """Digests and sizes of all, private whatever the umask says; the spool is not changed and the archive is not one."""
    archive = spool.with_name("archive")
    before = current(spool)
    mask = os.umask(0)
    try:
        report = exported(spool, archive)
    finally:
        os.umask(mask)
    assert current(spool) == before
    manifest = json.loads((archive / "export.json").read_bytes())
    files = {name: data for name, data in before.items() if data is not None}
    assert {each["path"]: each["bytes"] for each in manifest["files"]} == {
        name: len(data) for name, data in files.items()
    }
    assert {name: (archive / name).read_bytes() for name in files} == files
    assert (manifest["consistent"], manifest["nonresumable"]) == (True, True)
    assert report["files"] == len(files) and report["bytes"] == sum(map(len, files.values()))
    for path in (archive, *archive.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
    anchor = Path(str(report["anchor"]))
    assert anchor.is_dir() and not list(anchor.iterdir())
    with pytest.raises(SpoolRefused):
        opened(archive)


def test_a_spool_that_is_refused_is_exported_all_the_same(spool: Path) -> None:
    """The archive says that no writer was kept out of it."""
    (spool / "format.json").unlink()
    exported(spool, spool.with_name("archive"))
    manifest = json.loads((spool.with_name("archive") / "export.json").read_bytes())
    assert manifest["consistent"] is False


def test_where_no_archive_can_be_made(spool: Path, tmp_path: Path) -> None:
    """Existing names and places inside the spool are refused before anything is made, through links too."""
    link = tmp_path / "private" / "link"
    link.symlink_to(spool / "artifacts")
    dangling = tmp_path / "private" / "dangling"
    dangling.symlink_to(tmp_path / "nowhere")
    before = current(tmp_path)
    for place in (spool, link, dangling, link / "x", spool / "x", spool / "outbox" / "x"):
        with pytest.raises((ExportFailed, SpoolRefused)):
            exported(spool, place)
        assert current(tmp_path) == before
    with pytest.raises(SpoolRefused):
        exported(spool, tmp_path / "none" / "x")


def test_a_name_that_is_taken_while_it_is_made_is_not_replaced(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rename that puts it in place replaces nothing; what it left is named."""
    archive = spool.with_name("archive")
    real = module.rename_exclusive

    def raced(name: str, above: int, new: str, to: int) -> None:
        archive.mkdir()
        real(name, above, new, to)

    monkeypatch.setattr(module, "rename_exclusive", raced)
    with pytest.raises(ExportFailed) as error:
        exported(spool, archive)
    assert list(archive.iterdir()) == []
    (anchor,) = spool.parent.glob(".agentscm-export-*")
    assert str(anchor) in error.value.problem and "owned-output" in error.value.problem


def test_a_file_that_changes_while_it_is_copied_fails_the_export(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy is exact or not called one; what is there stays and is named."""
    real = module._digest

    def changing(descriptor: int, target: int | None) -> tuple[str, int]:
        found = real(descriptor, target)
        if target is not None:
            with (spool / "scope.json").open("ab") as file:
                file.write(b" ")
        return found

    monkeypatch.setattr(module, "_digest", changing)
    with pytest.raises(ExportFailed, match="changed while it was copied") as error:
        exported(spool, spool.with_name("archive"))
    assert str(spool.with_name("archive")) in error.value.problem


def test_a_file_that_is_too_large_is_refused(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy by size alone is never called exact."""
    monkeypatch.setattr(module, "_LARGEST", 50)
    with pytest.raises(ExportFailed, match="larger than"):
        exported(spool, spool.with_name("archive"))


def test_the_commands(spool: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each prints one object with its members in order, or short text; a wrong line changes nothing."""

    def run(*words: str) -> tuple[int, str]:
        status = main(["change-capture", words[0], "--spool", str(spool), *words[1:]])
        return status, capsys.readouterr().out

    with opened(spool) as held:
        held.defer("native-9", capture.turn_end(), "no_target", "metadata-only")
        held.defer("native-9", capture.session_end(), "no_target", "metadata-only")
    debris = spool / "outbox" / "debris"
    debris.write_bytes(b"\x1b[31m")
    debris.chmod(0o600)
    status, out = run("compact", "--json")
    assert (status, list(json.loads(out))) == (
        0,
        [
            *("events", "actions", "full_envelopes", "reclaimed_records", "reclaimed_bytes"),
            *("index_records", "index_bytes"),
        ],
    )
    status, out = run("inspect", "--json", "--limit", "1")
    assert list(json.loads(out)) == [
        *("path", "classification", "completeness", "authority", "identity", "usage", "limits"),
        *("pending", "deferred", "quarantine", "attempts", "issues", "omitted"),
    ]
    assert json.loads(out)["omitted"]["deferred"] == 1
    status, out = run("deferred", "--json", "--after", "1")
    assert [each["receipt_order"] for each in json.loads(out)["records"]] == [2]
    assert list(json.loads(out)["records"][0]) == [
        *("receipt_order", "event", "native_ref", "sequence", "tool", "boundary", "cause"),
        *("target", "observed_at", "legacy"),
    ]
    (entry,) = json.loads(run("quarantine", "--json")[1])["entries"]
    assert (entry["bytes"], entry["reason"]) == (5, "temporary malformed")
    assert run("prune-quarantine", "../format.json")[0] == 2
    assert run("prune-quarantine", entry["name"], "q_1")[0] == 2
    assert (spool / "quarantine" / entry["name"]).exists()
    status, out = run("prune-quarantine", entry["name"], "q_" + "0" * 32, "--json")
    assert status == 1 and json.loads(out)["pruned"] == [entry["name"]]
    archive = str(spool.with_name("archive"))
    status, out = run("export", "--destination", archive, "--json")
    assert list(json.loads(out)) == ["destination", "files", "bytes", "manifest_sha256", "anchor"]
    for name in ("inspect", "deferred", "quarantine", "compact"):
        assert "\x1b" not in run(name)[1] and run(name)[0] == 0
        assert main(["change-capture", name, "--spool", "relative"]) == 2
        assert main(["change-capture", name]) == 2
        assert main(["change-capture", name, "--spool", str(spool / "none")]) == 1
    assert main(["change-capture", "export", "--spool", str(spool), "--destination", archive]) == 1
    capsys.readouterr()


def test_a_spool_is_compacted_by_its_checkout(
    checkout: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The binding says which one it is; without one, or with both flags, nothing is done."""
    root = str(checkout.root)
    assert main(["change-capture", "compact", "--root", root]) == 1
    assert "no capture binding for this checkout" in capsys.readouterr().err
    checkout.configure()
    assert main(["change-capture", "compact", "--root", root]) == 0
    both = ["change-capture", "compact", "--root", root, "--spool", str(checkout.spool)]
    assert main(both) == 2 and main(both[:2]) == 2
    capsys.readouterr()


def test_looking_at_a_spool_loads_nothing_that_it_does_not_need() -> None:
    """The spool's own modules are the standard library and the foundation: a hook waits for them."""
    code = (
        "import sys, agentfeedback_change_capture.spool.spool;"
        "print(sorted(n for n in sys.modules if n.partition('.')[0] in"
        " ('argparse','attr','attrs','orjson','pluggy','typing','subprocess','ctypes','dataclasses')"
        " or n == 'importlib.metadata'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
