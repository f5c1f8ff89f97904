"""The real server, started as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gradus import Client, Task

ROOT = Path(__file__).parents[3]
START_SECONDS_MAX = 180


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


StartServer = Callable[..., Server]


def launch(directory: Path, *flags: str, port: int = 0) -> Server:
    log = directory / f"server-{time.monotonic_ns()}.log"
    command = ["node_modules/.bin/node", "--initial-old-space-size=256", "server/cli/main.ts", "serve"]
    options = ["--port", str(port), "--http-port", "0", "--data-dir", str(directory / "data"), "--log-format", "json"]
    with log.open("wb") as out:
        process = subprocess.Popen([*command, *options, *flags], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith("{") and line.endswith("}") and json.loads(line).get("msg") == "listening":
                ports = json.loads(line)
                return Server(f"localhost:{ports['grpcPort']}", f"localhost:{ports['httpPort']}", process)
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
    """Starts servers of a test's own, all with one data directory; stops them at its end."""
    started: list[Server] = []

    def start(*flags: str, port: int = 0) -> Server:
        started.append(launch(tmp_path, *flags, port=port))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[Client]:
    with Client(server.address) as client:
        yield client


@pytest.fixture(scope="session")
def task(client: Client) -> Task:
    return client.reset("countdown", level="T0", seed=1)


@pytest.fixture
def run_id(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name[:40].replace('[', '-').replace(']', '')}-{time.monotonic_ns()}"


def wrong(n: int = 1) -> list[str]:
    """Completions in the right format whose expression is wrong: reward 0.1."""
    return ["<think>none</think><answer>1 + 1</answer>"] * n


def solution(task: Task) -> str:
    """A right completion for a task of three numbers, by trying all expressions."""
    from itertools import permutations, product  # noqa: PLC0415

    target = int(task.metadata["target"])
    for a, b, c in permutations(task.metadata["numbers"].split()):
        for first, second in product("+-*/", repeat=2):
            for text in (f"({a} {first} {b}) {second} {c}", f"{a} {first} ({b} {second} {c})"):
                try:
                    # Our own text of digits and operators, not a model's.
                    value = eval(text)
                except ZeroDivisionError:
                    continue
                if abs(value - target) < 1e-9:
                    return f"<think>found</think><answer>{text}</answer>"
    raise AssertionError("the task has no solution")
