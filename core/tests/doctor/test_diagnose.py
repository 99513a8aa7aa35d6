"""`agentfeedback doctor` names what is wrong with its remedy, whatever else is broken, and changes nothing."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.cli.doctor import text
from agentfeedback.cli.main import main
from agentfeedback.doctor.diagnose import diagnose
from agentfeedback.state.database import Database
from agentfeedback.terminal.screen import Screen

READER = """
import os
from agentfeedback.reading.drift import Fields, Known
from agentfeedback.plugins.hookspecs import hookimpl
from agentfeedback.reading.reader import Place, Reader
from agentfeedback.reading.record import Record
class Line(Record):
    cwd: str | None = None
class Tiny(Reader):
    harness, format = "tiny", "tiny-jsonl"
    def find(self, home, report):
        root = os.path.join(home.path, ".tiny")
        report.store(root)
        return [report.session(file, file.name) for file in report.files(root, root=True)]
    def place(self, session, *, strict):
        return Place(paths=("/srv/denied",) if "closed" in session.id else ())
    def read(self, log, place, timeline):
        for line in log.records(Line, timeline):
            timeline.entry(None, None, line.cwd)
    def known(self):
        return Known(("1.0",), Fields("cwd version", by="type", kinds={"said": Fields("text")}), "version")
@hookimpl
def register_readers():
    return [Tiny()]
"""


class Doctor:
    """A home of its own, a reader of sessions in it, and the command run there."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capture: Any) -> None:
        self.home = folder / "home"
        self.home.mkdir(mode=0o700)
        self.config = self.home / ".config/agentfeedback/config.toml"
        self.database = self.home / ".local/share/agentfeedback/agentfeedback.db"
        self._site = folder / "site"
        self._patch = monkeypatch
        self._capture = capture
        for name in [name for name in os.environ if name.startswith(("AGENT", "XDG_"))]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv(
            "AGENTFEEDBACK_BLOCK", "submit"
        )  # its sections are its own tests' subject
        monkeypatch.chdir(self.home)
        self.plugin("tiny", READER, "agentfeedback.readers")

    def plugin(self, name: str, code: str, group: str = "agentfeedback.plugins") -> None:
        module = f"doctor_{name}_{self._site.parent.name}".replace("-", "_")
        info = self._site / f"dist_{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: dist-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n")
        (self._site / f"{module}.py").write_text(code)
        self._patch.syspath_prepend(str(self._site))

    def configure(self, text: str, mode: int = 0o600) -> None:
        self.config.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.config.write_text(text)
        self.config.chmod(mode)

    def session(self, name: str, *lines: dict[str, Any]) -> None:
        folder = self.home / ".tiny"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(self, *words: str) -> tuple[int, str]:
        self._capture.readouterr()
        status = main(["doctor", *words])
        return status, self._capture.readouterr().out

    def report(self, *words: str) -> Any:
        status, out = self.run("--json", *words)
        report = json.loads(out)
        assert status == (1 if report["problems"] else 0)
        assert report["status"] == ("error" if report["problems"] else "ok")
        return report

    def drift(self) -> Any:
        (found,) = [
            item for item in self.report("--formats")["formats"] if item["harness"] == "tiny"
        ]
        return found


@pytest.fixture
def doctor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Doctor:
    return Doctor(tmp_path, monkeypatch, capsys)


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every path below a folder with its mode, time and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


def test_machine_without_anything_has_no_problem(doctor: Doctor) -> None:
    """An empty home is healthy: all members are there, status 0, and the text says so."""
    report = doctor.report()
    assert " ".join(report) == (
        "status problems versions mode database cache config url api_key collect harnesses plugins missing"
    )
    assert report["problems"] == []
    assert (report["mode"], report["url"], report["api_key"]) == (
        "local",
        {"value": "", "source": ""},
        {"set": False, "source": ""},
    )
    assert report["database"] == {"path": str(doctor.database), "exists": False, "loose": False}
    status, shown = doctor.run()
    assert status == 0
    assert shown.endswith("ok: no problem found\n")


def test_nothing_is_changed(doctor: Doctor) -> None:
    """Nothing below the home is created, changed or removed, also with rows in the write-ahead log alone."""
    doctor.configure("[collect]\n")
    doctor.session("s1", {"type": "said", "cwd": "/srv/app"})
    with Database(str(doctor.database), "session state").writing() as connection:
        connection.execute("INSERT INTO triage_state VALUES ('selection', '{}')")
    keeper = sqlite3.connect(doctor.database)
    keeper.execute("INSERT INTO triage_state VALUES ('other', '{}')")
    keeper.commit()
    (doctor.database.parent / "agentfeedback.db-wal").chmod(0o600)
    before = tree(doctor.home)
    assert doctor.report("--formats")["problems"] == []
    assert tree(doctor.home) == before
    keeper.close()


def test_older_database_is_not_migrated(doctor: Doctor) -> None:
    """A database of an earlier version is fine and stays of that version."""
    first = Database.__init__.__kwdefaults__["migrations"][:1]
    with Database(str(doctor.database), "session state", migrations=first).writing():
        pass
    before = tree(doctor.home)
    assert doctor.report()["problems"] == []
    assert tree(doctor.home) == before


def test_broken_database_is_a_problem(doctor: Doctor) -> None:
    """A foreign, a damaged, a newer and an unreadable database are each a problem with the file and a remedy."""
    path = doctor.database
    path.parent.mkdir(parents=True, mode=0o700)
    cases: dict[str, tuple[bytes, str, str]] = {}
    foreign = sqlite3.connect(doctor.home / "foreign.db")
    foreign.execute("CREATE TABLE t (x)")
    foreign.close()
    cases["foreign"] = (
        (doctor.home / "foreign.db").read_bytes(),
        "not a database of agentfeedback",
        "move the file away",
    )
    cases["text"] = (b"hello\n" * 1000, "not a database of agentfeedback", "move the file away")
    newer = Database(str(doctor.home / "newer.db"), "session state")
    with newer.writing() as connection:
        connection.execute("UPDATE schema_version SET version = 99")
    cases["newer"] = ((doctor.home / "newer.db").read_bytes(), "newer than", "update agentfeedback")
    with Database(str(doctor.home / "own.db"), "session state").writing():
        pass
    own = (doctor.home / "own.db").read_bytes()
    cases["damaged"] = (
        own[:4096] + b"\xff" * (len(own) - 4096),
        str(path),
        "; move the file away to start again",
    )
    for content, problem, remedy in cases.values():
        path.write_bytes(content)
        path.chmod(0o600)
        (found,) = doctor.report()["problems"]
        assert str(path) in found and problem in found and remedy in found
        assert path.read_bytes() == content
    path.unlink()
    os.mkfifo(path, 0o600)
    (found,) = doctor.report()["problems"]
    assert found.endswith("it is not a regular file; move it away")


@pytest.mark.parametrize("made", [False, True], ids=["no database", "a database"])
def test_place_that_cannot_be_written_is_a_problem(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    """Where the database cannot be made or changed for want of permission, the folder is named."""
    folder = doctor.home
    if made:
        with Database(str(doctor.database), "session state").writing():
            pass
        folder = doctor.database.parent
    assert doctor.report()["problems"] == []
    real = os.access
    # Root may write everywhere, so the answer of the system is put in its place.
    monkeypatch.setattr(
        os, "access", lambda path, mode, **more: path != str(folder) and real(path, mode, **more)
    )
    assert doctor.report()["problems"] == [
        (
            f"the local database {doctor.database} cannot be written: no permission to write {folder};"
            " check the permissions of the file and of its folder"
        )
    ]


def test_name_blocked_in_vain_is_a_warning(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name in AGENTFEEDBACK_BLOCK that nothing has is reported, and is not a problem."""
    monkeypatch.setenv("AGENTFEEDBACK_BLOCK", "submit,nosuch")
    assert doctor.report()["config"]["warnings"] == [
        "AGENTFEEDBACK_BLOCK names nosuch, which is not installed"
    ]
    assert doctor.run()[1].endswith("\n1 warning\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_files_are_problems(doctor: Doctor) -> None:
    """What the user may not read is a problem each, and the rest of the report stands."""
    doctor.configure("", 0)
    with Database(str(doctor.database), "session state").writing():
        pass
    doctor.database.chmod(0)
    doctor.session("s1", {})
    (doctor.home / ".tiny").chmod(0)
    problems = doctor.report()["problems"]
    (doctor.home / ".tiny").chmod(0o700)
    assert len(problems) == 3
    assert all("permission denied" in problem for problem in problems)


@pytest.mark.parametrize(
    "text", ["[collect\n", "collect = 1\n", "[collect]\ndeny_paths = 1\n", "\0"]
)
def test_broken_configuration_is_a_problem_and_opens_nothing(doctor: Doctor, text: str) -> None:
    """A configuration that cannot be read is a problem here, the rest is reported, and no session is read."""
    doctor.configure(text)
    doctor.session("s1", {"type": "said", "cwd": "/srv/app"})
    report = doctor.report("--formats")
    (problem,) = report["problems"]
    assert (
        f"config file {doctor.config} is not valid" in problem and "; correct the file" in problem
    )
    assert [item for item in report["harnesses"] if item["sessions"] == 1]
    assert doctor.drift()["skipped"] == {"disabled": 1}


def test_home_that_is_not_set_is_a_problem(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a home directory the report holds that problem, in the same shape."""
    shape = list(doctor.report())
    monkeypatch.delenv("HOME")
    report = doctor.report()
    assert list(report) == shape
    assert report["problems"] == ["$HOME is not set; set it to your home directory"]


def test_loose_modes(doctor: Doctor) -> None:
    """What others can read or write of the state, of a key or of the policy is a problem with its command."""
    doctor.configure("[collect]\n", 0o644)
    assert doctor.report()["config"]["mode"] == "0644"
    assert doctor.report()["problems"] == []
    doctor.config.chmod(0o646)
    assert f"run chmod o-w {doctor.config}" in doctor.report()["problems"][0]
    doctor.configure('api_key = "k"\n', 0o640)
    assert f"run chmod 600 {doctor.config}" in doctor.report()["problems"][0]
    doctor.configure("")
    with Database(str(doctor.database), "session state").writing():
        pass
    assert doctor.report()["database"]["loose"] is False
    doctor.database.chmod(0o644)
    report = doctor.report()
    assert report["database"]["loose"] is True
    assert report["problems"] == [
        f"{doctor.database} is open to others (mode 0644); run chmod 600 {doctor.database}"
    ]


def test_connection_and_where_it_is_from(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment wins over the file, an empty variable is unset, no key or password is printed."""
    doctor.configure('url = "https://jane:pass@a.example/x"\napi_key = "hidden"\n')
    report = doctor.report()
    assert report["url"] == {"value": "https://a.example/x", "source": "config"}
    assert report["api_key"] == {"set": True, "source": "config"}
    assert (report["mode"], report["problems"]) == ("remote", [])
    monkeypatch.setenv("AGENT_FEEDBACK_URL", "https://b.example")
    monkeypatch.setenv("AGENT_FEEDBACK_API_KEY", "")
    _, shown = doctor.run()
    assert "https://b.example (env)" in shown and "set (config)" in shown
    assert "hidden" not in shown and "pass" not in shown
    doctor.configure("")
    assert (
        "a server is configured and no key; set AGENT_FEEDBACK_API_KEY"
        in doctor.report()["problems"][0]
    )


def test_near_misses_are_problems_and_unknown_keys_warnings(doctor: Doctor) -> None:
    """What was meant for `[collect]` and a repository's file that cannot be followed are problems; other unknown keys are warnings."""
    doctor.session("s1", {"type": "said", "cwd": "/srv/app"})
    doctor.configure(
        '[collect]\ndeny_paths = ["work", "~jane/x", "~/ok", "/ok"]\ndeny_path = []\nopt_in_paths = ["/a"]\n'
        "[sessions]\nquiet = '1m'\nloud = 1\n[unchecked]\nx = 1\n"
    )
    start = f"config file {doctor.home / '.config/agentfeedback/config.toml'} is not valid: "
    report = doctor.report()
    assert [problem.removeprefix(start).partition(" (")[0] for problem in report["problems"]] == [
        "collect.deny_path is not a key of [collect]",
        "collect.deny_paths entry 'work' is a relative path",
        "collect.deny_paths entry '~jane/x' is not a home of yours",
        "collect.opt_in_paths is set without collect.opt_in_only",
    ]
    assert report["config"]["warnings"] == [
        "[sessions] has no key loud; it is ignored",
        "[unchecked] is not known; it is ignored",
    ]
    assert doctor.drift()["skipped"] == {"disabled": 1}
    doctor.configure('[collect]\ndeny_paths = ["~/ok"]\n')
    (doctor.home / ".git").mkdir()
    (doctor.home / ".git/HEAD").write_text("ref: refs/heads/main\n")
    file = doctor.home / ".agentfeedback.toml"
    file.write_text('url = "x"\n[collect]\nopt_in_only = true\ndeny_paths = ["y"]\n')
    report = doctor.report()
    assert (report["problems"], report["config"]["warnings"]) == ([], [])
    assert [warning.partition(";")[0] for warning in report["collect"]["warnings"]] == [
        f"{file}: url is ignored",
        f"{file}: collect.opt_in_only is ignored",
    ]
    status, shown = doctor.run()
    assert status == 0 and shown.count("warning: ") == 2
    assert shown.endswith("\n2 warnings\n") and "no problem" not in shown
    refused = f"{file} cannot be followed, so no session of its repository is read: "
    for broken, reason in (
        ("[", ""),
        ("[collect]\ndisabled = 1\n", "collect.disabled is not true or"),
    ):
        file.write_text(broken)
        (problem,) = doctor.report()["problems"]
        assert problem.startswith(refused + reason) and problem.endswith("; correct the file")
    file.unlink()
    file.symlink_to("/dev/null")
    assert doctor.report()["problems"] == [f"{refused}not a regular file; correct the file"]


def test_failing_plugins_are_problems(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that cannot be loaded is a problem with its dist and reason; a missing gate always is."""
    doctor.plugin("exits", "raise SystemExit('no')")
    doctor.plugin("guard", "import missing_module_of_mine", "agentfeedback.gates")
    doctor.plugin("none", "", "agentfeedback.readers")
    problems = doctor.report()["problems"]
    assert [problem.partition(":")[0] for problem in problems] == [
        "reader none of dist-none cannot be used",
        "gate guard of dist-guard is missing, so every session is refused",
        "plugin exits of dist-exits cannot be used",
    ]
    assert all("; update or uninstall dist-" in problem for problem in problems)
    monkeypatch.setenv("AGENTFEEDBACK_BLOCK", "exits,guard,none,submit")
    (problem,) = doctor.report()["problems"]
    assert problem.startswith("gate guard") and problem.endswith(
        "take it out of AGENTFEEDBACK_BLOCK"
    )


def test_reader_that_raises_is_one_problem(doctor: Doctor) -> None:
    """A reader that raises while stores are listed is named once, and the others are reported."""
    failing = READER.replace("root = os.path", "raise OSError(home.path)\n        root = os.path")
    doctor.plugin("failing", failing.replace('"tiny"', '"failing"'), "agentfeedback.readers")
    report = doctor.report()
    assert report["problems"] == ["plugin failing failed in find: OSError; update or uninstall it"]
    assert "tiny" in [item["name"] for item in report["harnesses"]]


def test_formats_tell_versions_types_and_fields(doctor: Doctor) -> None:
    """Versions, unknown types and unknown members of the sessions are counted; the text shows the same."""
    doctor.session("s1", {"type": "said", "cwd": "/srv/app", "version": "1.0", "text": "hello"})
    doctor.session(
        "s2",
        {"type": "said", "cwd": "/srv/app", "version": "1.1", "mood": "secret"},
        {"type": "sang"},
    )
    drift = doctor.drift()
    assert drift == {
        "harness": "tiny",
        "described": True,
        "versioned": True,
        "verified": ["1.0"],
        "versions": [
            {"version": "1.0", "sessions": 1, "verified": True},
            {"version": "1.1", "sessions": 1, "verified": False},
        ],
        "sessions": 2,
        "skipped": {},
        "records": 3,
        "unparsed": 0,
        "unknown_types": [{"type": "sang", "count": 1}],
        "unknown_fields": [{"type": "said", "field": "mood", "count": 1}],
    }
    status, shown = doctor.run("--formats")
    assert status == 0
    assert "secret" not in shown and "hello" not in shown
    assert [
        line.split() for line in shown.splitlines() if line.startswith(("version", "type", "field"))
    ] == [
        ["version", "1.1", "1", "session"],
        ["type", "sang", "1", "record"],
        ["field", "said", "mood", "1", "time"],
    ]


def test_refused_sessions_are_not_counted(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the policy refuses before the open stays closed; what it refuses after the read is thrown away."""
    doctor.configure('[collect]\ndeny_paths = ["/srv/denied"]\n')
    doctor.session("closed", {"type": "hidden"})
    doctor.session("s1", {"type": "hidden", "cwd": "/srv/denied/x", "version": "9", "hidden": 1})
    doctor.session("s2", {"type": "said", "cwd": "/srv/app"})
    opened: list[str] = []
    system_open = os.open

    def recorded(path: Any, *rest: Any, **more: Any) -> int:
        opened.append(os.path.basename(os.fsdecode(path)))
        return system_open(path, *rest, **more)

    monkeypatch.setattr(os, "open", recorded)
    drift = doctor.drift()
    assert "s1" in opened and "closed" not in opened
    assert (drift["sessions"], drift["skipped"], drift["records"]) == (1, {"denied": 2}, 1)
    assert drift["versions"] + drift["unknown_types"] + drift["unknown_fields"] == []
    doctor.configure("[collect]\ndisabled = true\n")
    assert doctor.drift()["skipped"] == {"disabled": 3}


def test_reader_that_says_nothing_of_what_it_knows(doctor: Doctor) -> None:
    """A reader without `known` is reported as not described, and its sessions are not read; one that raises likewise."""
    plain = (
        READER.partition("    def known")[0]
        + "@hookimpl\ndef register_readers():\n    return [Tiny()]\n"
    )
    for name, code in (
        ("quiet", plain),
        ("loud", READER.replace("return Known", "raise OSError; return Known")),
    ):
        code = code.replace('"tiny"', f'"{name}"').replace('"read"', '"unread"')
        doctor.plugin(name, code, "agentfeedback.readers")
    doctor.session("s1", {"type": "said"})
    report = doctor.report("--formats")
    described = {item["harness"]: item["described"] for item in report["formats"]}
    assert (described["tiny"], described["quiet"], described["loud"]) == (True, False, False)
    assert report["problems"] == ["plugin loud failed in known: OSError; update or uninstall it"]


def test_home_option(doctor: Doctor, tmp_path: Path) -> None:
    """With `--home` stores are looked for below that folder; a missing one is a wrong command line."""
    other = tmp_path / "other"
    (other / ".tiny").mkdir(parents=True)
    (other / ".tiny/s9").write_text("{}\n")
    (tiny,) = [
        item for item in doctor.report("--home", str(other))["harnesses"] if item["name"] == "tiny"
    ]
    assert (tiny["store"], tiny["sessions"]) == (str(other / ".tiny"), 1)
    assert main(["doctor", "--home", str(tmp_path / "gone")]) == 2
    assert main(["doctor", "extra"]) == 2


@pytest.mark.parametrize("columns", [0, 40, 80])
def test_tables_fit_the_terminal(doctor: Doctor, columns: int) -> None:
    """On a terminal no row of a table is wider than it; off one every name is whole."""
    kind, name = "sang_" + "x" * 40, "mood_" + "y" * 40
    doctor.session("s1", {"type": kind, "cwd": "/srv/app"}, {"type": "said", name: 1})
    report = diagnose(dict(os.environ), formats=True)
    rows = [
        line
        for line in text(report, Screen(columns)).splitlines()
        if line.startswith(("HARNESS", "tiny  ", "UNKNOWN", "type ", "field "))
    ]
    assert len(rows) == 5
    assert max(map(len, rows)) <= columns or not columns
    assert columns or (kind in rows[3] and name in rows[4])
