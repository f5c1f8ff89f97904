"""Test trainings of TRL while an operator pauses and resumes the run, and changes it between two starts."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import Nursery, Server

import gradus
from gradus import Client, Run, RunGroup
from gradus.runs import RunShape

STEPS = 5


@dataclass
class Trainings:
    """Processes of trl_training.py on one run, one at a time."""

    nursery: Nursery
    server: Server
    policy: Path
    folder: Path

    def start(self, run_id: str, **changes: Any) -> int:
        given = {
            "kind": "grpo",
            "server": self.server.address,
            "run_id": run_id,
            "run": {},
            "policy": str(self.policy),
            "log": str(self.folder / f"{run_id}.json"),
            "output_dir": str(self.folder / run_id),
            "save_strategy": "steps",
            "save_steps": 1,
            "max_steps": STEPS,
            **changes,
        }
        job = {"program": "trl_training", "given": given, "log": str(self.log)}
        (child,) = self.nursery.start(job)
        return child

    @property
    def log(self) -> Path:
        return self.folder / "trainings.log"

    def end(self, status: int = 0) -> None:
        assert self.nursery.statuses() == [status], self.log.read_text()[-6000:]

    def steps_saved(self, run_id: str) -> int:
        """Returns the step of the newest complete checkpoint."""
        whole = (self.folder / run_id).glob("checkpoint-*/trainer_state.json")
        return max((int(each.parent.name.partition("-")[2]) for each in whole), default=0)


@pytest.fixture
def trainings(nursery: Nursery, server: Server, policy: Path, tmp_path: Path) -> Trainings:
    return Trainings(nursery, server, policy, tmp_path)


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def groups_of(run: Run, steps: int = STEPS) -> list[RunGroup]:
    return [group for batch in range(steps) for group in run.groups(batch, tasks=True)]


def told(run: Run, steps: int = STEPS) -> list[Any]:
    """Returns the run's tasks and samples, by group."""
    return [
        (
            group.cursor,
            group.arm_id,
            group.task and (group.task.instance_hash, group.task.arm_probability),
            group.samples,
        )
        for group in groups_of(run, steps)
    ]


def test_a_training_is_paused_and_resumed_and_killed_in_a_pause(
    trainings: Trainings, client: Client, run_id: str
) -> None:
    undisturbed, paused, killed = (client.run(f"{run_id}-{which}") for which in ("undisturbed", "paused", "killed"))
    trainings.start(undisturbed.run_id)
    trainings.end()
    expected = told(undisturbed)
    assert len(expected) == 4 * STEPS

    trainings.start(paused.run_id)
    wait_for(lambda: trainings.steps_saved(paused.run_id) > 0)
    paused.pause()
    wait_for(lambda: f"run '{paused.run_id}' is paused" in trainings.log.read_text())
    stands = paused.get().state
    assert not stands.done
    time.sleep(1)
    assert paused.get().state.samples_recorded == stands.samples_recorded < 16 * STEPS
    paused.resume()
    trainings.end()
    assert told(paused) == expected

    trainer = trainings.start(killed.run_id)
    wait_for(lambda: trainings.steps_saved(killed.run_id) > 0)
    killed.pause()
    before = trainings.steps_saved(killed.run_id)
    # The step under way goes on: it ends, and its checkpoint is written while the run is paused.
    wait_for(lambda: trainings.steps_saved(killed.run_id) > before)
    wait_for(lambda: f"run '{killed.run_id}' is paused" in trainings.log.read_text())
    os.kill(trainer, signal.SIGKILL)
    trainings.end(signal.SIGKILL)
    killed.resume()
    trainings.start(killed.run_id)
    trainings.end()
    state = killed.get().state
    assert (state.paused, state.epoch) == (False, 1)
    assert told(killed) == expected


def test_what_is_changed_between_stop_and_start_stays_changed(
    trainings: Trainings, client: Client, run_id: str
) -> None:
    run = client.run(run_id)
    trainings.start(run_id, max_steps=2)
    trainings.end()
    before = run.get().state.cursor
    run.set_weights({"countdown/T1": 3.0})
    run.update_policy(gradus.mixture())
    run.update_shape(add_arms=[gradus.arm("countdown", "T3")], remove_arms=["countdown/T0"], length=80)
    run.set_weights({"countdown/T2": 0.0})
    run.pause()
    trainings.start(run_id, max_steps=8)
    wait_for(lambda: run.get().state.epoch == 1)
    state = run.get().state
    # The import at the trainer's start does not change the operator's settings.
    assert (state.paused, state.shape) == (True, RunShape(num_generations=4, prompts_per_update=4, length=80))
    run.resume()
    trainings.end()

    state = run.get().state
    assert (state.policy.mixture is not None, state.policy.bandit) == (True, None)
    weights = {arm.arm_id: (arm.weight, arm.removed) for arm in state.arms}
    assert weights["countdown/T0"][1]
    assert {name: weights[name] for name in ("countdown/T1", "countdown/T2", "countdown/T3")} == {
        "countdown/T1": (3.0, False),
        "countdown/T2": (0.0, False),
        "countdown/T3": (1.0, False),
    }
    groups = groups_of(run, 8)
    assert [group.cursor for group in groups] == list(range(32))
    drawn = {group.arm_id for group in groups if group.cursor >= before}
    assert drawn == {"countdown/T1", "countdown/T3"}
    assert all(len(group.samples) == 4 for group in groups if group.arm_id in drawn)
    kinds = [record.control for record in run.history() if record.control is not None]
    assert len(kinds) >= 5
    assert trainings.log.read_text().count("Traceback") == 0


@pytest.mark.parametrize(("shape", "given"), [({"num_generations": 2}, 4), ({"prompts_per_update": 2}, 4)])
def test_a_changed_shape_is_taken_or_refused_in_numbers(
    trainings: Trainings, client: Client, run_id: str, shape: dict[str, int], given: int
) -> None:
    run = client.run(run_id)
    trainings.start(run_id, max_steps=2)
    trainings.end()
    before = run.get().state.cursor
    run.update_shape(**shape)  # type: ignore[arg-type]
    steps = trainings.steps_saved(run_id)
    # A script that sets the old shape itself does not follow the run.
    fixed = {"generation_batch_size": 16, "num_generations": 4, "gradient_accumulation_steps": 2}
    trainings.start(run_id, max_steps=4, **fixed)
    trainings.end(1 << 8)
    (name,) = shape
    log = trainings.log.read_text()
    assert re.search(rf"ValueError: .*{name}\D+{given}\D.*|{name} is 4, and the run's is 2", log), log[-3000:]
    assert f"update_shape({name}=4)" in log or f"{name}=4: a run of Gradus requires 2" in log
    assert (trainings.steps_saved(run_id), run.get().state.cursor) == (steps, before)

    small = {"per_device_train_batch_size": 8}
    trainings.start(run_id, max_steps=4, **small)
    trainings.end()
    now = run.get().state
    assert (now.done, now.paused) == (False, False)
    size = shape.get("num_generations", 4)
    trained = [group for group in groups_of(run, now.batches_closed) if group.cursor >= before]
    assert len(trained) >= shape.get("prompts_per_update", 4)
    assert {len(group.samples) for group in trained} == {size}
