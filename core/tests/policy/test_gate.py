"""When the policy is asked, over real directories, links and repositories."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.config.shape import Collect, Config
from agentfeedback.foundation.git.root import repository_root
from agentfeedback.policy.gate import CollectGate, resolved_form
from agentfeedback.policy.rules import METADATA_FAILED, Verdict
from agentfeedback.reading.reader import Encoding, Place

DISABLED = Verdict("disabled", "disabled")
REPO_DISABLED = Verdict("disabled", "repo_disabled")
DENY = Verdict("denied", "deny_paths")
OPT_IN = Verdict("denied", "opt_in_only")
REPO_DENY = Verdict("denied", "repo_deny_paths")
METADATA = Verdict("denied", METADATA_FAILED)


def gate(
    *,
    disabled: bool = False,
    deny: Iterable[object] = (),
    opt_in: Iterable[object] | None = None,
    homes: Iterable[str] = ("/home/u",),
    fold: bool = False,
) -> CollectGate:
    """A gate; `opt_in` given turns `opt_in_only` on."""
    collect = Collect(
        disabled,
        tuple(map(str, deny)),
        opt_in is not None,
        tuple(map(str, opt_in or ())),
    )
    return CollectGate(Config(collect=collect), tuple(homes), fold=fold)


def before(gate: CollectGate, *directories: object) -> Verdict | None:
    return gate.before_open(Place(paths=tuple(map(str, directories))))


def after(gate: CollectGate, *directories: object) -> Verdict | None:
    return gate.after_read(list(map(str, directories)))


def repository(root: Path, text: str = "") -> Path:
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    if text:
        (root / ".agentfeedback.toml").write_text(text)
    return root


OFF = "[collect]\ndisabled = true\n"


def encodings(path: str) -> list[Encoding]:
    return [Encoding(path.replace("/", "-"))]


@pytest.mark.parametrize(
    ("rules", "strict"),
    [
        (gate(), False),
        (gate(disabled=True), False),
        (gate(deny=["/a"]), True),
        (gate(opt_in=[]), True),
    ],
)
def test_rules_about_paths_make_the_gate_strict(rules: CollectGate, *, strict: bool) -> None:
    """`strict` is set by `deny_paths` or `opt_in_only` alone."""
    assert rules.strict is strict


def test_failed_metadata_is_refused_only_under_rules_about_paths() -> None:
    """Unreadable metadata refuses when a path rule could have hit, and `disabled` goes first."""
    failed = Place(failed=True)
    assert gate().before_open(failed) is None
    assert gate(deny=["/a"]).before_open(failed) == METADATA
    assert gate(opt_in=["/"]).before_open(failed) == METADATA
    assert gate(deny=["/a"], disabled=True).before_open(failed) == DISABLED


def test_a_place_that_says_nothing_is_opened() -> None:
    """Without a directory only `disabled` refuses; the recorded directories decide after the read."""
    assert gate(deny=["/"], opt_in=[]).before_open(Place()) is None
    assert gate(disabled=True).before_open(Place()) == DISABLED


def test_disabled_refuses_without_a_recorded_directory() -> None:
    """`disabled` holds after the read as well, for a log that recorded no directory."""
    assert gate(disabled=True).after_read([]) == DISABLED
    assert gate(deny=["/"], opt_in=[]).after_read([]) is None


@pytest.mark.parametrize("ask", [before, after])
def test_all_directories_count_and_disabled_goes_first(ask: object, tmp_path: Path) -> None:
    """Any switched-off directory disables the session, else the first refusal in their order denies it."""
    assert callable(ask)
    off = repository(tmp_path / "off", OFF)
    denying = repository(tmp_path / "denying", '[collect]\ndeny_paths = ["."]\n')
    fine, refused = tmp_path / "fine", tmp_path / "refused"
    rules = gate(deny=[refused])
    assert ask(rules, fine) is None
    assert ask(rules, fine, denying, refused) == REPO_DENY
    assert ask(rules, fine, refused, denying) == DENY
    assert ask(rules, refused, denying, off) == REPO_DISABLED
    assert ask(rules, off, refused) == REPO_DISABLED


@pytest.mark.parametrize("odd", ["", "rel/x", "~", "C:\\x"])
def test_a_directory_that_is_not_absolute_is_ignored(odd: str) -> None:
    """A relative path counts as not recorded."""
    rules = gate(deny=["/"], opt_in=[])
    assert before(rules, odd) is None
    assert after(rules, odd) is None
    assert after(rules, odd, "/a") == DENY


def test_the_root_directory_is_judged_like_any_other() -> None:
    """`/` is in a root entry only."""
    assert before(gate(deny=["/"]), "/") == DENY
    assert before(gate(deny=["/a"]), "/") is None
    assert before(gate(opt_in=["/a"]), "/") == OPT_IN


def test_links_are_seen_through_on_both_sides(tmp_path: Path) -> None:
    """Entry and directory match as written and resolved, by any name of either."""
    (tmp_path / "data" / "secret" / "x").mkdir(parents=True)
    (tmp_path / "link").symlink_to("data")
    for entry in ("data/secret", "link/secret"):
        for directory in ("data/secret/x", "link/secret/x"):
            assert before(gate(deny=[tmp_path / entry]), tmp_path / directory) == DENY
            assert before(gate(opt_in=[tmp_path / entry]), tmp_path / directory) is None


def test_links_above_a_directory_that_is_gone_are_seen_through(tmp_path: Path) -> None:
    """A directory that no longer exists is judged where its parent's link leads."""
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data")
    gone = tmp_path / "link" / "secret" / "x"
    assert before(gate(deny=[tmp_path / "data" / "secret"]), gone) == DENY
    assert before(gate(opt_in=[tmp_path / "link"]), gone) is None
    assert before(gate(opt_in=[tmp_path / "other"]), gone) == OPT_IN


def test_a_link_out_of_an_opted_in_folder_leads_out(tmp_path: Path) -> None:
    """Where a directory really is decides whether it is opted in, also below the link."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    rules = gate(opt_in=[tmp_path / "in"])
    assert before(rules, tmp_path / "in") is None
    assert before(rules, tmp_path / "in" / "link") == OPT_IN
    assert before(rules, tmp_path / "in" / "link" / "gone") == OPT_IN


def test_dots_are_read_by_their_text_and_by_where_they_lead(tmp_path: Path) -> None:
    """`link/..` is denied both as the folder it seems to be and as the one the system means."""
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "link").symlink_to(tmp_path / "data" / "deep")
    odd = f"{tmp_path}/shown/link/../x"
    assert before(gate(deny=[tmp_path / "shown"]), odd) == DENY
    assert before(gate(deny=[tmp_path / "data"]), odd) == DENY
    assert before(gate(opt_in=[tmp_path / "shown"]), odd) == OPT_IN


def test_a_loop_of_links_is_judged_as_written(tmp_path: Path) -> None:
    """A loop neither hangs nor raises nor opens anything."""
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    loop = tmp_path / "one" / "x"
    assert before(gate(deny=[tmp_path / "one"]), loop) == DENY
    assert before(gate(deny=[tmp_path / "elsewhere"]), loop) is None
    assert before(gate(opt_in=[tmp_path / "elsewhere"]), loop) == OPT_IN


def test_an_endless_path_is_judged_where_its_beginning_leads(tmp_path: Path) -> None:
    """A path of a megabyte takes no time to speak of, and a link at its beginning is seen through."""
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data")
    for tail in ("/a" * 500_000, "/" + "a" * 1_000_000):
        endless = f"{tmp_path}/link/secret{tail}"
        assert before(gate(deny=[tmp_path / "data" / "secret"]), endless) == DENY
        assert before(gate(opt_in=[tmp_path / "data"]), endless) is None
        assert before(gate(opt_in=[tmp_path / "other"]), endless) == OPT_IN
    assert before(gate(opt_in=["/a"]), "/" + "a" * 1_000_000) == OPT_IN


@pytest.mark.parametrize(
    "odd", ["/d/\0", "/d/" + chr(0xD800), "/d/\udcff", "/d/" + "x" * 300, "/d/\n"]
)
def test_an_odd_path_is_judged_as_written(odd: str) -> None:
    """Zero bytes, lone surrogates and names too long fall to the rules like any other path."""
    assert before(gate(), odd) is None
    assert before(gate(deny=["/d"]), odd) == DENY
    assert before(gate(deny=[odd]), odd) == DENY
    assert before(gate(deny=[odd]), "/d") is None
    assert before(gate(opt_in=["/d"]), odd) is None
    assert before(gate(opt_in=["/e"]), odd) == OPT_IN


def test_what_cannot_be_resolved_has_no_resolved_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the system while resolving is not a form, and the cleaned one decides."""
    assert resolved_form("/a\0") is None

    def fail(_: str) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os.path, "realpath", fail)
    assert resolved_form("/a") is None
    assert before(gate(deny=["/a"]), "/a/../a/b") == DENY
    assert before(gate(opt_in=["/a"]), "/a/b") is None


@given(st.text(max_size=30), st.text(max_size=10))
def test_no_text_makes_the_gate_raise(directory: str, entry: str) -> None:
    """Any text may be recorded as a directory or stand in a list."""
    rules = gate(deny=[entry], opt_in=["/"])
    assert before(rules, "/" + directory) in (None, DENY)
    assert before(rules, directory) in (None, DENY)
    assert rules.before_open(Place(encoded=directory, encodings=encodings)) in (None, DENY)


def test_an_encoded_name_is_checked_by_the_users_rules_alone(tmp_path: Path) -> None:
    """A name that encodes a switched-off repository is opened; its recorded directory then refuses."""
    off = repository(tmp_path / "off", OFF)
    place = Place(encoded=str(off).replace("/", "-"), encodings=encodings)
    assert gate().before_open(place) is None
    assert after(gate(), off) == REPO_DISABLED
    assert gate(deny=[tmp_path]).before_open(place) == DENY
    assert gate(opt_in=[tmp_path]).before_open(place) is None
    assert gate(opt_in=[tmp_path / "other"]).before_open(place) == OPT_IN
    assert gate(disabled=True).before_open(place) == DISABLED


def test_encoded_names_match_an_entry_by_its_resolved_path(tmp_path: Path) -> None:
    """A name encodes the real directory, whatever link the entry goes through."""
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to("data")
    name = f"{tmp_path}/data/x".replace("/", "-")
    rules = gate(deny=[tmp_path / "link"])
    assert rules.before_open(Place(encoded=name, encodings=encodings)) == DENY


def test_equal_names_under_other_encodings_are_judged_apart() -> None:
    """What one reader's encoding decides is not taken for another's."""
    rules = gate(deny=["/a"])
    assert rules.before_open(Place(encoded="-a", encodings=encodings)) == DENY
    other = Place(encoded="-a", encodings=lambda path: [Encoding("x" + path)])
    assert rules.before_open(other) is None


def test_paths_and_name_are_both_checked(tmp_path: Path) -> None:
    """A place with a path and a name is refused by either."""
    place = Place(paths=(str(tmp_path),), encoded="-a", encodings=encodings)
    assert gate(deny=["/a"]).before_open(place) == DENY
    assert gate(deny=[tmp_path]).before_open(place) == DENY
    assert gate(deny=["/b"]).before_open(place) is None


def test_the_repository_is_asked_only_for_a_directory_that_exists(tmp_path: Path) -> None:
    """A directory that is gone, or is now a file, gets the user's rules only."""
    off = repository(tmp_path / "off", OFF)
    (off / "sub").mkdir()
    (off / "file").write_text("")
    assert before(gate(), off / "sub") == REPO_DISABLED
    assert before(gate(), off / "gone") is None
    assert before(gate(), off / "file") is None
    assert before(gate(deny=[off]), off / "gone") == DENY


def test_repository_entries_reach_what_they_name(tmp_path: Path) -> None:
    """Relative entries are below the repository's root, through links as well."""
    root = repository(tmp_path / "r", '[collect]\ndeny_paths = ["private", "link"]\n')
    for name in ("private/x", "target", "open"):
        (root / name).mkdir(parents=True)
    (root / "link").symlink_to("target")
    assert before(gate(), root / "private" / "x") == REPO_DENY
    assert before(gate(), root / "target") == REPO_DENY
    assert before(gate(), root / "link") == REPO_DENY
    assert before(gate(), root / "open") is None
    (tmp_path / "outside").symlink_to(root / "private" / "x")
    assert before(gate(), tmp_path / "outside") == REPO_DENY


def test_a_directory_reached_through_a_link_obeys_both_repositories(tmp_path: Path) -> None:
    """The repository it is named in and the one it is in may both narrow."""
    off = repository(tmp_path / "off", OFF)
    plain = repository(tmp_path / "plain")
    (off / "sub").mkdir()
    (plain / "sub").mkdir()
    (plain / "to-off").symlink_to(off / "sub")
    (off / "to-plain").symlink_to(plain / "sub")
    assert before(gate(), plain / "to-off") == REPO_DISABLED
    assert before(gate(), off / "to-plain") == REPO_DISABLED
    assert before(gate(), plain / "sub") is None
    roots = [rules.root for rules in gate().repositories(str(plain / "to-off"))]
    assert roots == [str(plain), str(off)]


def test_a_repository_never_widens(tmp_path: Path) -> None:
    """No key of a repository file lifts a rule of the user."""
    text = (
        '[collect]\ndisabled = false\nopt_in_only = false\nopt_in_paths = ["/"]\ndeny_paths = []\n'
    )
    root = repository(tmp_path / "r", text)
    assert before(gate(deny=[root]), root) == DENY
    assert before(gate(opt_in=[]), root) == OPT_IN
    assert before(gate(disabled=True), root) == DISABLED


def test_a_directory_the_user_refuses_is_not_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository file of a denied directory is not read."""
    off = repository(tmp_path / "off", OFF)
    monkeypatch.setattr("agentfeedback.policy.gate.repository_root", pytest.fail)
    assert before(gate(deny=[tmp_path]), off) == DENY


def test_directories_are_looked_at_once_a_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many sessions of few directories cost few looks at the disk, and a new gate looks again."""
    root = repository(tmp_path / "r")
    looked: list[str] = []
    real = os.path.realpath

    def counted(path: str) -> str:
        looked.append(path)
        return real(path)

    def walked(directory: str) -> str | None:
        looked.append(f"repository of {directory}")
        return repository_root(directory)

    monkeypatch.setattr(os.path, "realpath", counted)
    monkeypatch.setattr("agentfeedback.policy.gate.repository_root", walked)
    rules = gate(deny=[tmp_path / "x"])
    for _ in range(100):
        assert before(rules, root) is None
        assert after(rules, root, root) is None
    assert looked == [str(tmp_path / "x"), str(root), f"repository of {root}"]
    (root / ".agentfeedback.toml").write_text(OFF)
    assert before(gate(deny=[tmp_path / "x"]), root) == REPO_DISABLED


def test_case_is_folded_when_asked(tmp_path: Path) -> None:
    """The flag reaches paths, names and both lists."""
    upper = str(tmp_path).upper()
    assert before(gate(deny=[upper], fold=True), tmp_path) == DENY
    assert before(gate(deny=[upper]), tmp_path) is None
    assert before(gate(opt_in=[upper], fold=True), tmp_path) is None
    assert before(gate(opt_in=[upper]), tmp_path) == OPT_IN
    name = Place(encoded=upper.replace("/", "-"), encodings=encodings)
    assert gate(deny=[tmp_path], fold=True).before_open(name) == DENY


def test_a_linked_home_is_seen_through(tmp_path: Path) -> None:
    """`~` matches a home by its link and by where it is, in every home given."""
    (tmp_path / "volume" / "u" / "x").mkdir(parents=True)
    (tmp_path / "home").symlink_to("volume")
    homes = (str(tmp_path / "home" / "u"), str(tmp_path / "copy"))
    rules = gate(deny=["~/x"], homes=homes)
    for directory in ("home/u/x", "volume/u/x", "copy/x"):
        assert before(rules, tmp_path / directory) == DENY
    assert before(rules, tmp_path / "volume" / "u") is None
