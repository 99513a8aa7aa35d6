"""Objects by key: in a folder, or in a bucket of a cloud.

A key is one or more names joined by `/`. An object is whole or not there; one that is put again is replaced.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from agentfeedback.foundation.errors import AgentFeedbackError, StoreError, reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.foundation.folder import Folder

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}(?:/[a-z0-9][a-z0-9._-]{0,127})*", re.ASCII)
#: How old a file is that a killed writer left unfinished, in nanoseconds.
_ABANDONED_NS = 3600 * 10**9
_CLOUDS = ("s3", "gs", "az")
_EXAMPLE = "write it like /var/lib/agentfeedback/objects or s3://bucket/prefix"


class Objects(Protocol):
    """Keeps objects; any thread may use it. Every method raises `StoreError` when the place cannot be used."""

    def put(self, key: str, data: bytes) -> None:
        """Keep an object; when it returns the object is durable."""
        ...

    def get(self, key: str) -> bytes | None:
        """An object; None where there is none."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no error."""
        ...

    def exists(self, key: str) -> bool:
        """Whether there is such an object."""
        ...

    def check(self) -> None:
        """Make sure that the place can be used."""
        ...


def objects_at(url: str) -> Objects:
    """The objects at a URL: a path or `file://` of a folder, or `s3://`, `gs://`, `az://` a bucket.

    A bucket's URL may have a query with the options of obstore, such as `endpoint` and `region`;
    credentials come from the environment. An endpoint with `http` is on this machine, or in a network
    of which `allow_http=true` says that nobody else reads there.

    Raises:
        AgentFeedbackError: The URL cannot be used, or the client of the clouds is missing.
    """
    scheme, there, rest = url.partition("://")
    if not there:
        if not os.path.isabs(url):
            raise AgentFeedbackError("the folder of objects is not an absolute path", _EXAMPLE)
        return FolderObjects(url)
    if scheme == "file" and rest.startswith("/"):
        return FolderObjects(unquote(rest))
    if scheme in _CLOUDS:
        return BucketObjects(url)
    raise AgentFeedbackError("the URL of objects is none that is supported", _EXAMPLE)


class FolderObjects:
    """Objects as files of a folder, readable by their owner alone."""

    def __init__(self, path: str) -> None:
        self._path = path

    def put(self, key: str, data: bytes) -> None:
        """Write the file durably."""
        folder, name = self._place(key)
        try:
            folder.put(name, data, replace=True)
        except OSError as error:
            raise self._failure(error) from error

    def get(self, key: str) -> bytes | None:
        """Read the file; a link in its place is not followed."""
        folder, name = self._place(key)
        try:
            return regular_bytes(os.path.join(folder.path, name), follow=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._failure(error) from error

    def delete(self, key: str) -> None:
        """Remove the file."""
        folder, name = self._place(key)
        try:
            folder.delete(name)
        except NotADirectoryError:
            return
        except OSError as error:
            raise self._failure(error) from error

    def exists(self, key: str) -> bool:
        """Look for the file."""
        folder, name = self._place(key)
        return os.path.isfile(os.path.join(folder.path, name))

    def check(self) -> None:
        """Write and remove a file, and remove what killed writers left."""
        self.put("check", b"")
        self.delete("check")
        before = time.time_ns() - _ABANDONED_NS
        try:
            for path, _, _ in os.walk(self._path):
                Folder(path).sweep(before)
        except OSError as error:
            raise self._failure(error) from error

    def _place(self, key: str) -> tuple[Folder, str]:
        above, _, name = _checked(key).rpartition("/")
        return Folder(os.path.join(self._path, above) if above else self._path), name

    def _failure(self, error: OSError) -> StoreError:
        return StoreError(f"the objects in {self._path} cannot be used: {reason_of(error)}")


class BucketObjects:
    """Objects in a bucket, through obstore."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        options: dict[str, Any] = dict(parse_qsl(parts.query))
        try:
            self._obstore = import_module("obstore")
            make = import_module("obstore.store").from_url
        except ModuleNotFoundError as error:
            raise AgentFeedbackError(
                f"the client of {parts.scheme} is missing ({error.name})",
                "pip install 'agentfeedback-web[objects]'",
            ) from None
        private = options.pop("allow_http", "false") == "true"
        local = urlsplit(options.get("endpoint", "")).hostname in ("127.0.0.1", "localhost", "::1")
        try:
            self._store = make(
                f"{parts.scheme}://{parts.netloc}{parts.path}",
                client_options={
                    "allow_http": local or private,
                    "timeout": "30s",
                    "connect_timeout": "5s",
                },
                retry_config=_RETRY,
                **options,
            )
        except Exception as error:  # noqa: BLE001 - its texts hold URLs, so only their kind is shown
            raise AgentFeedbackError(
                f"{self._shown} cannot be used: {type(error).__name__}", _EXAMPLE
            ) from None

    def put(self, key: str, data: bytes) -> None:
        """Put one object."""
        name = _checked(key)
        if self._asked(lambda: self._obstore.put(self._store, name, data)) is None:
            raise self._failure("there is no such bucket")

    def get(self, key: str) -> bytes | None:
        """Get one object."""
        name = _checked(key)
        found: bytes | None = self._asked(
            lambda: bytes(self._obstore.get(self._store, name).bytes())
        )
        return found

    def delete(self, key: str) -> None:
        """Delete one object."""
        name = _checked(key)
        self._asked(lambda: self._obstore.delete(self._store, name))

    def exists(self, key: str) -> bool:
        """Ask for its head."""
        name = _checked(key)
        return self._asked(lambda: self._obstore.head(self._store, name)) is not None

    def check(self) -> None:
        """List the bucket: getting an object does not tell a missing bucket from a missing object."""

        def listed() -> bool:
            for _ in self._obstore.list(self._store, chunk_size=1):
                break
            return True

        if self._asked(listed) is None:
            raise self._failure("there is no such bucket")

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """What obstore answers; None where it says that nothing is there."""
        try:
            return ask()
        except FileNotFoundError:
            return None
        except Exception as error:
            raise self._failure(type(error).__name__) from error

    def _failure(self, reason: str) -> StoreError:
        return StoreError(f"the objects in {self._shown} cannot be used: {reason}")


_RETRY = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError(f"not a key of an object: {key!r}")
    return key
