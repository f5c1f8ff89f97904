"""The real server, started as a process: fixtures of these tests and of those of tests_trainers/."""

from __future__ import annotations

import contextlib
import functools
import json
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS_MAX = 180
ONE_WORKER = ("--workers", "1", "--workers-cold")
"""Each worker thread loads the product and, unless it is cold, makes tasks of each level: a third of a start's CPU."""
WITHOUT_SANDBOX = ("--sandbox", "off")
"""Flags of servers that run no program; they save another sixth of a start."""


@dataclass
class Server:
    address: str
    http: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(START_SECONDS_MAX)

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])


StartServer = Callable[..., Server]

# These ports lie below the range from which the kernel picks ports for connections.
LASTING_PORTS = range(20_000, 32_000)


def lasting_port() -> int:
    """Return a port that stays free while a server on it is ended and started again."""
    while True:
        port = random.choice(LASTING_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@functools.cache
def program() -> tuple[str, ...]:
    """Return the command of the bundled server, which the tests in TypeScript share.

    A bundle starts with two thirds of the CPU that the sources take.
    """
    node = "node_modules/.bin/node"
    bundle = subprocess.run(
        [node, "test/support/tested-program.ts"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return node, "--initial-old-space-size=256", f"{bundle.stdout.strip()}/dist/main.js"


def launch(directory: Path, *flags: str, port: int = 0) -> Server:
    log = directory / f"server-{time.monotonic_ns()}.log"
    ports = ["--port", str(port), "--http-port", "0"]
    options = [*ports, *ONE_WORKER, "--data-dir", str(directory / "data"), "--log-format", "json"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*program(), "serve", *options, *flags], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT
        )
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith("{") and line.endswith("}") and json.loads(line).get("msg") == "listening":
                heard = json.loads(line)
                return Server(f"localhost:{heard['grpcPort']}", f"localhost:{heard['httpPort']}", process)
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = launch(tmp_path_factory.mktemp("server"))
    yield server
    server.stop()


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[StartServer]:
    """Yields a function that starts servers with one data directory. The end of the test stops them."""
    started: list[Server] = []

    def start(*flags: str, port: int = 0) -> Server:
        started.append(launch(tmp_path, *WITHOUT_SANDBOX, *flags, port=port))
        return started[-1]

    yield start
    for server in started:
        server.stop()


TOKEN = "let-me-in-if-you-please"


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that requires TOKEN, given by a file, and keeps completions."""
    flags = ("--token", f"{TOKEN}\n", "--keep-samples", "1")
    server = launch(tmp_path_factory.mktemp("guarded"), *WITHOUT_SANDBOX, *flags)
    yield server
    server.stop()


class Mortal:
    """A server that tests end and start again, on its port and with its data."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.server = launch(directory, *WITHOUT_SANDBOX, port=lasting_port())

    def again(self) -> None:
        """Starts the server if it has ended."""
        if self.server.process.poll() is not None:
            self.server = launch(self._directory, *WITHOUT_SANDBOX, port=self.server.port)


@pytest.fixture(scope="session")
def one_mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    mortal = Mortal(tmp_path_factory.mktemp("mortal"))
    yield mortal
    mortal.server.stop()


@pytest.fixture
def mortal(one_mortal: Mortal) -> Mortal:
    """A running server that the test may kill; it is started again if an earlier test ended it."""
    one_mortal.again()
    return one_mortal
