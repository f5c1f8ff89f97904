"""What tests of adapters share: the real server and a client of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Before torch: policies are tiny, and threads would only be in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import tiny
from real_server import ROOT, Server, StartServer, launch, server, start_server

from gradus import Client

__all__ = ["ROOT", "Nursery", "Server", "StartServer", "launch", "server", "start_server"]


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


class Nursery:
    """See nursery.py."""

    def __init__(self, policy: Path) -> None:
        folder = ROOT / "clients/python/tests_trainers"
        path = os.pathsep.join([str(ROOT / "clients/python/examples"), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "nursery.py", str(policy)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def start(self, *jobs: dict[str, Any]) -> list[int]:
        """Their process ids. Nothing else is started until `statuses` has been asked for."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([{"environment": {}, **job} for job in jobs]) + "\n")
        self.process.stdin.flush()
        return list(json.loads(self._line()))

    def statuses(self) -> list[int]:
        """Waits until all have ended."""
        return list(json.loads(self._line()))


@pytest.fixture(scope="session")
def nursery(policy: Path) -> Iterator[Nursery]:
    nursery = Nursery(policy)
    yield nursery
    nursery.process.kill()
    nursery.process.wait()
