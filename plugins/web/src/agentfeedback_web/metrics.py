"""What a server counts: requests by route and status, and how long they took."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}


class Metrics:
    """The counters of one application; labels are routes as they are declared, never paths as they are asked for."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._requests = Counter(
            "http_requests",
            "Requests answered",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "http_request_seconds", "Time until the answer was sent", ("method", "route"),
            registry=self.registry,
        )  # fmt: skip

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request; a method that is not of this API is `other`."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)
