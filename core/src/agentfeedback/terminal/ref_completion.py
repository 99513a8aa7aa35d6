"""What completion scripts do where a ref may stand: they ask the program, since sessions come and go.

Everything else of a script stands alone. A program that fails, or is not there, offers nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentfeedback.terminal.arguments import Command


class RefWords:
    """The commands that take refs, the flags whose value is none, and the words of the program that print refs."""

    def __init__(
        self, program: str, function: str, asked: str, commands: Sequence[Command]
    ) -> None:
        takers = [
            each for each in commands if each.choices == "ref" and len(each.name.split()) == 2
        ]
        flags = {flag.name for each in takers for flag in each.flags if flag.kind != "bool"}
        self.any = bool(takers)
        self._names = {
            "PROGRAM": program,
            "FUNCTION": function,
            "ASKED": asked,
            "TAKERS": "|".join(f"'{each.name}'" for each in takers),
            "WORDS": " ".join(f"'{each.name}'" for each in takers),
            "FLAGS": "|".join(f"{dash}{name}" for name in sorted(flags) for dash in ("--", "-")),
            "VALUED": " ".join(f"{dash}{name}" for name in sorted(flags) for dash in ("--", "-")),
        }

    def filled(self, template: str) -> str:
        """A shell's template with these words; empty where no command takes a ref."""
        if not self.any:
            return ""
        for name, value in self._names.items():
            template = template.replace(f"@{name}@", value)
        return template


# Bash parts a ref at its colon, and replaces what is behind it alone.
BASH = """
@FUNCTION@_ref() {
  local at=$COMP_CWORD ref="${COMP_WORDS[COMP_CWORD]}" each
  case "${COMP_WORDS[1]-} ${COMP_WORDS[2]-}" in @TAKERS@) ;; *) return 1 ;; esac
  if [[ $at -gt 3 && $ref == ':' ]]; then
    at=$((at - 1))
    ref="${COMP_WORDS[at]}:"
  elif [[ $at -gt 4 && ${COMP_WORDS[at - 1]} == ':' ]]; then
    ref="${COMP_WORDS[at - 2]}:$ref"
    at=$((at - 2))
  fi
  [[ $at -gt 2 && $ref != -* ]] || return 1
  case "${COMP_WORDS[at - 1]}" in =|@FLAGS@) return 1 ;; esac
  local before=''
  if [[ $ref == *:* && $at -lt $COMP_CWORD ]]; then before="${ref%"${ref##*:}"}"; fi
  COMPREPLY=()
  while IFS= read -r each; do
    COMPREPLY+=("${each#"$before"}")
  done < <(@PROGRAM@ @ASKED@ -- "$ref" 2>/dev/null)
}
"""

ZSH = """\
  case "${line[2]-} ${line[3]-}" in
    (@TAKERS@)
      if [[ $PREFIX != -* && "${line[-1]}" != (@FLAGS@) ]]; then
        local -a refs
        refs=(${(f)"$(@PROGRAM@ @ASKED@ -- "$PREFIX" 2>/dev/null)"})
        compadd -- "${refs[@]}"
        return
      fi ;;
  esac
"""

FISH = """
function @FUNCTION@_wants_ref
    set -l words (commandline -opc)
    test (count $words) -ge 3; or return 1
    contains -- "$words[2] $words[3]" @WORDS@; or return 1
    not contains -- $words[-1] @VALUED@; and not string match -q -- '-*' (commandline -ct)
end
complete -c @PROGRAM@ -f -n @FUNCTION@_wants_ref -a '(@PROGRAM@ @ASKED@ -- (commandline -ct) 2>/dev/null)'
"""
