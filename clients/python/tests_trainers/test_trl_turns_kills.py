"""Trainings on games that are killed together with their server: losses are what they would have been."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny
from conftest import Nursery, StartServer
from real_server import lasting_port
from test_trl_kills import recorded
from trl_turns_training import SMALL_CALLS, STEPS

from gradus import Client
from gradus.trl._callback import last_checkpoint

SAMPLES = 8
"""Samples of a step."""
UNREPEATABLE = re.compile(r"step_time|gradus/wait_.*|gradus/.*/probability|epoch")
"""Figures of a step beside what is learnt: times, what the server said of its arms at that moment, and the share of the
data set, which transformers counts from the resume on."""


@pytest.fixture(scope="module")
def guesser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that calls the tool of the small games with any code."""
    return tiny.save(tmp_path_factory.mktemp("guesser"), choices=SMALL_CALLS, texts=SMALL_CALLS)


def steps_of(log: Path) -> list[dict[str, Any]]:
    rows = [each for each in json.loads(log.read_text()) if "loss" in each]
    return [{name: value for name, value in row.items() if not UNREPEATABLE.fullmatch(name)} for row in rows]


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + Nursery.SECONDS_MAX
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("player", ["rollout_func", "environment_factory"])
def test_a_killed_training_on_games_goes_on_to_equal_losses(
    player: str, nursery: Nursery, start_server: StartServer, guesser: Path, tmp_path: Path
) -> None:
    port, said = lasting_port(), tmp_path / "trainer.txt"
    server = start_server(port=port)
    client = Client(server.address)

    def start(name: str) -> int:
        out = tmp_path / name
        given = {"server": server.address, "run_id": name, "policy": str(guesser), "output": str(out), "player": player}
        job = {"program": "trl_turns_training", "given": {**given, "log": f"{out}.json"}, "log": str(said)}
        (child,) = nursery.start(job)
        return child

    start("undisturbed")
    assert nursery.statuses() == [0], said.read_text()[-5000:]
    expected = steps_of(tmp_path / "undisturbed.json")
    assert len(expected) == STEPS
    assert {"loss", "grad_norm", "reward", "entropy"} <= expected[0].keys()
    assert len({row["loss"] for row in expected}) > STEPS / 2

    trainer = start("disturbed")
    # The server is lost in the second step, and comes back.
    wait_until(lambda: recorded(client, "disturbed") > SAMPLES)
    server.kill()
    server = start_server(port=port)
    # Both are lost after the checkpoint of the third step, and a new training goes on from it.
    wait_until(lambda: recorded(client, "disturbed") > 3 * SAMPLES)
    wait_until(lambda: last_checkpoint(str(tmp_path / "disturbed")) is not None)
    server.kill()
    os.kill(trainer, signal.SIGKILL)
    assert nursery.statuses() == [signal.SIGKILL]
    server = start_server(port=port)
    start("disturbed")
    assert nursery.statuses() == [0], said.read_text()[-5000:]

    assert client.run("disturbed").get().state.epoch > 0
    assert steps_of(tmp_path / "disturbed.json") == expected
    groups = [
        [(group.arm_id, group.samples) for step in range(STEPS) for group in client.run(name).groups(step)]
        for name in ("undisturbed", "disturbed")
    ]
    assert groups[0] == groups[1]
