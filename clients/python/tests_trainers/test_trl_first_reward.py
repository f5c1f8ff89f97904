"""Test that the example of docs/guides/trainers.md earns a reward, but not without its warm start."""

from __future__ import annotations

from pathlib import Path

import pytest
import trl_first_reward
from conftest import Server

from gradus import Client


@pytest.fixture
def arguments(server: Server, run_id: str, tmp_path: Path) -> list[str]:
    return ["--server", server.address, "--run", run_id, "--output", str(tmp_path)]


def test_a_model_that_is_made_here_reaches_a_reward(arguments: list[str], client: Client, run_id: str) -> None:
    rewards = trl_first_reward.main([*arguments, "--warm", "150", "--steps", "6"])
    assert len(rewards) == 6
    # An answer in the right form that is wrong is worth 0.1, and a right one 1.
    assert min(rewards) > 0.05
    state = client.run(run_id).get().state
    assert state.samples_recorded == 6 * 8 * 8
    assert any((arm.recent_solved_share or 0) > 0 for arm in state.arms)


def test_without_the_warm_start_every_reward_is_zero(arguments: list[str]) -> None:
    assert trl_first_reward.main([*arguments, "--warm", "0", "--steps", "2"]) == [0.0, 0.0]
