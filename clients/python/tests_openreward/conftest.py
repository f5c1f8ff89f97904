"""Fixtures: the real Gradus server, and OpenReward's own client for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from openreward import OpenReward
from real_server import TOKEN, Server, guarded, start_server

__all__ = ["Connect", "guarded", "start_server"]

Connect = Callable[..., OpenReward]


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Yields a function that makes OpenReward's client of a server."""
    with ExitStack() as stack:

        def make(server: Server, token: str = TOKEN) -> OpenReward:
            for name in ("OPENREWARD_URL", "OPENREWARD_API_URL", "OPENREWARD_SESSION_URL"):
                monkeypatch.setenv(name, f"http://{server.http}")
            return stack.enter_context(OpenReward(api_key=token))

        yield make
