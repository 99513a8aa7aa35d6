"""A little of the fuzzing that `nox -s fuzz` does at length."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.run import TARGETS, mutated


@pytest.mark.parametrize("name", TARGETS)
def test_a_broken_input_is_a_value_or_a_declared_error(name: str) -> None:
    """Whatever others write, nothing unforeseen is raised."""
    sound, run = TARGETS[name]()
    for number in range(200):
        chance = random.Random(f"{name}/{number}")
        run(mutated(chance, chance.choice(sound)))
