"""How fast a reader reads its corpus: the line after a test run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_agentfeedback.corpus import Bench


_bench_key = pytest.StashKey["Bench"]()


def bench_of(config: pytest.Config) -> Bench:
    """The copies of corpora of this run, made on first use."""
    if _bench_key not in config.stash:
        from pytest_agentfeedback.corpus import Bench

        config.stash[_bench_key] = Bench(config.rootpath)
    return config.stash[_bench_key]
