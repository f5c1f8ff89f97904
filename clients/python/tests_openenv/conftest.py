"""Fixtures: the real Gradus server, and OpenEnv's own servers in threads."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn
from games import Game, Guess, Seen
from openenv.core.env_server import create_fastapi_app
from real_server import guarded, server, start_server

__all__ = ["guarded", "server", "start_server"]

# verifiers brings an older OpenEnv, in an environment of its own. Its taskset and older clients are tested there.
collect_ignore = ["test_clients.py"] if importlib.util.find_spec("verifiers") else ["test_verifiers_taskset.py"]

SECONDS_MAX = 120
"""Longest that a server may take to start: a guard against hanging and nothing else."""


@pytest.fixture
def open_env() -> Iterator[Callable[..., str]]:
    """Starts OpenEnv's server of a game, and gives its address."""
    started: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(game: type[Game], action: Any = Guess) -> str:
        app = create_fastapi_app(game, action, Seen)
        one = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
        thread = threading.Thread(target=one.run, daemon=True)
        thread.start()
        started.append((one, thread))
        deadline = time.monotonic() + SECONDS_MAX
        while not one.started:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return f"http://127.0.0.1:{one.servers[0].sockets[0].getsockname()[1]}"

    yield start
    for one, thread in started:
        one.should_exit = True
        thread.join()
