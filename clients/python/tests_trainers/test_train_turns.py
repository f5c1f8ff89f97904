"""Test that the example of turns in docs/guides/trl.md runs. docs/evidence.md has what its policy learns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import train_turns
from conftest import Server

from gradus import Client


@pytest.mark.parametrize("task", sorted(train_turns.GAMES))
def test_a_model_that_is_made_here_plays(
    task: str, server: Server, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--server", server.address, "--task", task, "--updates", "4", "--output", str(tmp_path), "--json"]
    assert train_turns.main(arguments) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert 0 < row["first"] < 1
    assert row["low"] <= row["last"] - row["first"] <= row["high"]
    groups = [group for update in range(4) for group in client.run(row["run_id"]).groups(update)]
    returns = [sample.reward for group in groups for sample in group.samples]
    assert len(returns) == 4 * train_turns.PROMPTS * train_turns.GENERATIONS
    assert any(returns)
    assert row["last"] == pytest.approx(sum(returns[-128:]) / 128)
