"""Test gradus.trl on two ranks that share groups."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Nursery, Server
from real_server import lasting_port

from gradus import Client, RunGroup

STEPS = 4
# 3 groups of 4 are 6 samples for each rank, so that the second group lies on both.
RUN = {"prompts_per_update": 3, "num_generations": 4}


def rank_of(rank: int, port: int) -> dict[str, str]:
    """Return the environment variables that torchrun sets for a rank, which gradus reads through accelerate."""
    of_all = {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_ADDR": "localhost", "MASTER_PORT": port}
    return {name: str(value) for name, value in {**of_all, "RANK": rank, "LOCAL_RANK": rank}.items()}


def train_on_two_ranks(
    nursery: Nursery, kind: str, server: Server, run_id: str, policy: Path, out: Path
) -> list[dict[str, Any]]:
    """Trains on two ranks, and returns the trainer's log."""
    changes = {"output_dir": str(out), "per_device_train_batch_size": 3, "max_steps": STEPS}
    saving = {"save_strategy": "steps", "save_steps": 2}
    of_run = {"kind": kind, "server": server.address, "run_id": run_id, "run": RUN, "policy": str(policy)}
    found = out / f"log-{time.monotonic_ns()}.json"
    given = {**of_run, **changes, **saving, "log": str(found)}
    if kind == "rloo":
        by_torchrun(given)
    else:
        forked(nursery, given, out)
    log: list[dict[str, Any]] = json.loads(found.read_text())
    return log


def forked(nursery: Nursery, given: dict[str, Any], out: Path) -> None:
    """Train on two forked ranks, in a third of torchrun's time, whose ranks must first import torch and TRL."""
    port = lasting_port()
    logs = [out / f"rank-{rank}.txt" for rank in range(2)]
    jobs = [
        {"program": "trl_training", "given": given, "log": str(log), "environment": rank_of(rank, port)}
        for rank, log in enumerate(logs)
    ]
    nursery.start(*jobs)
    assert nursery.statuses() == [0, 0], [log.read_text()[-5000:] for log in logs]


def by_torchrun(given: dict[str, Any]) -> None:
    """Train on two ranks that torchrun starts, as users do."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*torchrun, "trl_training.py", json.dumps(given)],
        cwd=ROOT / "clients/python/tests_trainers",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]


def groups_of(client: Client, run_id: str) -> list[RunGroup]:
    return [group for batch in range(STEPS) for group in client.run(run_id).groups(batch, tasks=True)]


@pytest.mark.parametrize("kind", ["grpo", "rloo"])
def test_two_ranks_train_on_one_run(
    kind: str, nursery: Nursery, server: Server, client: Client, run_id: str, policy: Path, tmp_path: Path
) -> None:
    log = train_on_two_ranks(nursery, kind, server, run_id, policy, tmp_path)
    groups = groups_of(client, run_id)
    assert [group.cursor for group in groups] == list(range(3 * STEPS))
    assert all([sample.sample_index for sample in group.samples] == [0, 1, 2, 3] for group in groups)
    steps = [each for each in log if "reward" in each]
    assert len(steps) == STEPS
    for step, figures in enumerate(steps):
        rewards = [sample.reward or 0 for group in groups if group.update_batch == step for sample in group.samples]
        assert figures["reward"] == pytest.approx(sum(rewards) / len(rewards), abs=1e-6)

    if kind == "grpo":
        # Without its last checkpoint the training is as if killed after the first one.
        shutil.rmtree(tmp_path / f"checkpoint-{STEPS}")
        train_on_two_ranks(nursery, kind, server, run_id, policy, tmp_path)
        again = groups_of(client, run_id)
        assert client.run(run_id).get().state.epoch == 1
        assert [(each.task and each.task.instance_hash, each.samples) for each in again] == [
            (each.task and each.task.instance_hash, each.samples) for each in groups
        ]
