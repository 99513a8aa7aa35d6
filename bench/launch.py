"""Runs one command and prints what it cost: `status cpu wall peak`, in seconds and bytes.

    python launch.py INPUT OUTPUT COMMAND [ARGUMENT...]

A process of its own, and as small as can be: the peak memory that Linux reports of a child is at
least that of the process that started it.
"""

import os
import sys
import time

_KIB = 1 if sys.platform == "darwin" else 1024  # the unit of ru_maxrss


def main() -> None:
    input, output, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, input, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, output + ".err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    started = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - started
    cpu = usage.ru_utime + usage.ru_stime
    print(os.waitstatus_to_exitcode(status), cpu, wall, usage.ru_maxrss * _KIB)


if __name__ == "__main__":
    main()
