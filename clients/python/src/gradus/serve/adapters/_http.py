"""Requests to servers of other gyms over HTTP, with limits of time and size."""

from __future__ import annotations

import http.client
import http.cookiejar
import json
import time
import urllib.error
import urllib.request
from collections.abc import Container, Mapping
from typing import Any

from gradus.serve._facts import MisshapenError, UnavailableError

SECONDS_MAX = 20
"""Default maximum of the seconds that all requests for one answer or call take together.

The Gradus server that mounts environments ends a worker after 33 s, and may then blame the answer. So if the other
gym's server is slow, an UnavailableError must be raised before that.
"""
REPLY_BYTES_MAX = 16 * 1024**2
WORDS_BYTES_MAX = 500
"""Maximum bytes that are read of the text with which a server explains an error."""


class StatusError(ValueError):
    """A server refuses a request by an HTTP status."""

    def __init__(self, path: str, status: int, words: str) -> None:
        super().__init__(f"{path} answered {status}: {words}")
        self.status = status


class Asking:
    """Requests to one server, which share cookies and a deadline."""

    def __init__(self, address: str, away: Container[int], seconds: float = SECONDS_MAX) -> None:
        self._address = address.rstrip("/")
        self._away = away
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self.restart(seconds)

    def restart(self, seconds: float = SECONDS_MAX) -> None:
        """Sets the deadline of the following requests to `seconds` from now."""
        self._deadline = time.monotonic() + seconds

    def ask(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> bytes:
        """Returns the reply to a POST of the body as JSON, or to a GET if the body is None.

        Raises UnavailableError if the server is not reached, is too slow, or answers by a status in `away`. Raises
        StatusError for other statuses of 400 and above, and MisshapenError if the reply is too large.
        """
        data = None if body is None else json.dumps(body).encode()
        given = {"content-type": "application/json", **(headers or {})}
        request = urllib.request.Request(self._address + path, data, given)
        try:
            with self._opener.open(request, timeout=self._seconds_left(path)) as reply:
                return self._read(reply, path)
        except urllib.error.HTTPError as error:
            with error:
                words = error.read(WORDS_BYTES_MAX).decode(errors="replace") or error.reason
            if error.code in self._away:
                raise UnavailableError(f"{path} answered {error.code}: {words}") from error
            raise StatusError(path, error.code, words) from error
        except (OSError, http.client.HTTPException) as error:
            raise UnavailableError(f"{self._address} is not reached: {error}") from error

    def json(self, path: str, body: Any = None) -> Any:
        """Returns the reply as JSON. Raises MisshapenError if it is not JSON, and the errors of `ask`."""
        return json_of(self.ask(path, body), path)

    def _read(self, reply: http.client.HTTPResponse, path: str) -> bytes:
        parts = []
        size = 0
        # A stream sends comments while it waits for its result, so the deadline is checked at each piece.
        while part := reply.read1(64 * 1024):
            parts.append(part)
            size += len(part)
            if size > REPLY_BYTES_MAX:
                raise MisshapenError(f"{path} answered with more than {REPLY_BYTES_MAX:,} bytes")
            self._seconds_left(path)
        return b"".join(parts)

    def _seconds_left(self, path: str) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise UnavailableError(f"{self._address}{path} takes too long")
        return left


def json_of(reply: bytes, what: str) -> Any:
    """Reads JSON. Raises MisshapenError, which begins with `what`, if the bytes are not JSON."""
    try:
        return json.loads(reply)
    except ValueError as error:
        raise MisshapenError(f"{what} did not answer in JSON: {error}") from error
