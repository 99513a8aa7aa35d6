"""Where the databases are, by names and `stat` alone."""

from __future__ import annotations

import os
import stat

from agentfeedback.reading import Home, Report, reason_of


def databases(home: Home, report: Report) -> tuple[str, list[str]]:
    """The location of the store and its databases; the report says why there are none."""
    directory = os.path.join(home.directory("XDG_DATA_HOME", ".local", "share"), "opencode")
    named = home.environ.get("OPENCODE_DB", "")
    if named:
        return _named(os.path.join(directory, named), report)
    report.store(directory)
    names = [entry.name for entry in report.files(directory, root=True)]
    found = [name for name in names if name == "opencode.db"]
    found += [name for name in names if name.startswith("opencode-") and name.endswith(".db")]
    if not found and report.state == "present":
        report.store(directory, "absent", "no database")
    return directory, [os.path.join(directory, name) for name in found]


def _named(path: str, report: Report) -> tuple[str, list[str]]:
    report.store(path)
    try:
        regular = stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError) as error:
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        report.store(path, "absent" if missing else "unreadable", reason_of(error))
        return path, []
    if not regular:
        report.store(path, "unreadable", "not a regular file")
        return path, []
    return path, [path]
