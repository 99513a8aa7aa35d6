"""Makes the pictures of README.md from real runs over an invented home: `python docs/pictures/make.py`.

The terminal is drawn by rich, the page photographed by Chromium; both are needed here alone.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COLUMNS = 92
#: What agents run in the invented projects, and how it fails.
FAILURES = (
    ("pytest -x tests/test_cart.py", 1, "E       ValueError: invalid literal for int(): '12a'"),
    ("make test", 2, "make: *** No rule to make target 'test'.  Stop."),
    ("npm run lint", 1, "src/pages/checkout.tsx:41:9 - error TS2304: Cannot find name 'totl'."),
    ("docker compose up -d", 1, "Error response from daemon: port is already allocated"),
    ("git push origin main", 1, "! [rejected] main -> main (fetch first)"),
    ("psql shop -f schema.sql", 3, 'psql: error: FATAL: role "shop" does not exist'),
)
PROJECTS = ("shop", "api", "site", "tools")
PROMPTS = (
    "The cart test is still failing, please look again",
    "Bring the health check back",
    "Add a page for returns",
    "Why did you remove the migration?",
    "Tidy up the imports",
)


def invented(home: Path, *, sessions: int = 70, days: int = 14, seed: int = 7) -> None:
    """Write sessions of two agents over the last days into a home."""
    chance = random.Random(seed)
    now = datetime.now(UTC)
    for number in range(sessions):
        start = now - timedelta(days=chance.random() ** 1.4 * days, minutes=chance.random() * 600)
        write = _claude if chance.random() < 0.6 else _codex
        write(home, number, start, chance)


def _steps(chance: random.Random) -> list[tuple[str, int, str]]:
    steps = []
    for _ in range(chance.randrange(2, 7)):
        if chance.random() < 0.45:
            weights = (9, 7, 4, 3, 2, 2)
            steps.append(chance.choices(FAILURES, weights)[0])
        else:
            steps.append(("ls", 0, "README.md"))
    return steps


def _id(number: int, chance: random.Random) -> str:
    return f"{chance.randrange(16**8):08x}-1b34-4c57-9a86-{number:012x}"


def _claude(home: Path, number: int, start: datetime, chance: random.Random) -> None:
    project, id = chance.choice(PROJECTS), _id(number, chance)
    lines: list[dict[str, Any]] = []

    def add(kind: str, content: Any, **more: Any) -> None:
        at = (start + timedelta(seconds=20 * len(lines))).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message["model"] = "a-model"
        line = {"type": kind, "uuid": f"u-{len(lines)}", "timestamp": at, "message": message}
        lines.append({**line, "cwd": f"/home/ada/{project}", "sessionId": id, **more})

    add("user", chance.choice(PROMPTS))
    for step, (command, code, output) in enumerate(_steps(chance)):
        call = {"type": "tool_use", "id": f"t{step}", "name": "Bash", "input": {"command": command}}
        add("assistant", [call])
        denied = code and chance.random() < 0.1
        text = f"Exit code {code}\n{output}" if code else output
        if denied:
            text = "The user doesn't want to proceed with this tool use"
        result = {"type": "tool_result", "tool_use_id": f"t{step}", "content": text}
        add("user", [{**result, "is_error": bool(code)}])
    if chance.random() < 0.15:
        add("user", [{"type": "text", "text": "[Request interrupted by user]"}])
    _put(home / f".claude/projects/-home-ada-{project}/{id}.jsonl", lines)


def _codex(home: Path, number: int, start: datetime, chance: random.Random) -> None:
    project, id = chance.choice(PROJECTS), _id(number, chance)
    lines: list[dict[str, Any]] = []

    def add(kind: str, **payload: Any) -> None:
        at = (start + timedelta(seconds=20 * len(lines))).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        lines.append({"timestamp": at, "type": kind, "payload": payload})

    add("session_meta", id=id, cwd=f"/home/ada/{project}", source="cli")
    add("event_msg", type="user_message", message=chance.choice(PROMPTS))
    for step, (command, code, output) in enumerate(_steps(chance)):
        arguments = json.dumps({"cmd": command})
        call = f"call_{step}"
        add(
            "response_item",
            type="function_call",
            name="exec_command",
            call_id=call,
            arguments=arguments,
        )
        text = f"Process exited with code {code}\nOutput:\n{output}"
        add("response_item", type="function_call_output", call_id=call, output=text)
    day = start.strftime("%Y/%m/%d")
    name = f"rollout-{start.strftime('%Y-%m-%dT%H-%M-%S')}-{id}.jsonl"
    _put(home / f".codex/sessions/{day}/{name}", lines)


def _put(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def run(home: Path, *words: str) -> str:
    """What a command line shows on a terminal with colour."""
    from agentfeedback.cli.main import main

    out = io.BytesIO()
    os.environ.update({"HOME": str(home), "COLUMNS": str(COLUMNS), "TERM": "xterm", "TZ": "UTC"})
    for name in ("NO_COLOR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)
    terminal = _Terminal(out, encoding="utf-8")
    with redirect_stdout(terminal), redirect_stderr(io.StringIO()):
        main(list(words))
        terminal.flush()
    return out.getvalue().decode()


def picture(home: Path) -> None:
    """Draw the terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="standard")
    for words in ((), ("sessions", "report", "--limit", "3")):
        console.print(Text(f"$ {' '.join(('agentfeedback', *words))}", style="bold green"))
        shown = run(home, *words).partition("\x1b[1mDenials")[0].rstrip("\n")
        console.print(Text.from_ansi(shown + "\n"))
    svg = console.export_svg(title="agentfeedback", unique_id="agentfeedback")
    # The fonts of the reader's machine: a picture in the repository fetches nothing from elsewhere.
    begin, end = svg.index("    @font-face"), svg.index("    .agentfeedback-matrix")
    svg = svg[:begin] + svg[end:]
    svg = "".join(line.rstrip() + "\n" for line in svg.splitlines())
    (HERE / "terminal.svg").write_text(svg, encoding="utf-8")


def photograph(home: Path, chromium: str) -> None:
    """Take a photograph of the page."""
    page = home / "report.html"
    run(home, "sessions", "report", "--since", "14d", "--html", str(page))
    with tempfile.TemporaryDirectory() as profile:
        command = [
            *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *(f"--user-data-dir={profile}", "--window-size=1000,1180"),
            *(f"--screenshot={HERE / 'report.png'}", page.as_uri()),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def main() -> int:
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not installed", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        invented(home)
        picture(home)
        photograph(home, chromium)
    return 0


if __name__ == "__main__":
    sys.exit(main())
