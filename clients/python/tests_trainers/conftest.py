"""What tests of adapters share: the real server and a client of it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from real_server import ROOT, Server, StartServer, launch, server, start_server

from gradus import Client

__all__ = ["ROOT", "Server", "StartServer", "launch", "server", "start_server"]


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[Client]:
    with Client(server.address) as client:
        yield client


@pytest.fixture
def run_id(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name[:40].replace('[', '-').replace(']', '')}-{time.monotonic_ns()}"
