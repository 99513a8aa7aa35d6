"""The command line of the corpus tools: its words, and what went wrong as one line and an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.terminal.screen import is_terminal, note

_INTERRUPTED = 130
_PROGRAM = "python -m pytest_agentfeedback"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line: 0 done, 1 failed or something to mend, 2 a wrong command line."""
    try:
        return _run(_parser().parse_args(argv))
    except AgentFeedbackError as error:
        note(f"{_PROGRAM}: {error}")
        return error.exit_status
    except KeyboardInterrupt:
        return _INTERRUPTED


def _run(line: argparse.Namespace) -> int:
    if line.command == "add":
        from pytest_agentfeedback.curation.adding import Wish, add

        wish = Wish(
            line.ref,
            line.home,
            line.to,
            line.rename,
            line.drop,
            line.whole,
            line.allow_unknown_project,
        )
        return add(wish, os.environ)
    folders = [Path(each) for each in line.folders]
    for folder in folders:
        if not (folder / "home").is_dir():
            raise UsageError(f"{folder} is not a corpus", "name a folder that has a folder `home`")
    if line.command == "check":
        from pytest_agentfeedback.curation.checking import check

        return check(folders, os.environ, as_json=line.json)
    from pytest_agentfeedback.curation.checking import corpora
    from pytest_agentfeedback.curation.labelling import Terminal, label

    if not is_terminal(sys.stdin):
        raise UsageError("label asks a person", "run it at a terminal, or edit labels.json")
    return label(folders or corpora(Path("corpus")), Terminal(), os.environ)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=_PROGRAM, description="Tools for maintainers of readers.")
    groups = parser.add_subparsers(required=True, metavar="corpus")
    corpus = groups.add_parser("corpus", help="labelled sessions of a harness")
    commands = corpus.add_subparsers(dest="command", required=True)

    add = commands.add_parser(
        "add",
        help="take a session from a store, without names and secrets",
        description="Take a session from a store into a corpus, under your own policy: names, e-mail"
        " addresses and paths are replaced, secrets made inert, the vendor's texts left out. Read the"
        " result before you commit it.",
    )
    add.add_argument("ref", metavar="harness:id", help="as agentfeedback sessions list shows it")
    add.add_argument("--home", metavar="DIR", help="the home the stores are below (default: yours)")
    add.add_argument(
        "--to", metavar="DIR", default="corpus", help="where corpora are (%(default)s)"
    )
    add.add_argument(
        *("--rename",),
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="one more name; repeat it",
    )
    add.add_argument(
        *("--drop",),
        action="append",
        default=[],
        metavar="TYPE",
        help="leave out records of a type, such as turn_context or event_msg/agent_message; repeat it",
    )
    add.add_argument("--whole", action="store_true", help="leave out nothing but --drop")
    add.add_argument(
        "--allow-unknown-project", action="store_true", help="also a session with no directory"
    )

    label = commands.add_parser("label", help="label what has no label, at the terminal")
    label.add_argument("folders", nargs="*", metavar="corpus/HARNESS", help="default: all")

    check = commands.add_parser("check", help="what is labelled, and what has no example")
    check.add_argument("folders", nargs="*", metavar="corpus/HARNESS", help="default: all")
    check.add_argument("--json", action="store_true", help="print one JSON object")
    return parser
