"""gradus.trl on two ranks, between which groups are cut in two."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Server

from gradus import Client, RunGroup

STEPS = 4
# 3 groups of 4 are 6 samples for each rank, so that the second group lies on both.
RUN = {"prompts_per_update": 3, "num_generations": 4}


def train_on_two_ranks(kind: str, server: Server, run_id: str, policy: Path, out: Path) -> list[dict[str, Any]]:
    """The trainer's log."""
    changes = {"output_dir": str(out), "per_device_train_batch_size": 3, "max_steps": STEPS}
    saving = {"save_strategy": "steps", "save_steps": 2}
    given = {"kind": kind, "server": server.address, "run_id": run_id, "run": RUN, "policy": str(policy)}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, "trl_training.py", json.dumps(given | changes | saving)],
        cwd=ROOT / "clients/python/tests_trainers",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    log: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return log


def groups_of(client: Client, run_id: str) -> list[RunGroup]:
    return [group for batch in range(STEPS) for group in client.run(run_id).groups(batch, tasks=True)]


@pytest.mark.parametrize("kind", ["grpo", "rloo"])
def test_two_ranks_train_on_one_run(
    kind: str, server: Server, client: Client, run_id: str, policy: Path, tmp_path: Path
) -> None:
    log = train_on_two_ranks(kind, server, run_id, policy, tmp_path)
    groups = groups_of(client, run_id)
    assert [group.cursor for group in groups] == list(range(3 * STEPS))
    assert all([sample.sample_index for sample in group.samples] == [0, 1, 2, 3] for group in groups)
    steps = [each for each in log if "reward" in each]
    assert len(steps) == STEPS
    for step, figures in enumerate(steps):
        rewards = [sample.reward or 0 for group in groups if group.update_batch == step for sample in group.samples]
        assert figures["reward"] == pytest.approx(sum(rewards) / len(rewards), abs=1e-6)

    if kind == "grpo":
        # As if it had been killed after the first checkpoint.
        shutil.rmtree(tmp_path / f"checkpoint-{STEPS}")
        train_on_two_ranks(kind, server, run_id, policy, tmp_path)
        again = groups_of(client, run_id)
        assert client.run(run_id).get().state.epoch == 1
        assert [(each.task and each.task.instance_hash, each.samples) for each in again] == [
            (each.task and each.task.instance_hash, each.samples) for each in groups
        ]
