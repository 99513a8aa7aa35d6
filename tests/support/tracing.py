"""What a run of the program did to files, told by system calls (strace) or by the interpreter's own audit.

The first sees everything and exists on Linux only; the second needs nothing but Python and sees what
Python code does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.support.machine import Machine, Result

#: System calls that take no more from a path than it gives, and change nothing.
HARMLESS = frozenset(
    [
        "access",
        "close",
        "epoll_ctl",
        "faccessat",
        "faccessat2",
        "fgetxattr",
        "fstat",
        "getcwd",
        "getdents64",
        "getxattr",
        "ioctl",
        "lgetxattr",
        "lseek",
        "lstat",
        "newfstatat",
        "open",
        "openat",
        "pread64",
        "preadv",
        "read",
        "readlink",
        "readlinkat",
        "readv",
        "stat",
        "statfs",
        "fstatfs",
        "statx",
        "poll",
        "select",
        "pselect6",
        "dup",
        "dup2",
        "dup3",
        "execve",
        "chdir",
        "mmap",
    ]
)
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+|\?)")
_OPENED = re.compile(r'"((?:[^"\\]|\\.)*)", (O_[A-Z_|]+)')
_WRITING = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)\b")


class Trace:
    """One run: `opened` are the paths opened and how often, `read` the bytes read from each.

    `changes` are calls that could write, create, lock or remove something, as `name(arguments)`.
    """

    def __init__(self, result: Result) -> None:
        self.result = result
        self.opened: dict[str, int] = {}
        self.read: dict[str, int] = {}
        self.changes: list[str] = []

    def opens(self, path: Path) -> int:
        return self.opened.get(str(path), 0)

    def changes_below(self, folder: Path) -> list[str]:
        return [change for change in self.changes if str(folder) in change]


@cache
def has_strace() -> bool:
    """Whether strace is here and may trace."""
    if not (strace := shutil.which("strace")):
        return False
    return (
        subprocess.run(
            [strace, "-o", os.devnull, "true"], capture_output=True, check=False
        ).returncode
        == 0
    )


def by_strace(machine: Machine, *words: str) -> Trace:
    """Run the program under strace."""
    log = machine.home.parent / "strace.log"
    command = ["strace", "-f", "-y", "-s", "0", "-e", "trace=%file,%desc", "-o", str(log)]
    done = subprocess.run(
        [*command, *machine.argv(*words)],
        env=machine.environ,
        capture_output=True,
        timeout=300,
        check=False,
    )
    trace = Trace(Result(done.returncode, done.stdout, done.stderr))
    for text in log.read_text(errors="replace").splitlines():
        match = _CALL.match(text)
        if match is None:
            continue
        name, arguments, answer = match.groups()
        if name in ("open", "openat", "openat2", "creat"):
            _note_open(trace, name, arguments, int(answer))
        elif name in ("read", "pread64", "readv", "preadv", "mmap"):
            file = re.search(r"<(.*?)>", arguments)
            if file is not None and name != "mmap":
                trace.read[file[1]] = trace.read.get(file[1], 0) + max(0, int(answer))
            elif file is not None and "PROT_WRITE" in arguments and "MAP_SHARED" in arguments:
                trace.changes.append(f"{name}({arguments})")
        elif name == "fcntl" and not re.search(r"F_(?:OFD_)?SETLK", arguments):
            continue
        elif name not in HARMLESS:
            trace.changes.append(f"{name}({arguments})")
    return trace


def _note_open(trace: Trace, name: str, arguments: str, answer: int) -> None:
    match = _OPENED.search(arguments)
    if match is None or _WRITING.search(match[2]):
        trace.changes.append(f"{name}({arguments})")
    if match is not None and answer >= 0:
        trace.opened[match[1]] = trace.opened.get(match[1], 0) + 1


_AUDITED = """
import json, os, sys
events, read, names = [], {}, {}
seen = ("open", "os.", "fcntl.", "shutil.", "sqlite3.connect", "tempfile.", "socket.bind")
calm = ("os.listdir", "os.scandir", "os.getxattr", "os.listxattr", "os.walk", "os.fwalk", "os.add_dll_directory")
def hook(name, arguments):
    if name.startswith(seen) and name not in calm:
        events.append([name, [os.fsdecode(a) if isinstance(a, bytes) else a if isinstance(a, (str, int)) else None for a in arguments]])
plain_open, plain_read = os.open, os.read
def opened(path, *rest, **more):
    descriptor = plain_open(path, *rest, **more)
    names[descriptor] = os.fsdecode(path)
    return descriptor
def reading(descriptor, size):
    data = plain_read(descriptor, size)
    name = names.get(descriptor, "")
    read[name] = read.get(name, 0) + len(data)
    return data
os.open, os.read = opened, reading
from agentfeedback.cli.main import main
sys.addaudithook(hook)
status = main(sys.argv[2:])
kept = list(events)
with open(sys.argv[1], "w") as file:
    json.dump([kept, read], file)
sys.exit(status)
"""


def by_audit(machine: Machine, *words: str) -> Trace:
    """Run the program with an audit hook and with its reads counted."""
    log = machine.home.parent / "audit.json"
    done = subprocess.run(
        [sys.executable, "-c", _AUDITED, str(log), *words],
        env=machine.environ,
        capture_output=True,
        timeout=300,
        check=False,
    )
    trace = Trace(Result(done.returncode, done.stdout, done.stderr))
    events, trace.read = json.loads(log.read_text())
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    for name, arguments in events:
        if name == "open":
            path, _, flags = arguments
            if isinstance(path, str):
                trace.opened[path] = trace.opened.get(path, 0) + 1
            if flags & writing:
                trace.changes.append(f"{name}({arguments})")
        else:
            trace.changes.append(f"{name}({arguments})")
    return trace
