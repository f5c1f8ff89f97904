"""OpenEnv's own client plays a Gradus server, unmodified: so many tasks each of np/tsp and countdown.

    python bench/openenv/play.py [--server http://127.0.0.1:8080] [--token TOKEN] [--tasks 100]

Without `--server` one is started. Needs openenv-core and websockets (requirements.txt), and nothing of Gradus. Each
task is reset twice, over two sessions, and must be the same; a completion without an answer must have a reward, and one
more step must be refused.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from openenv.core.generic_client import GenericEnvClient

sys.path.insert(0, str(Path(__file__).parents[1]))
from serving import serving_ports

SETTINGS = (("np/tsp", "easy"), ("countdown", "T0"))


def address(server: str, token: str) -> str:
    """The client sends no header of its own, so that a token goes with the address."""
    return server if token == "" else server.replace("://", f"://any:{token}@", 1)


def play(server: str, environment: str, level: str, tasks: int) -> None:
    """Resets and steps through tasks by their seeds."""
    began = time.monotonic()
    with GenericEnvClient(server).sync() as player, GenericEnvClient(server).sync() as other:
        for seed in range(tasks):
            choice = {"environment": environment, "level": level, "seed": seed}
            shown = player.reset(**choice)
            assert not shown.done and shown.reward is None
            again = other.reset(**choice).observation
            assert shown.observation["messages"] == again["messages"], f"{environment} {seed} is another task"
            stepped = player.step({"completion": "I do not know."})
            assert stepped.done and isinstance(stepped.reward, (int, float)), stepped
            try:
                player.step({"completion": "Again."})
            except RuntimeError as error:
                assert "reset first" in str(error)
            else:
                raise AssertionError("a second step was taken")
    print(f"{environment}: {tasks} tasks in {time.monotonic() - began:.1f} s")


def main() -> None:
    """Plays every setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default="")
    parser.add_argument("--token", default="")
    parser.add_argument("--tasks", type=int, default=100)
    given = parser.parse_args()
    with nullcontext((0, {})) if given.server else serving_ports() as (_, ports):
        server = given.server or f"http://127.0.0.1:{ports['httpPort']}"
        for environment, level in SETTINGS:
            play(address(server, given.token), environment, level, given.tasks)


if __name__ == "__main__":
    main()
