"""Objects in a folder and in a bucket of an S3 server on loopback keep one contract."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError, StoreError
from agentfeedback_web.objects import FolderObjects, Objects, objects_at
from tests.support.buckets import bucket


class ObjectsContract:
    """What every place of objects promises."""

    def test_an_object_is_kept_until_it_is_deleted(self, objects: Objects) -> None:
        """Put, put again, got, deleted; a missing one is None, and may be deleted."""
        objects.check()
        for data in (b"", b"\0\xff" * 1000, b"x" * (5 << 20)):
            objects.put("a/b.1", data)
            assert objects.get("a/b.1") == data and objects.exists("a/b.1")
        objects.put("a/b.2", b"other")
        objects.put("top", b"t")
        objects.delete("a/b.1")
        objects.delete("a/b.1")
        assert objects.get("a/b.1") is None and not objects.exists("a/b.1")
        assert objects.get("a/none") is None and objects.get("no/such/place") is None
        assert (objects.get("a/b.2"), objects.get("top")) == (b"other", b"t")

    @pytest.mark.parametrize(
        "key", ["", "/a", "a/", "a//b", "../a", "a/../b", ".a", "A", "a b", "é"]
    )
    def test_what_is_not_a_key_is_refused(self, objects: Objects, key: str) -> None:
        """No path leads out of the place."""
        for call in (
            objects.get,
            objects.delete,
            objects.exists,
            lambda key: objects.put(key, b""),
        ):
            with pytest.raises(ValueError, match="key"):
                call(key)

    def test_many_at_a_time(self, objects: Objects) -> None:
        """Threads put and get; each object is whole at any time."""
        faults: list[Any] = []

        def work(number: int) -> None:
            data = bytes([number]) * 50_000
            try:
                for _ in range(3):
                    objects.put(f"k/{number % 2}", data)
                    found = objects.get(f"k/{number % 2}")
                    assert found is not None and len(found) == 50_000 and len(set(found)) == 1
            except BaseException as error:  # noqa: BLE001 - it fails the test below
                faults.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
        assert faults == []


class TestFolder(ObjectsContract):
    """A folder, by path and by URL."""

    @pytest.fixture(params=["", "file://"])
    def objects(self, request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
        return objects_at(f"{request.param}{tmp_path}/objects")

    def test_files_are_the_owners(self, tmp_path: Path) -> None:
        """Mode 0600 in folders of mode 0700; nothing unfinished stays, and a killed writer's file goes."""
        objects = FolderObjects(str(tmp_path / "o"))
        objects.put("a/b", b"x")
        assert (tmp_path / "o/a/b").stat().st_mode & 0o777 == 0o600
        assert (tmp_path / "o/a").stat().st_mode & 0o777 == 0o700
        left = tmp_path / "o/a/.b.unfinished-00"
        left.write_bytes(b"half")
        os.utime(left, (1, 1))
        objects.check()
        assert {path.name for path in (tmp_path / "o/a").iterdir()} <= {"b", left.name}

    def test_a_link_is_not_followed(self, tmp_path: Path) -> None:
        """What somebody put in an object's place is not read."""
        objects = FolderObjects(str(tmp_path / "o"))
        objects.put("a/b", b"x")
        (tmp_path / "o/a/c").symlink_to(tmp_path / "o/a/b")
        with pytest.raises(StoreError, match="regular"):
            objects.get("a/c")

    def test_a_place_that_cannot_be_used_is_named(self, tmp_path: Path) -> None:
        """A file where the folder should be."""
        (tmp_path / "o").write_bytes(b"")
        objects = FolderObjects(str(tmp_path / "o"))
        for call in (objects.check, lambda: objects.put("a/b", b"")):
            with pytest.raises(StoreError, match="cannot be used"):
                call()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with bucket() as found:
        yield found


class TestBucket(ObjectsContract):
    """A bucket, below a prefix."""

    @pytest.fixture
    def objects(self, url: str) -> Objects:
        return objects_at(url)

    def test_a_bucket_that_cannot_be_used_is_named(self, url: str) -> None:
        """Nothing is taken for kept, and no text holds the credentials."""
        broken = objects_at(url.replace("transcripts", "nowhere"))
        for call in (broken.check, lambda: broken.put("a", b"")):
            with pytest.raises(StoreError, match="/prefix cannot be used") as caught:
                call()
            assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["objects", "ftp://h/p", "file://h/p", "s3://", "http://h/p"])
def test_a_url_that_is_none_of_objects_is_refused(url: str) -> None:
    """With an example of one that is."""
    with pytest.raises(AgentFeedbackError, match="write it like"):
        objects_at(url)
