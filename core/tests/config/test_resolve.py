"""A setting out of flag, environment and file, and the tables it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfeedback.config.file import load
from agentfeedback.config.resolve import VARIABLES, ResolvedSetting, resolve
from agentfeedback.config.shape import Config, Context
from agentfeedback.foundation.errors import ConfigError


@pytest.mark.parametrize("name", VARIABLES)
def test_flag_goes_over_environment_goes_over_file(name: str) -> None:
    """The first that is set counts and is named; an empty one counts as unset."""
    config, environ = Config(**{name: "c"}), {VARIABLES[name]: "e"}
    assert resolve(name, config, environ, "f") == ResolvedSetting("f", "flag")
    assert resolve(name, config, environ) == ResolvedSetting("e", "env")
    assert resolve(name, config, {VARIABLES[name]: ""}) == ResolvedSetting("c", "config")
    assert resolve(name, Config(), {}) == ResolvedSetting("", "")


def test_a_key_is_not_shown() -> None:
    """No record that may hold the key tells it when it is printed."""
    config = Config(api_key="hush")
    assert "hush" not in repr(config) + repr(resolve("api_key", config, {}))


def test_keys_and_context_are_read(tmp_path: Path) -> None:
    """Top keys and the `[context]` table, beside keys that are not known."""
    file = tmp_path / "config.toml"
    file.write_text(
        'url = "https://x"\nmachine = "m"\nlater = 5\n'
        '[context]\ncwd = true\ndrop = ["os"]\napp = "a"\ntask_id = "t"\nother = 5\n'
    )
    config = load(str(file))
    assert (config.url, config.machine, config.model, config.api_key) == ("https://x", "m", "", "")
    context = config.context
    assert (context.cwd, context.drop, context.app, context.task_id) == (True, ("os",), "a", "t")
    empty = Context()
    assert (empty.cwd, empty.drop, empty.url) == (False, (), "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("url = 5", "url is not a string"),
        ("api_key = true", "api_key is not a string"),
        ("context = 5", "context is not a table"),
        ('[context]\ncwd = "yes"', "context.cwd is not true or false"),
        ("[context]\ndrop = [1]", "context.drop is not an array of strings"),
        ("[context]\nworkflow = 1", "context.workflow is not a string"),
    ],
)
def test_a_value_of_another_type_is_an_error(tmp_path: Path, text: str, problem: str) -> None:
    """A known key of a wrong type is named."""
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=problem):
        load(str(file))
