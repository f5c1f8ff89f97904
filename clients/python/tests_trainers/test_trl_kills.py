"""Test that random kills of the example's trainer and its server do not change the training."""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import Nursery, Server, StartServer
from real_server import lasting_port

from gradus import Client, GradusError, Task

KILLS = int(os.environ.get("KILLS", "6"))
"""The first three are of the server, of both and of the trainer. KILLS=12 kills more often."""
KILLS_MIN = KILLS - KILLS // 6
"""A trainer on a fast machine may be done before the last kill."""
STEPS = 8 + 2 * KILLS
PROMPTS = 4
GENERATIONS = 4


@dataclass
class Trainings:
    """Processes of examples/trl_grpo.py, one at a time."""

    nursery: Nursery
    log: Path

    def start(self, *arguments: str) -> int:
        (child,) = self.nursery.start({"program": "trl_grpo", "given": arguments, "log": str(self.log)})
        return child

    def status(self) -> int:
        (status,) = self.nursery.statuses()
        return status


@pytest.fixture
def trainings(nursery: Nursery, tmp_path: Path) -> Trainings:
    return Trainings(nursery, tmp_path / "trainer.log")


def arguments(server: Server, run_id: str, policy: Path, out: Path) -> list[str]:
    fixed = {"steps": STEPS, "prompts": PROMPTS, "generations": GENERATIONS, "batch": 16, "length": 6, "save-every": 2}
    named = {"server": server.address, "run": run_id, "model": policy, "output": out, **fixed}
    return ["--cpu", *(part for name, value in named.items() for part in (f"--{name}", str(value)))]


def tasks_of(client: Client, run_id: str) -> list[Any]:
    """Return the run's tasks and samples, group by group."""
    run = client.run(run_id)
    groups = [group for batch in range(STEPS) for group in run.groups(batch, tasks=True)]
    return [(group.cursor, group.arm_id, identity(group.task), group.samples) for group in groups]


def identity(task: Task | None) -> Any:
    return task and (task.instance_hash, task.arm_probability)


def recorded(client: Client, run_id: str) -> int:
    try:
        return client.run(run_id).get(retries=0, timeout=2).state.samples_recorded
    except GradusError:
        return 0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_killed_trainers_and_servers_go_on_as_if_undisturbed(
    trainings: Trainings, start_server: StartServer, policy: Path, tmp_path: Path
) -> None:
    port = lasting_port()
    server = start_server(port=port)
    client = Client(server.address)
    trainings.start(*arguments(server, "undisturbed", policy, tmp_path / "undisturbed"))
    assert trainings.status() == 0, trainings.log.read_text()[-5000:]
    expected = tasks_of(client, "undisturbed")
    assert len({task[1] for task in expected}) > 1

    chance = random.Random(12)
    kills = {"trainer": 0, "server": 0, "both": 0}
    trainer = trainings.start(*arguments(server, "disturbed", policy, tmp_path / "disturbed"))
    while sum(kills.values()) < KILLS:
        victim = chance.choice(list(kills))
        goal = recorded(client, "disturbed") + chance.randrange(2 * PROMPTS * GENERATIONS)
        began = time.monotonic()
        while recorded(client, "disturbed") < goal and time.monotonic() < began + 60 and alive(trainer):
            time.sleep(0.02)
        time.sleep(chance.random() / 4)
        if not alive(trainer):
            break
        kills[victim] += 1
        if victim != "trainer":
            server.kill()
        if victim != "server":
            os.kill(trainer, signal.SIGKILL)
            assert trainings.status() == signal.SIGKILL
        if victim != "trainer":
            server = start_server(port=port)
        if victim != "server":
            trainer = trainings.start(*arguments(server, "disturbed", policy, tmp_path / "disturbed"))
    assert trainings.status() == 0, trainings.log.read_text()[-5000:]

    assert sum(kills.values()) >= KILLS_MIN
    assert min(kills.values()) > 0
    assert tasks_of(client, "disturbed") == expected
    states = [client.run(run_id).get().state for run_id in ("undisturbed", "disturbed")]
    values = [[(arm.arm_id, arm.value, arm.probability) for arm in state.arms] for state in states]
    assert values[0] == values[1]
    assert states[1].epoch > 0
