"""What tests of adapters share: the real server and a client of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before torch: policies are tiny, and threads would only be in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import tiny
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


@pytest.fixture(scope="session")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny policy on disk."""
    return tiny.save(tmp_path_factory.mktemp("policy"))
