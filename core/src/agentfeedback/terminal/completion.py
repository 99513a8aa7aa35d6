"""Completion scripts for shells, made by shtab from a parser that is built from the command tables.

A script stands alone: pressing TAB starts no program of ours, so it costs nothing and works
offline. It completes commands, flags, fixed values of flags and paths. Refs alone are asked for,
since they change (`ref_completion`).
"""

from __future__ import annotations

from agentfeedback.foundation.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from agentfeedback.terminal.arguments import Command, Flag

SHELLS = ("bash", "zsh", "fish")


def script(
    shell: str,
    program: str,
    commands: Sequence[Command],
    words: Mapping[str, Iterable[str]],
    asked: str = "",
) -> str:
    """Return the completion script of a shell for a program.

    Args:
        shell: One of `SHELLS`.
        program: The name it is called by.
        commands: What it offers; hidden ones are left out.
        words: The words of the sets that commands and flags name (`Flag.choices`), by the set's name.
        asked: The words of the program that print the refs beginning with what follows them; without
            them refs are not completed.

    Raises:
        UsageError: The shell has none.
    """
    if shell not in SHELLS:
        raise UsageError(
            f'there is no completion for the shell "{shell}"', f"name one of {', '.join(SHELLS)}"
        )
    import shtab

    tree = shtab.complete(_parser(program, commands, words), shell, root_prefix=program).rstrip()
    head = f"# {shell} completion for {program}; written by `{program} completion {shell}`\n"
    function = "_" + "".join(each if each.isalnum() else "_" for each in program)
    from agentfeedback.terminal import ref_completion

    refs = ref_completion.RefWords(program, function, asked, commands if asked else ())
    if shell == "fish":
        return f"{head}{tree}\n{refs.filled(ref_completion.FISH)}"
    if shell == "bash":
        reading = _BASH.replace("REFS", f"  {function}_ref && return 0\n" if refs.any else "")
        reading = reading.replace("NAME", program).replace("FUNCTION", function)
        return f"{head}{tree}\n{refs.filled(ref_completion.BASH)}{reading}"
    # shtab writes `(*)` where zsh wants `*`, and then knows the first of several words alone.
    tree = _quoted(tree.replace('"(*)::', '"*:'))
    reading = (
        _ZSH.replace("REFS", refs.filled(ref_completion.ZSH))
        .replace("NAME", program)
        .replace("FUNCTION", function)
    )
    return f"#compdef {program}\n{head}{reading.replace('TREE', tree)}"


def _parser(
    program: str, commands: Sequence[Command], words: Mapping[str, Iterable[str]]
) -> ArgumentParser:
    """Build what shtab reads; command lines are never parsed with it."""
    from argparse import ArgumentParser

    shown = {command.name: command for command in commands if not command.hidden}
    root = ArgumentParser(program, add_help=False)
    parsers = {"": root}
    below: dict[str, Any] = {}
    for name in shown:
        parts = name.split()
        for end in range(1, len(parts) + 1):
            group, path = " ".join(parts[: end - 1]), " ".join(parts[:end])
            if path in parsers:
                continue
            if group not in below:
                below[group] = parsers[group].add_subparsers()
            about = shown[path].summary if path in shown else ""
            parsers[path] = below[group].add_parser(
                parts[end - 1], help=_text(about), add_help=False
            )
    for name, parser in parsers.items():
        command = shown.get(name)
        for flag in command.flags if command is not None else ():
            _add_flag(parser, flag, words)
        parser.add_argument("--help", action="help", help="its usage")
        if command is not None and command.arguments and name not in below:
            parser.add_argument("word", nargs="*", choices=_positionals(command, words) or None)
    return root


def _add_flag(parser: ArgumentParser, flag: Flag, words: Mapping[str, Iterable[str]]) -> None:
    name, about = f"--{flag.name}", _text(flag.help)
    if flag.kind == "bool":
        parser.add_argument(name, action="store_true", help=about)
        return
    added: Any = parser.add_argument(
        name,
        action="append" if flag.kind == "many" else "store",
        help=about,
        metavar=flag.value or flag.name,
        choices=_usable(
            words.get(flag.choices, ()) if isinstance(flag.choices, str) else flag.choices
        )
        or None,
    )
    if flag.choices in ("directory", "file"):
        import shtab

        added.complete = shtab.DIRECTORY if flag.choices == "directory" else shtab.FILE


def _positionals(command: Command, words: Mapping[str, Iterable[str]]) -> list[str]:
    if "|" in command.arguments and "<" not in command.arguments:  # fixed words: `bash|zsh`
        return _usable(command.arguments.split("|"))
    if isinstance(command.choices, str):
        return _usable(words.get(command.choices, ()))
    return _usable(command.choices)


def _usable(words: Iterable[str]) -> list[str]:
    """Return the words that stand for themselves in every shell: shtab does not quote them."""
    return [
        word
        for word in words
        if word and all(each.isalnum() or each in "-_.:@+,/" for each in word)
    ]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _text(about: str) -> str:
    return about.replace("%", "%%")  # argparse fills in `%(prog)s`


# What shtab's scripts for bash and zsh do not know of a line, and ours must: `-flag` is `--flag`,
# `--flag=value` is a flag with its value (bash makes three words of it), and behind `--` nothing is
# offered. So each is given the line as it would be written with `--flag value` alone. Fish parts
# `--flag=value` and heeds `--` by itself; how it reads a line cannot be changed, so there the values
# of `-flag` are not offered.
_BASH = """
FUNCTION() {
REFS  local word before='' value='' i last=$COMP_CWORD
  local -a line=("${COMP_WORDS[0]}")
  for ((i = 1; i <= last; i++)); do
    word="${COMP_WORDS[i]}"
    if [[ $word == '--' && $i -lt $last ]]; then COMPREPLY=(); return 0; fi
    if [[ $word == '=' ]]; then
      [[ $i -lt $last ]] || line+=('')
      continue
    fi
    [[ $word != -[!-]* ]] || word="-$word"
    if [[ $word == --*=* ]]; then
      [[ $i -eq $last ]] || continue
      before="${COMP_WORDS[i]%%=*}=" value="${word#*=}"
      line+=("${word%%=*}")
      word="$value"
    fi
    line+=("$word")
  done
  local -a COMP_WORDS=("${line[@]}")
  local COMP_CWORD=$((${#line[@]} - 1))
  _shtabFUNCTION
  for i in ${COMPREPLY[@]+"${!COMPREPLY[@]}"}; do COMPREPLY[i]="$before${COMPREPLY[i]}"; done
}
complete -F FUNCTION NAME
"""

_ZSH = """\
FUNCTION() {
  local word
  local -i i
  local -a line=("${words[1]}")
  for ((i = 2; i < CURRENT; i++)); do
    word="${words[i]}"
    case "$word" in
      --) return 1 ;;
      -*=*) continue ;;
      -[^-]*) word="-$word" ;;
    esac
    line+=("$word")
  done
REFS  if [[ $PREFIX == -*=* ]]; then
    word="${PREFIX%%=*}"
    [[ $word == --* ]] || word="-$word"
    line+=("$word")
    compset -P 1 '*='
  fi
  words=("${line[@]}" "$PREFIX$SUFFIX")
  CURRENT=$#words
  _shtabFUNCTION
}
# Within `eval` shtab's script registers itself; else it would complete at once.
eval TREE
if [[ "${funcstack[1]}" == FUNCTION ]]; then
  FUNCTION "$@"
else
  compdef FUNCTION NAME
fi
"""
