"""The rules of `[collect]`, without a disk."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentfeedback.config.shape import Collect
from agentfeedback.policy.rules import (
    Policy,
    RepositoryRules,
    Verdict,
    cleaned,
    expanded,
    folded,
    strictest,
    within,
)
from agentfeedback.reading.reader import Encoding, Place

DISABLED = Verdict("disabled", "disabled")
REPO_DISABLED = Verdict("disabled", "repo_disabled")
DENY = Verdict("denied", "deny_paths")
OPT_IN = Verdict("denied", "opt_in_only")
REPO_DENY = Verdict("denied", "repo_deny_paths")

LINKS = {"/link": "/data", "/alias": "/data/secret"}


def resolve(path: str) -> str | None:
    """A disk with two links; what holds a zero byte cannot be resolved."""
    if "\0" in path:
        return None
    for link, target in LINKS.items():
        if path == link or path.startswith(link + "/"):
            return target + path[len(link) :]
    return path


def policy(
    *,
    homes: Sequence[str] = ("/home/u",),
    fold: bool = False,
    disabled: bool = False,
    deny: Iterable[str] = (),
    opt_in_only: bool = False,
    opt_in: Iterable[str] = (),
) -> Policy:
    collect = Collect(disabled, tuple(deny), opt_in_only, tuple(opt_in))
    return Policy(collect, homes, resolve, fold=fold)


def verdict(
    rules: Policy, directory: str, repositories: Iterable[RepositoryRules] = ()
) -> Verdict | None:
    return rules.check(directory, resolve(directory), repositories)


@pytest.mark.parametrize(
    ("disabled", "denied", "opted", "repo_disabled", "repo_denied"),
    list(itertools.product([False, True], repeat=5)),
)
def test_the_first_rule_that_hits_decides(
    *, disabled: bool, denied: bool, opted: bool, repo_disabled: bool, repo_denied: bool
) -> None:
    """The whole truth table: disabled, deny, opt-in, repository disabled, repository deny."""
    rules = policy(
        disabled=disabled,
        deny=["/w/p"] if denied else ["/elsewhere"],
        opt_in_only=True,
        opt_in=["/w"] if opted else ["/elsewhere"],
    )
    repository = RepositoryRules(
        "/w/p", disabled=repo_disabled, deny_paths=("sub",) if repo_denied else ()
    )
    if disabled:
        expected: Verdict | None = DISABLED
    elif denied:
        expected = DENY
    elif not opted:
        expected = OPT_IN
    elif repo_disabled:
        expected = REPO_DISABLED
    elif repo_denied:
        expected = REPO_DENY
    else:
        expected = None
    assert verdict(rules, "/w/p/sub", [repository]) == expected


@pytest.mark.parametrize(
    ("entry", "directory", "hit"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b", "/a/b/c", True),
        ("/a/b", "/a/bc", False),
        ("/a/b", "/a", False),
        ("/a/b/", "/a/b/c", True),
        ("/a//b/./x/..", "/a/b", True),
        ("/a/b", "//a//b/../b/c", True),
        ("/", "/a", True),
        ("//", "/", True),
        ("/a", "/", False),
        ("~", "/home/u", True),
        ("~", "/home/u/x", True),
        ("~/x", "/home/u/x/y", True),
        ("~/x", "/home/u", False),
        ("~//x", "/home/u/x", True),
        ("~/", "/home/u/x", True),
        ("~u", "/home/u", False),
        ("~u/x", "/home/u/x", False),
        ("a/b", "/a/b", False),
        ("", "/a", False),
        (".", "/a", False),
        ("/A", "/a", False),
        ("/a\0", "/a", False),
        ("/a", "/a/\0", True),
        ("/\udcff", "/\udcff/x", True),
    ],
)
def test_an_entry_matches_its_path_and_what_lies_beneath(
    entry: str, directory: str, *, hit: bool
) -> None:
    """Entries match by whole components once cleaned and expanded; others are skipped."""
    assert verdict(policy(deny=[entry]), directory) == (DENY if hit else None)
    opted = policy(opt_in_only=True, opt_in=[entry])
    assert verdict(opted, directory) == (None if hit else OPT_IN)


def test_a_skipped_entry_still_makes_the_policy_one_about_paths() -> None:
    """Whether readers must be strict depends on what the user wrote, not on what it stands for."""
    assert policy(deny=["rel"]).has_path_rules
    assert policy(opt_in_only=True).has_path_rules
    assert not policy(disabled=True, opt_in=["/a"]).has_path_rules


def test_opt_in_without_entries_refuses_everything() -> None:
    """`opt_in_only` with no entries allows no directory."""
    assert verdict(policy(opt_in_only=True), "/") == OPT_IN


def test_opt_in_paths_alone_refuse_nothing() -> None:
    """`opt_in_paths` have no effect without `opt_in_only`."""
    assert verdict(policy(opt_in=["/a"]), "/b") is None


@pytest.mark.parametrize("entry", ["/link/secret", "/data/secret", "/alias"])
@pytest.mark.parametrize("directory", ["/link/secret/x", "/data/secret/x", "/alias/x"])
def test_deny_entries_match_as_written_and_resolved(entry: str, directory: str) -> None:
    """A deny entry reaches a directory by any of its names."""
    assert verdict(policy(deny=[entry]), directory) == DENY


@pytest.mark.parametrize("entry", ["/link", "/data"])
@pytest.mark.parametrize("directory", ["/link/x", "/data/x", "/alias/x"])
def test_opt_in_entries_match_the_resolved_directory(entry: str, directory: str) -> None:
    """A directory is opted in by where it really is, by any name of the entry."""
    assert verdict(policy(opt_in_only=True, opt_in=[entry]), directory) is None


def test_a_link_inside_an_opted_in_folder_opens_nothing_outside() -> None:
    """The written form of a directory alone does not opt it in."""
    rules = policy(opt_in_only=True, opt_in=["/work"])
    assert rules.check("/work/link", "/private") == OPT_IN
    assert rules.check("/work/link", None) is None


@pytest.mark.parametrize("directory", ["/A/B", "/a/b/C", "/a/B"])
def test_case_counts_only_where_the_system_says_so(directory: str) -> None:
    """Folding applies to both user lists and to the repository's."""
    for fold in (False, True):
        hit = fold
        assert verdict(policy(fold=fold, deny=["/a/b"]), directory.upper()) == (
            DENY if hit else None
        )
        opted = policy(fold=fold, opt_in_only=True, opt_in=["/a/b"])
        assert verdict(opted, directory.upper()) == (None if hit else OPT_IN)
        repository = RepositoryRules("/a", deny_paths=("b",))
        assert verdict(policy(fold=fold), directory.upper(), [repository]) == (
            REPO_DENY if hit else None
        )


def test_folding_takes_composed_and_decomposed_letters_for_the_same() -> None:
    """Where case is folded, `é` written as one or two characters names one directory."""
    composed, decomposed = "/Caf\u00c9", "/cafe\u0301/x"
    assert verdict(policy(fold=True, deny=[composed]), decomposed) == DENY
    assert verdict(policy(fold=False, deny=[composed]), decomposed) is None
    # The sign of the unit kelvin is a letter K to such a system.
    assert verdict(policy(fold=True, deny=["/srv/KEYS"]), "/srv/\u212aeys") == DENY
    assert verdict(policy(fold=True, deny=["/srv/\u212aeys"]), "/srv/KEYS") == DENY


def test_a_tilde_stands_for_every_home() -> None:
    """With a second home `~` matches both."""
    rules = policy(homes=["/home/u", "/mnt/copy"], deny=["~/x"])
    assert verdict(rules, "/home/u/x") == DENY
    assert verdict(rules, "/mnt/copy/x/y") == DENY
    assert verdict(rules, "/home/x") is None
    assert expanded("~", ["/a", "/b"]) == ["/a", "/b"]
    assert expanded("~\\x", ["/a", "/b"]) == []


@pytest.mark.parametrize(
    ("entry", "directory", "hit"),
    [
        ("sub", "/r/sub/x", True),
        ("./sub/", "/r/sub", True),
        ("sub", "/r/subway", False),
        (".", "/r", True),
        ("/r/sub", "/r/sub", True),
        ("/", "/r", True),
        ("~", "/home/u", False),
        ("~/r", "/home/u/r", False),
        ("~", "/r/~", False),
        ("../q", "/q", True),
    ],
)
def test_repository_entries_lie_below_its_root(entry: str, directory: str, *, hit: bool) -> None:
    """Relative entries of a repository file are under its root, those with `~` are ignored."""
    repository = RepositoryRules("/r", deny_paths=(entry,))
    assert verdict(policy(), directory, [repository]) == (REPO_DENY if hit else None)


def test_a_repository_whose_file_cannot_be_followed_is_refused() -> None:
    """Its problem denies everything in it; the user's rules and a repository that is switched off come first."""
    broken = RepositoryRules("/b", problem="it is not UTF-8")
    off = RepositoryRules("/o", disabled=True)
    invalid = Verdict("denied", "repo_invalid")
    assert verdict(policy(), "/b/x", [broken]) == invalid
    assert verdict(policy(), "/b/x", [RepositoryRules("/b", deny_paths=(".",)), broken]) == invalid
    assert verdict(policy(), "/b/x", [broken, off]) == REPO_DISABLED
    assert verdict(policy(deny=["/b"]), "/b/x", [broken]) == DENY


@pytest.mark.parametrize(
    ("rules", "whole"),
    [
        (policy(), None),
        (policy(disabled=True), DISABLED),
        (policy(deny=["/a", "/"]), DENY),
        (policy(deny=["/a/.."]), DENY),
        (policy(deny=["~"], homes=["/"]), DENY),
        (policy(deny=["/a"]), None),
        (policy(opt_in_only=True), OPT_IN),
        (policy(opt_in_only=True, opt_in=["/a"]), None),
        (policy(opt_in=["/a"]), None),
    ],
)
def test_a_policy_that_refuses_everything_says_so(rules: Policy, whole: Verdict | None) -> None:
    """What refuses every directory there is is known without asking about one."""
    assert rules.whole == whole
    if whole is not None:
        assert all(verdict(rules, path) == whole for path in ("/", "/a", "/home/u/x"))


def test_any_of_several_repositories_narrows() -> None:
    """A directory in two repositories is refused by either, `disabled` first."""
    quiet, denying = RepositoryRules("/q"), RepositoryRules("/w", deny_paths=(".",))
    off = RepositoryRules("/o", disabled=True)
    assert verdict(policy(), "/w/x", [quiet, denying]) == REPO_DENY
    assert verdict(policy(), "/w/x", [denying, off]) == REPO_DISABLED


@pytest.mark.parametrize(
    ("rules", "vetoes"),
    [
        (RepositoryRules("/r"), False),
        (RepositoryRules("/r", push=True), False),
        (RepositoryRules("/r", push=False), True),
        (RepositoryRules("/r", problem="not a regular file"), True),
    ],
)
def test_uploads_are_vetoed_by_the_word_false_or_a_broken_file(
    rules: RepositoryRules, *, vetoes: bool
) -> None:
    """Only `push = false`, or a file that could not be read, vetoes an upload."""
    assert rules.vetoes_push is vetoes


def test_the_strictest_verdict_is_the_first_disabled_one() -> None:
    """`disabled` goes before `denied`, else the first refusal counts, and none is none."""
    assert strictest([]) is None
    assert strictest([None, None]) is None
    assert strictest([None, OPT_IN, DENY]) == OPT_IN
    assert strictest([DENY, None, REPO_DISABLED, DISABLED]) == REPO_DISABLED


# Encoded directory names. The encoding here is made up: dashes for all but letters and digits, cut
# after twelve characters with a checksum behind, once by character and once by byte.

CUT = 12


def whole(path: str, *, by_byte: bool = False) -> str:
    text = path.encode().decode("latin-1") if by_byte else path
    return re.sub(r"[^a-zA-Z0-9]", "-", text)


def encode(path: str) -> str:
    name = whole(path)
    return name if len(name) <= CUT else f"{name[:CUT]}-{sum(map(ord, path)) % 997:x}"


def encodings(path: str) -> list[Encoding]:
    found = []
    for by_byte in (False, True):
        name = whole(path, by_byte=by_byte)
        if len(name) <= CUT:
            found.append(Encoding(name))
        else:
            found += [Encoding(encode(path)), Encoding(name[:CUT], exact=False)]
    return found


def encoded(rules: Policy, name: str) -> Verdict | None:
    return rules.check_encoded(Place(encoded=name, encodings=encodings))


LONG = "/srv/app/very/long/entry"


@pytest.mark.parametrize(
    ("entry", "name", "answer"),
    [
        ("/a/b", "-a-b", "certain"),
        ("/a/b", "-a-b-c", "certain"),
        ("/a/b", "-a-bc", "impossible"),
        ("/a/b", "-a", "impossible"),
        ("/", "-anything", "certain"),
        ("/", "", "certain"),
        ("~/x", "-home-u-x-y", "certain"),
        ("x", "-x", "impossible"),
        ("/alias", "-data-secret", "certain"),
        ("/ä", "--", "certain"),
        ("/ä", "---", "certain"),
        # A folder below a short entry, its name cut by the harness.
        ("/srv", encode(LONG), "certain"),
        # The long entry itself, then a child and a sibling that share what is left of its name.
        (LONG, encode(LONG), "certain"),
        (LONG, encode(LONG + "/child"), "possible"),
        (LONG, encode(LONG + "sibling"), "possible"),
        (LONG, encode("/srv/other/long/entry"), "impossible"),
    ],
)
def test_a_name_is_compared_with_the_encoded_entries(entry: str, name: str, answer: str) -> None:
    """A certain match denies, an impossible one is refused by opt-in, what is neither is left to the read."""
    denying = encoded(policy(deny=[entry]), name)
    assert denying == (DENY if answer == "certain" else None)
    opted = encoded(policy(opt_in_only=True, opt_in=[entry]), name)
    assert opted == (OPT_IN if answer == "impossible" else None)


def test_an_uncertain_match_does_not_hide_a_certain_one() -> None:
    """All entries are compared before a name counts as undecided."""
    assert encoded(policy(deny=[LONG, "/srv"]), encode(LONG + "/child")) == DENY


@pytest.mark.parametrize("fold", [False, True])
def test_encoded_names_are_compared_without_case_where_paths_are(*, fold: bool) -> None:
    """Folding applies to encoded names in both lists."""
    assert encoded(policy(fold=fold, deny=["/A/b"]), "-a-B-c") == (DENY if fold else None)
    opted = policy(fold=fold, opt_in_only=True, opt_in=["/A/b"])
    assert encoded(opted, "-a-B-c") == (None if fold else OPT_IN)


def test_encoded_names_match_either_spelling_of_a_letter_where_paths_do() -> None:
    """Where case is folded, an entry's composed letters match a name made from decomposed ones."""
    name = whole("/cafe\u0301/x")
    assert encoded(policy(fold=True, deny=["/caf\u00e9"]), name) == DENY
    assert encoded(policy(fold=True, opt_in_only=True, opt_in=["/caf\u00e9"]), name) is None
    assert encoded(policy(fold=False, opt_in_only=True, opt_in=["/caf\u00e9"]), name) == OPT_IN


def test_the_order_of_rules_holds_for_names_too() -> None:
    """`disabled` goes first, then `deny_paths`, then `opt_in_only`."""
    assert encoded(policy(disabled=True, deny=["/a"], opt_in_only=True), "-a") == DISABLED
    assert encoded(policy(deny=["/a"], opt_in_only=True), "-a") == DENY
    assert encoded(policy(deny=["/a"], opt_in_only=True), "-b") == OPT_IN


def test_a_name_nobody_can_encode_is_left_to_the_read() -> None:
    """Without encodings nothing is decided, but for what matches every directory or none."""
    place = Place(encoded="-a")
    assert policy(deny=["/a"]).check_encoded(place) is None
    assert policy(deny=["/"]).check_encoded(place) == DENY
    assert policy(deny=["/a", "/"]).check_encoded(place) == DENY
    assert policy(opt_in_only=True, opt_in=["/a"]).check_encoded(place) is None
    assert policy(opt_in_only=True).check_encoded(place) == OPT_IN


def test_a_place_without_a_name_is_not_refused_by_its_name() -> None:
    """No encoded name, no verdict about one."""
    assert policy(deny=["/"], opt_in_only=True).check_encoded(Place()) is None


# Properties.

components = st.sampled_from(["a", "b", "A", "ab", "-", "link", "data", "secret", "é"])
paths = st.lists(components, max_size=4).map(lambda parts: "/" + "/".join(parts))
written = st.one_of(
    paths,
    paths.map(lambda path: "~" + path),
    st.sampled_from(["~", "~u", "rel", "", ".", "//a", "/a/../b", "/link/secret", "/alias"]),
    st.text(max_size=6),
)
entries = st.lists(written, max_size=3)
repositories = st.lists(
    st.builds(RepositoryRules, paths, disabled=st.booleans(), deny_paths=entries.map(tuple)),
    max_size=2,
)


@given(st.text(max_size=12).map(lambda text: "/" + text))
def test_cleaning_is_idempotent_and_leaves_no_odd_component(path: str) -> None:
    """A cleaned path is absolute, holds no `.`, `..` or empty component, and cleans to itself."""
    clean = cleaned(path)
    assert cleaned(clean) == clean
    assert clean.startswith("/")
    assert clean == "/" or not {"", ".", ".."} & set(clean[1:].split("/"))


@given(paths, paths, paths)
def test_within_is_an_order_over_components(one: str, two: str, three: str) -> None:
    """`within` is reflexive, transitive and antisymmetric, and true of exactly the beginnings of a path."""
    assert within(one, one)
    assert not (within(one, two) and within(two, three)) or within(one, three)
    assert not (within(one, two) and within(two, one)) or one == two
    parts, beginning = one.strip("/").split("/"), two.strip("/").split("/")
    assert within(one, two) == (two == "/" or parts[: len(beginning)] == beginning)


@given(paths, paths)
def test_folding_only_makes_more_paths_equal(one: str, two: str) -> None:
    """What is within an entry does so without case as well, and a folded path folds to itself."""
    assert not within(one, two) or within(folded(one), folded(two))
    assert folded(folded(one)) == folded(one)


@given(
    directory=paths,
    deny=entries,
    more=entries,
    opt_in=entries,
    opt_in_only=st.booleans(),
    fold=st.booleans(),
    repository=repositories,
)
def test_more_rules_only_tighten(
    *,
    directory: str,
    deny: list[str],
    more: list[str],
    opt_in: list[str],
    opt_in_only: bool,
    fold: bool,
    repository: list[RepositoryRules],
) -> None:
    """A directory or name refused stays refused when entries are denied, opt-in or `disabled` set, a repository found."""
    name = encode(directory)

    def refused(
        ask: Callable[..., Verdict | None] = verdict, *extra: object, **rules: object
    ) -> bool:
        made = policy(fold=fold, opt_in=opt_in, **rules)  # type: ignore[arg-type]
        return ask(made, directory if ask is verdict else name, *extra) is not None

    for ask in (verdict, encoded):
        if refused(ask, deny=deny, opt_in_only=opt_in_only):
            assert refused(ask, deny=[*deny, *more], opt_in_only=opt_in_only)
            assert refused(ask, deny=[*more, *deny], opt_in_only=opt_in_only)
            assert refused(ask, deny=deny, opt_in_only=True)
            assert refused(ask, deny=deny, opt_in_only=opt_in_only, disabled=True)
    if refused(verdict, deny=deny, opt_in_only=opt_in_only):
        assert refused(verdict, repository, deny=deny, opt_in_only=opt_in_only)


@given(directory=paths, listed=st.lists(paths, max_size=3), fold=st.booleans())
def test_the_gate_on_names_agrees_with_the_one_on_paths(
    *, directory: str, listed: list[str], fold: bool
) -> None:
    """The name of a denied directory is denied unless an entry is cut; that of an allowed one is opened."""
    assume(resolve(directory) == directory)
    if verdict(policy(deny=listed, fold=fold), directory) == DENY:
        cut = any(
            len(whole(path)) > CUT for entry in listed for path in (entry, resolve(entry) or "")
        )
        assert cut or encoded(policy(deny=listed, fold=fold), encode(directory)) == DENY
    opted = policy(opt_in_only=True, opt_in=listed, fold=fold)
    if verdict(opted, directory) is None:
        assert encoded(opted, encode(directory)) is None


@given(st.text(max_size=8), st.text(max_size=8), st.booleans())
def test_no_text_makes_the_policy_raise(entry: str, directory: str, fold: bool) -> None:
    """Any text may stand in a list or a log."""
    rules = policy(fold=fold, deny=[entry], opt_in_only=True, opt_in=[entry])
    repository = RepositoryRules("/" + directory, deny_paths=(entry,))
    assert verdict(rules, "/" + directory, [repository]) in (DENY, OPT_IN, REPO_DENY, None)
    assert encoded(rules, directory) in (DENY, OPT_IN, None)
