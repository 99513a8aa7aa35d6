"""Completion scripts for shells, generated from the command tables.

A script stands alone: pressing TAB starts no program of ours, so it costs nothing and works
offline. It completes commands, flags, fixed values of flags and paths; not refs, which change.
"""

from __future__ import annotations

from agentfeedback.foundation.errors import UsageError
from agentfeedback.terminal.arguments import members

PROGRAM = "agentfeedback"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentfeedback.terminal.arguments import Command, Flag

SHELLS = ("bash", "zsh", "fish")
#: Words of the sets that flags name; the command offers the installed readers instead.
VOCABULARIES: Mapping[str, Sequence[str]] = {
    "harness": (
        "claude-code",
        "codex",
        "copilot",
        "gemini-cli",
        "opencode-v1",
        "opencode-v2",
        "cursor",
    ),
    "installer": ("claude-code", "codex", "copilot", "cursor"),
    "outcome": ("filed", "nothing", "skipped"),
}


def script(
    shell: str,
    commands: Sequence[Command],
    vocabularies: Mapping[str, Sequence[str]] = VOCABULARIES,
) -> str:
    """The completion script of a shell; raises `UsageError` for a shell that has none.

    `vocabularies` are the words of the sets that flags name (`Flag.choices`), by the set's name.
    """
    writers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in writers:
        raise UsageError(
            f'no completion for shell "{shell}" (have {", ".join(SHELLS)})', "name one of them"
        )
    shown = [command for command in commands if not command.hidden]
    return writers[shell](shown, vocabularies)


def _groups(
    commands: Sequence[Command], vocabularies: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The name of each group (`""` first) and command that known words may follow, with those."""
    groups = {"": members("", commands)}
    for command in commands:
        words = command.name.split()
        for end in range(1, len(words)):
            group = " ".join(words[:end])
            groups.setdefault(group, members(group, commands))
    for command in commands:
        if "|" in command.arguments and "<" not in command.arguments:  # fixed words: `bash|zsh`
            groups.setdefault(command.name, command.arguments.split("|"))
        elif known := _words(command, vocabularies):
            groups.setdefault(command.name, list(known))
    return groups


def _words(of: Flag | Command, vocabularies: Mapping[str, Sequence[str]]) -> Sequence[str]:
    if isinstance(of.choices, tuple):
        return of.choices
    return vocabularies.get(of.choices, ())


def _flags(command: Command) -> str:
    return " ".join([*(f"--{flag.name}" for flag in command.flags), "--help"])


def _valued(commands: Iterable[Command]) -> Iterable[tuple[Command, Flag]]:
    return ((c, flag) for c in commands for flag in c.flags if flag.kind != "bool")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _paths(commands: Sequence[Command]) -> list[str]:
    """Every group and command by its name: what the words before the cursor may amount to."""
    groups = _groups(commands, {})
    return [name for name in dict.fromkeys([*groups, *(c.name for c in commands)]) if name]


def _bash(commands: Sequence[Command], vocabularies: Mapping[str, Sequence[str]]) -> str:
    kinds = {"directory": "-d", "file": "-f"}
    values = []
    for command, flag in _valued(commands):
        kind = kinds.get(flag.choices) if isinstance(flag.choices, str) else None
        words = " ".join(_words(flag, vocabularies))
        action = f"paths={kind}" if kind else f"words={_quoted(words)}"
        pattern = "|".join(_quoted(f"{command.name}:{dash}{flag.name}") for dash in ("--", "-"))
        values.append(f"    {pattern}) {action}; value=1 ;;")
    follow = [
        f"    {_quoted(g)}) words={_quoted(' '.join(w))} ;;"
        for g, w in _groups(commands, vocabularies).items()
    ]
    flags = [f"    {_quoted(c.name)}) flags={_quoted(_flags(c))} ;;" for c in commands]
    return f"""\
# bash completion for {PROGRAM}; written by `{PROGRAM} completion bash`
_{PROGRAM}() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}"
  local at='' word words='' flags='--help' paths='' value='' ended='' before='' i IFS=$' \\t\\n'
  COMPREPLY=()
  # bash makes a word of the = in --flag=value, unless COMP_WORDBREAKS was changed
  if [[ $cur == -*=* ]]; then
    prev="${{cur%%=*}}" before="${{cur%%=*}}=" cur="${{cur#*=}}"
  elif [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' && $COMP_CWORD -gt 1 ]]; then
    prev="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${{COMP_WORDS[i]}}"
    if [[ $word == '--' ]]; then ended=1; break; fi
    case "${{at:+$at }}$word" in
{_case(_paths(commands), "      ")}) at="${{at:+$at }}$word" ;;
    esac
  done
  [[ ! $ended ]] || return 0
  case "$at:$prev" in
{_lines(values)}
  esac
  if [[ ! $value ]]; then
    case "$at" in
{_lines(follow)}
    esac
    case "$at" in
{_lines(flags)}
    esac
    [[ $cur != -* ]] || words="$flags"
  fi
  if [[ $paths ]]; then
    compopt -o filenames >/dev/null 2>&1 || :
    words="$(compgen "$paths" -P "$before" -- "$cur")" || :
  else
    words="$(compgen -W "$words" -P "$before" -- "$cur")" || :
  fi
  while IFS= read -r word; do
    [[ ! $word ]] || COMPREPLY+=("$word")
  done <<< "$words"
}}
complete -F _{PROGRAM} {PROGRAM}
"""


def _zsh(commands: Sequence[Command], vocabularies: Mapping[str, Sequence[str]]) -> str:
    kinds = {"directory": "_files -/", "file": "_files"}
    values = []
    for command, flag in _valued(commands):
        kind = kinds.get(flag.choices) if isinstance(flag.choices, str) else None
        words = " ".join(map(_quoted, _words(flag, vocabularies)))
        action = kind or (f"compadd -- {words}" if words else "_message value")
        pattern = "|".join(_quoted(f"{command.name}:{dash}{flag.name}") for dash in ("--", "-"))
        values.append(f"    {pattern}) {action}; return ;;")
    summaries = {command.name: command.summary for command in commands}
    follow = []
    for group, names in _groups(commands, vocabularies).items():
        described = " ".join(
            _quoted(_described(name, summaries.get(f"{group} {name}".strip(), "")))
            for name in names
        )
        follow.append(f"    {_quoted(group)}) found=({described}) ;;")
    flags = []
    for command in commands:
        pairs = [
            *((f"--{flag.name}", flag.help) for flag in command.flags),
            ("--help", "its usage"),
        ]
        described = " ".join(_quoted(_described(*pair)) for pair in pairs)
        flags.append(f"    {_quoted(command.name)}) found=({described}) ;;")
    return f"""\
#compdef {PROGRAM}
# zsh completion for {PROGRAM}; written by `{PROGRAM} completion zsh`
_{PROGRAM}() {{
  local at='' word prev="${{words[CURRENT-1]}}" i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    word="${{words[i]}}"
    [[ $word == '--' ]] && return
    case "${{at:+$at }}$word" in
{_case(_paths(commands), "      ")}) at="${{at:+$at }}$word" ;;
    esac
  done
  if [[ $PREFIX == -*=* ]]; then
    prev="${{PREFIX%%=*}}"
    compset -P '*='
  fi
  case "$at:$prev" in
{_lines(values)}
  esac
  if [[ $PREFIX == -* ]]; then
    found=('--help:its usage')
    case "$at" in
{_lines(flags)}
    esac
    _describe -o flag found
  else
    case "$at" in
{_lines(follow)}
    esac
    _describe command found
  fi
}}
if [[ "${{funcstack[1]}}" == _{PROGRAM} ]]; then
  _{PROGRAM} "$@"
else
  compdef _{PROGRAM} {PROGRAM}
fi
"""


def _fish(commands: Sequence[Command], vocabularies: Mapping[str, Sequence[str]]) -> str:
    summaries = {command.name: command.summary for command in commands}
    lines = []
    for group, names in _groups(commands, vocabularies).items():
        for name in names:
            summary = summaries.get(f"{group} {name}".strip(), "")
            lines.append(_fish_line(group, f"-a {_fish_quoted(name)}", summary))
    for command in commands:
        for flag in command.flags:
            words = " ".join(_words(flag, vocabularies))
            if flag.kind == "bool":
                value = ""
            elif flag.choices == "directory":
                value = " -x -a '(__fish_complete_directories)'"
            elif flag.choices == "file":
                value = " -r -F"
            else:
                value = f" -x -a {_fish_quoted(words)}" if words else " -x"
            lines.append(_fish_line(command.name, f"-l {flag.name}{value}", flag.help))
    return f"""\
# fish completion for {PROGRAM}; written by `{PROGRAM} completion fish`
function __{PROGRAM}_at
  set -l at ''
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    switch (string trim -- "$at $word")
      case {" ".join(map(_fish_quoted, _paths(commands)))}
        set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
complete -c {PROGRAM} -f
complete -c {PROGRAM} -s h -l help -d 'its usage'
{_lines(lines)}
"""


def _fish_line(at: str, what: str, about: str) -> str:
    condition = _fish_quoted(f"__{PROGRAM}_at {_fish_quoted(at)}")
    return f"complete -c {PROGRAM} -n {condition} {what} -d {_fish_quoted(about)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _described(name: str, about: str) -> str:
    return f"{name}:{about}" if about else name


def _case(names: Sequence[str], indent: str) -> str:
    return indent + "|".join(map(_quoted, names))


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(lines)
