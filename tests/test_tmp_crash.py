import importlib.util, sys
from agentfeedback import facts_cache
from tests.test_crash import *
from tests.test_crash import Scene, killed_at_each_write, ALL
import tests.test_crash as tc
import pytest

for n in [n for n in list(globals()) if n.startswith("test_")]:
    del globals()[n]


@pytest.mark.parametrize("cross", [0, 1, 2, 3])
def test_crossing(tracing, room, monkeypatch, cross):
    monkeypatch.setattr(
        Scene,
        "reset",
        lambda self: (
            shutil.rmtree(self.data, ignore_errors=True),
            self.saved.exists() and shutil.copytree(self.saved, self.data),
        ),
    )
    monkeypatch.setattr(facts_cache, "_SETTLED", 1 << 62)
    scene = Scene(room, ("digest", "--unprocessed"), ("mark", *ALL, "--outcome", "nothing"))
    with (scene.machine.home / ".claude/projects/-srv-app-shop/s1.jsonl").open("ab") as file:
        file.write(prompt("w1") + b"\n")
    scene.reset()
    _, _, total = tc.TRACER.traced(scene.command("digest", "--unprocessed"), 10**6)
    n = 0
    for _ in killed_at_each_write(scene, "digest", "--unprocessed"):
        n += 2
        if n == total - cross * 2:
            facts_cache._SETTLED = -(10**9)
