"""The door of the command line, where it refuses to go further."""

from __future__ import annotations

import pytest

from agentfeedback.cli import main


@pytest.mark.parametrize("words", [[], ["sessions", "list"], ["--version"]])
def test_windows_is_told_and_nothing_is_done(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On Windows the program says that it is not supported, with the remedy, and stops."""
    monkeypatch.setattr(main.sys, "platform", "win32")
    assert main.main(words) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "Windows is not supported; run it on Linux or macOS" in err and err.count("\n") == 1
