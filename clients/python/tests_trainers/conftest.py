"""Fixtures of the adapters' tests: the real server and a client of it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Must be set before torch is imported. Policies are tiny, so several threads would only be slower.
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
    """A process of nursery.py, which runs trainings."""

    SECONDS_MAX = 300
    """Longest that trainings may take: a guard against hanging and nothing else."""

    def __init__(self, policy: Path) -> None:
        folder = ROOT / "clients/python/tests_trainers"
        path = os.pathsep.join([str(ROOT / "clients/python/examples"), os.environ.get("PYTHONPATH", "")])
        # pyarrow's allocator would start a thread, and a process with threads must not fork.
        alone = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
        self.process = subprocess.Popen(
            [sys.executable, "nursery.py", str(policy)],
            cwd=folder,
            env={**os.environ, **alone, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._running: list[int] = []
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._line() == "ready"

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.strip())
        self._lines.put("it has ended")

    def _line(self) -> str:
        return self._lines.get(timeout=self.SECONDS_MAX)

    def start(self, *jobs: dict[str, Any]) -> list[int]:
        """Starts jobs and returns their process ids. Ends those that an earlier test left."""
        if self._running:
            self._end(signal.SIGKILL)
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([{"environment": {}, **job} for job in jobs]) + "\n")
        self.process.stdin.flush()
        self._running = list(json.loads(self._line()))
        return self._running

    def statuses(self) -> list[int]:
        """Returns the exit statuses of all. Ends those that hang, which then write their stacks."""
        try:
            statuses = list(json.loads(self._line()))
        except queue.Empty:
            return self._end(signal.SIGABRT)
        self._running = []
        return statuses

    def _end(self, how: signal.Signals) -> list[int]:
        for child in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, how)
        self._running = []
        return list(json.loads(self._line()))


@pytest.fixture(scope="session")
def nursery(policy: Path) -> Iterator[Nursery]:
    nursery = Nursery(policy)
    yield nursery
    nursery.process.kill()
    nursery.process.wait()
