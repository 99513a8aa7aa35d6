"""A bucket on an S3 server on loopback: moto's, which answers as the real one does."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode


@contextmanager
def bucket() -> Iterator[str]:
    """The URL of an empty bucket `transcripts`, with everything a client needs in its query."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the libraries it is made of
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
    try:
        host, port = server.get_host_and_port()
        options = {
            "endpoint": f"http://{host}:{port}",
            "region": "us-east-1",
            "access_key_id": "a",
            "secret_access_key": "b",
        }
        import urllib.request

        ask = urllib.request.Request(f"http://{host}:{port}/transcripts", method="PUT")
        urllib.request.urlopen(ask, timeout=10).close()
        yield f"s3://transcripts/prefix?{urlencode(options)}"
    finally:
        server.stop()
