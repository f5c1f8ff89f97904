"""Fixtures of the tests: the real server, a client of it, tasks and completions."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from real_server import (
    ROOT,
    TOKEN,
    Mortal,
    Server,
    StartServer,
    guarded,
    launch,
    mortal,
    one_mortal,
    server,
    start_server,
)

from gradus import Client, Task

__all__ = [
    "ROOT",
    "TOKEN",
    "Mortal",
    "Server",
    "StartServer",
    "guarded",
    "launch",
    "mortal",
    "one_mortal",
    "server",
    "start_server",
]


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
    """Returns completions in the right format with a wrong expression, whose reward is 0.1."""
    return ["<think>none</think><answer>1 + 1</answer>"] * n


def solution(task: Task) -> str:
    """Returns a right completion for a task of three numbers, by trying all expressions."""
    from itertools import permutations, product  # noqa: PLC0415

    target = int(task.metadata["target"])
    for a, b, c in permutations(task.metadata["numbers"].split()):
        for first, second in product("+-*/", repeat=2):
            for text in (f"({a} {first} {b}) {second} {c}", f"{a} {first} ({b} {second} {c})"):
                try:
                    # The text is our own, of digits and operators, so eval is safe.
                    value = eval(text)
                except ZeroDivisionError:
                    continue
                if abs(value - target) < 1e-9:
                    return f"<think>found</think><answer>{text}</answer>"
    raise AssertionError("the task has no solution")
