"""The flag parser keeps the rules that the help teaches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.errors import UsageError
from agentfeedback.terminal.arguments import (
    Command,
    Flag,
    HelpRequested,
    Parsed,
    closest,
    parse,
    unknown_subcommand,
)

FLAGS = (
    Flag("harness", "text", "only the sessions of this harness", "name", "harness"),
    Flag("limit", "number", "at most this many sessions", "n"),
    Flag("ref", "many", "a uid that was filed", "uid"),
    Flag("allow-unknown-project", "bool", "also sessions that record no directory"),
    Flag("json", "bool", "print JSON"),
)
ABOUT = """\
Shows what went wrong in past sessions. This paragraph is long enough that it has to be wrapped
somewhere, whatever the terminal.

  agentfeedback sessions digest --unprocessed   # new and changed ones
  agentfeedback sessions digest codex:s1 codex:s2 --json
"""
DIGEST = Command(
    "sessions digest", "digests of sessions", "<harness:id>...", FLAGS, ABOUT, "module:function"
)
COMMANDS = (
    Command("sessions list", "every session with its state"),
    DIGEST,
    Command("sessions sweep", "what hooks start", hidden=True),
    Command("plugins", "what is installed"),
)


def refusal(*argv: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        parse(DIGEST, argv)
    assert caught.value.exit_status == 2
    return caught.value


def test_flags_and_positionals_mix_in_any_order() -> None:
    """Positionals keep their order wherever flags stand between them."""
    parsed = parse(DIGEST, ["codex:a", "--json", "codex:b", "-limit", "3", "codex:c"])
    assert parsed.positionals == ["codex:a", "codex:b", "codex:c"]
    assert parsed.json is True
    assert parsed.limit == 3
    assert parsed.given == {"json", "limit"}


def test_flags_not_given_have_an_empty_value() -> None:
    """A command can read every flag of its table without asking whether it was given."""
    parsed = parse(DIGEST, [])
    assert (parsed.harness, parsed.limit, parsed.ref, parsed.json) == ("", 0, [], False)
    assert parsed.allow_unknown_project is False
    assert parsed.given == set()
    assert not hasattr(parsed, "nope")


def test_two_parses_share_no_list() -> None:
    """Values of one command line never show up in the next."""
    parse(DIGEST, ["--ref", "a"]).ref.append("b")
    assert parse(DIGEST, []).ref == []


def test_double_dash_ends_the_flags() -> None:
    """Everything after `--` is positional, help and further `--` included."""
    parsed = parse(DIGEST, ["--json", "--", "--harness", "-h", "--", "x"])
    assert parsed.positionals == ["--harness", "-h", "--", "x"]
    assert parsed.given == {"json"}


def test_a_lone_dash_is_positional() -> None:
    """`-` names a thing, it is not a flag."""
    assert parse(DIGEST, ["-"]).positionals == ["-"]


def test_last_single_value_wins_and_repeatable_values_add_up() -> None:
    """A repeated single-value flag takes its last value, a repeatable one keeps all in order."""
    argv = ["--harness", "a", "--ref=1", "--harness=b", "--ref", "2", "--json", "--json=false"]
    parsed = parse(DIGEST, argv)
    assert (parsed.harness, parsed.ref, parsed.json) == ("b", ["1", "2"], False)
    assert "json" in parsed.given


@pytest.mark.parametrize(
    ("word", "value"),
    [("1", True), ("t", True), ("TRUE", True), ("0", False), ("F", False), ("False", False)],
)
def test_a_boolean_takes_a_value_only_after_an_equals_sign(word: str, value: bool) -> None:
    """`--json=false` is a value, the word after `--json` is a positional."""
    assert parse(DIGEST, [f"--json={word}"]).json is value
    apart = parse(DIGEST, ["--json", word])
    assert (apart.json, apart.positionals) == (True, [word])


def test_a_value_may_start_with_a_dash() -> None:
    """The word after a flag that takes a value is its value, whatever it looks like."""
    parsed = parse(DIGEST, ["--limit", "-1", "--harness", "--json", "--ref", "--", "--ref", "-h"])
    assert (parsed.limit, parsed.harness, parsed.ref) == (-1, "--json", ["--", "-h"])
    assert parsed.json is False


def test_a_value_may_be_empty_or_hold_equals_signs() -> None:
    """Only the first `=` parts a flag from its value."""
    assert parse(DIGEST, ["--harness="]).harness == ""
    assert "harness" in parse(DIGEST, ["--harness", ""]).given
    assert parse(DIGEST, ["--harness=a=b"]).harness == "a=b"


@pytest.mark.parametrize("value", ["", "x", "1.0", " 1", "1_0", "--1", "-", "٣", "0x10"])
def test_a_number_that_is_none_is_refused(value: str) -> None:
    """Only ASCII digits with an optional sign are a whole number."""
    assert "takes a whole number" in refusal("--limit", value).problem


def test_numbers_are_bounded_by_what_can_be_stored() -> None:
    """A number of any length is either read exactly or refused as out of range."""
    assert parse(DIGEST, [f"--limit={2**63 - 1}"]).limit == 2**63 - 1
    assert parse(DIGEST, ["--limit=" + "0" * 9000 + "7"]).limit == 7
    assert parse(DIGEST, ["--limit=+5"]).limit == 5
    assert "a whole number up to" in refusal(f"--limit={2**63}").problem
    assert "a whole number up to" in refusal("--limit=-" + "9" * 9000).problem


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["-x"], "unknown flag -x"),
        (["--x=1"], "unknown flag --x"),
        (["---json"], '"---json" is not a flag'),
        (["--=1"], '"--" is not a flag'),
        (["-=1"], '"-" is not a flag'),
        (["-harness"], "-harness needs a value"),
        (["--json=maybe"], '--json takes true or false, not "maybe"'),
        (["--json="], '--json takes true or false, not ""'),
        (["--nope", "--limit=x"], "unknown flag --nope"),
    ],
)
def test_the_first_wrong_word_is_named(argv: list[str], problem: str) -> None:
    """A usage error says which word is wrong and where the usage is."""
    error = refusal(*argv)
    assert error.problem == problem
    assert error.remedy.endswith("agentfeedback sessions digest --help shows how it is used")


def test_a_near_miss_is_suggested() -> None:
    """A mistyped flag or command names the one that was probably meant, a strange one none."""
    assert refusal("--harnes=x").remedy.startswith("did you mean --harness? ")
    assert "did you mean" not in refusal("--zzz").remedy
    assert closest("x" * 100_000, ["list"]) == ""
    error = unknown_subcommand("agentfeedback", "sessions", "lits", COMMANDS)
    assert str(error) == (
        'there is no command "sessions lits"; did you mean agentfeedback sessions list? '
        "the commands of sessions are list, digest"
    )
    error = unknown_subcommand("agentfeedback", "sessions", "nope", COMMANDS)
    assert error.remedy == "the commands of sessions are list, digest"
    error = unknown_subcommand("agentfeedback", "", "plugin", COMMANDS)
    assert error.remedy == (
        "did you mean agentfeedback plugins? the commands are sessions, plugins"
    )


@pytest.mark.parametrize("word", ["-h", "--help", "-help", "--h"])
@pytest.mark.parametrize("before", [[], ["codex:a", "--json"], ["--nope"], ["--limit", "x"]])
def test_help_is_found_anywhere(word: str, before: list[str]) -> None:
    """Help wins over whatever else is on the line, wrong words included."""
    with pytest.raises(HelpRequested) as caught:
        parse(DIGEST, [*before, word, "--also-wrong"])
    assert caught.value.command is DIGEST


VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
PIECES = st.one_of(
    st.tuples(st.just("harness"), VALUES),
    st.tuples(st.just("ref"), VALUES),
    st.tuples(st.just("limit"), st.integers(-(2**63) + 1, 2**63 - 1)),
    st.tuples(st.just("json"), st.booleans()),
    st.tuples(st.just("allow-unknown-project"), st.booleans()),
    st.tuples(st.just(""), VALUES.filter(lambda text: text == "-" or not text.startswith("-"))),
)


@given(
    st.lists(st.tuples(PIECES, st.sampled_from(["-", "--"]), st.booleans()), max_size=12),
    st.lists(VALUES, max_size=3),
)
def test_any_spelling_of_a_line_parses_to_what_it_says(
    pieces: list[tuple[tuple[str, str | int | bool], str, bool]], rest: list[str]
) -> None:
    """Flags and positionals written in any order and spelling come back as they were meant."""
    argv: list[str] = []
    expected = Parsed(
        [],
        {"harness": "", "limit": 0, "ref": [], "allow-unknown-project": False, "json": False},
        set(),
    )
    for (name, value), dashes, apart in pieces:
        if not name:
            argv.append(str(value))
            expected.positionals.append(str(value))
            continue
        expected.given.add(name)
        if name == "ref":
            expected.ref.append(value)
        else:
            expected.values[name] = value
        if isinstance(value, bool):
            argv.append(f"{dashes}{name}" if value and apart else f"{dashes}{name}={value}")
        else:
            argv += [f"{dashes}{name}", str(value)] if apart else [f"{dashes}{name}={value}"]
    if rest:
        argv += ["--", *rest]
        expected.positionals.extend(rest)
    assert parse(DIGEST, argv) == expected


@given(st.lists(st.text(max_size=12), max_size=8))
def test_any_words_parse_or_are_refused(argv: list[str]) -> None:
    """No command line makes the parser fail in another way."""
    try:
        parsed = parse(DIGEST, argv)
    except (UsageError, HelpRequested):
        return
    assert len(parsed.positionals) <= len(argv)
